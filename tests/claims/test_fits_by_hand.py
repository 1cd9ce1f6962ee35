"""The parts of claims about exponents, ratios and power laws, on numbers worked out by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t as student_t

from tutelage.claims import Exponent, Rate, Ratio, Status
from tutelage.claims.chance import ERROR, evidence_against_above, evidence_against_below
from tutelage.claims.claim import Answer, NotYet
from tutelage.claims.discoveries import Discoveries
from tutelage.claims.exponent import _bend, fitted_exponent
from tutelage.claims.power_laws import (
    Constant,
    _in_units,
    _stalled,
    _steepens,
    window_of,
    windows_of,
)
from tutelage.claims.replicates import Mean
from tutelage.claims.sweep import Span, gather, mean_points
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting

SETTING = Setting(Part("convolution", tokens=6, support=2, outputs=2, dim=3), 0.5, 10)


def run_of(curve, steps=None):
    curve = np.asarray(curve, float)
    steps = np.arange(1, len(curve) + 1) if steps is None else np.asarray(steps)
    return Run(steps, {"x": curve}, None, Outcome.FINISHED, setting=SETTING, rate=0.5)


# --- exponents


def test_an_exponent_is_a_slope_of_logarithms():
    assert fitted_exponent([(1, 3.0), (2, 12.0), (8, 192.0)]) == pytest.approx(2.0, rel=1e-12)
    assert fitted_exponent([(1, 7.0), (2, 7.0), (8, 7.0)]) == 0.0
    found = [(1.0, 2.0, 0), (1.0, 8.0, 1), (3.0, 5.0, 0)]
    (row,) = mean_points(found, [0.0, 0.0, 0.0]).rows
    np.testing.assert_allclose(row, [(1.0, 4.0), (3.0, 5.0)])


def test_a_bend_is_what_chance_does_not_explain():
    """Two seeds move by 0.2 ± 0.1 and −0.3 ± 0.1, and two errors of that are chance."""
    fits = np.array([[0.0, 0.1, -0.2], [0.0, 0.3, -0.4]])
    assert _bend(fits) == pytest.approx((-0.1, 0.0), abs=1e-12)
    assert _bend(fits[:, [0, 2, 1]]) == pytest.approx((-0.1, 0.0), abs=1e-12)
    assert _bend(-fits) == pytest.approx((0.0, 0.1), abs=1e-12)
    assert _bend(np.zeros((1, 3))) == (0.0, 0.0)
    assert _bend(np.array([[0.05, 0.1, -0.02]])) == pytest.approx((-0.07, 0.05), abs=1e-12)


def test_errors_of_the_points_move_a_slope_at_the_worst():
    """(0.3 + 0.2)/2 at x = 1, e and e²: the largest error of each, and its distance from the
    middle. Of seeds that differ, (0.3 + 0.1)/2 of the second is the worst.
    """
    e = np.e
    found = [(1.0, 1, 0), (e, 1, 0), (e**2, 1, 0), (1.0, 1, 1), (e, 1, 1), (e**2, 1, 1)]
    errors = [0.1, 0.9, 0.2, 0.3, 0.4, 0.1]
    assert gather(found, errors).reach == pytest.approx(0.25, rel=1e-12)
    found[0] = (1.0, 2, 0)
    assert gather(found, errors).reach == pytest.approx(0.2, rel=1e-12)


X = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def claim_of(bumps, **options):
    """y = x² times something, one row of it per seed."""
    points = [
        (x, x**2 * np.exp(b), seed)
        for seed, row in enumerate(bumps)
        for x, b in zip(X, row, strict=True)
    ]
    return Exponent(lambda runs: points, 2.0, **options)


def slopes(row, keep=slice(None)):
    return np.polyfit(np.log(X)[keep], np.asarray(row)[keep], 1)[0]


def test_one_seed_with_independent_noise_has_the_interval_of_the_jackknife():
    bumps = np.array([0.01, -0.02, 0.015, 0.0, -0.01])
    answer = claim_of([bumps], noise="independent", tolerance=0.2).answer([run_of([1.0])])
    without = [slopes(bumps, np.arange(5) != k) for k in range(5)]
    error = np.sqrt(4 * np.var(without))
    half = student_t.ppf(1 - ERROR / 2, 3) * error
    value = 2 + slopes(bumps)
    moves = [slopes(bumps, slice(1, None)), slopes(bumps, slice(0, -1))] - slopes(bumps)
    down, up = min(0.0, *moves), max(0.0, *moves)
    assert answer.status is Status.HOLDS
    assert answer.measured == pytest.approx(value, rel=1e-12)
    assert answer.spread == pytest.approx((value - half, value + half), rel=1e-9)
    assert answer.horizon == pytest.approx((value + down, value + up), rel=1e-12)
    low, high = answer.interval
    assert (low, high) == pytest.approx((value - half + down, value + half + up), rel=1e-9)
    assert answer.smallest_violation == pytest.approx(max(high - 2, 2 - low), rel=1e-9)


def test_one_seed_decides_where_its_scatter_does_not_matter():
    """At 99% the scatter about a parabola must stay below half of the tolerance. It widens the
    interval by so much.
    """
    bumps = 1e-3 * np.array([1.0, -2.0, 1.5, 0.0, -1.0])
    log_x = np.log(X)
    scatter = np.sqrt(np.polyfit(log_x, bumps, 2, full=True)[1][0] / 2)
    half = student_t.ppf(0.995, 2) * scatter / np.linalg.norm(log_x - log_x.mean())
    runs = [run_of([1.0])]
    answer = claim_of([bumps], tolerance=2.1 * half).answer(runs)
    assert answer.status is Status.HOLDS
    moves = [slopes(bumps, slice(1, None)), slopes(bumps, slice(0, -1))] - slopes(bumps)
    value = 2 + slopes(bumps)
    ends = value + min(0.0, *moves) - half, value + max(0.0, *moves) + half
    assert answer.interval == pytest.approx(ends, rel=1e-9)
    undecided = claim_of([bumps], tolerance=1.9 * half).answer(runs)
    assert undecided.status is Status.UNDECIDED
    assert "scatter" in undecided.sentence
    assert claim_of([bumps], tolerance=1.9 * half, certain=True).answer(runs).spread is None


def test_three_points_of_one_seed_are_judged_by_the_jackknife():
    """Three points lie on a parabola whatever their scatter is."""
    points = [(x, x**2 * y, 0) for x, y in ((1.0, 1.001), (2.0, 1.0), (4.0, 1.0))]
    three, bumps = np.log([1.0, 2.0, 4.0]), np.log([1.001, 1.0, 1.0])
    without = [np.polyfit(np.delete(three, k), np.delete(bumps, k), 1)[0] for k in range(3)]
    half = student_t.ppf(0.995, 1) * np.sqrt(2 * np.var(without))
    for factor, status in ((2.1, Status.HOLDS), (1.9, Status.UNDECIDED)):
        claim = Exponent(lambda runs: points, 2.0, tolerance=factor * half)
        assert claim.answer([run_of([1.0])]).status is status


def test_seeds_are_replicates_and_one_without_all_points_is_left_out():
    bumps = np.array([[0.0, 0.0, 0.0, 0.0, 0.1], [0.1, 0.0, 0.0, 0.0, 0.0], [0, 0.02, 0, 0, 0]])
    answer = claim_of(bumps, tolerance=1.0).answer([run_of([1.0])] * 3)
    each = 2 + np.array([slopes(row) for row in bumps])
    mean = Mean(each, "linear")
    assert answer.measured == pytest.approx(each.mean(), rel=1e-12)
    assert answer.spread == pytest.approx(mean.spread, rel=1e-9)
    down, up = np.array(answer.horizon) - answer.measured
    assert answer.e_value == pytest.approx(mean.evidence(1 - down, 3 - up, True), rel=1e-9)
    assert "decide" not in answer.sentence
    far = replace(claim_of(bumps, tolerance=0.5), exponent=-2.0).answer([run_of([1.0])] * 3)
    assert far.status is Status.FAILS
    assert far.e_value == pytest.approx(mean.evidence(-2.5 - up, -1.5 - down, False), rel=1e-9)
    assert "decide" not in far.sentence
    points = claim_of(bumps).points([])
    fewer = Exponent(lambda runs: points[:-1], 2.0, tolerance=1.0).answer([run_of([1.0])] * 3)
    assert fewer.measured == pytest.approx(each[:2].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("horizon", "said"),
    [
        ((1.8, 2.2), "replicates"),  # the horizon alone would hold, so chance is what is open
        ((1.75, 2.25), "replicates"),
        ((2.3, 2.4), "replicates"),  # it would fail
        ((1.6, 1.7), "replicates"),
        ((1.7, 2.2), "wider range"),  # it straddles an end
        ((1.8, 2.3), "wider range"),
        ((2.25, 2.4), "wider range"),  # and where it begins at the end
        ((1.6, 1.75), "wider range"),
    ],
)
def test_what_would_decide_an_exponent(horizon, said):
    mean = Mean(np.array([1.9, 2.2, 1.8, 2.1]), "linear")
    claim = claim_of(np.zeros((1, 5)), tolerance=0.25)
    answer = claim._judged("", 2.0, mean, (1.0, 3.0), horizon, mean.spread, Span(0.0))
    assert answer.status is Status.UNDECIDED
    assert said in answer.sentence
    alone = claim._judged("", 2.0, mean, (1.0, 3.0), (1.8, 2.2), None, Span(0.0))
    assert "wider range" in alone.sentence


@pytest.mark.parametrize(
    ("interval", "status"),
    [
        ((1.75, 2.25), Status.HOLDS),  # the ends are allowed
        ((1.74, 2.25), Status.UNDECIDED),
        ((1.75, 2.26), Status.UNDECIDED),
        ((2.25, 2.4), Status.UNDECIDED),
        ((2.26, 2.4), Status.FAILS),
        ((1.6, 1.75), Status.UNDECIDED),
        ((1.6, 1.74), Status.FAILS),
    ],
)
def test_an_exponent_is_judged_by_the_ends_of_its_interval(interval, status):
    mean = Mean(np.array([1.9, 2.2, 1.8, 2.1]), "linear")
    claim = claim_of(np.zeros((1, 5)), tolerance=0.25)
    assert claim._judged("", 2.0, mean, interval, interval, mean.spread, Span(0.0)).status is status


@pytest.mark.parametrize(("expected", "horizon"), [(0.5, (1.5, 2.1)), (3.5, (1.9, 2.6))])
def test_evidence_against_an_exponent_leaves_room_for_the_horizon(expected, horizon):
    """The mean is 2, and may still move to either end of the horizon."""
    mean = Mean(np.array([1.9, 2.2, 1.8, 2.1]), "linear")
    claim = claim_of(np.zeros((1, 5)), tolerance=0.25)
    answer = claim._judged("", expected, mean, horizon, horizon, mean.spread, Span(0.0))
    assert answer.status is Status.FAILS
    least, most = expected - 0.25 - (horizon[1] - 2), expected + 0.25 - (horizon[0] - 2)
    assert answer.e_value == pytest.approx(mean.evidence(least, most, False), rel=1e-12)


@pytest.mark.parametrize(("expected", "end"), [(2.1, "below"), (1.9, "above")])
def test_evidence_for_an_exponent_is_that_of_its_nearer_end_less_the_horizon(expected, end):
    """The mean is 2 and may move by 0.05 down and 0.03 up: ends at 1.9 and at 2.12 count."""
    values = np.array([1.99, 2.02, 1.98, 2.01])
    mean, claim = Mean(values, "linear"), claim_of(np.zeros((1, 5)), tolerance=0.25)
    answer = claim._judged("", expected, mean, (1.95, 2.03), (1.95, 2.03), mean.spread, Span(0.0))
    assert answer.status is Status.HOLDS
    against = {
        "below": evidence_against_below(values, 1.85 + 0.05),
        "above": evidence_against_above(values, 2.15 - 0.03),
    }
    assert answer.e_value == pytest.approx(against[end], rel=1e-9)


def test_errors_widen_the_interval_on_both_sides():
    runs, flat = [run_of([1.0])], np.zeros((1, 5))
    answer = claim_of(flat, tolerance=0.5, errors=lambda runs: [0.1] * 5).answer(runs)
    away = np.log(X) - np.log(X).mean()
    reach = 0.1 * np.abs(away).sum() / (away @ away)
    assert answer.horizon == pytest.approx((2 - reach, 2 + reach), rel=1e-9)
    assert answer.interval == pytest.approx((2 - reach, 2 + reach), rel=1e-9)
    tight = claim_of(flat, tolerance=reach / 2, errors=lambda runs: [0.1] * 5).answer(runs)
    assert tight.status is Status.UNDECIDED
    assert "more points or a wider range" in tight.sentence
    for far in (1.0, 3.0):
        claim = replace(claim_of(flat, tolerance=0.5), exponent=far)
        assert claim.answer(runs).status is Status.FAILS


@pytest.mark.parametrize("point", [(0.0, 1.0), (1.0, 0.0), (np.inf, 1.0), (1.0, np.inf)])
def test_points_are_positive_and_finite(point):
    points = [(2.0, 1.0, 0), (3.0, 1.0, 0), (4.0, 1.0, 0), (*point, 0)]
    with pytest.raises(Refused, match="positive finite"):
        Exponent(lambda runs: points, 0.0).answer([run_of([1.0])])


def test_an_exponent_needs_three_points():
    points = [(1.0, 1.0, 0), (2.0, 4.0, 0), (4.0, 16.0, 0)]
    answer = Exponent(lambda runs: points, 2.0, certain=True).answer([run_of([1.0])])
    assert answer.status is Status.HOLDS
    with pytest.raises(Refused, match="at least three"):
        Exponent(lambda runs: points[:2], 2.0, certain=True).answer([run_of([1.0])])


# --- ratios


def ratio_of(values, **options):
    """Each run's first value over the predicted 2."""
    claim = Ratio(lambda run: run.curves["x"][0], 2.0, **options)
    return claim.answer([run_of([2 * value, 0.0]) for value in values])


