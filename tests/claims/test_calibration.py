"""The verdict rule on curves of known truth: it may be undecided, never wrong, and must be right
where it can be.
"""

from functools import cache

import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Constant, Rate, Status, check
from tutelage.claims.calibration import Family, calibrate, summarise
from tutelage.claims.development import CURVES, FAMILIES, PLATEAU, synthetic
from tutelage.claims.power_laws import CONSTANTS_AFTER
from tutelage.run import Outcome, Run


@cache
def judged():
    """A row per family, in their order; made by the first test that asks."""
    return calibrate(FAMILIES, repetitions=4)


@pytest.mark.parametrize(
    "number", range(len(FAMILIES)), ids=[f"{family.name} {family.kind}" for family in FAMILIES]
)
def test_no_answer_on_a_development_family_is_wrong(number):
    assert judged()[number].wrong == 0


@pytest.mark.parametrize(
    "name",
    [
        "1/t",
        "early dip, then 1/t",
        "t^-2",
        "t^-1.1",
        "t^-0.985",
        "e^-t",
        "t^-0.93",
        "t^-1/2",
        "cut off on the plateau",
        "cut off in a steep fall",
    ],
)
def test_exact_curves_of_these_kinds_are_always_decided_rightly(name):
    rows = [row for row in judged() if row.name == name and row.kind in ("rate", "bound", "order")]
    assert len(rows) == 3
    assert all(row.right == row.answers for row in rows)


@pytest.mark.parametrize(
    ("horizon", "status"), [(1e4, Status.UNDECIDED), (1e6, Status.FAILS), (1e8, Status.FAILS)]
)
def test_a_floor_fails_a_rate_once_it_is_reached(horizon, status):
    """On the way to it the slope moves without slowing down, and may yet turn."""
    (known,) = [known for known in CURVES if known.name == "1/t + 1e-4"]
    run = synthetic(known, horizon, np.random.default_rng(0))
    assert check(Rate("excess_risk", -1.0, plateau=PLATEAU), run).status is status


def test_an_order_tells_powers_of_logarithms_from_none():
    found = {row.name: row for row in judged() if row.kind == "order"}
    for name in ("log t / t", "(log t)^¼ / t", "1/t"):
        assert found[name].right == found[name].answers


def test_at_most_thirty_percent_are_undecided_where_the_class_decides():
    for row in summarise(judged()):
        assert row.undecided_decidable <= 0.3 * row.decidable, row.kind


def test_intervals_cover_at_least_as_often_as_they_say():
    for row in summarise(judged()):
        assert row.covering >= 0.95 * row.intervals, row.kind


def test_every_kind_and_every_truth_is_among_the_families():
    kinds = {"rate", "bound", "order", "constant", "number", "exponent", "ratio"}
    kinds |= {"recovery", "floor"}
    assert {family.kind for family in FAMILIES} == kinds
    # The others are no answers of a rate: they need a measurement, a hypothesis or a ceiling.
    assert {known.rate for known in CURVES} == {Status.HOLDS, Status.FAILS, Status.UNDECIDED}
    assert any(known.rate is Status.HOLDS and known.order is Status.FAILS for known in CURVES)


def test_wrong_answers_undecided_ones_and_coverage_are_counted():
    def make(seed):
        values = [1.0 + seed]
        return tt.Number(lambda runs: values, 1.0, "it", 0.5, certain=True), [run_of_one()]

    (row,) = calibrate([Family("x", "number", make, Status.FAILS, limit=2.0)], repetitions=3)
    assert (row.wrong_holds, row.wrong_fails, row.right) == (1, 0, 2)
    assert (row.intervals, row.covering) == (3, 1)
    (all_of,) = summarise([row, row])
    assert (all_of.answers, all_of.wrong_holds, all_of.covering) == (6, 2, 2)


def run_of_one():
    return Run(np.array([1]), {"x": np.ones(1)}, None, Outcome.FINISHED)


def scaled(curve, rate=0.5, plateau=100.0, horizon=1e5):
    steps = np.unique(np.rint(10 ** np.arange(0, np.log10(plateau * horizon), 1 / 24))).astype(
        np.int64
    )
    return Run(steps, {"excess_risk": curve(steps * rate)}, None, Outcome.FINISHED, rate=rate)


@pytest.mark.parametrize(
    ("curve", "status"),
    [
        (lambda t: 7.0 / t, Status.HOLDS),
        (lambda t: 7.0 * (1 + 3 / np.sqrt(t)) / t, Status.HOLDS),
        (lambda t: 7.0 * (1 - 5 / np.sqrt(t + 100)) / t, Status.HOLDS),
        (lambda t: 7.0 * 1.05 / t, Status.FAILS),
        (lambda t: 7.0 * 0.9 * (1 + 3 / np.sqrt(t)) / t, Status.FAILS),
        (lambda t: 7.0 / t**0.97, Status.FAILS),
        (lambda t: 7.0 / t + 1e-2, Status.FAILS),
    ],
)
def test_constants_are_told_from_their_neighbours(curve, status):
    assert check(Constant("excess_risk", -1.0, 7.0, plateau=100.0), scaled(curve)).status is status


def test_a_constant_reports_in_the_units_of_the_prediction():
    verdict = check(Constant("excess_risk", -1.0, 7.0, plateau=100.0), scaled(lambda t: 7.0 / t))
    assert verdict.predicted == 7.0
    assert verdict.measured == pytest.approx(7.0, rel=1e-9)
    assert verdict.interval[0] <= 7.0 * (1 + 1e-9)
    assert verdict.interval[1] >= 7.0 * (1 - 1e-9)


def test_a_constant_waits_for_its_plateaus():
    short = scaled(lambda t: 7.0 / t, horizon=CONSTANTS_AFTER * 1.5)
    verdict = check(Constant("excess_risk", -1.0, 7.0, plateau=100.0), short)
    assert verdict.status is Status.UNDECIDED
    assert "would decide" in verdict.sentence


def test_synthetic_curves_stop_at_the_rounding_floor():
    (fast,) = [known for known in CURVES if known.name == "e^-t"]
    run = synthetic(fast, 1e6, np.random.default_rng(0))
    assert run.outcome is Outcome.CONVERGED
    assert run.curves["excess_risk"][-2] > 0


@pytest.mark.parametrize(
    "known", [k for k in CURVES if k.limit is not None and not k.noise], ids=lambda k: k.name
)
def test_intervals_contain_the_limit_that_they_are_about(known):
    """Every curve whose slope has a limit, at every horizon at which there is an interval at
    all.
    """
    for horizon in known.horizons:
        run = synthetic(known, horizon, np.random.default_rng(0))
        verdict = check(Rate("excess_risk", -1.0, plateau=PLATEAU), run)
        if verdict.interval is not None:
            assert verdict.interval[0] <= known.limit + 1e-9
            assert verdict.interval[1] >= known.limit - 1e-9
