"""Known errors enter the interval of a verdict before it counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tutelage.claims import Constant, Number, Rate, Status, check
from tutelage.claims.budget import TILT
from tutelage.claims.claim import Answer, Claim
from tutelage.run import ErrorTerm, Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.errors import known_errors, rounding_error

STEPS = np.unique(np.geomspace(1, 10**6, 300).astype(int))


def run_with(*errors: ErrorTerm, factor: float = 1.0) -> Run:
    curves = {"excess_risk": factor / STEPS}
    return Run(STEPS, curves, None, Outcome.FINISHED, rate=1.0, errors=errors)


def number(measured: float, side: str = "equal") -> Number:
    return Number(lambda runs: [measured], 1.0, "it", 0.05, side, certain=True)


def test_an_error_larger_than_the_tolerance_leaves_a_constant_undecided():
    claim = Constant("excess_risk", -1.0, 1.0, plateau=1.0)
    assert check(claim, run_with()).status is Status.HOLDS
    verdict = check(claim, run_with(ErrorTerm("quadrature", 0.04)))
    assert verdict.status is Status.UNDECIDED
    assert "Known errors of 0.04" in verdict.sentence
    assert verdict.errors == (ErrorTerm("quadrature", 0.04),)


def test_small_errors_widen_the_interval_and_change_nothing_else():
    claim = Constant("excess_risk", -1.0, 1.0, plateau=1.0)
    exact, known = (check(claim, run_with(*terms)) for terms in ((), (ErrorTerm("flow", 1e-3),)))
    assert known.status is Status.HOLDS
    assert known.interval[0] == pytest.approx(exact.interval[0] * (1 - 1e-3))
    assert known.interval[1] == pytest.approx(exact.interval[1] * (1 + 1e-3))


@pytest.mark.parametrize("value", [1.0, 20.0])
def test_known_errors_are_part_of_the_smallest_violation(value: float):
    """Of a constant it is relative, of a slope and of a number absolute."""
    constant = Constant("excess_risk", -1.0, value, plateau=1.0)
    exact, known = (
        check(constant, run_with(*terms, factor=value)) for terms in ((), (ErrorTerm("x", 1e-3),))
    )
    grown = known.smallest_violation - exact.smallest_violation
    assert grown == pytest.approx(1e-3, rel=1e-3)
    slope = Rate("excess_risk", -1.0, plateau=1.0)
    exact, known = (check(slope, run_with(*terms)) for terms in ((), (ErrorTerm("x", 1e-3),)))
    assert known.smallest_violation - exact.smallest_violation == pytest.approx(TILT * 1e-3)
    seen = check(number(1.01), run_with(ErrorTerm("x", 1e-3)))
    assert seen.smallest_violation == pytest.approx(0.01 + 1.01e-3)
    assert check(constant, run_with(ErrorTerm("x", 0.04), factor=value)).smallest_violation is None


def test_an_error_tilts_a_slope():
    claim = Rate("excess_risk", -1.0, plateau=1.0)
    exact, known = (check(claim, run_with(*terms)) for terms in ((), (ErrorTerm("flow", 1e-3),)))
    assert known.interval[1] - exact.interval[1] == pytest.approx(TILT * 1e-3)
    assert check(claim, run_with(ErrorTerm("flow", 0.02))).status is Status.UNDECIDED


def test_a_failure_within_the_known_errors_is_undecided():
    assert check(number(1.06), run_with()).status is Status.FAILS
    assert check(number(1.06), run_with(ErrorTerm("labels", 0.03))).status is Status.UNDECIDED
    assert check(number(1.5), run_with(ErrorTerm("labels", 0.03))).status is Status.FAILS
    assert check(number(0.1, "at most"), run_with(ErrorTerm("x", 0.5))).status is Status.HOLDS


def test_errors_of_several_kinds_add_up_and_the_largest_of_each_counts():
    runs = [
        run_with(ErrorTerm("flow", 0.01)),
        run_with(ErrorTerm("flow", 0.02), ErrorTerm("q", 1e-3)),
    ]
    verdict = check(Constant("excess_risk", -1.0, 1.0, plateau=1.0, tolerance=0.1), runs)
    assert {term.name: term.size for term in verdict.errors} == {"flow": 0.02, "q": 1e-3}


SMALL = Part("convolution", tokens=4, support=2, outputs=1, dim=2, norm=2.0)


def finished(activation: str, **changes: object) -> Run:
    setting = Setting(SMALL.change(activation=activation), rate=0.1, steps=10**6)
    return replace(run_with(), setting=setting, **changes)  # type: ignore[arg-type]


def test_quadrature_is_a_known_error_and_a_closed_form_has_none():
    (term,) = known_errors(finished("tanh"))
    assert term.name == "quadrature"
    assert 0 < term.size < 1e-3
    assert known_errors(finished("relu")) == ()


def test_single_precision_is_a_known_error_that_grows_as_the_excess_falls():
    run = finished("relu", made=({"precision": "float32"},))
    (term,) = known_errors(run)
    assert term.name == "single precision"
    assert term.size == rounding_error(run) == pytest.approx(2 * 2**-23 * 1000)
    assert known_errors(finished("relu", made=({"precision": "float64"},))) == ()


def test_of_a_loss_single_precision_rounds_in_every_step():
    run = finished("relu", made=({"precision": "float32"},))
    sampled = replace(run, curves={"least_loss": run.curves["excess_risk"]})
    assert rounding_error(sampled) == pytest.approx(8 * 2**-23 * run.steps[-1])


@dataclass(frozen=True)
class OfAll(Claim):
    """Asks another claim of all runs."""

    of: Rate

    @property
    def tolerance(self) -> float:
        return self.of.tolerance

    @property
    def judged_as(self) -> Claim:
        return self.of

    def answer(self, runs: Sequence[Run]) -> Answer:
        return self.of.answer(runs)


def test_a_claim_that_asks_another_one_is_widened_as_that_one():
    slope, run = Rate("excess_risk", -1.0, plateau=1.0), run_with(ErrorTerm("flow", 1e-3))
    asked = check(OfAll(slope, statement="= Θ(1/T)"), run)
    assert asked.interval == check(slope, run).interval
    assert asked.statement == "= Θ(1/T) (judged by its slope)"
