"""The runner of mutants: what it changes, and that a planted fault is noticed."""

import ast
import json

import pytest
from hardening.wrong_numbers import campaign
from hardening.wrong_numbers.__main__ import tabulate
from hardening.wrong_numbers.campaign import Answer, read_equivalent, run_tests, sample_mutants
from hardening.wrong_numbers.modules import ROOT, find_modules, locate
from hardening.wrong_numbers.mutants import count_changes, make_mutant, name_changes
from hardening.wrong_numbers.plant import QuickestFirst

SOURCE = '''"""A text of 3 words."""
LEAST = 2


def f(x: Float[Array, "3"], y=-1) -> Int[2]:
    if x < 3 and not y:
        raise Refused(f"x is {x + 1}, and 4")
    return x * y + 0.0 + min(x, y)
'''


def mutants(source):
    return [
        make_mutant(source, place, number)
        for place, changes in enumerate(count_changes(source))
        for number in range(changes)
    ]


def test_every_number_is_changed_and_no_text():
    found = mutants(SOURCE)
    assert [mutant.change for mutant in found] == name_changes(SOURCE)
    assert set(name_changes(SOURCE)) == {
        "2 -> 3",
        "-1 -> 1",
        "1 -> 2",
        "x < 3 and (not y) -> x < 3 or not y",
        "x < 3 -> x <= 3",
        "3 -> 4",
        "not y -> y",
        "x * y + 0.0 + min(x, y) -> x * y + 0.0 - min(x, y)",
        "x * y + 0.0 + min(x, y) -> x * y + 0.0",
        "x * y + 0.0 -> x * y - 0.0",
        "x * y + 0.0 -> x * y",
        "x * y -> x / y",
        "x * y -> x",
        "0.0 -> 1.0",
        "min(x, y) -> max(x, y)",
    }
    sources = {mutant.source for mutant in found}
    assert len(sources) == len(found)
    assert ast.unparse(ast.parse(SOURCE)) not in sources
    for mutant in found:
        assert "x is {x + 1}, and 4" in mutant.source
        compile(mutant.source, "mutant", "exec")


def test_every_module_and_its_tests_are_there():
    for module, tests in find_modules().items():
        assert locate(module).is_file()
        assert tests
        assert all((ROOT / test).exists() for test in tests), module


def test_a_sample_is_drawn_from_its_seed():
    one, two = (sample_mutants(5, 3, "numerics.angle") for _ in range(2))
    assert one == two
    assert sum(map(len, one.values())) == 5
    assert one != sample_mutants(5, 4, "numerics.angle")


def test_equivalent_ones_have_a_reason_and_exist():
    listed = read_equivalent()
    changes = {module: name_changes(locate(module).read_text()) for module, _ in listed}
    for (module, change), reason in listed.items():
        assert len(reason.split()) > 3
        assert change in changes[module], (module, change)


def test_answers_are_counted(monkeypatch):
    sound = campaign.locate("tutelage.numerics.angle").read_text()
    monkeypatch.setattr(campaign, "run_tests", lambda m, source, *_: source == sound)
    chosen = sample_mutants(2, 0, "numerics.angle")
    answers = [*campaign.try_mutants(chosen)]
    assert [answer.kind for answer in answers] == ["caught", "caught"]
    survived = Answer("tutelage.papers.x.theory.y", answers[0].mutant, "survived")
    assert tabulate([*answers, survived], 0).rows[-1] == ["all", 3, 2, 0, 1]
    monkeypatch.setattr(campaign, "run_tests", lambda *_: False)
    with pytest.raises(RuntimeError, match="fail without a mutant"):
        next(campaign.try_mutants(chosen))


@pytest.mark.depth
def test_the_tests_see_the_mutant_and_not_the_module():
    module, tests = "tutelage.numerics.angle", ("tests/numerics/test_angle.py",)
    source = locate(module).read_text()
    assert run_tests(module, source, tests, 300.0)
    wrong = source.replace("math.pi - quarter, quarter", "math.pi - quarter, 1.001 * quarter")
    assert wrong != source
    assert not run_tests(module, wrong, tests, 300.0)


def test_the_quickest_tests_come_first(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def shared():
            return 1

        def test_of_half_a_second(): ...
        def test_with_what_is_shared(shared): ...
        def test_of_a_moment(): ...
        def test_of_two_seconds(): ...
        """
    )
    names = ["of_a_moment", "of_half_a_second", "with_what_is_shared", "of_two_seconds"]
    file = "test_the_quickest_tests_come_first.py"
    times = pytester.path / "times.json"
    known = [0.0, 0.5, 0.0, 2.0]
    times.write_text(
        json.dumps({f"{file}::test_{n}": t for n, t in zip(names, known, strict=True)})
    )
    done = pytester.inline_run(plugins=[QuickestFirst(times)])
    assert [call.item.name for call in done.getcalls("pytest_runtest_setup")] == [
        f"test_{name}" for name in names
    ]
    assert json.loads(times.read_text())[f"{file}::test_of_two_seconds"] < 2.0  # as it took now
