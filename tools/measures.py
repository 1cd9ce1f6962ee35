"""How large and how loose the source is: files and lines by package, types, duck typing, lengths.

python -m tools.measures [REVISION …]     this tree, or revisions of it, as the columns of one table
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = "src/tutelage"
TESTS = "tests"
COLUMNS = 100
LOOSE = ("Any", "object", "dict", "Callable", "typing.Any", "collections.abc.Callable")
ASKING = ("hasattr", "getattr")
IGNORED = "# type: ignore"


@dataclass(frozen=True)
class Source:
    """The Python files of one tree by their paths."""

    texts: Mapping[str, str]

    def below(self, folder: str, *, tests: bool = False) -> dict[str, str]:
        """The files below a folder; those of tests, or the others."""
        return {
            path: text
            for path, text in self.texts.items()
            if path.startswith(f"{folder}/") and (TESTS in path.split("/")) == tests
        }


def read_tree(root: Path = ROOT) -> Source:
    """The files that are here now."""
    paths = [*(root / SOURCE).rglob("*.py"), *(root / TESTS).rglob("*.py")]
    return Source(
        {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in sorted(paths)}
    )


def read_revision(revision: str) -> Source:
    """The files of a commit."""
    packed = subprocess.run(
        ["git", "archive", revision, SOURCE, TESTS], cwd=ROOT, check=True, capture_output=True
    ).stdout
    texts = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            found = archive.extractfile(member) if member.name.endswith(".py") else None
            if found is not None:
                texts[member.name] = found.read().decode()
    return Source(texts)


def parameters(tree: ast.Module) -> Iterator[ast.arg]:
    """All of them but `self` and `cls`, which have the type of their class."""
    methods = {
        id(function): not any(ast.unparse(d) == "staticmethod" for d in function.decorator_list)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for function in node.body
        if isinstance(function, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            first = 1 if methods.get(id(node), False) else 0
            yield from [*given.posonlyargs, *given.args][first:]
            yield from given.kwonlyargs
            yield from [extra for extra in (given.vararg, given.kwarg) if extra is not None]


def is_loose(annotation: ast.expr | None) -> bool:
    """Whether anything may be given: no type, or one of `LOOSE`, alone or as one of several."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return is_loose(ast.parse(annotation.value, mode="eval").body)
    if isinstance(annotation, ast.BinOp):
        return is_loose(annotation.left) or is_loose(annotation.right)
    named = isinstance(annotation, ast.Name | ast.Attribute)
    return named and ast.unparse(annotation) in LOOSE


def looks(tree: ast.Module) -> Iterator[ast.Call]:
    """Calls that ask an object what it has."""
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ASKING:
            yield node


def long_lines(text: str) -> list[int]:
    """The numbers of the lines that are too long."""
    return [n for n, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]


def ignored_lines(text: str) -> list[int]:
    """The numbers of the lines that silence the type checker."""
    return [n for n, line in enumerate(text.splitlines(), 1) if IGNORED in line]


def measure(source: Source) -> dict[str, str]:
    """The rows of the table."""
    own = source.below(SOURCE)
    beside = source.below(SOURCE, tests=True) | source.below(TESTS, tests=True)
    trees = [ast.parse(text) for text in own.values()]
    given = [each.annotation for tree in trees for each in parameters(tree)]
    loose = sum(map(is_loose, given))
    silenced = sum(len(ignored_lines(text)) for text in own.values())
    asking = Counter(ast.unparse(call.func) for tree in trees for call in looks(tree))
    rows = {
        "source": _describe_size(own),
        "tests": _describe_size(beside),
        "parameters": f"{len(given):,}",
        "of them loose": f"{loose:,}",
        "type: ignore": f"{silenced:,}",
        "share of both": f"{(loose + silenced) / len(given):.1%}",
        "hasattr, getattr": f"{asking['hasattr']}, {asking['getattr']}",
        f"lines over {COLUMNS} columns": f"{sum(len(long_lines(t)) for t in own.values()):,}",
        "longest file": f"{max(len(text.splitlines()) for text in own.values()):,} lines",
    }
    packages: dict[str, dict[str, str]] = {}
    for path, text in own.items():
        words = path.removeprefix(f"{SOURCE}/").split("/")
        name = "single modules" if len(words) == 1 else f"{words[0]}/"
        if words[0] == "papers" and len(words) > 2:
            name = f"papers/{words[1]}/"
        packages.setdefault(name, {})[path] = text
    return rows | {name: _describe_size(packages[name]) for name in sorted(packages)}


def _describe_size(texts: Mapping[str, str]) -> str:
    lines = sum(len(text.splitlines()) for text in texts.values())
    return f"{len(texts):,} files, {lines:,} lines"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revisions", nargs="*", metavar="REVISION")
    names = parser.parse_args().revisions
    columns = {name: measure(read_revision(name)) for name in names} or {
        "this tree": measure(read_tree())
    }
    print("| measure |", " | ".join(columns), "|")
    print("|---|" + "---|" * len(columns))
    for row in dict.fromkeys(row for column in columns.values() for row in column):
        print(f"| {row} |", " | ".join(column.get(row, "–") for column in columns.values()), "|")


if __name__ == "__main__":
    main()
