"""Θ is not a slope: powers of logarithms are told from none, or the order is undecided."""

import numpy as np
import pytest

from tutelage.claims import Bound, Order, Rate, Status, check
from tutelage.claims.contraction import OneRun
from tutelage.claims.order import log_powers
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

PLATEAU = 100.0


def run_of(curve, horizon=1e6, noise=0.0, generator=None):
    steps = np.unique(np.rint(10 ** np.arange(0, np.log10(PLATEAU * horizon) + 1e-9, 1 / 24)))
    values = curve(steps / PLATEAU)
    if noise:
        values = values * np.exp(noise * generator.standard_normal(len(values)))
    return Run(steps.astype(np.int64), {"x": values}, None, Outcome.FINISHED)


def judge(curve, horizon=1e6, **more):
    return check(Order("x", -1.0, plateau=PLATEAU, **more), run_of(curve, horizon))


def log(t):
    return np.log(np.e + t)


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        (lambda t: 1 / (1 + t), Status.HOLDS),
        (lambda t: (1 + 3 / np.sqrt(1 + t)) / (1 + t), Status.HOLDS),
        (lambda t: log(t) / (1 + t), Status.FAILS),
        (lambda t: log(t) ** 0.25 / (1 + t), Status.FAILS),
        (lambda t: log(t) ** -0.5 / (1 + t), Status.FAILS),
        (lambda t: (1 + t) ** -0.985, Status.FAILS),
        (lambda t: (1 + t) ** -1.1, Status.FAILS),
        (lambda t: np.exp(-1e-4 * t) / (1 + t), Status.FAILS),
        (lambda t: 1 / (1 + t) + 1e-4, Status.FAILS),
        (lambda t: (1 + 3 * (1 + t) ** -0.1) / (1 + t), Status.UNDECIDED),
        (lambda t: (1 + 0.1 * np.sin(2 * np.log(1 + t))) / (1 + t), Status.UNDECIDED),
    ],
)
def test_orders_are_told_from_their_neighbours(curve, status):
    assert judge(curve).status is status


@pytest.mark.parametrize("power", [1.0, 0.25])
def test_what_a_slope_calls_the_same_an_order_tells_apart(power):
    def curve(t):
        return log(t) ** power / (1 + t)

    run = run_of(curve, 1e8)
    assert check(Rate("x", -1.0, plateau=PLATEAU), run).status is not Status.FAILS
    assert check(Bound("x", -1.0, plateau=PLATEAU), run).status is not Status.FAILS
    assert check(Order("x", -1.0, plateau=PLATEAU), run).status is Status.FAILS


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_the_power_of_the_logarithm_does_not_depend_on_the_unit_of_time(unit):
    """s = β/log(t/t₀), read pointwise at three times: β̂ is β for every t₀."""
    x = np.log(np.array([1e6, 1e7, 1e8, 1e9]) / unit)
    run = OneRun(0.3 / x, np.zeros((4, 1)), 0.0)
    assert log_powers(run, float(x[1] - x[0])).mean == pytest.approx([0.3] * 3, rel=1e-9)


def test_the_smallest_power_of_a_logarithm_that_is_excluded_falls_with_the_horizon():
    excluded = [
        judge(lambda t: 1 / (1 + t), horizon).smallest_violation for horizon in (1e4, 1e6, 1e8)
    ]
    assert excluded[0] > excluded[1] > excluded[2]
    assert excluded[0] < 0.1


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        (lambda t: (1 + t) ** -2.0, Status.HOLDS),
        (lambda t: np.exp(-1e-4 * t) / (1 + t), Status.HOLDS),
        (lambda t: 1 / (1 + t), Status.HOLDS),
        (lambda t: log(t) / (1 + t), Status.FAILS),
        (lambda t: (1 + t) ** -0.9, Status.FAILS),
    ],
)
def test_an_upper_order_lets_faster_curves_pass(curve, status):
    assert judge(curve, side="upper").status is status


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        (lambda t: 1 / log(t) / (1 + t), Status.HOLDS),
        (lambda t: log(t) ** -0.5 / (1 + t), Status.HOLDS),
        # A larger power that takes over makes the power of the logarithm move on.
        (lambda t: (1 / log(t) + 1e-5 * t**0.5) / (1 + t), Status.UNDECIDED),
        (lambda t: (1 / log(t) + 0.1) / (1 + t), Status.UNDECIDED),
    ],
)
def test_what_is_smaller_by_a_power_of_the_logarithm_is_of_the_upper_order(curve, status):
    found = judge(curve, 1e8, side="upper")
    assert found.status is status
    assert judge(curve, 1e8).status is not Status.HOLDS
    if status is Status.HOLDS:
        assert "(log t)^β with β in [-" in found.sentence


