"""Chance: the martingale is one, its limits cover at all times at once, and adding seeds is
legitimate.
"""

import itertools

import numpy as np
import pytest
from scipy.special import betaln

from tutelage.claims import Measured, Number, Status, check
from tutelage.claims.chance import (
    ERROR,
    MIXTURE,
    are_one_run,
    confidence_limits,
    e_benjamini_hochberg,
    evidence_against_above,
    evidence_against_below,
    half_widths,
    log_martingale,
    log_yes_or_no,
    seeds_needed,
    yes_or_no_limits,
)
from tutelage.claims.replicates import Mean
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

RUN = Run(np.array([1]), {"x": np.ones(1)}, None, Outcome.FINISHED)
DRAWS = np.random.default_rng(0).standard_normal((50, 8000))


def test_the_martingale_is_the_mixture_that_its_formula_says():
    """∫ over the effect size g ~ N(0, 1/c²) of the likelihood ratio of (g, σ) against (0, σ), with
    σ integrated over dσ/σ on both sides: the ratio of two integrals, here by quadrature.
    """
    x = np.array([0.3, -1.2, 0.9, 2.0])
    n, c2 = len(x), MIXTURE
    effects = np.linspace(-60, 60, 4801)
    logs = np.linspace(-6, 12, 901)
    sigmas = np.exp(logs)

    def likelihood(g, sigma):
        away = x[:, None] / sigma - g
        return np.exp(-0.5 * (away**2).sum(0)) / sigma ** (n + 1)

    prior = np.sqrt(c2 / (2 * np.pi)) * np.exp(-0.5 * c2 * effects**2)
    weights = sigmas * (logs[1] - logs[0])
    above = sum(
        w * np.trapezoid(likelihood(effects, s) * prior, effects)
        for s, w in zip(sigmas, weights, strict=True)
    )
    below = float(sum(w * likelihood(0.0, s)[0] for s, w in zip(sigmas, weights, strict=True)))
    # Trapezoid rules on smooth peaks whose tails are below rounding: both integrals are exact.
    assert float(np.exp(log_martingale(x, 0.0))) == pytest.approx(above / below, rel=1e-12)


def test_the_martingale_begins_at_one_and_has_mean_one():
    assert np.exp(log_martingale(DRAWS[:1], 0.0)) == pytest.approx(1.0)
    for n in (2, 3, 4):  # later means rest on ever rarer samples
        values = np.exp(log_martingale(DRAWS[:n], 0.0))
        assert values.mean() == pytest.approx(1.0, abs=4 * values.std() / np.sqrt(len(values)))


def test_limits_are_where_the_martingale_reaches_one_over_the_error():
    values = DRAWS[:6, 0]
    half = half_widths(6)[-1] * values.std(ddof=1)
    for end in (values.mean() - half, values.mean() + half):
        assert float(np.exp(log_martingale(values, end))) == pytest.approx(1 / ERROR)


def test_limits_cover_at_all_times_at_once_on_both_sides():
    low, high = confidence_limits(DRAWS)
    allowed = 3 * np.sqrt(ERROR / DRAWS.shape[1])
    assert np.mean((low > 0) | (high < 0)) <= ERROR + allowed
    assert max(np.mean(low > 0), np.mean(high < 0)) <= ERROR / 2 + allowed


def test_from_ten_seeds_on_adding_seeds_never_widens_limits():
    ends = [confidence_limits(DRAWS[:n]) for n in range(10, 30)]
    for (low, high), (later_low, later_high) in itertools.pairwise(ends):
        assert (later_low >= low - 1e-12).all()
        assert (later_high <= high + 1e-12).all()


def test_a_few_runs_that_happen_to_agree_do_not_bind_later_ones():
    """Numbers of two groups: the first four are of one, as chance will have it in every eighth."""
    values = np.array([2.0, 2.1, 1.9, 2.0, *np.tile([-2.0, 2.0], 10), -2.0, -2.0, -2.0, -2.0])
    low, high = confidence_limits(values)
    assert low < 0 < high


@pytest.mark.depth
def test_limits_of_a_share_are_exact_and_cover_at_all_times_at_once():
    generator = np.random.default_rng(4)
    for share in (0.02, 0.4):
        missed = 0
        for _ in range(300):
            yes = np.cumsum(generator.random(40) < share)
            ends = [yes_or_no_limits(int(yes[n - 1]), n) for n in (3, 5, 8, 12, 20, 40)]
            missed += any(not low <= share <= high for low, high in ends)
        assert missed / 300 <= ERROR + 3 * np.sqrt(ERROR / 300)


