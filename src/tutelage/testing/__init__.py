"""Checks for authors of papers and parts: what is missing or wrong, in sentences.

from tutelage.testing import check_paper, check_part

assert check_paper("my-paper") == []
assert check_part("teacher", "my-teacher") == []
"""

from tutelage.testing.papers import check_paper
from tutelage.testing.parts import check_part

__all__ = ["check_paper", "check_part"]
