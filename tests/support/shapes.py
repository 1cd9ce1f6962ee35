"""Shapes of arrays, checked at run time: an import hook that puts jaxtyping's check, by beartype,
around every function and constructor of the package.

Only arrays are checked, wherever in an annotation they stand, and an array of NumPy may stand for
one of JAX. Everything else that a user can give wrong is refused in words, and the tests look for
the words. Annotations are read at a function's first call: one without arrays is then left alone,
and costs nothing more. A function with arrays has its first calls checked and then one in a few:
some are called a million times. (jaxtyping's own hook reads all of them at import, and looks at
every call.)
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from operator import or_
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import jax
import numpy as np
from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, jaxtyped

Function = TypeVar("Function", bound=Callable[..., object])
Class = TypeVar("Class", bound=type)
CONTAINERS = (tuple, list, dict, Mapping, Sequence)
FIRST_CALLS = 100  # of a function, all of them checked
CALLS_PER_CHECK = 25  # from then on
WITH_INT_AS_FLOAT = BeartypeConf(is_pep484_tower=True)


class Finder(MetaPathFinder):
    """Loads the modules of a package with checks in them."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self.package:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


class Loader(SourceFileLoader):
    """Compiles a module with a decorator on all that has annotations, and keeps the result apart
    from that of a plain import.
    """

    ending = f".{hashlib.md5(Path(__file__).read_bytes()).hexdigest()[:8]}.pyc"

    def source_to_code(self, data: bytes, path: str, *, _optimize: int = -1) -> types.CodeType:
        tree = ast.fix_missing_locations(Marker().visit(ast.parse(data)))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        return super().get_data(path.replace(".pyc", self.ending))

    def set_data(self, path: str, data: bytes, *, _mode: int = 0o666) -> None:
        super().set_data(path.replace(".pyc", self.ending), data, _mode=_mode)


class Marker(ast.NodeTransformer):
    """Decorates functions innermost, since the others may compile them; and classes outermost,
    since the others may make their constructors.
    """

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if node.returns is not None or any(each.annotation is not None for each in given):
            node.decorator_list.append(_named("function"))
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        if any(isinstance(each, ast.AnnAssign) for each in node.body):
            node.decorator_list.insert(0, _named("constructor"))
        return self.generic_visit(node)


def _named(name: str) -> ast.expr:
    return ast.parse(f"__import__('shapes').checked_{name}", mode="eval").body


def checked_function(function: Function) -> Function:
    """The function, whose arrays must have the shapes that its annotations say."""
    called: Callable[..., object] | None = None
    calls = 0

    @functools.wraps(function)
    def count(*args: object, **more: object) -> object:
        nonlocal called, calls
        if called is None:
            has_arrays = any(arrays_of(hint) is not Any for hint in _hints(function).values())
            called = jaxtyped(function, typechecker=_check) if has_arrays else function
        calls += 1
        if calls > FIRST_CALLS and calls % CALLS_PER_CHECK:
            return function(*args, **more)
        return called(*args, **more)

    return count


def checked_constructor(cls: Class) -> Class:
    """The class, whose fields must be given as their annotations say."""
    if dataclasses.is_dataclass(cls):
        cls.__init__ = checked_function(cls.__init__)
    return cls


def _hints(function: Callable[..., object]) -> dict[str, Any]:
    """Those that can be read: some name what only a type checker imports."""
    found = {}
    for name, hint in function.__annotations__.items():
        one = types.SimpleNamespace(__annotations__={name: hint})
        try:
            found |= get_type_hints(one, function.__globals__)
        except (NameError, AttributeError):
            continue
    return found


def _check(function: Function) -> Function:
    hints = {name: arrays_of(hint) for name, hint in function.__annotations__.items()}
    function.__annotations__ = {name: hint for name, hint in hints.items() if hint is not Any}
    return beartype(conf=WITH_INT_AS_FLOAT)(function) if function.__annotations__ else function


def arrays_of(hint: Any) -> Any:
    """What an annotation says about arrays; `Any` where it says nothing about them."""
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return hint | hint.dtype[np.ndarray, hint.dim_str] if hint.array_type is jax.Array else hint
    origin, inside = get_origin(hint), get_args(hint)
    arrays = [each if each is Ellipsis else arrays_of(each) for each in inside]
    if all(each in (Any, Ellipsis) for each in arrays):
        return Any
    if origin in (Union, types.UnionType):
        plain = [get_origin(each) or each for each in inside]
        both = zip(plain, arrays, strict=True)
        return functools.reduce(or_, (a if b is Any else b for a, b in both))
    return origin[tuple(arrays)] if origin in CONTAINERS else Any


def install(package: str) -> None:
    """From here on, the package is imported with checks."""
    sys.meta_path.insert(0, Finder(package))