def test_every_ratio_within_the_tolerance_holds_also_at_its_end():
    answer = ratio_of([1.0, 1.25, 0.875], tolerance=0.25)
    assert answer.status is Status.HOLDS
    assert (answer.predicted, answer.measured, answer.interval) == (1.0, 1.25, (0.875, 1.25))
    assert answer.smallest_violation == 0.25


def test_without_chance_one_ratio_outside_fails():
    answer = ratio_of([1.5, 1.25, 0.75], tolerance=0.25, certain=True)
    assert answer.status is Status.FAILS
    assert (answer.predicted, answer.measured, answer.interval) == (1.0, 1.5, (0.75, 1.5))
    assert answer.spread is None


@pytest.mark.parametrize("centre", [0.5, 1.5])
def test_with_chance_their_mean_must_be_outside(centre):
    values = centre + 0.001 * np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5])
    answer, mean = ratio_of(values, tolerance=0.25), Mean(values, "either")
    assert answer.status is Status.FAILS
    assert answer.predicted == 1.0
    assert answer.spread == pytest.approx(mean.spread, rel=1e-12)
    assert answer.interval == pytest.approx((values.min(), values.max()), rel=1e-12)
    assert answer.e_value == pytest.approx(mean.evidence(0.75, 1.25, False), rel=1e-12)


