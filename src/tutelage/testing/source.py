"""Reading source files, without importing them."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tutelage.studies.study import Answered

Draw = Callable[[Sequence[Answered], Path], list[Path]]

# What holds measured numbers, or makes them.
DATA_MODULES = ("tutelage.run", "tutelage.running", "tutelage.training", "tutelage.claims.check")
DATA_NAMES = {
    "tutelage": ("Run", "Store", "check", "execute", "load", "table", "train", "train_batch"),
    "tutelage.claims": ("check",),
}


def folder_of(module: str) -> Path:
    """The folder that an imported module is in."""
    return Path(sys.modules[module].__file__ or ".").parent


def files_of(module: str) -> list[Path]:
    """The source of a module, or all files of a package; none where there is no such module."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # its parent is a file, and no package
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return sorted(
            p for root in spec.submodule_search_locations for p in Path(root).rglob("*.py")
        )
    return [Path(spec.origin)] if spec.origin else []


def imports_of(path: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of everything that a file imports, wherever in it; name "" for the module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def looks_at_data(path: Path) -> list[str]:
    """What a file imports that holds measured numbers or makes them."""
    return [
        f"{module}.{name}" if name else module
        for module, name in imports_of(path)
        if name in DATA_NAMES.get(module, ())
        or _holds_data(module)
        or _holds_data(f"{module}.{name}")
    ]


def _holds_data(module: str) -> bool:
    return any(module == data or module.startswith(f"{data}.") for data in DATA_MODULES)


def drawn_figures(draw: Draw) -> dict[str, re.Pattern[str]]:
    """The names of the figures that the file of a drawing function writes, by `look.write`.

    Each has the pattern of its name: where a part of it is computed, any word may stand for that.
    """
    file = sys.modules[draw.__module__].__file__
    found = {}
    for node in ast.walk(ast.parse(Path(file or "").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "look.write":
            named = [word.value for word in node.keywords if word.arg == "name"]
            for name in named or node.args[2:3]:
                parts = name.values if isinstance(name, ast.JoinedStr) else [name]
                words = [part.value if isinstance(part, ast.Constant) else None for part in parts]
                shown = "".join("…" if word is None else str(word) for word in words)
                found[shown] = re.compile(re.escape(shown).replace("…", ".+"))
    return found
