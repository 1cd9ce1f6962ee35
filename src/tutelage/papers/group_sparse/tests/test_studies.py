"""The studies answer what their laws say, and planted faults turn them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Status, check
from tutelage.papers.group_sparse import paper
from tutelage.papers.group_sparse.downstream.study import BOUND
from tutelage.papers.group_sparse.full_attention.study import CROSS
from tutelage.papers.group_sparse.rates.study import (
    MISSED_CONSTANT,
    MISSED_RATE,
    RISK_CONSTANT,
    RISK_ORDER,
    RISK_RATE,
)
from tutelage.papers.group_sparse.readings import read_flow, read_mean_error
from tutelage.papers.group_sparse.setup import TEACHER
from tutelage.papers.group_sparse.theory import laws
from tutelage.papers.group_sparse.times.study import BY_GROUPS, PAPER_TIME, STEP_GAP, TIME
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan

GROUPS = 5
FLOW = Setting.of_calculation(
    Part("group_flow", decades=9), teacher=Part(TEACHER, groups=GROUPS, dim=2, codes="unit")
)


def made_run(setting: Setting, axis: np.ndarray, **curves: np.ndarray) -> Run:
    return Run(axis, dict(curves), None, Outcome.CALCULATED, setting=setting)


def made_flow(
    level: float = 1.0, power: float = -1 / 3, missed_power: float = -2 / 3, log: float = 0.0
) -> Run:
    """Curves on both laws, approached like t^(−2/3), with what is planted."""
    t = np.unique(np.rint(10 ** (np.arange(109) / 12)).astype(np.int64))
    near = (1 + 3 * t ** (-2 / 3)) * np.log(t + np.e) ** log
    risk = level * laws.risk_constant(FLOW) * t**power * near
    missed = laws.miss_constant(FLOW) * t**missed_power * near
    run = made_run(FLOW, t, risk=risk, missed=missed)
    return replace(run, curves={**run.curves, **read_flow(run)})


def test_claims_hold_on_curves_of_their_laws():
    run = made_flow()
    for claim in (RISK_RATE, RISK_ORDER, RISK_CONSTANT, MISSED_RATE, MISSED_CONSTANT):
        assert check(claim, run).status is Status.HOLDS, claim.id


def test_a_constant_one_percent_off_fails():
    assert check(RISK_CONSTANT, made_flow(level=1.01)).status is Status.FAILS


def test_a_power_a_little_off_fails():
    assert check(RISK_RATE, made_flow(power=-0.35)).status is Status.FAILS
    assert check(MISSED_RATE, made_flow(missed_power=-0.64)).status is Status.FAILS


def test_a_factor_log_t_is_no_order():
    assert check(RISK_ORDER, made_flow(log=1.0)).status is not Status.HOLDS


@pytest.mark.parametrize(
    ("power", "log", "status"),
    [
        (-1.0, 2.0, Status.HOLDS),
        (-1.0, 1.0, Status.HOLDS),
        (-1.0, 4.0, Status.FAILS),
        (-0.5, 0.0, Status.FAILS),
    ],
)
def test_the_bound_on_a_new_task_allows_two_logarithms(power: float, log: float, status: Status):
    """The paper's bound is log²n/n: what falls like it holds, though its local slope is −0.8."""
    n = np.unique(np.rint(10 ** (np.arange(1, 67) / 12)).astype(np.int64))
    part = Part("group_downstream", samples=int(n[-1]), margin=1.0, decay=0.0)
    setting = Setting.of_calculation(part, teacher=Part(TEACHER, groups=10, dim=4, codes="sine"))
    run = made_run(setting, n, mean_error=0.5 * np.log(n) ** log * n**power)
    found = check(BOUND, replace(run, curves={**run.curves, **read_mean_error(run)}))
    assert found.status is status, found.sentence


def made_waits(factor: float = 1.0, power: float = -2.0) -> list[Run]:
    found = []
    for groups in (5, 10, 20):
        teacher = Part(TEACHER, groups=groups, dim=2, codes="sine")
        setting = Setting.of_calculation(Part("group_waits", target=0.003), teacher=teacher)
        time = factor * laws.time_to_risk(5, 0.003) * (groups / 5) ** power
        found.append(made_run(setting, np.zeros(1, np.int64), time_to_risk=np.array([time])))
    return found


def test_times_hold_by_their_law_and_fail_off_it():
    assert check(TIME, made_waits()).status is Status.HOLDS
    assert check(TIME, made_waits(1.04)).status is Status.FAILS
    assert check(BY_GROUPS, made_waits()).status is Status.HOLDS
    assert check(BY_GROUPS, made_waits(power=-3.0)).status is Status.FAILS


def test_what_rests_on_the_unknown_step_size_is_undecided_with_the_reason():
    found = check(PAPER_TIME, made_waits())
    assert found.status is Status.UNDECIDED
    assert "step size" in found.sentence


def test_the_gap_of_two_steps_is_judged_by_its_closed_form():
    teacher = Part(TEACHER, groups=500, dim=2, codes="sine")
    part = Part("group_steps", rate=2.0, steps=1000)
    setting = Setting.of_calculation(part, teacher=teacher)
    right = laws.log_missed_by_steps(500, laws.read_push(setting), 2.0)
    axis = np.zeros(1, np.int64)
    assert check(STEP_GAP, made_run(setting, axis, log_missed=np.array([right]))).status is (
        Status.HOLDS
    )
    off = made_run(setting, axis, log_missed=np.array([0.9 * right]))
    assert check(STEP_GAP, off).status is Status.FAILS


@pytest.mark.parametrize(("power", "status"), [(-0.5, Status.HOLDS), (0.0, Status.FAILS)])
def test_noise_of_the_batch_falls_with_it(power: float, status: Status):
    draw = np.random.default_rng(0)
    runs = []
    for batch in (100, 400, 1600):
        for seed in range(8):
            part = Part("group_blocks", batch=batch, rate=0.5, steps=10)
            setting = Setting.of_calculation(part, teacher=Part(TEACHER), seed=seed)
            size = batch**power * np.exp(0.05 * draw.standard_normal(10))
            runs.append(made_run(setting, np.arange(1, 11), cross_blocks=size))
    assert check(CROSS, runs).status is status


@pytest.mark.parametrize("short", list(paper.studies))
def test_what_is_to_confirm_is_of_other_sizes_or_seeds(short: str):
    found = find_study(f"group-sparse/{short}")
    quick, confirm = found.presets["quick"], found.presets["confirm"]
    assert not set(quick.groups) & set(confirm.groups)
    if short in ("downstream", "full-attention"):
        assert confirm.first_seed >= 1000


@pytest.mark.parametrize("short", list(paper.studies))
def test_another_number_of_groups_is_taken_and_drops_controls(short: str):
    found = find_study(f"group-sparse/{short}")
    planned = found.cases(Plan(changes={"D": 7}), found.presets["quick"])
    assert all(not case.control for case in planned)
    assert {laws.read_groups(s) for case in planned for s in case.settings} == {7}
