"""The parts of the verdict rule, each on a few numbers that are worked out by hand."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2

from tutelage.claims import Order, Status, contraction, order
from tutelage.claims.chance import (
    ERROR,
    KEPT_FROM,
    SAME,
    are_one_run,
    confidence_limits,
    e_benjamini_hochberg,
    evidence_against_above,
    evidence_against_below,
    half_widths,
    log_martingale,
    log_yes_or_no,
    seeds_needed,
)
from tutelage.claims.contraction import (
    DELTA,
    LADDER,
    EachRun,
    Horizon,
    OneRun,
    Replicates,
    extrapolate,
    find_horizon,
    observed_exponent,
    pair_interval,
    turns,
)
from tutelage.claims.order import LAST_SLOPES, _largest, _steady_below, log_powers
from tutelage.claims.replicates import Mean
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

LOG_RATIO = float(np.log(2.0))


def exact(*values):
    return OneRun(np.array(values, float), np.zeros((len(values), 1)), 0.0)


def noisy(*values, scatter):
    return OneRun(np.array(values, float), np.eye(len(values)), scatter)


# ------------------------------------------------------------------------------ one run


def test_the_limits_of_a_run_are_its_value_plus_and_minus_its_errors():
    run = noisy(1.0, 5.0, scatter=0.1)
    assert run.limits(np.array([0.0, 1.0])) == pytest.approx((5 - 0.3, 5 + 0.3))
    assert run.error(np.array([3.0, 4.0])) == pytest.approx(0.5)


def test_the_exponent_seen_is_the_smaller_of_the_last_two():
    # The differences 8, 4, 1 shrink by 2 and by 4: the exponents are 1 and 2.
    assert observed_exponent(exact(0, 8, 12, 13), LOG_RATIO) == pytest.approx(1.0)
    assert observed_exponent(exact(0, 8, 10, 11), LOG_RATIO) == pytest.approx(1.0)
    # Earlier differences are not looked at.
    assert observed_exponent(exact(0, 1, 9, 11, 11.5), LOG_RATIO) == pytest.approx(2.0)


def test_the_estimate_is_aitkens_where_differences_shrink():
    assert extrapolate(exact(0, 1, 1.5)) == pytest.approx(2.0)  # 1.5 + ½ + ¼ + …
    assert extrapolate(exact(0, 1, 1.95)) == 1.95  # by 0.95: too slow to be summed
    assert extrapolate(exact(0, 1, 0.5)) == 0.5  # it turned
    assert extrapolate(exact(1, 1.5)) == 1.5
    assert extrapolate(noisy(0, 1, 1.5, scatter=0.1)) == 1.5  # not visible


def test_differences_count_from_five_standard_errors_on():
    # The differences are 8, 2, 1, the exponents 2 and 1; an error of a difference is √2 of one
    # window's, so that the last one is seen up to a scatter of 1/(5√2) = 0.1414.
    values = (0.0, 8.0, 10.0, 11.0)
    assert observed_exponent(noisy(*values, scatter=0.141), LOG_RATIO) == pytest.approx(1.0)
    assert observed_exponent(noisy(*values, scatter=0.142), LOG_RATIO) == pytest.approx(2.0)
    assert observed_exponent(noisy(*values, scatter=0.3), LOG_RATIO) is None


def test_windows_turn_where_the_last_three_differences_have_both_signs():
    assert turns(exact(0, 1, 2, 1))
    assert turns(exact(0, -1, 2, 3))
    assert not turns(exact(0, -1, 2, 3, 4))  # it turned before
    assert not turns(noisy(0, 1, 2, 1.9, scatter=0.1))  # not visibly


def test_a_run_that_stands_still_is_at_its_limit_from_its_first_window():
    found = find_horizon(exact(2, 2, 2, 2, 2), LOG_RATIO)
    assert found == Horizon(2, 2, DELTA, DELTA, 0, 2)
    assert found.settles


def test_a_run_that_moves_steadily_approaches_nothing():
    # Equal differences: whatever the exponent, an earlier pair excludes what the last one says.
    found = find_horizon(exact(0, 1, 2, 3, 4, 5), LOG_RATIO)
    assert found.delta == 0
    assert not found.settles
    assert found.away == 5
    assert find_horizon(exact(0, 1, 2, 3, 4, 5, 4.9), LOG_RATIO).away is None


def test_a_run_goes_away_only_where_every_step_is_seen_to():
    """An error of a difference is √2 of one window's: steps of 1 are seen up to 0.1414."""
    one_way = contraction._one_way
    assert one_way(exact(0, 1, 2, 3), 0) == 3
    assert one_way(exact(5, 1, 2, 3), 0) is None  # the first step goes the other way
    assert one_way(exact(5, 1, 2, 3), 1) == 3
    assert one_way(exact(5, 1, 2, 3), 2) is None  # one step is no way
    assert one_way(exact(0, 1, 1, 2), 0) is None  # one of three stands still
    assert one_way(noisy(0, 1, 2, 3, scatter=0.141), 0) == 3
    assert one_way(noisy(0, 1, 2, 3, scatter=0.142), 0) is None
    assert one_way(noisy(0, 1, 4, 7, scatter=0.142), 0) is None  # the first is not seen
    assert one_way(exact(3, 2, 1, -1), 0) == -1


