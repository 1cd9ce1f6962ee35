"""Claims without noise: a whole curve, and a number read from runs."""

import json

import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Curve, Ratio, Status, check
from tutelage.claims.claim import NoPrediction, NotYet
from tutelage.run import Outcome, Run

STEPS = np.array([0, 1, 2, 5, 10, 100])
SETTING = tt.Setting(tt.Part("anything"), rate=0.1, steps=100)


def run_of(values, outcome=Outcome.FINISHED, setting=SETTING, **more):
    return Run(
        STEPS, {"x": np.asarray(values, float)}, None, outcome, rate=0.1, setting=setting, **more
    )


def line(setting, steps):
    return setting.rate * steps


def test_a_curve_holds_at_every_step_or_fails_and_says_where():
    exact = 0.1 * STEPS
    verdict = check(Curve("x", line, 1e-9), run_of(exact))
    assert (verdict.status, verdict.measured) == (Status.HOLDS, 0.0)
    off = exact.copy()
    off[3] *= 1 + 1e-8
    verdict = check(Curve("x", line, 1e-9), [run_of(exact), run_of(off)])
    assert verdict.status is Status.FAILS
    assert verdict.measured == pytest.approx(1e-8, rel=1e-6)
    assert verdict.interval[0] == 0.0
    assert "at step 5," in verdict.sentence
    assert check(Curve("x", line, 1e-9, start=6.0), run_of(off)).status is Status.HOLDS


def test_every_entry_of_a_vector_counts():
    both = np.stack([0.1 * STEPS, 0.1 * STEPS], axis=1)
    assert check(Curve("x", line, 1e-9), run_of(both)).status is Status.HOLDS
    both[4, 1] += 1e-6
    assert check(Curve("x", line, 1e-9), run_of(both)).status is Status.FAILS


def test_where_zero_is_expected_the_unit_is_the_largest_value():
    off = 0.1 * STEPS
    off[0] = 1e-3  # of 10
    verdict = check(Curve("x", line, 1e-9), run_of(off))
    assert verdict.measured == pytest.approx(1e-4)
    json.dumps(verdict.plain(), allow_nan=False)


def test_a_curve_is_undecided_without_a_prediction_or_steps_and_fails_when_diverged():
    def silent(setting, steps):
        raise NoPrediction("Theory is silent here.")

    verdict = check(Curve("x", silent, 1e-9), run_of(STEPS))
    assert verdict.status is Status.UNDECIDED
    assert "silent here" in verdict.sentence
    verdict = check(Curve("x", line, 1e-9, start=1000.0), run_of(STEPS))
    assert verdict.status is Status.UNDECIDED
    assert "1e+04 steps would decide" in verdict.sentence
    assert (
        check(Curve("x", line, 1e-9), run_of(0.1 * STEPS, Outcome.DIVERGED)).status is Status.FAILS
    )
    with pytest.raises(tt.Refused, match="predicts from a setting"):
        check(Curve("x", line, 1e-9), run_of(STEPS, setting=None))


def test_a_number_is_judged_for_every_run():
    claim = Ratio(
        lambda run: float(run.curves["x"][-1]),
        lambda setting: 100 * setting.rate,
        tolerance=0.01,
        of="the end",
        certain=True,
    )
    verdict = check(claim, [run_of(0.1 * STEPS), run_of(0.1005 * STEPS)])
    assert verdict.status is Status.HOLDS
    assert verdict.interval == pytest.approx((1.0, 1.005))
    verdict = check(claim, [run_of(0.1 * STEPS), run_of(0.098 * STEPS)])
    assert verdict.status is Status.FAILS
    assert verdict.measured == pytest.approx(0.98)
    assert "0.98000 to 1.00000" in verdict.sentence


def test_a_number_is_undecided_when_it_cannot_be_read():
    def read(run):
        raise NotYet("Ten times as many steps would decide.")

    def silent(setting):
        raise NoPrediction("Theory is silent here.")

    assert (
        check(Ratio(read, 1.0, 0.01), run_of(STEPS)).sentence
        == "Ten times as many steps would decide."
    )
    assert check(Ratio(lambda run: 1.0, silent, 0.01), run_of(STEPS)).status is Status.UNDECIDED
    assert (
        check(Ratio(lambda run: 1.0, 1.0, 0.01), run_of(STEPS, Outcome.DIVERGED)).status
        is Status.FAILS
    )
