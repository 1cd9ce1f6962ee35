"""How loose the source is, as numbers that may not grow: types, duck typing, lengths."""

from __future__ import annotations

import ast
from functools import cache

from tools.measures import (
    COLUMNS,
    SOURCE,
    Source,
    ignored_lines,
    is_loose,
    long_lines,
    looks,
    measure,
    parameters,
    read_tree,
)

LOOSE_SHARE = 0.01  # of all parameters; comments that silence the type checker count as well
LINES = 400

# (file, object, attribute) of looks at objects that are not ours, and why they are needed.
FOREIGN = {
    ("activations.py", "given", "'__name__'"): "a function of the user's, or a partial one",
    ("cli/programs.py", "jax.config", "'jax_compilation_cache_dir'"): "not in every JAX",
    ("cores.py", "os", "'sched_getaffinity'"): "Linux alone has it",
    ("optimisers/named.py", "optax", "name"): "optimisers of optax are asked for by name",
    ("settings.py", "value", "'__array__'"): "arrays of other libraries",
}


@cache
def sources() -> dict[str, str]:
    """The package without the tests of its papers."""
    found = read_tree().below(SOURCE).items()
    return {path.removeprefix(f"{SOURCE}/"): text for path, text in found}


@cache
def trees() -> dict[str, ast.Module]:
    return {path: ast.parse(text) for path, text in sources().items()}


def test_nearly_all_parameters_have_a_type():
    every = [(path, each) for path, tree in trees().items() for each in parameters(tree)]
    loose = [f"{path}:{each.lineno}" for path, each in every if is_loose(each.annotation)]
    ignored = [f"{path}:{n}" for path, text in sources().items() for n in ignored_lines(text)]
    share = (len(loose) + len(ignored)) / len(every)
    print(f"{len(every)} parameters, {len(loose)} loose, {len(ignored)} ignored: {share:.1%}")
    assert share < LOOSE_SHARE, sorted(loose + ignored)


def test_our_own_objects_are_not_asked_what_they_have():
    found = {
        (path, *map(ast.unparse, call.args[:2])): f"{path}:{call.lineno}"
        for path, tree in trees().items()
        for call in looks(tree)
    }
    print(f"{len(found)} looks at an object, {len(FOREIGN)} allowed")
    assert [found[each] for each in found if each not in FOREIGN] == []
    assert [each for each in FOREIGN if each not in found] == []  # one that is gone is taken off


def test_no_line_is_too_long():
    found = [f"{path}:{n}" for path, text in sources().items() for n in long_lines(text)]
    print(f"{len(found)} lines over {COLUMNS} columns")
    assert found == []


def test_no_file_is_too_long():
    lengths = {path: len(text.splitlines()) for path, text in sources().items()}
    found = {name: length for name, length in lengths.items() if length > LINES}
    print(f"{len(lengths)} files, {sum(lengths.values())} lines; over {LINES}: {found}")
    assert found == {}


LOOSE_FILE = """
class One:
    def method(self, given: "Any", other: int | dict, *rest, typed: dict[str, int]) -> None:
        hasattr(given, "it")

    @staticmethod
    def static(first: object) -> None:
        return getattr(first, "it")  # type: ignore
"""


def test_what_is_loose_is_counted():
    text = LOOSE_FILE + "#" * 101 + "\n"
    found = measure(Source({f"{SOURCE}/claims/one.py": text, f"{SOURCE}/papers/a/tests/b.py": ""}))
    assert found == {
        "source": "1 files, 9 lines",
        "tests": "1 files, 0 lines",
        "parameters": "5",
        "of them loose": "4",
        "type: ignore": "1",
        "share of both": "100.0%",
        "hasattr, getattr": "1, 1",
        "lines over 100 columns": "1",
        "longest file": "9 lines",
        "claims/": "1 files, 9 lines",
    }