def test_the_martingale_of_a_share_has_mean_one():
    """Summed over all 2⁵ sequences of answers, by their probabilities."""
    share, runs = 0.3, 5
    total = 0.0
    for answers in itertools.product((0, 1), repeat=runs):
        yes = sum(answers)
        likely = share**yes * (1 - share) ** (runs - yes)
        total += likely * np.exp(log_yes_or_no(yes, runs, share))
    assert total == pytest.approx(1.0, abs=1e-12)


def test_answers_that_are_all_alike_still_have_chance_in_them():
    alike = check(Number(lambda runs: [1.0] * 5, 0.9, "the share", 0.05), [RUN] * 5)
    assert alike.status is Status.UNDECIDED
    assert alike.interval[0] < 0.9
    many = check(Number(lambda runs: [1.0] * 60, 0.3, "the share", 0.05), [RUN] * 60)
    assert many.status is Status.FAILS
    assert many.e_value > 20


def test_one_replicate_has_no_interval():
    alone = check(Number(lambda runs: [1.0], 1.0, "it", 0.5), [RUN])
    assert (alone.status, alone.interval) == (Status.UNDECIDED, None)


def test_limits_move_and_grow_with_the_values():
    low, high = confidence_limits(DRAWS[:7, 0])
    moved = confidence_limits(1e3 + 5.0 * DRAWS[:7, 0])
    assert np.array(moved) == pytest.approx(1e3 + 5.0 * np.array([low, high]), rel=1e-9)


@pytest.mark.parametrize("edge", [0.0, -0.3])
def test_e_values_against_a_true_half_line_have_mean_at_most_one(edge):
    # The mean is 0, which is at or above both edges.
    values = [evidence_against_above(DRAWS[:4, k], edge) for k in range(3000)]
    assert np.mean(values) <= 1 + 4 * np.std(values) / np.sqrt(len(values))
    mirrored = [evidence_against_below(-DRAWS[:4, k], -edge) for k in range(20)]
    assert mirrored == pytest.approx(values[:20])


def test_an_e_value_is_large_only_far_from_the_sample():
    values = 5 + 0.1 * DRAWS[:8, 0]
    assert evidence_against_above(values, 10.0) > 1e6
    assert evidence_against_above(values, 4.0) < 1  # the sample itself is above 4


def test_e_benjamini_hochberg_accepts_by_rank_and_bounds_false_discoveries():
    assert e_benjamini_hochberg([100, 15, 12, 1], 0.1) == [True, False, False, False]
    assert e_benjamini_hochberg([100, 30, 20], 0.1) == [True, True, True]
    assert e_benjamini_hochberg([], 0.1) == []
    generator = np.random.default_rng(1)
    shares = []
    for _ in range(1500):
        # Forty false claims that all share one draw, and ten true ones.
        shared = generator.standard_normal(4)
        false = [evidence_against_above(shared, 0.0)] * 40
        kept = e_benjamini_hochberg([*false, *[1e4] * 10], 0.1)
        shares.append(sum(kept[:40]) / max(1, sum(kept)))
    assert np.mean(shares) <= 0.1


@pytest.mark.parametrize(("e_values", "level"), [([1.0], 0.0), ([-1.0], 0.1), ([np.nan], 0.1)])
def test_e_values_and_levels_out_of_range_are_refused(e_values, level):
    with pytest.raises(Refused, match="Got"):
        e_benjamini_hochberg(e_values, level)


def test_the_seeds_that_a_power_calculation_names_do_decide():
    seeds = seeds_needed(1.0, 2.0)
    low, high = confidence_limits(DRAWS[:seeds])
    assert np.mean((low >= -2) & (high <= 2)) >= 0.88
    low, high = confidence_limits(DRAWS[: seeds - 2])
    assert np.mean((low >= -2) & (high <= 2)) < 0.9
    assert seeds_needed(0.0, 1.0) == 2
    assert seeds_needed(100.0, 0.1) is None
    with pytest.raises(Refused, match="positive tolerance"):
        seeds_needed(1.0, 0.0)


def test_replicates_that_are_one_run_to_rounding_are_recognised():
    assert are_one_run(np.array([1.0, 1.0 + 1e-9]))
    assert not are_one_run(np.array([1.0, 1.0 + 1e-3]))
    verdict = check(Number(lambda runs: [2.0, 2.0 + 1e-9], 2.0, "it", 0.1), [RUN] * 2)
    assert (verdict.status, verdict.spread, verdict.e_value) == (Status.HOLDS, None, None)


