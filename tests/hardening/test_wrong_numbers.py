"""The runner of mutants: what it changes, and that a planted fault is noticed."""

import ast
import signal
from types import SimpleNamespace

import pytest
from hardening.wrong_numbers import campaign
from hardening.wrong_numbers.__main__ import tabulate
from hardening.wrong_numbers.campaign import (
    Answer,
    Equivalent,
    find_reason,
    read_equivalent,
    sample_mutants,
    try_mutants,
)
from hardening.wrong_numbers.modules import DEPTH, QUICK, ROOT, find_modules, find_rounds, locate
from hardening.wrong_numbers.mutants import count_changes, make_mutant, name_changes
from hardening.wrong_numbers.plant import Reporter, Said, run_tests

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
    changes = {mutant.change for mutant in found}
    assert {(mutant.change, mutant.text) for mutant in found} == name_changes(SOURCE)
    assert changes == {
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


def test_all_theory_is_there_with_the_tests_that_name_what_it_makes_public():
    found = find_modules()
    theory = (ROOT / "src/tutelage/papers").glob("*/theory/*.py")
    assert {path for path in theory if sum(count_changes(path.read_text()))} <= {
        *map(locate, found)
    }
    folder = "src/tutelage/papers/teacher_models/tests"
    first, second, last = find_rounds("tutelage.papers.teacher_models.theory.sharp_constants")
    assert first == ((f"{folder}/test_by_hand.py", f"{folder}/test_runs_by_hand.py"), QUICK)
    assert f"{folder}/test_ood.py" in second[0]  # by `counting_law`
    assert last == (tuple(sorted(first[0] + second[0])), DEPTH)


def test_a_sample_is_drawn_from_its_seed_and_spread_over_the_modules():
    one, two = (sample_mutants(4, 3, "numerics.softmax") for _ in range(2))
    assert one == two
    assert one != sample_mutants(4, 4, "numerics.softmax")
    both = {"tutelage.numerics.softmax", "tutelage.numerics.softmax_excess"}
    assert {module for module, _ in one[:2]} == {module for module, _ in one[2:]} == both


def test_equivalent_ones_have_a_reason_and_exist():
    listed = read_equivalent()
    named = {name: name_changes(locate(name).read_text()) for name in {e.module for e in listed}}
    for one in listed:
        assert len(one.reason.split()) > 3
        fitting = [line for change, line in named[one.module] if change == one.change]
        assert one.line in fitting if one.line else len(fitting) == 1, one


def test_an_equivalent_change_may_be_that_of_one_line():
    source = "a = 1\nb = 1\n"
    one, other = mutants(source)
    listed = [Equivalent("m", "1 -> 2", "No one reads it.", line="b = 1")]
    assert find_reason(listed, "m", one) == ""
    assert find_reason(listed, "m", other) == "No one reads it."
    assert find_reason(listed, "n", other) == ""
    assert find_reason([Equivalent("m", "1 -> 2", "None is read.")], "m", one) == "None is read."


def test_answers_are_counted(monkeypatch):
    """By what notices: one of two rounds, or nothing. A test that fails anyway is refused."""
    chosen = sample_mutants(3, 0, "numerics.angle")
    rounds = iter(["a::b", "", "a::b", "", ""])  # one notices at once, one at the second round
    asked = []

    def run(tests, marks=QUICK, module="", source="", known=None):
        if not module:  # the test that noticed, on the module as it is
            asked.append(tests)
            return Said()
        assert source != locate(module).read_text()
        return Said(next(rounds))

    monkeypatch.setattr(campaign, "run_tests", run)
    answers = [*try_mutants(chosen)]
    assert [answer.kind for answer in answers] == ["caught", "caught", "survived"]
    assert asked == [("a::b",)]  # once
    paper = Answer("tutelage.papers.x.theory.y", answers[0].mutant, "survived")
    assert tabulate([*answers, paper], 0).rows == [
        ["numerics", 3, 2, 0, 1],
        ["papers' theory", 1, 0, 0, 1],
        ["all", 4, 2, 0, 2],
    ]
    monkeypatch.setattr(campaign, "run_tests", lambda *_, **more: Said("a::b"))
    with pytest.raises(RuntimeError, match="a::b fails without a mutant"):
        next(try_mutants(chosen))


@pytest.mark.depth
def test_the_tests_see_the_mutant_and_not_the_module():
    module, tests = "tutelage.numerics.angle", ("tests/numerics/test_angle.py",)
    source = locate(module).read_text()
    said = run_tests(tests)
    assert not said.failed
    assert len(said.seconds) == 3
    wrong = source.replace("math.pi - quarter, quarter", "math.pi - quarter, 1.001 * quarter")
    assert wrong != source
    assert run_tests(tests, QUICK, module, wrong).failed in said.seconds
    dies = f"import os\nos.abort()\n{source}"
    assert run_tests(tests, QUICK, module, dies).failed == "before the first test"


def test_the_quickest_tests_come_first(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(autouse=True, scope="module")
        def _of_all():
            return 1

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
    known = [0.0, 0.5, 0.0, 2.0]
    ids = [f"test_the_quickest_tests_come_first.py::test_{name}" for name in names]
    said = []
    writer = SimpleNamespace(send=said.append)
    pytester.inline_run(plugins=[Reporter(writer, dict(zip(ids, known, strict=True)))])
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    assert [name for what, name, _ in said if what == "begun"] == ids
