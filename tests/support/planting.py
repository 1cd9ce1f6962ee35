"""A fresh copy of the package with one fault planted in it."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from typing import NamedTuple


class Fault(NamedTuple):
    module: str
    sound: str
    broken: str
    check: str


def normal(source: str) -> str:
    return ast.unparse(ast.parse(source))


class Planter(importlib.abc.MetaPathFinder):
    """Loads one module of the package with an expression changed."""

    def __init__(self, fault: Fault) -> None:
        self.name, self.fault = f"tutelage.{fault.module}", fault

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)  # type: ignore[arg-type]
        source = normal(spec.loader.get_source(fullname))  # type: ignore[union-attr]
        sound, broken = normal(self.fault.sound), normal(self.fault.broken)
        assert source.count(sound) == 1, (
            f"{self.name} has {source.count(sound)} times `{sound}`: plant this fault elsewhere"
        )
        code = compile(source.replace(sound, broken), spec.origin, "exec")
        loader = type(
            "Loader", (importlib.machinery.SourceFileLoader,), {"get_code": lambda self, name: code}
        )
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, loader=loader(fullname, spec.origin)
        )


@contextlib.contextmanager
def fresh_package(fault: Fault | None = None) -> Iterator[None]:
    """Inside, `import tutelage` finds a new copy of the package, with the fault; afterwards the old
    one is back.
    """
    ours = {
        name: module for name, module in sys.modules.items() if name.split(".")[0] == "tutelage"
    }
    finders = [] if fault is None else [Planter(fault)]
    for name in ours:
        del sys.modules[name]
    sys.meta_path[:0] = finders
    try:
        yield
    finally:
        del sys.meta_path[: len(finders)]
        for name in [name for name in sys.modules if name.split(".")[0] == "tutelage"]:
            del sys.modules[name]
        sys.modules.update(ours)