def test_a_few_lognormal_numbers_hardly_ever_hold_a_bound_below_their_mean():
    generator = np.random.default_rng(2)
    for count in (3, 4, 5):
        wrong = 0
        for _ in range(800):
            values = np.exp(0.8 * generator.standard_normal(count) - 0.32)
            wrong += Mean(values, "either").interval[1] < 0.97  # of mean 1
        assert wrong / 800 <= 0.015


def test_one_seed_with_noise_and_three_points_decides_no_exponent():
    from tutelage.claims.calibration import judge_family
    from tutelage.claims.development import FAMILIES

    (family,) = [f for f in FAMILIES if f.name == "1 seed, 30% noise, 3"]
    assert judge_family(family, 300).wrong <= 3


def test_numbers_on_a_logarithmic_scale_are_geometric_means():
    values = [1.0, 2.0, 4.0, 8.0, 2.0]
    verdict = check(Measured(lambda runs: values, "it", scale="log"), [RUN] * 5)
    assert verdict.measured == pytest.approx(128 ** (1 / 5))
    low, high = confidence_limits(np.log(values))
    assert verdict.interval == pytest.approx((np.exp(low), np.exp(high)))
    with pytest.raises(Refused, match="must be positive"):
        check(Measured(lambda runs: [-1.0, 1.0], "it", scale="log"), [RUN] * 2)
    with pytest.raises(Refused, match="scale of a number"):
        Number(lambda runs: [1.0], 1.0, "it", 0.1, scale="cubic")


def test_an_undecided_number_says_how_many_replicates_would_decide():
    values = [1.0, 1.1, 0.9, 1.05]
    verdict = check(Number(lambda runs: values, 1.0, "it", 0.2), [RUN] * 4)
    assert verdict.status is Status.UNDECIDED
    assert "replicates would decide" in verdict.sentence


def test_a_bound_says_how_loose_it_is_and_what_would_have_failed_it():
    verdict = check(
        Number(lambda runs: [1.0, 1.01, 0.99, 1.0, 1.02], 12.0, "it", 0.0, "at most"), [RUN] * 5
    )
    assert verdict.status is Status.HOLDS
    assert verdict.looseness == pytest.approx(12.0, rel=0.01)
    assert verdict.smallest_violation == 0.0
    assert verdict.e_value > 1 / ERROR


def test_the_interval_of_skewed_numbers_contains_their_mean():
    """Numbers near 1 with a few far below, as correlations are: the first ones agree too well."""
    generator = np.random.default_rng(0)
    for _ in range(50):
        values = 1 - 0.003 * generator.random(100)
        values[generator.integers(10, 100, 6)] = 0.85
        for scale in ("linear", "log", "either"):
            mean = Mean(values, scale)
            low, high = mean.interval
            assert low <= mean.value <= high, scale


def test_numbers_between_0_and_1_have_the_limits_of_a_share():
    """The martingale of a share has a mean of at most 1 for every such law, enumerated here."""
    values, chances = (0.0, 0.3, 1.0), (0.5, 0.3, 0.2)
    mean, runs = float(np.dot(values, chances)), 4
    total = 0.0
    for drawn in itertools.product(range(3), repeat=runs):
        likely = float(np.prod([chances[k] for k in drawn]))
        total += likely * np.exp(log_yes_or_no(sum(values[k] for k in drawn), runs, mean))
    assert 0.3 < total < 1.0  # 1 for numbers that are 0 or 1 alone
    skewed = np.array([1e-30, 1e-3, 0.2, 1e-12, 1e-5, 0.004, 1e-9, 1e-20])
    assert Mean(skewed, "unit").spread == yes_or_no_limits(float(skewed.sum()), 8)
    assert Mean(skewed, "unit").value == pytest.approx(skewed.mean(), rel=1e-14)
    # 700 numbers that are nearly 0: B(½, 700½)/B(½, ½) = 20 (1 − m)^700 at the upper limit m.
    upper = Mean(np.full(700, 1e-20), "unit").interval[1]
    assert betaln(0.5, 700.5) - betaln(0.5, 0.5) == pytest.approx(
        np.log(20) + 700 * np.log1p(-upper), abs=1e-9
    )
    assert 0.009 < upper < 0.01
    with pytest.raises(Refused, match=r"between 0 and 1\. Got numbers from 0.5 to 1.5"):
        Mean(np.array([0.5, 1.5]), "unit")