def test_windows_that_contradict_the_last_ones_without_an_exponent_are_a_misfit():
    # By the last two pairs the limit is below 3, by the one before them above 3.5.
    assert find_horizon(exact(2, 2.5, 3, 4, 2, 1), LOG_RATIO).misfit
    assert find_horizon(exact(4, 5, 2, 1), LOG_RATIO).misfit  # also the only pair before them
    # Here the pair before the last two agrees with them.
    assert not find_horizon(exact(0, 3, 5, 3, 2, 1), LOG_RATIO).misfit
    # Here by an earlier one alone: the class may have begun later.
    later = find_horizon(exact(3, 4, 2, 1, 0, -1), LOG_RATIO)
    assert (later.delta, later.begins, later.misfit) == (0, 1, False)


def test_an_exponent_is_halved_until_no_earlier_pair_contradicts():
    """Differences in the ratio r are those of the exponent −log₂ r; a third of it is begun with."""
    for ratio in (0.5, 0.8, 0.95):
        values = np.cumsum([0.0, *ratio ** np.arange(7.0)])
        found = find_horizon(exact(*values), LOG_RATIO)
        begun = min(DELTA, -np.log2(ratio) / 3)
        assert found.delta in [pytest.approx(begun * share) for share in LADDER]
        assert found.low <= values[-1] + ratio**7 / (1 - ratio) <= found.high
    assert tuple(2.0**-k for k in range(5)) == LADDER  # as docs/verdicts.md says


def test_without_an_exponent_the_limit_is_beyond_the_middle_of_the_last_two():
    assert pair_interval(exact(1, 3), 0, 0.0, LOG_RATIO) == (2.0, np.inf)
    assert pair_interval(exact(3, 1), 0, 0.0, LOG_RATIO) == (-np.inf, 2.0)
    assert pair_interval(exact(1, 1), 0, 0.0, LOG_RATIO) == (1.0, 1.0)


def test_runs_without_scatter_are_each_within_their_limits():
    """Means 2 and 4, errors 0.1 and 0.2: three errors beyond the outermost."""
    both = EachRun((noisy(2.0, scatter=0.1), noisy(4.0, scatter=0.2)))
    only = np.array([1.0])
    assert both.mean == pytest.approx([3.0])
    assert both.limits(only) == pytest.approx((1.7, 4.6))
    assert both.error(only) == pytest.approx(0.2)


