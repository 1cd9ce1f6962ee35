"""Which code a registered part is made by, as a text that changes when the code does.

A part of the user's own is known by a hash of its source (its file, with what that imports from
its own folder), one of an installed package by that package's name and version. Tutelage's own
parts have none: a change of their numbers is a new name or option, so that runs stored before are
found again.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from types import FunctionType

from tutelage.plugins import FILE_MODULE


def origin_of(factory: Callable[..., object]) -> str:
    """The code behind a factory; "" for what comes with tutelage."""
    factory = _unwrap(factory)
    module = factory.__module__ or "__main__"
    package = module.partition(".")[0]
    if package == "tutelage":
        return ""
    if installed := _installed(package):
        return installed
    file = _find_file(module)
    if file is None:
        return _hashed(_source(factory).encode())
    if "." in module or file.name == "__init__.py":  # a package that was not installed: all of it
        root = (_find_file(package) or file).parent
        return _hashed(b"".join(path.read_bytes() for path in sorted(root.rglob("*.py"))))
    return _hashed(b"".join(path.read_bytes() for path in _with_neighbours(file)))


def place_of(factory: Callable[..., object]) -> str:
    """Where a factory was written: its file, or its module where that has none."""
    module = _unwrap(factory).__module__ or "__main__"
    file = _find_file(module)
    return module if file is None or module == "__main__" else str(file)


def _unwrap(factory: Callable[..., object]) -> Callable[..., object]:
    while isinstance(factory, partial):
        factory = factory.func
    return factory


def _find_file(module: str) -> Path | None:
    """The file of a module that is imported, where it is still there."""
    file = vars(sys.modules[module]).get("__file__") if module in sys.modules else None
    return Path(file) if file is not None and Path(file).exists() else None


def _with_neighbours(file: Path) -> list[Path]:
    """A file, and those of the modules in its folder that it imports, or that they do."""
    found = [file]
    for path in found:  # it grows as it is read
        for name in _imported_names(path):
            package = file.parent / name
            inside = package.rglob("*.py") if (package / "__init__.py").is_file() else ()
            beside = [package.with_suffix(".py"), *inside]
            found += [each for each in beside if each.is_file() and each not in found]
    return found[:1] + sorted(found[1:])


def _imported_names(path: Path) -> set[str]:
    """The first words of the modules that a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in plain | named} - {""}


@cache
def _installed(package: str) -> str:
    """Name and version of the distribution of a package; "" where it is edited in place, and for
    files and scripts, of which no distribution knows (to ask all of them takes half a second).
    """
    if package == "__main__" or package.startswith(FILE_MODULE):
        return ""
    for name in metadata.packages_distributions().get(package, ()):
        found = metadata.distribution(name)
        if "editable" not in (found.read_text("direct_url.json") or ""):
            return f"{name} {found.version}"
    return ""


def _source(factory: Callable[..., object]) -> str:
    """Of something typed into a session; its compiled code where even the source is gone."""
    try:
        return inspect.getsource(factory)
    except (OSError, TypeError):
        if not isinstance(factory, FunctionType):
            return repr(factory)
        code = factory.__code__
        return repr((code.co_code, code.co_consts, code.co_names))


def _hashed(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()[:16]}"
