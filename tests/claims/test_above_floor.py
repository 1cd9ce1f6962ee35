"""A power law above a floor that nobody knows: its exponent is read without a fit."""

import numpy as np
import pytest

from tutelage.claims import AboveFloor, Level, Rate, Status, check
from tutelage.claims.above_floor import RATIO, take_falls
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

STEPS = np.unique(np.rint(10 ** np.arange(0, 6.5, 1 / 24)).astype(np.int64))


def run_of(values):
    return Run(STEPS, {"loss": values}, None, Outcome.FINISHED, rate=1.0)


@pytest.mark.parametrize("floor", [0.0, 0.3, 7.0])
@pytest.mark.parametrize(
    ("exponent", "status"), [(-0.5, Status.HOLDS), (-0.55, Status.FAILS), (-1.0, Status.FAILS)]
)
def test_the_exponent_above_a_floor_does_not_depend_on_the_floor(floor, exponent, status):
    verdict = check(AboveFloor("loss", exponent), run_of(floor + 2.0 * (STEPS + 5.0) ** -0.5))
    assert verdict.status is status
    assert verdict.interval[0] - 1e-3 <= -0.5 <= verdict.interval[1] + 1e-3


def test_without_the_floor_the_same_curve_does_not_hold_the_rate():
    """The old behaviour: a floor hides the exponent."""
    run = run_of(0.3 + 2.0 * (STEPS + 5.0) ** -0.5)
    assert check(Rate("loss", -0.5), run).status is not Status.HOLDS
    level = check(Level("loss", 0.0), run)
    assert level.status is Status.MEASURED
    assert level.interval[0] <= 0.3 <= level.interval[1]


def test_falls_are_those_of_the_curve():
    """The twin by hand: C(1 − r^-a)·t^-a, to the error of the spline."""
    run = run_of(1.5 + 3.0 * STEPS.astype(float) ** -1.0)
    found = take_falls(run, "loss", "fall")
    late = found.steps >= 1000
    expected = 3.0 * (1 - 1 / RATIO) / found.steps[late]
    assert found.curves["fall"][late] == pytest.approx(expected, rel=1e-4)


def test_noise_that_hides_the_falls_is_undecided_and_a_rise_is_refused():
    generator = np.random.default_rng(0)
    noisy = 0.3 + 2.0 * (STEPS + 5.0) ** -0.5 + 0.05 * generator.standard_normal(len(STEPS))
    verdict = check(AboveFloor("loss", -0.5), run_of(noisy))
    assert verdict.status is Status.UNDECIDED
    assert "cannot be told from its scatter" in verdict.sentence
    with pytest.raises(Refused, match="below 0"):
        AboveFloor("loss", 0.5)
