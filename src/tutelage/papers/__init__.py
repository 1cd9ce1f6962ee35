"""The papers that come with tutelage: one folder each, found by `tutelage.studies.discovery`.

The package can be called: `tutelage.papers()` gives every paper that is found, by its name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutelage.studies.paper import Paper


class _CallablePackage(ModuleType):
    """A package that is a function as well, since `tt.papers()` and `tutelage.papers.<paper>` are
    both names of the library.
    """

    def __call__(self) -> dict[str, Paper]:
        """Every paper by its name: built in, installed, or in an imported file."""
        from tutelage.studies.discovery import papers

        return papers()


sys.modules[__name__].__class__ = _CallablePackage