def test_a_mean_that_may_be_within_is_undecided():
    values = np.array([1.25, 1.5, 0.9, 1.4])
    answer, (low, high) = ratio_of(values, tolerance=0.25), Mean(values, "either").spread
    assert answer.status is Status.UNDECIDED
    assert "2 of 4 are within" in answer.sentence
    assert answer.predicted == 1.0
    assert answer.measured == 1.5
    assert answer.spread == pytest.approx((low, high), rel=1e-12)
    assert answer.interval == pytest.approx((min(low, 0.9), max(high, 1.5)), rel=1e-12)
    with pytest.raises(Refused, match="finite"):
        ratio_of([1.0, np.nan], tolerance=0.25)


def test_two_ratios_have_chance_in_them():
    assert ratio_of([1.5, 1.6], tolerance=0.25).status is Status.UNDECIDED
    alone = ratio_of([1.5], tolerance=0.25)
    assert (alone.status, alone.spread) == (Status.FAILS, None)


def test_a_run_that_is_too_short_for_a_ratio_is_undecided():
    def read(run):
        raise NotYet("It is too short.")

    answer = Ratio(read, 2.0, tolerance=0.25).answer([run_of([1.0])])
    assert (answer.status, answer.sentence, answer.predicted) == (
        Status.UNDECIDED,
        "It is too short.",
        1.0,
    )


