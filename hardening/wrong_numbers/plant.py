"""A plugin of pytest that has one module of tutelage imported from another source.

`HARDENING_MODULE` names the module and `HARDENING_SOURCE` the file with the mutant.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType


class Planted(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds one module, and reads its code from elsewhere; its file stays the real one."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source
        self.name = module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        real = importlib.machinery.PathFinder.find_spec(fullname, path)
        if real is None or real.origin is None:
            return None
        self.path = real.origin
        return importlib.util.spec_from_file_location(fullname, real.origin, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        with open(self.source, encoding="utf-8") as file:
            return compile(file.read(), self.path, "exec")


if "HARDENING_MODULE" in os.environ:
    sys.meta_path.insert(0, Planted(os.environ["HARDENING_MODULE"], os.environ["HARDENING_SOURCE"]))