def test_an_order_needs_seeds_or_a_noise_model_where_the_curve_scatters():
    generator = np.random.default_rng(0)
    runs = [run_of(lambda t: (1 + t) ** -0.8, 1e5, 0.05, generator) for _ in range(8)]
    assert check(Order("x", -1.0, plateau=PLATEAU), runs[0]).status is Status.UNDECIDED
    assert check(Order("x", -1.0, plateau=PLATEAU), runs).status is Status.FAILS
    declared = Order("x", -1.0, plateau=PLATEAU, noise="independent")
    assert check(declared, runs[0]).status is Status.FAILS


def test_flattening_without_a_plateau_from_theory_is_undecided():
    run = run_of(lambda t: 1 / (1 + t) + 1e-4, 1e6)
    assert check(Order("x", -1.0), run).status is Status.UNDECIDED
    with pytest.raises(Refused, match="side of an order"):
        Order("x", -1.0, side="lower")


def test_an_upper_order_holds_for_a_slope_that_stays_steadily_below():
    """A smaller power of t with a ripple, whose slope has no limit."""
    steps = np.unique(np.geomspace(1, 10**7, 300).astype(int))
    time = steps.astype(float)

    def judge(values):
        run = Run(steps, {"y": values}, None, Outcome.FINISHED)
        return check(Order("y", -1.0, plateau=1.0, side="upper"), run)

    rippled = judge(time**-1.5 * (1 + 0.02 * np.sin(2 * np.log(time))))
    assert rippled.status is Status.HOLDS
    assert "steadily" in rippled.sentence
    # A larger power that takes over has its highest slope last, and is not told from it.
    assert judge(time**-1.1 + 1e-3 * time**-0.9).status is Status.UNDECIDED
    # The same ripple at the bound itself, and above it.
    assert judge(time**-1.02 * (1 + 0.02 * np.sin(2 * np.log(time)))).status is not Status.HOLDS
    assert judge(time**-0.9 * (1 + 0.02 * np.sin(2 * np.log(time)))).status is not Status.HOLDS


@pytest.mark.parametrize(
    ("power", "side", "status"),
    [
        (0.004, "both", Status.UNDECIDED),
        (-0.004, "both", Status.UNDECIDED),
        (0.004, "upper", Status.UNDECIDED),
        (-0.004, "upper", Status.HOLDS),
        (0.0, "both", Status.HOLDS),
    ],
)
def test_a_power_too_small_to_be_told_from_a_logarithm_is_no_order(power, side, status):
    """t^0.004 grows by less than (log t)^0.1 up to 1e8, but its slope is not seen to tend to 0."""
    assert judge(lambda t: (1 + t) ** (power - 1), 1e8, side=side).status is status


def test_a_smaller_power_leaves_nothing_to_exclude():
    assert judge(lambda t: (1 + t) ** -2.0, side="upper").smallest_violation == 0.0


def test_slopes_are_read_as_finely_as_a_power_of_the_logarithm_asks():
    """(log t)^β has the slope β/log t at t, and the last step decides."""
    run = run_of(lambda t: 1 / (1 + t), 1e6)
    order = Order("x", -1.0, tolerance=0.3, plateau=PLATEAU)
    assert order._question([run]).tolerance == pytest.approx(0.3 / np.log(1e8), rel=1e-3)
