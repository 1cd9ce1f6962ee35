"""teacher-models/starts: the curvatures at a teacher without zeros against exact derivatives, and
the study's verdicts.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Rate, Status, check
from tutelage.claims.claim import NoPrediction, NotYet
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.starts import readings, selections
from tutelage.papers.teacher_models.starts.patterns import (
    DECAYS,
    POOLING,
    POWER_LAWS,
    RANDOM,
    STARTS,
    UNIFORM,
    ZERO,
    make_teacher,
)
from tutelage.papers.teacher_models.starts.selections import leaking, without_zeros
from tutelage.papers.teacher_models.starts.study import EARLY, study
from tutelage.papers.teacher_models.theory import decay
from tutelage.papers.teacher_models.theory.unequal_weights import (
    effective_counting_law,
    least_weight_plateau,
    support_spread,
)
from tutelage.problem.build import build, build_teacher
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan


def small(selection, activation="identity", rate=0.05, **more):
    part = Part("bilinear", selection=selection, outputs=2, dim=2, norm=4.0, activation=activation)
    return Setting(part, rate, steps=1, **more)


def hessian(setting):
    """Of ½‖W⊗S − V*⊗S*‖² in every entry of W_V and W_KQ: JᵀJ at the teacher, where nothing is left,
    J by complex steps, which are exact.
    """
    made = build_teacher(setting)
    V, S = np.asarray(made.value), np.asarray(made.selection)
    point = np.concatenate([V.ravel(), (np.log(S) * math.sqrt(len(S))).ravel()])

    def output(flat):
        grown = np.exp(flat[V.size :].reshape(S.shape) / math.sqrt(len(S)))
        return np.outer(flat[: V.size], grown / grown.sum(0)).ravel()

    slopes = np.stack(
        [output(point + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(point))], axis=1
    )
    return slopes.T @ slopes


# --- the curvatures: exact twins


@pytest.mark.parametrize(("tokens", "queries"), [(4, 3), (3, 5), (5, 1)])
def test_all_modes_are_those_of_the_hessian(tokens, queries):
    """More tokens than queries and fewer: the shifts of the columns are left out, and no mode with
    them.
    """
    setting = small(without_zeros(1, tokens, queries), student=RANDOM)
    full = np.sort(np.linalg.eigvalsh(hessian(setting)))
    assert np.abs(full[:queries]).max() < 1e-12 * full[-1]  # a shift for each column
    ours = decay.curvatures(setting)
    assert (
        len(ours) == len(full) - queries - 2 * 2 + 2
    )  # W across V* has 3 modes of one curvature, named once
    distinct = full[queries:][np.abs(np.diff(full[queries:], prepend=0)) > 1e-9]
    np.testing.assert_allclose(ours, distinct, rtol=0, atol=1e-12 * full[-1])


def _flat_gradient(problem):
    at = problem.student

    def excess(flat):
        value, key_query = flat[:4].reshape(2, 2), flat[4:].reshape(4, 3)
        return problem.objective.excess(
            eqx.tree_at(lambda s: (s.value, s.key_query), at, (value, key_query))
        )

    gradient = jax.jit(jax.grad(excess))
    return lambda flat: np.asarray(gradient(jnp.asarray(flat)))


def test_relu_has_half_the_curvature():
    """By differences of the gradient of the population risk itself, which bends at the teacher:
    hence the tolerance.
    """
    setting = small(without_zeros(2, 4, 3), "relu", student=RANDOM)
    problem = build(setting)
    shape = (np.asarray(problem.teacher.value), np.log(np.asarray(problem.teacher.selection)) * 2.0)
    slope = _flat_gradient(problem)
    point, step = np.concatenate([part.ravel() for part in shape]), 1e-6
    columns = [
        (slope(point + step * unit) - slope(point - step * unit)) / (2 * step)
        for unit in np.eye(16)
    ]
    seen = np.sort(np.linalg.eigvalsh(np.stack(columns) / 2 + np.stack(columns).T / 2))
    assert decay.curvatures(setting)[0] == pytest.approx(seen[3], rel=1e-4)
    identity = small(without_zeros(2, 4, 3), student=RANDOM)
    np.testing.assert_allclose(
        decay.curvatures(setting), decay.curvatures(identity) / 2, rtol=1e-12
    )


def test_from_zero_a_leaking_pool_has_two_modes():
    """W_V = CV* and one gap between p and q: two by two, by hand."""
    setting = Setting(make_teacher(leaking(0.5)), 0.2, steps=1)
    D, K, n, Q, V, lam = 12, 4, 8, 12, 30.0, 0.5
    p, q = 0.5 / K + 0.5 / D, 0.5 / D
    gap = math.sqrt(D / (K * n)) / math.sqrt(D)  # of a unit vector of scores, times their scale
    dp, dq = n * p * q * gap, -K * p * q * gap
    across = lam * V * math.sqrt(Q) * (K * p * dp + n * q * dq)
    two = [
        [lam * Q * (K * p**2 + n * q**2), across],
        [across, lam * V**2 * (K * dp**2 + n * dq**2)],
    ]
    np.testing.assert_allclose(decay.curvatures(setting), np.linalg.eigvalsh(two), rtol=1e-12)


def test_from_zero_the_modes_are_some_of_all_and_every_one_where_no_weights_are_alike():
    for selection, alike in ((leaking(0.5), True), (without_zeros(0), False)):
        zero, full = (
            decay.curvatures(Setting(make_teacher(selection), 0.2, steps=1, student=s))
            for s in (ZERO, RANDOM)
        )
        assert all(np.abs(full / h - 1).min() < 1e-9 for h in zero)
        assert (len(zero) < len(full) / 10) is alike
        assert bool(zero[0] > 2 * full[0]) is alike


def test_two_tokens_that_share_the_least_weight_give_its_square_exactly():
    setting = Setting(make_teacher(leaking(0.5)), 0.2, steps=1, student=RANDOM)
    assert decay.curvatures(setting)[0] == pytest.approx(
        0.5 * 900 / 12 * (0.5 / 12) ** 2, rel=1e-12
    )
    assert decay.least_weight_decay(setting) == pytest.approx(
        decay.curvatures(setting)[0], rel=1e-12
    )


def test_with_a_fast_value_matrix_the_decay_lies_between_the_squares_of_the_two_least_weights():
    """docs/derivations.md, section 13: one column, ‖V*‖ small."""
    for seed in range(5):
        s = without_zeros(seed, 6, 1)
        part = Part("bilinear", selection=s, outputs=1, dim=1, norm=1e-4, activation="identity")
        least, second = np.sort(s.ravel())[:2]
        unit = 1e-8 / 6
        assert unit * least**2 < decay.curvatures(Setting(part, 0.1, steps=1))[0] < unit * second**2


def test_with_all_tokens_the_factor_is_one_less_lambda_eta():
    for activation, lam in (("relu", 0.5), ("identity", 1.0), ("leaky_relu(0.2)", 0.52)):
        setting = Setting(make_teacher(np.full((12, 12), 1 / 12), activation), 0.2, steps=1)
        assert decay.decay(setting) == pytest.approx(-math.log(1 - 0.2 * lam) / 0.2, rel=1e-12)
    (run,) = tt.execute([setting.change(measures=("excess_risk",))])
    assert run.curves["excess_risk"][1] == pytest.approx(decay.first_excess(setting), rel=1e-12)
    slow = Setting(make_teacher(np.full((12, 12), 1 / 12), norm=20.0), 0.2, steps=1, student=RANDOM)
    np.testing.assert_allclose(
        decay.curvatures(slow)[[0, -1]], [0.5 * 400 / 12**3, 0.5], rtol=1e-12
    )


def test_where_there_is_no_decay_nothing_is_predicted():
    with pytest.raises(NoPrediction, match="has zeros"):
        decay.decay(Setting(POOLING, 0.2, steps=1))
    with pytest.raises(NoPrediction, match="exact risk"):
        decay.decay(Setting(make_teacher(leaking(0.5)), 0.2, steps=1, objective=Part("online")))
    with pytest.raises(NoPrediction, match="too large"):
        decay.decay(Setting(make_teacher(leaking(0.5)), 5.0, steps=1))
    with pytest.raises(NoPrediction, match="equal weights on all"):
        decay.first_excess(Setting(make_teacher(leaking(0.5)), 0.2, steps=1))
    with pytest.raises(NoPrediction, match="identity"):
        support_spread(Setting(POOLING, 0.2, steps=1))


# --- patterns and readings


def test_patterns_have_the_weights_they_say():
    for pattern in (UNIFORM | POWER_LAWS | DECAYS).values():
        np.testing.assert_allclose(
            build_teacher(Setting(pattern.teacher(1), 0.1, steps=1)).selection.sum(0),
            1.0,
            rtol=1e-14,
        )
    steep = selections.geometric(4.0, 4, 0)
    np.testing.assert_allclose(
        np.sort(steep, axis=0)[-4:] * 85, np.array([[1, 4, 16, 64]] * 12).T, rtol=1e-14
    )
    assert (selections.geometric(4.0, 4, 1) != steep).any()
    assert set((selections.dirichlet(5.0, 4, 0) > 0).sum(0)) == {4}
    assert (selections.mixed("mixed") > 0).sum(0).tolist() == [1, 1, 2, 4, 6, 11, 11]
    assert selections.even(5, 2)[:, 4].tolist() == [0.5, 0, 0, 0, 0.5]


def test_the_plateau_waits_for_the_least_weight():
    equal, steep = (
        Setting(POOLING, 0.2, steps=1),
        Setting(POWER_LAWS["steep"].teacher(0), 0.1, steps=1),
    )
    assert least_weight_plateau(equal) == pytest.approx(theory.plateau(equal), rel=1e-12)
    assert least_weight_plateau(steep) == pytest.approx(4 * 85**2 / (2 * 0.1 * 900), rel=1e-12)
    assert support_spread(steep) == pytest.approx(8 * (85 - 85 / 64) / 1800, rel=1e-12)
    assert effective_counting_law(equal) == pytest.approx(theory.counting_law(equal), rel=1e-12)


def run_of(excess, steps, rate=0.1):
    return Run(
        np.asarray(steps), {"excess_risk": np.asarray(excess)}, None, Outcome.FINISHED, rate=rate
    )


def test_the_decay_is_read_once_the_modes_have_parted():
    steps = np.unique(np.rint(10 ** (np.arange(120) / 24)).astype(int))
    time = 0.1 * steps

    def fallen(slow, fast, share):
        return share * np.exp(-2 * slow * time) + (1 - share) * np.exp(-2 * fast * time)

    assert readings.decay(run_of(fallen(0.03, 0.06, 0.2), steps)) == pytest.approx(0.03, rel=1e-5)
    with pytest.raises(NotYet, match="several modes"):
        readings.decay(run_of(fallen(0.03, 0.04, 1e-5), steps))
    with pytest.raises(NotYet, match="Too short"):
        readings.decay(run_of(fallen(0.03, 0.06, 0.2)[:40], steps[:40]))


# --- the study


@pytest.fixture(scope="module")
def answered():
    only = (
        "all-tokens",
        "geometric",
        "no-zeros",
        "leak",
        "leak-random",
        "least-weight",
        "leak-early",
        "start-30",
        "aligned-1",
    )
    plans = (
        Plan(seeds=2, steps=10_000, only=only),
        Plan(seeds=2, steps=100_000, only=("start-1",)),  # slower to settle from afar
    )
    cases = [case for plan in plans for case in study.plan(plan)[0]]
    return {a.case.name: a for a in run_cases("teacher-models/starts", cases)}


def planned(plan):
    return study.cases(plan, study.preset(plan))


def statuses(answered):
    return {v.id.split("/")[-1]: v.status for v in answered.verdicts}


@pytest.mark.depth
def test_without_zeros_the_excess_falls_as_the_curvature_says(answered):
    for case, names in (
        ("all-tokens", {"first", "decay", "rows", "attention", "cosine"}),
        ("no-zeros", {"decay", "cosine"}),
        ("leak", {"decay", "cosine"}),
        ("leak-random", {"decay", "least-weight"}),
    ):
        found = statuses(answered[case])
        assert {found[name] for name in names} == {Status.HOLDS}, case
    assert statuses(answered["least-weight"]) == {
        "least-weight": Status.FAILS
    }  # from zero, the mode that would show it is not there


@pytest.mark.depth
def test_a_power_law_is_not_claimed_of_a_leak_that_looks_like_one(answered):
    assert statuses(answered["leak-early"]) == {"excess-rate": Status.UNDECIDED}


def test_a_leak_of_a_ten_thousandth_is_not_seen_in_ten_thousand_steps():
    """A limit of any finite run, which the page tells."""
    (run,) = tt.execute(
        [Setting(make_teacher(leaking(1e-4)), 0.2, steps=10_000, measures=("excess_risk",))]
    )
    claim = Rate("excess_risk", -1.0, plateau=theory.plateau, approach=theory.APPROACH)
    assert check(claim, run).status is Status.HOLDS


@pytest.mark.depth
def test_unequal_weights_keep_the_counting_law_and_are_served_as_derived(answered):
    found = statuses(answered["geometric"])
    assert {found[name] for name in ("cosine", "strangers")} == {Status.HOLDS}
    for run in answered["geometric"].runs:
        measured = run.curves["support_spread"][-1] * run.time[-1]
        assert measured == pytest.approx(support_spread(run.setting), rel=0.02)
        assert run.curves["excess_risk"][-1] * run.time[-1] == pytest.approx(96, rel=0.01)


@pytest.mark.depth
def test_random_starts_find_the_law_from_afar_and_lose_tokens_from_farther(answered):
    found = statuses(answered["start-1"])
    assert {found[name] for name in ("excess-rate", "excess-constant")} == {Status.HOLDS}
    measured = {v.id.split("/")[-1]: v for v in answered["start-1"].verdicts}
    assert measured["missing"].measured == 0
    assert measured["first-cosine"].measured < 0.9
    assert statuses(answered["aligned-1"]) == {"cosine": Status.FAILS}
    lost = {v.id.split("/")[-1]: v for v in answered["start-30"].verdicts}
    assert lost["missing"].measured > 20
    assert lost["missing-any"].measured == 1
    assert lost["found"].status is Status.UNDECIDED


@pytest.mark.depth
def test_both_figures_draw_what_was_measured(answered, tmp_path, shaded):
    paths = study.figures(list(answered.values()), tmp_path)
    constants, decays, slopes = shaded
    for window, case, after in (
        (constants, "geometric", 100),
        (slopes, "start-1", 30),
    ):  # plateaus; at most two decades
        run = answered[case].runs[0]
        assert window == pytest.approx(
            (
                run.rate * max(after * least_weight_plateau(run.setting), run.steps[-1] / 100),
                run.time[-1],
            )
        )
    ends = []
    for a in (answered[name] for name in ("all-tokens", "no-zeros", "leak", "leak-random")):
        for run in a.runs:
            last = run.time[run.curves["excess_risk"] > 1e-20 * run.curves["excess_risk"][0]][
                -1
            ] * decay.decay(run.setting)
            ends += [5 / 6 * last, last]
    assert decays == pytest.approx((min(ends), max(ends)))
    assert [p.name for p in paths if p.suffix == ".png"] == [
        "starts-patterns.png",
        "starts-random.png",
    ]
    assert "start-30 cosine: median" in (tmp_path / "starts-random.csv").read_text().splitlines()[0]


def test_controls_reuse_runs_and_changes_leave_them_out():
    cases = {case.name: case for case in planned(Plan())}
    for control, case in (
        ("least-weight", "leak"),
        ("effective-support", "steep"),
        ("lost-tokens", "start-30"),
        ("aligned-3", "start-3"),
    ):
        assert cases[control].settings == cases[case].settings
        assert cases[control].control
    assert cases["leak-early"].settings[0].identity() == cases["leak-late"].settings[0].identity()
    changed = planned(Plan(changes={"V": 20.0}))
    assert [case.name for case in changed] == [*UNIFORM, *POWER_LAWS, *DECAYS, *STARTS]
    assert all(s.teacher.options["norm"] == 20.0 for case in changed for s in case.settings)
    full = {case.name: case for case in planned(Plan(preset="full"))}
    assert full["steep"].settings[0].steps == POWER_LAWS["steep"].steps
    assert full["leak-early"].settings[0].steps == EARLY


def test_seeds_that_are_one_run_are_run_once():
    cases = {case.name: case for case in planned(Plan())}
    quick = study.presets["quick"]
    assert len(cases["mixed"].settings) == len(cases["leak-early"].settings) == 1
    assert len(cases["steep"].settings) == len(cases["leak-random"].settings) == quick.seeds
    assert len(cases["start-1"].settings) == quick.start_seeds
    (settled,) = [claim for claim in cases["mixed"].claims if claim.id == "settled"]
    assert settled.certain
    (settled,) = [claim for claim in cases["steep"].claims if claim.id == "settled"]
    assert not settled.certain