def test_the_error_of_replicates_is_that_of_their_mean():
    sample = Replicates(np.array([[1.0], [3.0], [5.0], [7.0]]))
    assert sample.error(np.array([1.0])) == pytest.approx(np.sqrt(20 / 3) / 2)
    steady = Replicates(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert steady.error(np.array([-1.0, 1.0])) == 0.0  # the step is 1 in each


def test_a_run_settles_from_the_least_exponent_on():
    least = contraction.SLOWEST
    assert Horizon(0, 1, least, DELTA, 0, 0.5).settles
    assert not Horizon(0, 1, 0.99 * least, DELTA, 0, 0.5).settles
    assert not Horizon(0, 1, least, DELTA, 0, 0.5, misfit=True).settles


def test_steps_are_seen_from_a_billionth_on():
    assert observed_exponent(exact(0, 4e-9, 6e-9), LOG_RATIO) == pytest.approx(1.0)
    assert observed_exponent(exact(0, 2.4e-9, 3.6e-9), LOG_RATIO) == pytest.approx(1.0)
    assert observed_exponent(exact(0, 1.6e-9, 2.4e-9), LOG_RATIO) is None


def test_an_estimate_needs_three_windows():
    assert extrapolate(exact(3)) == 3
    assert extrapolate(exact(0, 1)) == 1
    assert extrapolate(exact(0, 1, 1.5)) == pytest.approx(2.0)
    assert extrapolate(exact(7, 0, 1, 1.5)) == pytest.approx(2.0)
    first = OneRun(np.array([0.0, 1.0, 1.5]), np.diag([1.0, 0.0, 0.0]), 1.0)
    assert extrapolate(first) == pytest.approx(2.0)  # the last step has no error


@pytest.mark.parametrize(
    ("least", "most", "holds", "stands"),
    [
        (2.0, 2.0, True, True),  # the ends are allowed
        (2.1, 3.0, True, False),
        (2.0, 3.0, False, False),
        (2.1, 3.0, False, True),
        (1.0, 1.9, False, True),
        (1.0, 2.0, False, False),
    ],
)
def test_a_verdict_stands_without_an_exponent_at_a_limit_that_is_reached(
    least, most, holds, stands
):
    sample = exact(2, 2, 2, 2)
    found = contraction.smallest_exponent(sample, LOG_RATIO, least, most, holds, 0.25)
    assert (found == 0.0) is stands


def test_without_an_exponent_evidence_is_that_of_the_direction():
    """The far end is infinite: that it is on one side is told by the differences, against 0."""
    values = np.random.default_rng(0).normal([0, 0, 2, 3, 3.5], 0.01, (5, 5))
    ends = contraction._end_values(Replicates(values), LOG_RATIO, 0.0)
    assert [edge(0.7) for _, edge in ends] == [0.7, 0.0, 0.7, 0.0]
    np.testing.assert_allclose(ends[1][0], values[:, 3] - values[:, 2])
    np.testing.assert_allclose(ends[3][0], values[:, 4] - values[:, 3])


def test_the_constants_of_the_class():
    """Those that docs/verdicts.md states."""
    assert (DELTA, contraction.SHARE, contraction.LEAST_WINDOWS) == (0.25, 1 / 3, 4)
    assert contraction.SLOWEST == 0.25 / 16
    assert contraction.FAR == 1.0


@pytest.mark.parametrize(
    ("windows", "share"),
    [
        ((0.0, 1.0, 1.5, 1.8), -np.log2(0.6) / 3 / DELTA),  # seen, so that a third of it is used
        ((0.0, 0.1, 0.8, 0.8, 1.8), 1 / 2),
        ((0.0, 0.6, 8.0, 8.0, 8.7), 1 / 4),
        ((0.0, 1.0, 29.1, 29.1, 33.0), 1 / 8),
        ((0.0, 0.5, 29.2, 29.2, 29.6), 1 / 16),
    ],
)
def test_the_exponent_is_halved_only_as_often_as_needed(windows, share):
    """A pair that stands still hides the exponent, and the last step must be within its reach."""
    assert find_horizon(exact(*windows), LOG_RATIO).delta == pytest.approx(share * DELTA)


def test_earlier_pairs_are_those_before_the_last_two():
    """The hull of the last two pairs is the interval, so that they cannot contradict it."""
    run = exact(0, 1, 2, 4, 2)
    final = contraction.final_interval(run, 0.0, LOG_RATIO)
    assert final == (-np.inf, np.inf)
    apart = (10.0, 11.0)
    assert contraction._first_consistent(run, 0.25, LOG_RATIO, apart) == 2
    near = pair_interval(run, 1, 0.25, LOG_RATIO)
    assert contraction._first_consistent(run, 0.25, LOG_RATIO, (near[1], 99.0)) == 1


def test_rounding_of_large_windows_is_no_contradiction():
    """1e-9 of 10⁶ is 10⁻³."""
    run = exact(1e6, 1e6, 1e6, 1e6)
    assert contraction._first_consistent(run, 0.25, LOG_RATIO, (1e6 + 5e-4, 1e6 + 1)) == 0
    assert contraction._first_consistent(run, 0.25, LOG_RATIO, (1e6 + 5e-3, 1e6 + 1)) == 1
    assert contraction._first_consistent(run, 0.25, LOG_RATIO, (1e6 - 1, 1e6 - 5e-4)) == 0
    assert contraction._first_consistent(run, 0.25, LOG_RATIO, (1e6 - 1, 1e6 - 5e-3)) == 1
    fallen = exact(1e6, 1e6, 1e6, 0)  # the largest counts
    assert contraction._first_consistent(fallen, 0.25, LOG_RATIO, (1e6 + 5e-4, 1e6 + 1)) == 0
    assert contraction._first_consistent(exact(0, 0, 0, 0), 0.25, LOG_RATIO, (1.5e-9, 1)) == 1


def test_an_estimate_outside_of_its_interval_is_at_its_end():
    assert [contraction._inside(x, (1.0, 2.0)) for x in (0.5, 1.5, 2.5)] == [1.0, 1.5, 2.0]


def test_standing_still_in_one_pair_excludes_nothing():
    assert pair_interval(exact(1, 1, 2), 0, 0.0, LOG_RATIO) == (1.0, 1.0)
    assert pair_interval(noisy(1, 1, scatter=0.1), 0, 0.0, LOG_RATIO) == (-np.inf, np.inf)


def test_evidence_of_a_failure_is_that_of_its_weakest_end():
    values = np.random.default_rng(0).normal([0, 0, 2, 3, 3.5], 0.01, (5, 5))
    sample = Replicates(values)
    ends = [end for end, _ in contraction._end_values(sample, LOG_RATIO, 1.0)]
    higher = min(contraction.evidence_against_below(end, 1.0) for end in ends)
    found = contraction.evidence(sample, LOG_RATIO, 1.0, -np.inf, 1.0, False)
    assert found == pytest.approx(higher, rel=1e-12)
    lower = min(contraction.evidence_against_above(end, 0.5) for end in ends)
    both = contraction.evidence(sample, LOG_RATIO, 1.0, 0.5, 1.0, False)
    assert both == pytest.approx((higher + lower) / 2, rel=1e-12)


def test_evidence_asks_both_ends_of_the_last_two_pairs():
    values = np.random.default_rng(0).normal([0, 0, 2, 3, 3.5], 0.01, (5, 5))
    ends = contraction._end_values(Replicates(values), LOG_RATIO, 1.0)
    # At exponent 1 and ratio 2, q is ½: the ends are y₂ − (y₂ − y₁)/3 and y₂ + (y₂ − y₁).
    first, second, third = values[:, 2], values[:, 3], values[:, 4]
    expected = [
        second - (second - first) / 3,
        2 * second - first,
        third - (third - second) / 3,
        2 * third - second,
    ]
    assert [end for end, _ in ends] == [pytest.approx(one) for one in expected]
    assert [edge(0.7) for _, edge in ends] == [0.7] * 4
    few = [len(contraction._end_values(Replicates(values[:, :n]), LOG_RATIO, 1.0)) for n in (2, 3)]
    assert few == [2, 4]


# ------------------------------------------------------------------------------ replicates


def test_a_mean_of_two_has_a_spread_and_one_without_chance_what_was_seen():
    two = np.array([1.0, 3.0])
    low, high = Mean(two, "linear").spread
    assert low < 1 < 3 < high
    assert Mean(two[:1], "linear").spread is None
    assert Mean(two, "linear", certain=True).interval == (1.0, 3.0)
    with pytest.raises(Refused, match="must be positive"):
        Mean(np.array([0.0, 1.0]), "log")


def test_a_lognormal_mean_is_above_its_median_by_half_its_variance_at_most():
    """The variance of the logarithms is at most n−1 times the one seen over a quantile of χ²."""
    values = np.array([1.0, 2.0, 4.0, 3.0])
    variance = np.log(values).var(ddof=1)
    expected = 0.5 * variance * 3 / chi2.ppf(ERROR / 2, 3)
    assert Mean(values, "either")._above == pytest.approx(expected, rel=1e-9)
    assert Mean(values, "log")._above == 0.0


@pytest.mark.parametrize("values", [(1.0, 2.0, 4.0, 3.0), (9.0, 10.0, 10.5, 1.0)])
def test_limits_of_a_mean_are_the_hull_of_both_scales(values):
    values = np.array(values)
    low, high = map(float, confidence_limits(values, with_mean=True))
    least, most = map(float, confidence_limits(np.log(values), with_mean=True))
    mean = Mean(values, "either")
    ends = min(low, np.exp(least)), max(high, np.exp(most + mean._above))
    assert mean.spread == pytest.approx(ends, rel=1e-12)
    assert Mean(values, "linear").spread == pytest.approx((low, high), rel=1e-12)
    assert Mean(values, "log").spread == pytest.approx((np.exp(least), np.exp(most)), rel=1e-12)


def test_runs_are_one_where_they_agree_to_rounding_of_the_largest_number():
    """Runs of two numbers, one of which is zero."""
    for away, one in ((0.5 * SAME, True), (2 * SAME, False)):
        for column in (0, 1):
            given = np.array([[0.0, 5.0], [0.0, 5.0]])
            given[1, column] += 5 * away
            assert are_one_run(given) is one


def test_evidence_that_just_suffices_is_kept():
    """One claim at 5% needs 20, two together need 20 each or one of them 40."""
    assert e_benjamini_hochberg([20.0], 0.05) == [True]
    assert e_benjamini_hochberg([20.0, 20.0], 0.05) == [True, True]
    assert e_benjamini_hochberg([19.9, 40.0], 0.05) == [False, True]
    assert e_benjamini_hochberg([39.9, 1.0], 0.05) == [False, False]


def test_a_limit_that_no_float_holds_is_cut():
    assert Mean(np.array([1e-140, 1.0, 1e140]), "either").spread[1] == np.exp(700.0)


@pytest.mark.parametrize(("least", "most"), [(0.5, 1.6), (0.5, 9.0), (1.1, 9.0), (-1.0, 1.5)])
def test_evidence_that_a_mean_is_within_is_that_of_its_weakest_end_and_scale(least, most):
    values = np.array([1.0, 1.5, 1.2, 1.1, 1.3, 1.4])
    mean, logs = Mean(values, "either"), np.log(values)
    found = [
        evidence_against_above(values, most),
        evidence_against_below(values, least),
        evidence_against_above(logs, np.log(most) - mean._above),
    ]
    if least > 0:
        found.append(evidence_against_below(logs, np.log(least)))
    assert mean.evidence(least, most, True) == pytest.approx(min(found), rel=1e-12)
    alone = Mean(values, "linear").evidence(least, most, True)
    assert alone == pytest.approx(min(found[:2]), rel=1e-12)


def test_what_would_decide_a_mean_is_told_by_its_scatter_and_its_room():
    """On the logarithmic scale the room is that of logarithms; of both scales the worse counts."""
    values = np.array([1.0, 2.0, 4.0, 3.0])
    logs = np.log(values)
    linear = seeds_needed(values.std(ddof=1), 9.0 - 2.5)
    curved = seeds_needed(logs.std(ddof=1), np.log(9.0) - logs.mean())
    for scale, seeds in (("linear", linear), ("log", curved), ("either", max(linear, curved))):
        said = Mean(values, scale).would_decide(-np.inf, 9.0)
        assert said == f"about {max(seeds, 5)} replicates would decide"
    steady = Mean(np.array([1.0, 1.001, 0.999, 1.0]), "linear")
    assert steady.would_decide(0.0, 9.0) == "about 5 replicates would decide"  # one more
    assert "more than" in Mean(values, "linear").would_decide(2.5, 9.0)  # at the very end
    assert Mean(values[:1], "log").would_decide(2.5, 9.0) == "more replicates would decide"


@pytest.mark.parametrize(("least", "most"), [(6.0, 8.0), (0.1, 0.2)])
def test_evidence_that_a_mean_is_outside_is_that_of_its_weaker_scale(least, most):
    values = np.array([1.0, 1.5, 1.2, 1.1, 1.3, 1.4])
    mean, logs = Mean(values, "either"), np.log(values)
    if least > values.max():  # the nearest allowed mean is the least
        linear = evidence_against_above(values, least)
        curved = evidence_against_above(logs, np.log(least) - mean._above)
    else:
        linear = evidence_against_below(values, most)
        curved = evidence_against_below(logs, np.log(most))
    assert mean.evidence(least, most, False) == pytest.approx(min(linear, curved), rel=1e-12)
    alone = Mean(values, "linear").evidence(least, most, False)
    assert alone == pytest.approx(linear, rel=1e-12)


def test_evidence_that_a_share_is_outside_is_that_of_the_nearest_one_allowed():
    mean = Mean(np.array([1.0] + [0.0] * 9), "either")
    assert mean.evidence(0.5, 1.2, False) == pytest.approx(np.exp(log_yes_or_no(1, 10, 0.5)))
    other = Mean(np.array([0.0] + [1.0] * 9), "either")
    assert other.evidence(-0.2, 0.5, False) == pytest.approx(np.exp(log_yes_or_no(9, 10, 0.5)))


def test_evidence_that_a_share_is_within_asks_the_ends_that_a_share_can_have():
    all_of_them, none = Mean(np.ones(20), "either"), Mean(np.zeros(20), "either")
    yes = np.exp(log_yes_or_no(20, 20, 0.5))
    assert all_of_them.evidence(0.5, 1.2, True) == pytest.approx(yes)
    assert all_of_them.evidence(0.5, 1.0, True) == pytest.approx(yes)
    assert none.evidence(0.0, 0.5, True) == pytest.approx(np.exp(log_yes_or_no(0, 20, 0.5)))
    assert none.evidence(-0.1, 0.5, True) == pytest.approx(np.exp(log_yes_or_no(0, 20, 0.5)))
    half = Mean(np.array([0.0, 1.0] * 50), "either")
    ends = [log_yes_or_no(50, 100, end) for end in (0.2, 0.7)]
    assert half.evidence(0.2, 0.7, True) == pytest.approx(np.exp(min(ends)))
    assert np.isfinite(Mean(np.ones(3000), "either").evidence(0.5, 1.2, True))


def test_limits_bind_later_ones_from_the_tenth_run_on():
    """Nine runs that agree closely have a narrow interval, which does not bind; ten do."""
    near = 1 + 1e-3 * np.resize([1.0, -1.0], KEPT_FROM)
    for agreeing, bound in ((KEPT_FROM - 1, False), (KEPT_FROM, True)):
        runs = np.concatenate([near[:agreeing], [1.5, 0.5, 1.5, 0.5]])
        low, high = confidence_limits(runs)
        before = half_widths(agreeing)[-1] * near[:agreeing].std(ddof=1)
        narrow = near[:agreeing].mean() - before, near[:agreeing].mean() + before
        assert (low >= narrow[0] and high <= narrow[1]) == bound


def test_the_martingale_by_its_formula():
    values, mean, c2 = np.array([1.0, 2.0, 4.0]), 0.5, 0.05
    away = values - mean
    n, total, squares = 3, away.sum(), (away**2).sum()
    by_hand = np.sqrt(c2 / (n + c2)) * (1 - total**2 / ((n + c2) * squares)) ** (-n / 2)
    assert log_martingale(values, mean) == pytest.approx(np.log(by_hand))


def test_answers_of_yes_or_no_are_a_share_only_where_nothing_else_is_said():
    assert Mean(np.array([0.0, 1.0, 1.0]), "either").is_share
    assert not Mean(np.array([0.0, 1.0, 0.5]), "either").is_share
    assert not Mean(np.array([0.0, 1.0, 1.0]), "linear").is_share


def seeds_said(mean, least, most):
    (seeds,) = re.findall(r"\d+", mean.would_decide(least, most))
    return int(seeds)


def test_the_replicates_that_would_decide_are_counted_from_the_nearest_edge():
    values = np.array([0.9, 1.1])
    spread = float(values.std(ddof=1))
    mean = Mean(values, "linear")
    # From 1 the edges of [0.8, 3] are 0.2 and 2 away, those of [−1, 1.3] 2 and 0.3.
    assert seeds_said(mean, 0.8, 3.0) == seeds_needed(spread, 0.2)
    assert seeds_said(mean, -1.0, 1.3) == seeds_needed(spread, 0.3)
    # Outside, it is the way back to the edge.
    assert seeds_said(mean, 1.4, 3.0) == seeds_needed(spread, 0.4)
    assert seeds_said(mean, -1.0, 0.8) == seeds_needed(spread, 0.2)


def test_a_share_scatters_as_answers_of_yes_or_no_do():
    share = Mean(np.array([1.0, 1.0, 1.0, 0.0]), "either")
    likely = 3.5 / 5
    spread = np.sqrt(likely * (1 - likely))
    assert seeds_said(share, 0.0, 0.95) == seeds_needed(spread, 0.2)


# ------------------------------------------------------------------------------ orders


SMALLEST = (1e-3,) * 4  # local slopes, which times log t = 10 are a power 0.01 of log t
LARGER = (0.02,) * 4  # and 0.2


@pytest.mark.parametrize(
    ("ends", "both", "upper"),
    [  # the limit of the slope is seen to be between these
        ((0.0051, 0.02), Status.FAILS, Status.FAILS),
        ((0.005, 0.02), Status.UNDECIDED, Status.UNDECIDED),
        ((-0.02, -0.0051), Status.FAILS, Status.HOLDS),
        ((-0.02, -0.005), Status.UNDECIDED, Status.HOLDS),
        ((-1e-4, 1e-4), Status.HOLDS, Status.HOLDS),
        ((1.1e-4, 0.004), Status.UNDECIDED, Status.UNDECIDED),
        ((-0.004, -1.1e-4), Status.UNDECIDED, Status.HOLDS),
        ((0.0, 0.01), Status.HOLDS, Status.HOLDS),
        ((0.0, 0.0101), Status.UNDECIDED, Status.UNDECIDED),
        ((-0.01, 0.0), Status.HOLDS, Status.HOLDS),
        ((-0.0101, 0.0), Status.UNDECIDED, Status.HOLDS),
    ],
)
def test_an_order_is_told_by_the_limit_of_its_slope(monkeypatch, ends, both, upper):
    for side, status in (("both", both), ("upper", upper)):
        assert find_order(monkeypatch, side, Horizon(*ends, DELTA, DELTA, 0, 0.0)).status is status


@pytest.mark.parametrize(
    ("away", "status"),
    [(1.0, "FAILS"), (-1.0, "FAILS"), (0.99, "UNDECIDED"), (None, "UNDECIDED")],
)
def test_without_an_exponent_a_slope_must_run_far_away(monkeypatch, away, status):
    slope = Horizon(0.0051, 0.02, 0.0, DELTA, 0, 0.0, away=away)
    assert find_order(monkeypatch, "both", slope).status is Status[status]


@pytest.mark.parametrize(
    ("windows", "powers", "both", "upper"),
    [
        (SMALLEST, (0.11, 0.2), (Status.FAILS, 0.01), (Status.FAILS, 0.01)),
        (SMALLEST, (0.1, 0.2), (Status.HOLDS, 0.01), (Status.HOLDS, 0.01)),
        (SMALLEST, (-0.2, -0.11), (Status.FAILS, 0.01), (Status.HOLDS, 0.0)),
        (SMALLEST, (-0.2, -0.1), (Status.HOLDS, 0.01), (Status.HOLDS, 0.0)),
        (LARGER, None, (Status.UNDECIDED, 0.2), (Status.UNDECIDED, 0.2)),
        (LARGER, (-0.05, 0.04), (Status.HOLDS, 0.05), (Status.HOLDS, 0.04)),
        (LARGER, (-0.03, 0.04), (Status.HOLDS, 0.04), (Status.HOLDS, 0.04)),
        (LARGER, (-0.05, -0.01), (Status.HOLDS, 0.05), (Status.HOLDS, 0.0)),
        (LARGER, (-0.05, 0.1), (Status.UNDECIDED, 0.2), (Status.UNDECIDED, 0.2)),
    ],
)
def test_an_order_is_told_by_the_power_of_its_logarithm(monkeypatch, windows, powers, both, upper):
    flat = Horizon(0.0, 0.0, DELTA, DELTA, 0, 0.0)
    for side, (status, excluded) in (("both", both), ("upper", upper)):
        found = find_order(monkeypatch, side, flat, powers, windows)
        assert found.status is status
        if status is Status.HOLDS:
            assert found.excluded == pytest.approx(excluded, rel=1e-12)
        assert (found.first, found.last) == (windows[0], windows[-1])


def test_windows_that_turned_tell_no_order(monkeypatch):
    found = find_order(monkeypatch, "both", Horizon(0, 0, DELTA, DELTA, 0, 0.0, misfit=True))
    assert found.status is Status.UNDECIDED
    assert "turned" in found.why


def find_order(monkeypatch, side, slope, powers=None, windows=SMALLEST):
    """What is found where the slope and the powers are known; the last time is e^10."""
    monkeypatch.setattr(order, "find_horizon", lambda *_: slope)
    monkeypatch.setattr(Order, "_powers", lambda *_: powers)
    times = [np.array([[1.0, 2.0], [3.0, last]]) for last in (10.0, 8.0)]
    parts = [SimpleNamespace(log_time=time) for time in times]
    reading = SimpleNamespace(parts=parts, log_ratio=LOG_RATIO)
    return Order("x", -1.0, side=side)._find(exact(*windows), reading)


@pytest.mark.parametrize(
    ("exponent", "last", "may"),
    [
        (-1.0, 0.51, True),
        (-1.0, 0.5, False),
        (-2.0, 0.9, False),
        (-2.0, 1.1, True),
        (0.0, 1, False),
    ],
)
def test_an_order_that_may_not_have_left_its_plateau(exponent, last, may):
    found = SimpleNamespace(last=last)
    assert Order("x", exponent)._may_be_a_plateau(found) is may
    assert not Order("x", exponent, plateau=10.0)._may_be_a_plateau(found)


def test_the_tolerance_of_an_order_is_a_slope_at_the_last_step():
    for ends, by in (((1000, 50), np.log(1000)), ((2,), 1.0), ((1,), 1.0)):
        runs = [SimpleNamespace(steps=np.array([1, end])) for end in ends]
        asked = Order("x", -1.0)._question(runs)
        assert asked.tolerance == pytest.approx(0.1 / by, rel=1e-12)
        assert asked.scale(None, np.array([2.0, 4.0])).tolist() == [0.5, 0.25]


def test_the_answer_about_an_order_is_in_powers_of_log_t():
    steps = np.unique(np.rint(10 ** np.arange(0, 6.5, 1 / 24)).astype(np.int64))
    run = Run(steps, {"x": np.log(steps + 1.0) / steps}, None, Outcome.FINISHED, rate=1.0)
    answer = Order("x", -1.0, plateau=1.0).answer([run])
    low, high = answer.interval
    assert answer.status is Status.FAILS
    assert low <= 1 <= high
    assert (answer.predicted, answer.measured) == (0.0, pytest.approx((low + high) / 2))
    assert answer.horizon == answer.interval


def test_the_largest_slope_is_that_of_the_last_three_windows_with_its_errors():
    run = noisy(-9, 0.1, -0.4, 0.2, scatter=0.01)
    assert _largest(run, "both") == pytest.approx(0.4 + 0.03)
    assert _largest(run, "upper") == pytest.approx(0.2 + 0.03)
    assert _largest(noisy(-9, -0.5, -0.4, -0.3, scatter=0.01), "upper") == 0.0
    assert _largest(exact(-0.4, 0.3), "both") == 0.4


@pytest.mark.parametrize(
    ("slopes", "highest"),
    [
        ((-1.0, -1.1, -1.1, -1.2), -1.0),
        ((-1.0, -1.1, -1.2), None),  # three windows are too few
        ((-1.0, -1.1, -1.1, -1.3), None),  # they vary by more than a quarter
        ((-8.0, -8.5, -9.0, -9.9), -8.0),  # a quarter of what they are, and not a quarter
        ((-1.2, -1.1, -1.1, -1.0), None),  # the last is the highest
        ((-0.004, -0.0041, -0.0041, -0.0042), None),  # not told from 0
    ],
)
def test_slopes_are_steady_below_zero(slopes, highest):
    assert _steady_below(exact(*slopes)) == highest


def test_the_power_of_a_logarithm_is_read_from_windows_that_fall_since():
    """s = β/x at equal steps of x: β̂ is β; a window that does not fall, and all before it, are
    left out.
    """
    x = np.log(2.0) * np.arange(20, 30)
    falling = 0.3 / x
    found = log_powers(exact(*falling), LOG_RATIO)
    assert found.mean == pytest.approx([0.3] * (LAST_SLOPES - 1))
    disturbed = falling.copy()
    disturbed[-6] = 1e-3
    found = log_powers(exact(*disturbed), LOG_RATIO)
    assert found.mean == pytest.approx([0.3] * 4)  # of the last five windows
    disturbed[-3] = 1e-3
    assert log_powers(exact(*disturbed), LOG_RATIO) is None
    assert log_powers(exact(*falling[:3]), LOG_RATIO) is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_power_is_read_where_steps_are_beyond_five_errors_and_rounding(sign):
    """Steps of 0.01 have the error √2·scatter; without scatter they must be above 1e-9."""
    slopes = sign * np.array([0.05, 0.04, 0.03, 0.02])
    for scatter, seen in ((0.01 / 5.1 / 2**0.5, True), (0.01 / 4.9 / 2**0.5, False)):
        found = log_powers(OneRun(slopes, np.eye(4), scatter), LOG_RATIO)
        assert (found is not None) is seen
    for step, seen in ((1.1e-9, True), (0.9e-9, False)):
        found = log_powers(exact(*(sign * (1.0 - step * np.arange(4)))), LOG_RATIO)
        assert (found is not None) is seen


def test_errors_of_the_power_are_its_derivatives():
    x = np.log(2.0) * np.arange(20, 25)
    slopes, small = 0.3 / x, 1e-6
    found = log_powers(OneRun(slopes, np.eye(5), 1e-9), LOG_RATIO)
    for window in range(5):
        up, down = (
            log_powers(OneRun(slopes + move * np.eye(5)[window], np.eye(5), 1e-9), LOG_RATIO)
            for move in (small, -small)
        )
        by_difference = (up.mean - down.mean) / (2 * small)
        # The next term of the difference is 1e-5 of it.
        assert found.noise[:, window] == pytest.approx(by_difference, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("power", [0.1, 0.9])
def test_the_number_of_seeds_is_the_least_that_has_the_power(power):
    """By 4,000 studies of other draws, each judged by its confidence limits themselves."""
    tolerance = 2.0
    seeds = seeds_needed(1.0, tolerance, power)
    draws = np.random.default_rng(1).standard_normal((seeds, 4000))

    def share(count):
        low, high = confidence_limits(draws[:count])
        return float(np.mean((low >= -tolerance) & (high <= tolerance)))

    # Both shares are estimates, by 2,000 and by 4,000 studies: 0.033 is four of their
    # standard errors together.
    assert share(seeds) > power - 0.033
    assert share(seeds - 1) < power + 0.033