def test_a_run_that_diverged_has_no_ratio():
    run = replace(run_of([2.0]), outcome=Outcome.DIVERGED)
    answer = Ratio(lambda run: 2.0, 2.0, tolerance=0.25).answer([run])
    assert (answer.status, answer.predicted) == (Status.FAILS, 1.0)


# --- power laws


def test_tolerances_that_are_not_given():
    assert Rate("x", -1.0).tolerance == 0.02
    assert Constant("x", -1.0, 3.0).tolerance == 0.03
    assert claim_of(np.zeros((1, 5))).tolerance == 0.02


@pytest.mark.parametrize(
    ("exponent", "before", "last", "may"),
    [
        (-1.0, -0.2, -0.05, True),  # flat
        (-1.0, -0.05, -0.1, False),  # a tenth of the exponent, and not flattening
        (-2.0, -0.05, -0.15, True),  # less than a tenth
        (-1.0, -0.6, -0.4, True),  # flattening, less than half of the exponent left
        (-1.0, -0.6, -0.5, False),
        (-2.0, -1.2, -0.9, True),
        (-1.0, -0.3, -0.4, False),  # steepening
        (-1.0, -0.4, -0.4, False),  # as steep as before
        (0.0, 0.2, 0.3, False),  # it rises, and no fall was claimed
    ],
)
def test_what_may_be_a_plateau(exponent, before, last, may):
    found = SimpleNamespace(sample=SimpleNamespace(mean=np.array([-0.9, before, last])))
    assert Rate("x", exponent)._may_be_a_plateau(found) is may
    assert not Rate("x", exponent, plateau=10.0)._may_be_a_plateau(found)


