"""Studies: statements, the cases that test them, and how they are run.

The package can be called: `tutelage.studies()` gives every study that is found, by its name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutelage.studies.study import AnyStudy


class _CallablePackage(ModuleType):
    """A package that is a function as well, since `tt.studies()` and `tutelage.studies.study` are
    both names of the library.
    """

    def __call__(self) -> dict[str, AnyStudy]:
        """Every study by its full name, `paper/study`, loaded."""
        from tutelage.studies.discovery import studies

        return studies()


sys.modules[__name__].__class__ = _CallablePackage
