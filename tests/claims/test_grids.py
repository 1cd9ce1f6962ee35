"""Any grid of steps is read, and what is no curve is refused by name."""

import numpy as np
import pytest

from tutelage.claims import Constant, Level, Rate, Recovery, Slope, Status, check
from tutelage.claims.trend import decades_after
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

RATE = Rate("x", -1.0, plateau=10.0)


def run_of(steps, curve, outcome=Outcome.FINISHED, rate=0.5):
    return Run(np.asarray(steps), {"x": np.asarray(curve, float)}, None, outcome, rate=rate)


GRIDS = {
    "linear": np.arange(1, 40_001),
    "every 50 steps": np.arange(50, 100_001, 50),
    "four per decade": np.unique(np.rint(10 ** np.arange(0, 6.01, 1 / 4))).astype(int),
    "powers of two": 2 ** np.arange(0, 21),
    "dense": np.unique(np.rint(10 ** np.arange(0, 5.01, 1 / 200))).astype(int),
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize(
    ("curve", "status"),
    [(lambda t: 1 / (10 + t), Status.HOLDS), (lambda t: (10 + t) ** -0.9, Status.FAILS)],
)
def test_exact_curves_are_decided_on_any_grid(name, curve, status):
    steps = GRIDS[name].astype(float)
    assert check(RATE, run_of(GRIDS[name], curve(steps))).status is status


@pytest.mark.parametrize("name", ["linear", "every 50 steps", "dense"])
def test_the_plateau_may_be_unknown(name):
    steps = GRIDS[name].astype(float)
    found = check(Rate("x", -1.0), run_of(GRIDS[name], 1 / (10 + steps)))
    assert found.status is Status.HOLDS


def test_dense_noisy_points_have_an_interval_under_a_declared_noise_model():
    generator = np.random.default_rng(0)
    steps = GRIDS["every 50 steps"]
    missed = decided = 0
    for _ in range(40):
        run = run_of(steps, np.exp(0.05 * generator.standard_normal(len(steps))) / steps)
        undeclared = check(RATE, run)
        found = check(Rate("x", -1.0, plateau=10.0, noise="independent", tolerance=0.1), run)
        assert undeclared.status is not Status.FAILS
        missed += not found.interval[0] <= -1 <= found.interval[1]
        decided += found.status is Status.HOLDS
    assert missed <= 4
    assert decided > 20


def test_a_floor_above_a_power_law_is_not_read_as_a_slope():
    steps = GRIDS["dense"]
    for floor in (1e-5, 1e-4, 1e-3):
        run = run_of(steps, 1 / (10.0 + steps) + floor)
        found = check(Slope("x", plateau=10.0), run)
        assert found.status is Status.UNDECIDED or abs(found.measured) < 0.02
    level = check(Level("x", 0.0, plateau=1.0), run_of(steps, 1 / (10.0 + steps) ** 2 + 1e-3))
    assert level.status is Status.MEASURED
    assert level.interval[0] <= 1e-3 <= level.interval[1]


def test_too_few_points_are_undecided():
    found = check(RATE, run_of([1, 1000, 2000, 1_000_000], [1.0, 1e-3, 5e-4, 1e-6]))
    assert found.status is Status.UNDECIDED
    assert "points" in found.sentence


@pytest.mark.parametrize(
    ("steps", "curve", "words"),
    [
        ([1, 2, 2, 3], [1.0, 0.5, 0.5, 0.3], "repeated step: 2 after 2"),
        ([1, 3, 2, 4], [1.0, 0.5, 0.4, 0.3], "unsorted steps: 2 after 3"),
        ([1, 2, 3, 4], [1.0, np.nan, 0.4, 0.3], "`x` must be finite.*Got nan at step 2"),
        ([1, 2, 3, 4], [1.0, np.inf, 0.4, 0.3], "`x` must be finite.*Got inf at step 2"),
        ([1, 2, 3, 4], [1.0, 0.5, -0.4, 0.3], "`x` must be positive.*Got -0.4 at step 3"),
    ],
)
def test_what_is_no_curve_is_refused_by_name(steps, curve, words):
    run = run_of(steps, curve)
    for claim in (RATE, Constant("x", -1.0, 1.0, plateau=1.0)):
        with pytest.raises(Refused, match=words):
            check(claim, run)
    if "positive" not in words:
        with pytest.raises(Refused, match=words):
            check(Recovery("x", 0.0, 0.1), run)


def test_a_run_that_ends_at_the_rounding_floor_is_read():
    steps = GRIDS["dense"]
    curve = np.exp(-steps / 50.0)
    curve[curve < 1e-16] = -1e-17  # rounding
    kept = steps[: int((curve > 0).sum()) + 1]
    found = check(RATE, run_of(kept, curve[: len(kept)], Outcome.CONVERGED))
    assert found.status is Status.FAILS


def test_a_distance_that_scatters_is_not_judged_by_its_last_point():
    generator = np.random.default_rng(0)
    steps = GRIDS["dense"]
    for _ in range(30):
        noise = np.exp(0.3 * generator.standard_normal(len(steps)))
        above = check(Recovery("x", 0.0, 0.009), run_of(steps, 0.01 * noise))
        assert above.status is not Status.HOLDS
        below = check(Recovery("x", 0.0, 0.011), run_of(steps, 0.01 * noise))
        assert below.status is not Status.FAILS


def test_times_may_lie_further_apart_than_a_float_reaches():
    """From 10^-300 to 10^300 there are 600 decades; their ratio is infinite."""
    times = np.array([1e-300, 1.0, 1e300])
    assert decades_after(times, 1e-300) == pytest.approx(600.0)
    assert decades_after(times, 1e298) == pytest.approx(2.0)
    assert decades_after(times, 1e300) == decades_after(times, 0.0) == 0.0