LONG = np.unique(np.rint(10 ** np.arange(0, 6.5, 1 / 24)).astype(np.int64))


def test_a_slope_that_is_flat_where_a_flat_one_is_claimed_holds():
    flat = [run_of(0.1 + 1.0 / LONG, LONG)]
    assert Rate("x", -0.01, 0.02).answer(flat).status is Status.HOLDS
    assert Rate("x", -0.4).answer(flat).status is Status.UNDECIDED  # it may be a plateau
    assert Rate("x", -0.4, plateau=1.0).answer(flat).status is Status.FAILS
    steep = [run_of(LONG**-2.0, LONG)]
    assert Rate("x", -1.0).answer(steep).status is Status.FAILS


def test_runs_stand_still_only_if_all_of_them_do():
    falls, stands = run_of(1.0 / LONG, LONG), run_of(np.maximum(1.0 / LONG, 1e-3), LONG)
    claim = Rate("x", -1.0, plateau=10.0)
    assert "slope" not in claim.answer([stands, stands]).sentence
    assert "local slope" in claim.answer([falls, stands]).sentence


def test_a_curve_that_rises_is_no_plateau():
    found = SimpleNamespace(sample=SimpleNamespace(mean=np.array([0.1, 0.2, 0.6])))
    assert not Rate("x", 1.0)._may_be_a_plateau(found)


@pytest.mark.parametrize(
    ("settles", "away", "said"),
    [(False, -2.2, True), (False, -2.0, False), (False, None, False), (True, -3.0, False)],
)
def test_a_slope_steepens_where_it_goes_beyond_the_window_before(settles, away, said):
    found = SimpleNamespace(
        horizon=SimpleNamespace(settles=settles, away=away),
        sample=SimpleNamespace(mean=np.array([-4.0, -2.0, -2.5])),
    )
    assert bool(_steepens(found)) is said


def test_an_answer_about_a_ratio_in_units_of_its_prediction():
    answer = Answer(Status.HOLDS, "", None, 1.5, (1.0, 2.0), None, (0.5, 0.75))
    found = _in_units(answer, 10.0)
    assert (found.measured, found.interval) == (15.0, (10.0, 20.0))
    assert (found.horizon, found.spread) == (None, (5.0, 7.5))
    assert _in_units(replace(answer, measured=None), 10.0).measured is None


@pytest.mark.parametrize("drift", [-0.0052, -0.0048, 0.0048, 0.0052])
def test_a_curve_that_keeps_drifting_has_no_constant(drift):
    """A slope of 0.005 is the edge: below it a curve may still have a limit."""
    steps = np.unique(np.rint(10 ** np.arange(0, 6.5, 1 / 24)).astype(np.int64))
    claim = Constant("x", -1.0, 1.0, tolerance=0.02, plateau=1.0)
    answer = claim.answer([run_of(steps ** (drift - 1.0), steps)])
    if abs(drift) > 0.005:
        assert answer.status is Status.FAILS
        assert f"a local slope of {drift:.4f}, which does not tend to 0" in answer.sentence
    else:
        assert answer.status is Status.UNDECIDED


def test_a_constant_is_predicted_at_the_time_of_each_step():
    """3(ηT)^-1 with η = ½."""
    steps, run = np.array([2, 8]), run_of([1.0, 1.0])
    np.testing.assert_allclose(Constant("x", -1.0, 3.0)._predicted(run, steps), [3.0, 0.75])
    np.testing.assert_array_equal(Constant("x", 0.0, 3.0)._predicted(run, steps), [3.0, 3.0])
    np.testing.assert_array_equal(Constant("x", 1.0, 3.0)._predicted(run, steps), [3.0, 12.0])


