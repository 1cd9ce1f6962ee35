"""Runs of very many tokens: the same setting with tokens and queries that nothing tells apart taken
as one.
"""

from __future__ import annotations

from tutelage.problem.build import build
from tutelage.problem.registry import options_of
from tutelage.refuse import Refused
from tutelage.settings import Setting, one_setting


def collapsed(setting: Setting) -> Setting:
    """The same run with one score for each distinct weight of each distinct column of S*; exact,
    whatever D.

    That is the teacher's option `collapse`, so that `--set collapse=true` does it on the command
    line. Its curves are those of the whole run, but that support mass and entropy have one entry
    per kind of column, and not one per query.
    """
    if "collapse" not in options_of("teacher", one_setting(setting).teacher.name):
        raise Refused(
            "A setting is collapsed by its teacher's option `collapse`, since only the teacher "
            "knows which of its columns are alike. "
            f"Got the teacher {setting.teacher.name!r}, which has none."
        )
    small = setting.change(**{"teacher.collapse": True})
    build(small)
    return small
