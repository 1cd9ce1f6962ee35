"""How loose the source is, as numbers that may not grow: types, duck typing, lengths."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tutelage"
LOOSE_SHARE = 0.01  # of all parameters; comments that silence the type checker count as well
COLUMNS = 100
LINES = 400
LOOSE = ("Any", "object", "dict", "Callable", "typing.Any", "collections.abc.Callable")

# (file, object, attribute) of looks at objects that are not ours, and why they are needed.
FOREIGN = {
    ("activations.py", "given", "'__name__'"): "a function of the user's, or a partial one",
    ("cli/programs.py", "jax.config", "'jax_compilation_cache_dir'"): "not in every JAX",
    ("cores.py", "os", "'sched_getaffinity'"): "Linux alone has it",
    ("optimisers/named.py", "optax", "name"): "optimisers of optax are asked for by name",
    ("settings.py", "value", "'__array__'"): "arrays of other libraries",
}


@cache
def sources() -> dict[Path, str]:
    """The package without the tests of its papers."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if "tests" not in path.parts]
    return {path: path.read_text(encoding="utf-8") for path in paths}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(text) for path, text in sources().items()}


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
    return ast.unparse(annotation) in LOOSE


def where(path: Path, line: int) -> str:
    return f"{path.relative_to(SOURCE)}:{line}"


def test_nearly_all_parameters_have_a_type():
    every = [(path, each) for path, tree in trees().items() for each in parameters(tree)]
    loose = [where(path, each.lineno) for path, each in every if is_loose(each.annotation)]
    ignored = [
        where(path, number)
        for path, text in sources().items()
        for number, line in enumerate(text.splitlines(), 1)
        if "# type: ignore" in line
    ]
    share = (len(loose) + len(ignored)) / len(every)
    print(f"{len(every)} parameters, {len(loose)} loose, {len(ignored)} ignored: {share:.1%}")
    assert share < LOOSE_SHARE, sorted(loose + ignored)


def test_our_own_objects_are_not_asked_what_they_have():
    found = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("hasattr", "getattr"):
                asked = tuple(map(ast.unparse, node.args[:2]))
                found[(str(path.relative_to(SOURCE)), *asked)] = where(path, node.lineno)
    print(f"{len(found)} looks at an object, {len(FOREIGN)} allowed")
    assert [found[each] for each in found if each not in FOREIGN] == []
    assert [each for each in FOREIGN if each not in found] == []  # one that is gone is taken off


def test_no_line_is_too_long():
    found = [
        where(path, number)
        for path, text in sources().items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS
    ]
    print(f"{len(found)} lines over {COLUMNS} columns")
    assert found == []


def test_no_file_is_too_long():
    lengths = {str(p.relative_to(SOURCE)): len(t.splitlines()) for p, t in sources().items()}
    found = {name: length for name, length in lengths.items() if length > LINES}
    print(f"{len(lengths)} files, {sum(lengths.values())} lines; over {LINES}: {found}")
    assert found == {}
