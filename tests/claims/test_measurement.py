"""Measurements: intervals without a prediction, on curves small enough to judge by hand."""

import numpy as np
import pytest

from tutelage.claims import Level, Measured, Rate, Slope, Status, check
from tutelage.claims.chance import confidence_limits
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.studies.counts import Counts

STEPS = np.unique(np.rint(10 ** np.arange(0, 6.01, 1 / 24))).astype(np.int64)


def run_of(curve, outcome=Outcome.FINISHED, rate=0.5):
    return Run(STEPS, {"excess_risk": curve}, None, outcome, rate=rate)


def ends(runs):
    return [float(run.curves["excess_risk"][-1]) for run in runs]


def test_a_number_is_the_mean_over_replicates_within_time_uniform_limits():
    values = np.array([1.0, 2.0, 4.0, 3.0])
    runs = [run_of(np.full(len(STEPS), v)) for v in values]
    verdict = check(Measured(ends, "the end", scale="linear"), runs)
    low, high = confidence_limits(values)
    assert verdict.status is Status.MEASURED
    assert verdict.interval == pytest.approx((float(low), float(high)), rel=1e-12)
    wider = check(Measured(ends, "the end"), runs)
    assert wider.interval[0] <= low
    assert wider.interval[1] > high
    assert verdict.predicted is None
    assert verdict.tolerance is None
    assert verdict.measurement


def test_one_replication_is_undecided_unless_there_is_no_chance_in_it():
    run = run_of(1.0 / STEPS)
    assert check(Measured(ends, "the end"), run).status is Status.UNDECIDED
    assert check(Measured(ends, "the end", certain=True), run).status is Status.MEASURED


def test_what_cannot_be_read_is_undecided_and_what_is_infinite_is_said():
    run = run_of(1.0 / STEPS)
    assert check(Measured(lambda _: [np.nan, 1.0], "it"), run).status is Status.UNDECIDED
    found = check(Measured(lambda _: [np.inf, 1.0], "it"), run)
    assert (found.status, found.measured) == (Status.MEASURED, None)
    assert "1 of 2" in found.sentence


@pytest.mark.parametrize("exponent", [-1.37, -0.25])
def test_a_slope_and_a_level_are_those_of_a_power(exponent):
    t = 0.5 * STEPS
    run = run_of(700.0 * t**exponent)
    slope = check(Slope("excess_risk", plateau=1.0), run)
    level = check(Level("excess_risk", exponent, plateau=1.0), run)
    assert slope.status is level.status is Status.MEASURED
    assert slope.measured == pytest.approx(exponent, abs=1e-9)
    assert level.measured == pytest.approx(700.0, rel=1e-9)
    assert slope.interval[0] <= exponent <= slope.interval[1]
    assert level.interval == pytest.approx((700.0, 700.0), rel=1e-6)
    assert level.horizon == pytest.approx((700.0, 700.0), rel=1e-6)


def test_a_level_of_the_wrong_exponent_does_not_settle():
    assert (
        check(Level("excess_risk", -1.0, plateau=1.0), run_of(STEPS**-0.8)).status
        is Status.UNDECIDED
    )


def test_runs_that_differ_widen_a_slope():
    runs = [run_of(STEPS.astype(float) ** e) for e in (-1.2, -1.0, -0.8)]
    verdict = check(Slope("excess_risk", plateau=1.0), runs)
    assert verdict.status is Status.UNDECIDED
    assert verdict.interval == pytest.approx((-1.2, -0.8), abs=1e-6)
    assert "wider than" in verdict.sentence
    assert check(Slope("excess_risk", tolerance=0.6, plateau=1.0), runs).status is Status.MEASURED


def test_a_stalled_curve_has_slope_zero_where_a_rate_fails():
    run = run_of(1e-3 + 1.0 / STEPS**2)
    assert check(Rate("excess_risk", -1.0, plateau=1.0), run).status is Status.FAILS
    slope = check(Slope("excess_risk", plateau=1.0), run)
    assert slope.status is Status.MEASURED
    assert slope.measured == pytest.approx(0.0, abs=1e-3)


def test_too_short_is_undecided_and_divergence_is_an_answer():
    short = check(Slope("excess_risk", plateau=1e6), run_of(1.0 / STEPS))
    assert short.status is Status.UNDECIDED
    assert "would decide" in short.sentence
    for claim in (Slope("excess_risk", plateau=1.0), Level("excess_risk", -1.0, plateau=1.0)):
        assert check(claim, run_of(1.0 / STEPS, Outcome.DIVERGED)).status is Status.MEASURED


def test_a_measurement_is_no_control():
    with pytest.raises(Refused, match="cannot hold"):
        check(Slope("excess_risk"), run_of(1.0 / STEPS), control="something")


def test_the_summary_tells_measurements_from_claims():
    run = run_of(1.0 / STEPS)
    claim, seen = (
        check(Rate("excess_risk", -1.0, plateau=1.0), run),
        check(Slope("excess_risk", plateau=1.0), run),
    )
    unread = check(Slope("excess_risk", plateau=1e6), run)
    assert Counts.of([claim]).sentence == "1 claim: 1 HOLDS, 0 FAILS, 0 UNDECIDED."
    assert Counts.of([claim, seen, unread]).sentence == (
        "1 claim: 1 HOLDS, 0 FAILS, 0 UNDECIDED. 2 measurements, about which nothing is "
        "claimed, 1 UNDECIDED."
    )
