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


def falls_of(steps, values):
    run = Run(np.array(steps), {"loss": np.array(values)}, None, Outcome.FINISHED, rate=1.0)
    found = take_falls(run, "loss", "fall")
    return None if found is None else [int(step) for step in found.steps]


def test_falls_need_five_steps_and_begin_where_the_curve_is_half_way_down():
    """A factor of 1.78 fits five times between the steps 1 to 9, and four times up to 8."""
    nine = np.arange(1, 10)
    assert falls_of(nine, 1 / nine) == [2, 3, 4, 5]  # 1/2 is below (1 + 1/9)/2
    assert falls_of(nine[:8], 1 / nine[:8]) is None
    half = np.array([1.0, 0.75, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0])
    assert falls_of(nine, half) == [3, 4, 5]  # the middle itself is half way
    assert falls_of([0, *nine], [np.inf, *(1 / nine)]) == [2, 3, 4, 5]
    assert falls_of(nine, [1.0, 0.9, 0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.0]) is None  # all too late


def test_one_fall_that_is_rounding_hides_the_floor():
    """The last fall of 1 + a/t is 0.0027·a here, and 1e-12 is seen."""
    steps = np.unique(np.rint(10 ** np.arange(0, 2.5, 1 / 24)).astype(np.int64))
    assert falls_of(steps, 1 + 1e-9 / steps) is not None
    assert falls_of(steps, 1 + 2e-10 / steps) is None
    assert falls_of(steps, np.maximum(1 / steps, 0.02)) is None  # flat at its end alone
    assert falls_of(steps, steps**-6.0) is None  # below 1e-12 of its largest value


def test_noise_that_hides_the_falls_is_undecided_and_a_rise_is_refused():
    generator = np.random.default_rng(0)
    noisy = 0.3 + 2.0 * (STEPS + 5.0) ** -0.5 + 0.05 * generator.standard_normal(len(STEPS))
    verdict = check(AboveFloor("loss", -0.5), run_of(noisy))
    assert verdict.status is Status.UNDECIDED
    assert "cannot be told from its scatter" in verdict.sentence
    with pytest.raises(Refused, match="below 0"):
        AboveFloor("loss", 0.5)


def test_half_way_down_is_between_the_first_value_and_the_last():
    """−log₁₀ t, whose falls are all ¼: half of −9 is between the fourth and the fifth decade."""
    decades = np.array([0, 1, 2, 3, 4, 5, 6, 7, 9])
    run = Run(10**decades, {"loss": -1.0 * decades}, None, Outcome.FINISHED, rate=1.0)
    found = take_falls(run, "loss", "fall")
    assert found.steps.tolist() == [10**5, 10**6, 10**7]
    assert found.curves["fall"] == pytest.approx([0.25] * 3, rel=1e-12)


def test_a_fall_that_rounding_could_make_is_none():
    """Of 100, falls of 10⁻¹¹ are rounding, and of 10⁻³ they are not."""
    decades = np.arange(10.0)
    assert falls_of(10 ** np.arange(10), 100 - 4e-11 * decades) is None
    assert falls_of(10 ** np.arange(10), 1e-3 * (100 - 4e-11 * decades)) is None
    assert falls_of(10 ** np.arange(10), 1e-3 * (1 - 4e-10 * decades)) is not None


def test_a_floor_needs_an_exponent_below_zero():
    assert AboveFloor("loss", -0.1).tolerance == 0.02
    for exponent in (0.0, 0.5):
        with pytest.raises(Refused, match="below 0"):
            AboveFloor("loss", exponent)
