"""The horizon: its interval covers every curve of the class, and only the class is assumed."""

import numpy as np
import pytest

from tutelage.claims.contraction import (
    DELTA,
    LADDER,
    Horizon,
    OneRun,
    Replicates,
    evidence,
    extrapolate,
    factors,
    final_interval,
    find_horizon,
    observed_exponent,
    pair_interval,
    smallest_exponent,
)

LOG_RATIO = 0.5 * np.log(10)


def exact(values):
    values = np.asarray(values, float)
    return OneRun(values, np.zeros((len(values), 1)), 0.0)


def draw_of_the_class(generator, delta, windows=6):
    """A limit, and window values that near it from either side by at least the factor q each."""
    limit, away = generator.normal(), generator.normal() * 10.0 ** generator.uniform(-3, 1)
    values = [limit + away]
    for _ in range(windows - 1):
        away *= np.exp(-delta * LOG_RATIO) * generator.choice([-1, 1]) * generator.uniform() ** 0.3
        values.append(limit + away)
    return limit, np.array(values)


@pytest.mark.parametrize("delta", [0.05, 0.25, 1.0])
def test_every_pair_covers_the_limit_of_every_curve_of_the_class(delta):
    generator = np.random.default_rng(0)
    for _ in range(400):
        limit, values = draw_of_the_class(generator, delta)
        for pair in range(len(values) - 1):
            low, high = pair_interval(exact(values), pair, delta, LOG_RATIO)
            assert low - 1e-9 <= limit <= high + 1e-9


def test_the_interval_of_a_pair_is_no_wider_than_the_class_needs():
    """At each end the distances are in the ratio q exactly, and beyond it the class is left."""
    first, second, q = 1.3, 0.9, np.exp(-DELTA * LOG_RATIO)
    low, high = pair_interval(exact([first, second]), 0, DELTA, LOG_RATIO)
    for end, outside in ((low, low - 1e-6), (high, high + 1e-6)):
        assert abs(second - end) == pytest.approx(q * abs(first - end))
        assert abs(second - outside) > q * abs(first - outside)


@pytest.mark.parametrize("fault", [0.8, 1.2])
def test_a_wrong_factor_does_not_cover(fault, monkeypatch):
    """A planted fault: κ off by a fifth either misses the limit or is wider than needed."""
    right = factors(DELTA, LOG_RATIO)
    monkeypatch.setattr(
        "tutelage.claims.contraction.factors", lambda d, r: (right[0] * fault, right[1])
    )
    values = [1.0, np.exp(-DELTA * LOG_RATIO)]  # an approach to 0 like t^-δ: the end is the limit
    low, _ = pair_interval(exact(values), 0, DELTA, LOG_RATIO)
    assert abs(low) > 0.1


def test_the_interval_covers_curves_of_the_class_whatever_is_seen():
    """Lower exponents and moved beginnings only widen it."""
    generator = np.random.default_rng(1)
    missed = 0
    for _ in range(400):
        limit, values = draw_of_the_class(generator, DELTA)
        found = find_horizon(exact(values), LOG_RATIO)
        missed += not found.low - 1e-9 <= limit <= found.high + 1e-9
    assert missed == 0


@pytest.mark.parametrize("power", [0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 2.0])
def test_an_approach_by_any_power_is_covered_though_the_class_is_declared_with_a_quarter(power):
    times = np.exp(LOG_RATIO * np.arange(8))
    for size in (-1.0, 0.3):
        found = find_horizon(exact(2.0 + size * times**-power), LOG_RATIO)
        assert found.low <= 2.0 <= found.high
        assert found.slower == (power < DELTA / 0.45)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
def test_an_approach_by_powers_of_a_logarithm_is_covered(power):
    logs = 8 + LOG_RATIO * np.arange(8)
    found = find_horizon(exact(2.0 + 0.5 * logs**-power), LOG_RATIO)
    assert found.low <= 2.0 <= found.high
    assert found.slower


def test_the_hull_of_two_pairs_forgives_one_window_that_lies_too_near_another():
    """The last difference happens to vanish, though the limit is elsewhere."""
    values = [1.0, 0.7, 0.49, 0.343, 0.343]
    low, high = final_interval(exact(values), DELTA, LOG_RATIO)
    assert low <= 0.0 <= high
    assert pair_interval(exact(values), 3, DELTA, LOG_RATIO) == pytest.approx((0.343, 0.343))


def test_windows_that_contradict_the_class_are_judged_with_less():
    """The first pair says that the limit is near 1, the last that it is near 0."""
    sudden = find_horizon(exact([1.0, 1.001, 0.9, 0.6, 0.3, 0.3, 0.3]), LOG_RATIO)
    assert sudden.slower
    assert sudden.begins == 1
    # Here the exponent on which all pairs agree is smaller, and the interval wider.
    times = np.exp(LOG_RATIO * np.arange(7))
    values = [*(0.3 + times[:5] ** -0.12), 0.3 + times[4] ** -0.12 - 1e-4, 0.88]
    slow = find_horizon(exact(values), LOG_RATIO)
    assert slow.slower


