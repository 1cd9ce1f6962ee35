"""Modules of the page as one script, for browsers that load no modules from a file.

Each module becomes a function that returns its exports. Of the syntax of modules just as much is
read as the page uses, and anything else is refused, so that nothing is dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tutelage.refuse import Refused

_IMPORT = re.compile(r'^import (?:(\w+)|\* as (\w+)|\{([^}]*)\}) from "([^"]+)";[^\n]*$', re.M)
_DECLARED = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.M)
_LISTED = re.compile(r"^export \{([^}]*)\};[^\n]*$", re.M)
_LEFT = re.compile(r"^(?:import\b(?!\()|export\b)[^\n]*", re.M)
_COMMENT = re.compile(r"^/\*.*?\*/", re.M | re.S)  # that begins a line
_RENAMED = re.compile(r"(\w+) as (\w+)")


def bundle(entries: Mapping[str, Path], start: str) -> str:
    """A script that defines `entries`, one function per name that runs that module and answers
    with its exports, and goes on with `start`.
    """
    order: dict[Path, str] = {}
    for path in entries.values():
        for found in _find_imports(path):
            _visit(found, order, ())
    parts = [
        f"const {name} = (() => {{\n{_rewrite(path, order)}\n}})();" for path, name in order.items()
    ]
    parts.append("const entries = {};")
    parts += [
        f'entries["{name}"] = async () => {{\n{_rewrite(path, order)}\n}};'
        for name, path in entries.items()
    ]
    script = '"use strict";\n' + "\n".join([*parts, start])
    if (closed := re.search(r"</script|<!--", script, re.I)) is not None:
        raise Refused(
            "A script inside a page must not hold what ends it, since the browser would cut it "
            f"there. Got {closed[0]!r}."
        )
    return script


def _visit(path: Path, order: dict[Path, str], above: Sequence[Path]) -> None:
    """Adds a module after those that it imports."""
    if path in above:
        raise Refused(
            "Modules of the page must not import each other in a circle, since each is run once, "
            f"in turn. Got {' → '.join(p.name for p in (*above, path))}."
        )
    if path in order:
        return
    for found in _find_imports(path):
        _visit(found, order, (*above, path))
    order[path] = f"module{len(order)}"


def _read(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def _find_imports(path: Path) -> list[Path]:
    return [(path.parent / found[4]).resolve() for found in _IMPORT.finditer(_read(path))]


def _rewrite(path: Path, order: Mapping[Path, str]) -> str:
    exported: dict[str, str] = {}  # under which name each is seen from outside

    def imported(found: re.Match[str]) -> str:
        default, whole, listed, place = found.groups()
        name = order[(path.parent / place).resolve()]
        if default:
            return f"const {default} = {name}.default;"
        if whole:
            return f"const {whole} = {name};"
        names = _RENAMED.sub(r"\1: \2", listed)
        return f"const {{{names}}} = {name};"

    def declared(found: re.Match[str]) -> str:
        exported[found[1]] = found[1]
        return ""

    def listed(found: re.Match[str]) -> str:
        for item in found[1].split(","):
            inner, _, outer = (word.strip() for word in item.partition(" as "))
            exported[outer or inner] = inner
        return ""

    text = _IMPORT.sub(imported, _read(path))
    text = _LISTED.sub(listed, _DECLARED.sub(declared, text))
    if (left := _LEFT.search(text)) is not None:
        raise Refused(
            "A module of the page uses the plain forms of import and export alone, since an "
            f"exported page rewrites them. Got {left[0][:80]!r} in {path.name}."
        )
    return f"{text}\nreturn {{ {', '.join(f'{o}: {i}' for o, i in exported.items())} }};"
