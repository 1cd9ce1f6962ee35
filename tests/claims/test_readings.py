"""What rule 3 changed: no verdict on the strength of a move that may turn, recoveries in three
readings, and sentences that say what was seen.
"""

import numpy as np
import pytest

from tutelage.claims import Constant, Order, Rate, Recovery, Status, check
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

STEPS = np.unique(np.rint(10 ** np.arange(0, 7.01, 1 / 24)).astype(np.int64))
T = STEPS.astype(float)


def run_of(values, name="y"):
    return Run(STEPS, {name: values}, None, Outcome.FINISHED, rate=1.0)


def test_a_curve_that_leaves_its_law_may_return():
    """Half of a bump in log t: nothing is seen to settle, so nothing is decided."""
    bump = np.exp(0.8 * np.exp(-(((np.log(T) - np.log(2e7)) / 2.5) ** 2)))
    run = run_of(bump / T)
    assert check(Constant("y", -1.0, 1.0, plateau=1.0), run).status is Status.UNDECIDED
    assert check(Order("y", -1.0, plateau=1.0), run).status is Status.UNDECIDED


def test_a_curve_that_ran_far_away_fails_and_says_how():
    run = run_of(np.exp(-T / 1e5))
    verdict = check(Rate("y", -1.0, plateau=10.0), run)
    assert verdict.status is Status.FAILS
    assert "faster and faster" in verdict.sentence


def test_a_wrong_power_of_time_has_no_constant():
    verdict = check(Constant("y", -1.0, 1.0, plateau=1.0), run_of(T**-0.95))
    assert verdict.status is Status.FAILS
    assert "local slope of 0.05" in verdict.sentence


@pytest.mark.parametrize(
    ("size", "power"), [(1.0, 0.5), (1.0, 1.0), (10.0, 1.0), (60.0, 1.0), (100.0, 1.0)]
)
def test_an_approach_like_a_power_of_one_over_log_is_covered(size, power):
    run = run_of((1 + size / (1 + np.log1p(T)) ** power) / T)
    verdict = check(Constant("y", -1.0, 1.0, plateau=1.0), run)
    assert verdict.status is not Status.FAILS


@pytest.mark.parametrize("crossing", [3.0, 6.0, 8.0, 10.0, 14.0])
def test_a_curve_that_crossed_its_limit_once_is_read_from_there_on(crossing):
    run = run_of(np.exp(300 * (np.log(T) - crossing) / (T + 1e4)) / T)
    verdict = check(Constant("y", -1.0, 1.0, plateau=1.0), run)
    assert verdict.status is Status.HOLDS
    assert "no one value" not in verdict.sentence


def test_a_recovery_has_three_readings():
    """A shock at step 1000, from which the curve returns to 1 like a power of time."""
    shocked = run_of(1 + np.where(T < 1e3, 0.0, 2.0 * (1e3 / T) ** 1.0))
    limit = check(Recovery("y", 1.0, 0.05, from_step=1000, reading="limit"), shocked)
    assert limit.status is Status.HOLDS
    assert limit.interval[0] <= 1.0 <= limit.interval[1]
    assert check(Recovery("y", 1.0, 0.05), shocked).status is Status.HOLDS
    every = check(Recovery("y", 1.0, 0.05, from_step=1000), shocked)
    assert every.status is Status.FAILS  # it asks for every step from there on, and says so
    assert "every" in Recovery.__doc__
    with pytest.raises(Refused, match="needs `from_step`"):
        Recovery("y", 1.0, 0.05, reading="every step")
    with pytest.raises(Refused, match="`within` above 0"):
        Recovery("y", 1.0, 0.0, reading="limit")


@pytest.mark.parametrize(("off", "status"), [(0.0, Status.HOLDS), (0.3, Status.FAILS)])
def test_runs_that_scatter_recover_by_their_mean(off, status):
    """Each run ends elsewhere, some of them outside; it is their mean that counts."""
    generator = np.random.default_rng(1)
    runs = [
        run_of(1 + off + 0.05 * generator.normal() + 0.02 * generator.standard_normal(len(T)))
        for _ in range(30)
    ]
    assert any(abs(run.curves["y"][-1] - 1) > 0.08 for run in runs)
    assert check(Recovery("y", 1.0, 0.08), runs).status is status


def test_passing_through_the_target_is_no_limit_there():
    """Within at the end, and on its way elsewhere: there now, but the limit does not hold."""
    passing = run_of(3.0 * T**-0.25 - 3.0 * 1e7**-0.25)
    assert check(Recovery("y", 0.0, 0.01), passing).status is Status.HOLDS
    assert check(Recovery("y", 0.0, 0.01, reading="limit"), passing).status is not Status.HOLDS


def test_a_recovery_from_a_step_that_was_not_reached_is_undecided():
    run = Run(np.array([0, 1, 10]), {"y": np.zeros(3)}, None, Outcome.FINISHED, rate=1.0)
    verdict = check(Recovery("y", 0.0, 1e-9, from_step=11), run)
    assert verdict.status is Status.UNDECIDED
    assert "no step from 11 on was measured" in verdict.sentence
    assert check(Recovery("y", 0.0, 1e-9, from_step=10), run).status is Status.HOLDS