def test_windows_that_run_away_leave_only_what_is_beyond_the_midpoint():
    found = find_horizon(exact([-1.0, -2.0, -5.0, -14.0]), LOG_RATIO)
    assert (found.delta, found.low) == (0.0, -np.inf)
    assert found.high == pytest.approx(-3.5)  # the hull of the last two midpoints


def test_windows_that_turn_are_judged_with_a_small_exponent():
    turned = find_horizon(exact([1.0, 1.02, 1.03, 1.033, 1.032]), LOG_RATIO)
    straight = find_horizon(exact([1.0, 1.02, 1.03, 1.033, 1.034]), LOG_RATIO)
    assert turned.delta < straight.delta
    assert turned.high - turned.low > straight.high - straight.low


def test_a_fast_approach_moves_the_beginning_and_not_the_exponent():
    times = np.exp(LOG_RATIO * np.arange(9))
    values = np.concatenate([[0.0, 0.001], 0.5 * times**-1.0])  # still on a plateau at first
    found = find_horizon(exact(values), LOG_RATIO)
    assert found.begins > 0
    assert found.delta == DELTA
    assert found.low <= 0 <= found.high


def test_the_point_estimate_is_exact_for_powers():
    times = np.exp(LOG_RATIO * np.arange(5))
    assert extrapolate(exact(3.0 + times**-0.7)) == pytest.approx(3.0)
    assert observed_exponent(exact(3.0 + times**-0.7), LOG_RATIO) == pytest.approx(0.7)


def test_the_smallest_exponent_is_where_the_interval_just_stands():
    values = exact([1.1, 1.03, 1.01])
    found = smallest_exponent(values, LOG_RATIO, 0.7, 1.3, True, DELTA)
    assert 0 < found < DELTA
    low, high = final_interval(values, found, LOG_RATIO)
    assert min(low - 0.7, 1.3 - high) == pytest.approx(0.0, abs=1e-6)
    assert smallest_exponent(exact([-1.0, -2.0, -5.0]), LOG_RATIO, 0.0, 1.0, False, 0.1) == 0.0


def test_replicates_cover_the_limit_of_their_mean_as_often_as_they_say():
    generator = np.random.default_rng(2)
    times = np.exp(LOG_RATIO * np.arange(4))
    missed = decided = 0
    for _ in range(600):
        runs = 1.0 + 0.2 * times**-0.5 + 0.05 * generator.standard_normal((6, 4))
        found = find_horizon(Replicates(runs), LOG_RATIO)
        missed += not found.low <= 1.0 <= found.high
        decided += found.high - found.low < 1.0
    assert missed / 600 <= 0.05
    assert decided > 100


def test_the_e_value_of_a_verdict_agrees_with_its_interval():
    generator = np.random.default_rng(3)
    runs = Replicates(1.0 + 0.01 * generator.standard_normal((12, 3)))
    low, high = final_interval(runs, DELTA, LOG_RATIO)
    for least, most, holds in ((low, high, True), (high, high + 1, False)):
        found = evidence(runs, LOG_RATIO, DELTA, least, most, holds)
        # The interval may be older than the last run, so the e-value may be above or below 20.
        assert 1 < found < 2000
    assert evidence(runs, LOG_RATIO, DELTA, 0.0, 2.0, True) > 1e4
    assert evidence(runs, LOG_RATIO, 0.0, 0.0, 2.0, True) < 1  # without a class nothing holds


def test_a_horizon_says_whether_it_is_slower_than_declared():
    assert Horizon(0.0, 1.0, 0.1, DELTA, 0, 0.5).slower
    assert not Horizon(0.0, 1.0, DELTA, DELTA, 0, 0.5).slower


def test_a_first_window_that_contradicts_only_means_that_the_class_begins_later():
    """The slope of an exact run: it turns once, then settles like t^-0.45 for seven windows."""
    settling = -0.5 + 0.01 * np.exp(-0.45 * LOG_RATIO * np.arange(7))
    found = find_horizon(exact([-0.495, *settling]), LOG_RATIO)
    assert found.begins == 1
    assert 0 < found.delta < found.declared
    assert -0.503 < found.low <= -0.5 <= found.high < -0.498


def test_a_curve_that_has_just_crossed_its_limit_is_judged_with_the_least_exponent():
    found = find_horizon(exact([1e-2, 3e-3, 2e-4, -5.1e-5, -4.5e-5, -3.1e-5]), LOG_RATIO)
    assert found.delta == found.declared * LADDER[-1]
    assert found.low < 0 < found.high < 2e-3


def test_differences_that_grow_without_a_turn_have_no_end():
    found = find_horizon(exact([0.0, 1e-5, 3e-5, 8e-5, 2e-4]), LOG_RATIO)
    assert (found.delta, found.high) == (0.0, np.inf)
