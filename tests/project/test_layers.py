"""Imports go one way, with no exceptions and no cycles; and nothing outside of a paper names it."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tutelage

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tutelage"

# A module imports only what stands before it: at its top, inside of functions and for types alike.
ORDER = (
    "version", "durations", "address", "citation", "precision", "provenance", "refuse", "forms",
    "notebook", "log", "cores", "settings", "plugins", "run", "claims", "evidence", "activations",
    "numerics", "teachers", "inputs", "students", "objectives", "optimisers", "measures",
    "calculations", "training", "problem", "running", "export", "studies", "figures", "layers",
    "__init__",  # the public names, which modules inside of the package import from their homes
    "papers", "report", "explorer", "cli", "__main__", "testing", "template",
)  # fmt: skip


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, Path]:
    """Every module of the package by its name; the tests of papers are no part of it."""
    found = [path for path in SOURCE.rglob("*.py") if "tests" not in path.parts]
    return {name_of(path): path for path in found}


def home_of(module: str) -> str:
    """Where a module stands in the order: its package below `tutelage`, or its own name."""
    return [*module.split("."), "__init__"][1]


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All that a file of Python has, read once for all tests."""
    return [*ast.walk(ast.parse(path.read_text()))]


@cache
def imported_by(module: str) -> set[str]:
    """The modules of the package that a module imports, wherever in its text."""
    return {*_imports(module)}


def _imports(module: str) -> Iterator[str]:
    path = sources()[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in sources())
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join(
                [*(above if node.level else ()), *([node.module] if node.module else ())]
            )
            for alias in node.names:
                full = f"{base}.{alias.name}"
                if full in sources() or base in sources():
                    yield full if full in sources() else base


def test_every_module_has_a_place():
    modules = {path.stem for path in SOURCE.glob("*.py")}
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert modules | packages == set(ORDER)


def test_nothing_imports_what_stands_after_it():
    place = {name: number for number, name in enumerate(ORDER)}
    wrong = [
        f"{module} imports {other}"
        for module in sources()
        for other in imported_by(module)
        if place[home_of(other)] > place[home_of(module)]
    ]
    assert wrong == []


def test_no_module_comes_back_to_itself():
    graph = {module: imported_by(module) - {module} for module in sources()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" ← ".join(error.args[1]))


def test_papers_import_no_other_paper():
    wrong = [
        f"{module} imports {other}"
        for module in sources()
        for other in imported_by(module)
        if home_of(module) == home_of(other) == "papers"
        and other.count(".") > 1
        and module.count(".") > 1
        and other.split(".")[2] != module.split(".")[2]
    ]
    assert wrong == []


# ----------------------------------------------------------------------------- papers by name


def paper_folders() -> dict[str, Path]:
    """The folder of every paper, and of the skeleton, by the name of its package."""
    inside = [path.parent for path in (SOURCE / "papers").glob("*/__init__.py")]
    skeleton = [path.parent for path in (SOURCE / "template").glob("*/__init__.py")]
    return {folder.name: folder for folder in [*inside, *skeleton]}


def naming(text: str) -> list[str]:
    """The papers that a text names, as a package or as on the command line.

    A paper may share its name with a teacher of tutelage (`group_sparse`). It is then told from
    that by what stands beside it: `papers.group_sparse`, or `group-sparse/` and a study.
    """
    return [name for name, pattern in name_patterns().items() if pattern.search(text)]


@cache
def name_patterns() -> dict[str, re.Pattern[str]]:
    patterns = {}
    for package in paper_folders():
        typed = package.replace("_", "-")
        if package in tutelage.__all__:
            patterns |= {package: rf"papers[./]{package}\b", typed: rf"(?<![\w/-]){typed}/"}
        else:
            patterns |= {name: rf"(?<![\w-]){name}(?![\w-])" for name in (package, typed)}
    return {name: re.compile(pattern) for name, pattern in patterns.items()}


def code_of(path: Path) -> Iterator[str]:
    """What a file does: of a Python file its names, imports and strings, without docstrings, where
    a paper may be an example; of another its lines without comments.
    """
    if path.suffix != ".py":
        yield from (line.partition("#")[0] for line in path.read_text().splitlines())
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said = {
        id(node.body[0].value)
        for node in nodes_of(path)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value
        elif isinstance(node, ast.ImportFrom):
            yield f"{node.module} {' '.join(alias.name for alias in node.names)}"
        elif isinstance(node, ast.Import):
            yield " ".join(alias.name for alias in node.names)


def files_outside(area: str) -> list[Path]:
    if area == "Makefile":
        return [ROOT / area]
    inside = [*paper_folders().values(), SOURCE / "template"]
    return [
        path
        for path in sorted((ROOT / area).rglob("*.py"))
        if not any(path.is_relative_to(folder) for folder in inside)
    ]


@pytest.mark.parametrize("area", ["src", "Makefile", "docs", "tools"])
def test_nothing_outside_of_a_paper_names_it(area):
    """Tests may, and so may examples in help texts and comments: a new paper touches neither.

    `benchmarks/` and `cluster/` measure workloads of known papers, and are left out.
    """
    wrong = [
        f"{path.relative_to(ROOT)} names {', '.join(found)}"
        for path in files_outside(area)
        for text in code_of(path)
        if (found := naming(text))
    ]
    assert wrong == []


def test_claims_know_no_paper():
    text = "".join(path.read_text() for path in (SOURCE / "claims").rglob("*.py"))
    assert "Zhang" not in text
    assert "teacher" not in text