@pytest.mark.parametrize(
    ("share", "status"),
    [(1.02, Status.HOLDS), (0.98, Status.HOLDS), (1.04, Status.FAILS), (0.96, Status.FAILS)],
)
def test_a_constant_is_judged_relative_to_its_prediction(share, status):
    """x = 3/(ηT) times a share, with η = ½."""
    answer = Constant("x", -1.0, 3.0).answer([run_of(share * 6.0 / LONG, LONG)])
    assert answer.status is status
    assert answer.predicted == 3.0
    assert answer.measured == pytest.approx(3 * share, rel=1e-9)
    if status is Status.HOLDS:
        farther = max(share, 1 / share) - 1
        assert answer.smallest_violation == pytest.approx(farther, rel=1e-6)


def test_a_constant_of_several_runs_is_predicted_by_its_mean():
    half = run_of(6.0 / LONG, LONG)
    runs = [half, replace(half, setting=replace(SETTING, steps=30))]
    claim = Constant("x", -1.0, lambda setting: 0.1 * setting.steps)
    assert claim.answer(runs).predicted == pytest.approx(2.0, rel=1e-12)
    stands = run_of(np.maximum(6.0 / LONG, 1e-3), LONG)
    level = Constant("x", -1.0, 3.0, plateau=10.0)
    assert "stalled" in level.answer([stands, stands]).sentence
    assert "stalled" not in level.answer([half, stands]).sentence


def test_constants_are_positive():
    for value, said in ((0.0, "falls to 0"), (-1.0, "log scale")):
        with pytest.raises(Refused, match=said) as refused:
            Constant("x", -1.0, value)
        assert ("claimed by its slope" in str(refused.value)) is (value == 0)


def test_the_window_of_several_runs_is_from_the_first_step_to_the_last():
    short, claim = LONG[LONG < 10**5], Rate("x", -1.0, plateau=1.0)
    runs = [run_of(1.0 / LONG, LONG), run_of(1.0 / short, short)]
    spans = windows_of(claim, runs)
    ends = min(spans[0][0], spans[1][0]), max(spans[0][1], spans[1][1])
    assert spans[0] != spans[1]
    assert window_of(claim, runs) == ends
    said = claim.answer(runs).sentence
    assert f"steps {ends[0]:,.0f} to {ends[1]:,.0f}" in said
    assert windows_of(claim, [runs[0], replace(runs[1], outcome=Outcome.DIVERGED)]) == []


# The plateau ends at step 2·10; the last factor of ten is all after step 100.
STEPS = [15, 20, 50, 100, 200, 1000]


@pytest.mark.parametrize(
    ("curve", "stalled"),
    [
        ([0.5, 3.0, 2.0, 1.0, 1.0, 1.5], True),  # what is before the plateau does not count
        ([0.5, 3.0, 2.0, 1.0, 0.9, 1.5], False),
        ([9.0, 1.0, 2.0, 3.0, 1.0, 1.5], True),
        ([9.0, 3.0, 2.0, 0.8, 0.9, 1.5], True),
    ],
)
def test_a_curve_without_a_new_minimum_has_stalled(curve, stalled):
    claim, run = Rate("x", -1.0, plateau=10.0), run_of(curve, STEPS)
    assert _stalled(claim, run, 2.0) is stalled
    assert not _stalled(claim, run, 2.1)  # two points after the plateau are too few
    assert not _stalled(replace(claim, plateau=None), run, 2.0)
    assert not _stalled(replace(claim, exponent=0.0), run, 2.0)


# --- verdicts of a report


@pytest.mark.parametrize(
    ("kept", "dropped", "said"),
    [
        ("", "", ""),
        ("a", "", "1 verdict has chance in it; 1 is kept"),
        ("ac", "", "2 verdicts have chance in them; 2 are kept"),
        ("a", "b", "2 verdicts have chance in them; 1 is kept"),
        ("", "b", "1 verdict has chance in it; 0 are kept"),
    ],
)
def test_a_report_says_how_many_are_kept(kept, dropped, said):
    found = Discoveries(frozenset(kept), frozenset(dropped)).sentence
    assert found.startswith(said)
    assert bool(found) is bool(said)
    assert ("not kept: b." in found) is bool(dropped)
    assert ("at most 5%" in found) is bool(said)
