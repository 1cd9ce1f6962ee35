"""Calls in the sentences and tables of pages, such as `tt.Sample(X, Y)`: each name is there, and
each call gives what the function asks for. Blocks of code are run by other tests.
"""

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest

import tutelage as tt

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "src/tutelage/papers").glob("*/docs/*.md")),
    *sorted((ROOT / "src/tutelage/template").rglob("*.md")),
]
BLOCK = re.compile(r"^```.*?^```", re.S | re.M)
INLINE = re.compile(r"`([^`\n]+)`")


def find_expressions(text):
    """Code in sentences that names something of ours, read as Python."""
    for code in INLINE.findall(BLOCK.sub("", text)):
        if re.search(r"\btt\.\w|\b(?:Store|Setting|Part|Constant|Rate|Run)\(", code):
            yield code, ast.parse(code.replace("…", "..."))


def resolve(node):
    """What `tt.Verdict.from_plain`, or a public name without `tt.`, stands for; None for others."""
    if isinstance(node, ast.Attribute):
        whole = resolve(node.value)
        return None if whole is None else getattr(whole, node.attr)
    if isinstance(node, ast.Name):
        return tt if node.id == "tt" else getattr(tt, node.id, None)
    return None


def check_call(node, function):
    """Whether a call has all that it must have; `…` stands for what is left out."""
    named = {each.arg: None for each in node.keywords}
    places = [each for each in node.args if not is_ellipsis(each)]
    bind = inspect.signature(function).bind
    if len(places) < len(node.args):
        bind = inspect.signature(function).bind_partial
    bind(*places, **named)


def is_ellipsis(node):
    return isinstance(node, ast.Constant) and node.value is ...


@functools.cache
def list_pages():
    found = {page: list(find_expressions(page.read_text(encoding="utf-8"))) for page in PAGES}
    return {page: expressions for page, expressions in found.items() if expressions}


@pytest.mark.parametrize("page", list_pages(), ids=lambda page: page.stem)
def test_names_are_there_and_calls_are_complete(page):
    for code, tree in list_pages()[page]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                resolve(node)
            if isinstance(node, ast.Call) and (function := resolve(node.func)) is not None:
                try:
                    check_call(node, function)
                except TypeError as error:
                    raise AssertionError(f"{page.name}: `{code}`: {error}") from None


def test_most_pages_have_some():
    assert sum(map(len, list_pages().values())) > 40


@pytest.mark.parametrize(
    "wrong", ["tt.OnlineRisk(teacher, batch=100)", "tt.train(…, progres=True)", "tt.Nothing(1)"]
)
def test_a_wrong_call_is_seen(wrong):
    ((_, tree),) = find_expressions(f"Take `{wrong}`.")
    call = tree.body[0].value
    with pytest.raises((TypeError, AttributeError)):
        check_call(call, resolve(call.func))
