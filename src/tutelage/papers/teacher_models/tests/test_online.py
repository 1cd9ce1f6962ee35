"""teacher-models/online: the floor's formula against a Lyapunov equation, and a reduced form of the
study.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

import tutelage as tt
from tutelage.claims import Number, Status
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.online.readings import make_twin, pair_runs, read_floor
from tutelage.papers.teacher_models.online.sweeps import BASE
from tutelage.problem.build import build_teacher
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan

STUDY = find_study("teacher-models/online")


@pytest.mark.parametrize(
    ("tokens", "support", "activation", "lam"),
    [(6, 2, "identity", 1.0), (6, 3, "relu", 0.5), (5, 5, "identity", 1.0)],
)
def test_the_floor_is_the_stationary_excess_of_the_linearised_descent(
    tokens, support, activation, lam
):
    """Σ = (I−ηH)Σ(I−ηH) + (ητ)²H/N over all parameters at once, H = λLᵀL with L the derivative of V
    X S at the teacher; excess ½tr HΣ.
    """
    setting = BASE.change(
        **{
            "teacher.tokens": tokens,
            "teacher.support": support,
            "teacher.activation": activation,
            "objective.batch": 37,
        }
    )
    teacher = build_teacher(setting)
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    (M, d), (D, Q) = V.shape, S.shape
    columns = []
    for i, j in np.ndindex(M, d):
        step = np.zeros_like(V)
        step[i, j] = 1.0
        columns.append(np.einsum("md,nq->mdnq", step, S).ravel())
    for a, q in np.ndindex(D, Q):
        move = np.zeros_like(S)
        move[:, q] = (np.diag(S[:, q]) - np.outer(S[:, q], S[:, q]))[:, a] / np.sqrt(D)
        columns.append(np.einsum("md,nq->mdnq", V, move).ravel())
    L = np.stack(columns, 1)
    H, eta = lam * L.T @ L, setting.rate
    moving = np.linalg.eigh(H)
    keep = moving.eigenvalues > 1e-9  # directions without curvature have no noise either
    curved = np.diag(moving.eigenvalues[keep])
    step = np.eye(len(curved)) - eta * curved
    stationary = solve_discrete_lyapunov(step, (eta * 10.0) ** 2 * curved / 37)
    assert theory.noise_floor(setting) == pytest.approx(
        0.5 * np.trace(curved @ stationary), rel=1e-10
    )


def run_some(*only, seeds=3, steps=None):
    cases, _ = STUDY.plan(Plan(seeds=seeds, steps=steps, only=only))
    return {a.case.name: a for a in run_cases(STUDY.name, cases)}


@pytest.fixture(scope="module")
def answered():
    return {**run_some("group-sparse", seeds=6), **run_some("noiseless", "noisy")}


@pytest.fixture(scope="module")
def short():
    """Twenty steps decide nothing; what pairs and draws runs needs no more."""
    return run_some("group-sparse", "floor-tau", seeds=2, steps=20)


@pytest.fixture(scope="module")
def floor():
    """Seeds by a power calculation: over 60 seeds the exponent of the floor is 1.973 and one seed
    spreads it by 0.06, so that twelve decide within ±0.1 of 2 in 19 of 20 tries, and three seldom.
    (With three and with six seeds it had come out UNDECIDED.)
    """
    return run_some("floor-tau", seeds=12)["floor-tau"]


@pytest.mark.depth
def test_the_floor_is_found_in_noise(floor):
    statuses = {v.id.split("/")[-1]: v.status for v in floor.verdicts}
    assert statuses == {"exponent": Status.HOLDS, "floor": Status.HOLDS}
    assert all(read_floor(ours, exact) > 0 for ours, exact in pair_runs(floor.runs))


@pytest.mark.depth
def test_the_floor_would_not_be_taken_for_twice_itself(floor):
    """The tolerance tells: a formula with ητ²/(2N) in place of ητ²/(4N) fails on the same runs."""
    claim = floor.case.claims[1]
    doubled = replace(claim, values=lambda runs: [r / 2 for r in claim.values(runs)])
    assert tt.check(doubled, floor.runs).status is Status.FAILS


@pytest.mark.depth
def test_a_run_of_the_paper_follows_its_exact_twin(answered):
    assert [v.status for v in answered["group-sparse"].verdicts] == [Status.HOLDS] * 3


@pytest.mark.depth
def test_without_noise_no_floor_and_with_it_no_rate(answered):
    assert answered["noiseless"].verdicts[1].status is Status.HOLDS
    assert answered["noisy"].verdicts[0].status is not Status.HOLDS


def test_twins_share_teacher_and_seed(short):
    pairs = pair_runs(short["floor-tau"].runs)
    assert len(pairs) == len(short["floor-tau"].runs) / 2
    for ours, exact in pairs:
        assert exact.setting == make_twin(ours.setting)
        assert np.array_equal(build_teacher(ours.setting).value, build_teacher(exact.setting).value)


def test_changes_reach_both_twins_and_unknown_ones_are_refused():
    cases, left_out = STUDY.plan(Plan(changes={"N": 50, "K": 2}))
    assert {
        s.objective.options["batch"]
        for case in cases
        for s in case.settings
        if s.objective.name == "online"
    } == {50}
    assert {s.teacher.options["support"] for case in cases for s in case.settings} == {2}
    assert left_out == ["gcn-relu", "group-sparse"]
    with pytest.raises(tt.Refused, match="no setting named 'n'"):
        STUDY.plan(Plan(changes={"n": 3}))


def test_figures_show_what_was_measured(short, tmp_path):
    paths = STUDY.figures(list(short.values()), tmp_path)
    assert {p.name for p in paths} == {
        f"online-{name}.{end}" for name in ("six-runs", "alignment") for end in ("png", "csv")
    }


def test_number_is_an_equivalence_test():
    run = tt.Run(np.array([0, 1]), {"x": np.ones(2)}, None, tt.Outcome.FINISHED)

    def status(values, side="equal", tolerance=0.1):
        return tt.check(
            Number(lambda runs: values, 1.0, "it", tolerance, side), [run] * len(values)
        ).status

    assert status([1.0, 1.01, 0.99]) is Status.HOLDS
    assert status([1.3, 1.31, 1.29]) is Status.FAILS
    assert status([0.9, 1.2, 1.0]) is Status.UNDECIDED
    assert status([0.2, 0.21, 0.19], "at most") is Status.HOLDS
    assert status([0.2, 0.21, 0.19], "at least") is Status.FAILS
    assert status([1.3, 1.31, 1.29], "at least") is Status.HOLDS
    assert status([np.nan, 1.0]) is Status.UNDECIDED
    assert status([np.inf, 1.0]) is Status.FAILS
    alone = tt.check(Number(lambda runs: [1.0], 1.0, "it", 0.1), [run])
    assert alone.status is Status.UNDECIDED
    assert "does not show the spread" in alone.sentence
    assert (
        tt.check(Number(lambda runs: [1.0], 1.0, "it", 0.1, certain=True), [run]).status
        is Status.HOLDS
    )
    with pytest.raises(tt.Refused, match="side"):
        Number(lambda runs: [1.0], 1.0, "it", 0.1, "around")


def test_the_study_says_which_noise_it_chose():
    assert any("τ = 1" in choice for choice in STUDY.choices)
    assert {
        s.teacher.options["noise"] for case in STUDY.plan(Plan())[0][:4] for s in case.settings
    } == {1.0}


def test_the_floor_is_silent_where_it_is_not_known():
    for setting, words in (
        (make_twin(BASE), "online descent"),
        (BASE.change(**{"inputs.covariance": 9 * np.eye(3)}), "N\\(0, I\\)"),
        (BASE.change(rate=0.6), "no stationary state"),
    ):
        with pytest.raises(tt.Refused, match=words):
            theory.noise_floor(setting)


def test_too_short_a_run_is_undecided(short):
    assert {v.status for v in short["floor-tau"].verdicts} == {Status.UNDECIDED}
