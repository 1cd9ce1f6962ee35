"""Tables of like cases marked `brief(n)`: n of them are in `make test`, and the others in depth."""

from pathlib import Path

CONFTEST = Path(__file__).parents[2] / "conftest.py"
TABLES = """
import pytest

@pytest.mark.brief(3)
@pytest.mark.parametrize("case", range(7))
def test_of_seven(case): ...

@pytest.mark.brief(5)
@pytest.mark.parametrize("case", [0, pytest.param(1, marks=pytest.mark.depth)])
def test_of_fewer(case): ...
"""
MARKERS = "[pytest]\nmarkers =\n    depth: longer\n    brief: fewer\n"


def test_some_stay_spread_evenly_and_the_others_are_depth(pytester, request):
    pytester.makepyfile(TABLES)
    pytester.makeini(MARKERS)
    (plugin,) = [
        each
        for each in request.config.pluginmanager.get_plugins()
        if getattr(each, "__file__", None) == str(CONFTEST)
    ]
    for chosen, names in (
        ("not depth", ["seven[0]", "seven[2]", "seven[4]", "fewer[0]"]),
        ("depth", ["seven[1]", "seven[3]", "seven[5]", "seven[6]", "fewer[1]"]),
    ):
        found = pytester.inline_run("-m", chosen, plugins=[plugin])
        run = [call.item.name for call in found.getcalls("pytest_runtest_call")]
        assert run == [f"test_of_{name}" for name in names]
