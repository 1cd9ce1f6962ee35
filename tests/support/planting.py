"""A fresh copy of the package with one fault planted in it."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple


class Fault(NamedTuple):
    module: str
    sound: str
    broken: str
    check: str


def normal(source: str) -> str:
    return ast.unparse(ast.parse(source))


class Copier(importlib.abc.MetaPathFinder):
    """Loads modules of the package anew, from code that is compiled once per process; one module
    may have an expression changed.
    """

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] != "tutelage":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)  # type: ignore[arg-type]
        if spec is None or spec.origin is None:
            return spec
        planted = self.fault is not None and fullname == f"tutelage.{self.fault.module}"
        code = _planted(fullname, spec.origin, self.fault) if planted else _code(spec.origin)
        loader = type(
            "Loader", (importlib.machinery.SourceFileLoader,), {"get_code": lambda self, name: code}
        )
        return importlib.util.spec_from_file_location(
            fullname,
            spec.origin,
            loader=loader(fullname, spec.origin),
            submodule_search_locations=spec.submodule_search_locations,
        )


@functools.cache
def _code(origin: str) -> CodeType:
    return compile(Path(origin).read_bytes(), origin, "exec", dont_inherit=True)


def _planted(name: str, origin: str, fault: Fault) -> CodeType:
    source = normal(Path(origin).read_text())
    sound, broken = normal(fault.sound), normal(fault.broken)
    assert source.count(sound) == 1, (
        f"{name} has {source.count(sound)} times `{sound}`: plant this fault elsewhere"
    )
    return compile(source.replace(sound, broken), origin, "exec", dont_inherit=True)


Copy = dict[str, ModuleType]


@contextlib.contextmanager
def fresh_package(fault: Fault | None = None, copy: Copy | None = None) -> Iterator[None]:
    """Inside, `import tutelage` finds a new copy of the package, with the fault; afterwards the old
    one is back. What was imported stays in `copy`, where one is given, and is found there the next
    time.
    """
    ours, finder = _taken_out(), Copier(fault)
    sys.modules.update(copy or {})
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        found = _taken_out()
        if copy is not None:
            copy.update(found)
        sys.modules.update(ours)


def _taken_out() -> Copy:
    names = [name for name in sys.modules if name.split(".")[0] == "tutelage"]
    return {name: sys.modules.pop(name) for name in names}
