"""teacher-models/codes: the quadratic programme against closed forms and another solver, the
floors, and the verdicts of a short plan.
"""

from __future__ import annotations

import csv
import importlib
import itertools
import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from planting import Fault, fresh_package
from scipy.optimize import minimize

import tutelage as tt
from tutelage.claims import Status
from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.codes.claims import Increment
from tutelage.papers.teacher_models.codes.kinds import KINDS, NEXT, POOLING, even_sinusoids
from tutelage.papers.teacher_models.codes.readings import found, increments
from tutelage.papers.teacher_models.codes.study import law_case, study
from tutelage.papers.teacher_models.theory import equivariance, max_margin
from tutelage.problem.build import build_teacher
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.students.base import trainable
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Answered, Plan

TEACHER = tt.BilinearTeacher(
    np.ones((2, 3)), np.kron(np.eye(2), np.full((2, 2), 0.5)), activation="identity"
)


def on(tokens: int, support: int) -> np.ndarray:
    return np.kron(np.eye(tokens // support), np.ones((support, support))) > 0


def gaussian(size: int, tokens: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((size, tokens)) / math.sqrt(size)


def margins(
    W: np.ndarray, P: np.ndarray, chosen: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Every on-off difference of scores, and every on-on one, pair by pair."""
    Z = scale * P.T @ W @ P
    apart, together = [], []
    for i, column in enumerate(chosen.T):
        for a in np.flatnonzero(column):
            apart += [Z[a, i] - Z[b, i] for b in np.flatnonzero(~column)]
            together += [Z[a, i] - Z[b, i] for b in np.flatnonzero(column)]
    return np.array(apart), np.array(together)


def check_counting_law() -> None:
    """Orthonormal codes: W_svm has K_i(D−K_i)/4 a query; by the fresh package where a fault is
    planted.
    """
    solve = importlib.import_module("tutelage.papers.teacher_models.theory.max_margin").max_margin
    for tokens, support in ((6, 2), (8, 4), (6, 1)):
        rotation, _ = np.linalg.qr(gaussian(tokens, tokens, seed=3))
        for alpha in (1.0, 1.5, 0.7):
            W = solve(alpha * rotation, alpha * rotation, on(tokens, support), tokens**-0.5)
            expected = tokens * support * (tokens - support) / 4 / alpha**4
            assert abs(np.sum(W**2) / expected - 1) < 1e-10, (tokens, support, alpha)


def test_orthonormal_codes_give_the_counting_law_and_their_length_its_fourth_power():
    check_counting_law()


def test_unequal_supports_and_other_queries_give_the_counting_law_too():
    chosen = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]]) > 0
    K = chosen.sum(0)
    W = max_margin.max_margin(np.eye(4), np.eye(3), chosen, 0.5)
    assert np.sum(W**2) == pytest.approx(np.sum(K * (4 - K)) / 4, rel=1e-12)
    W = max_margin.max_margin(np.eye(4), np.eye(3), chosen, 0.25)
    assert np.sum(W**2) == pytest.approx(np.sum(K * (4 - K)), rel=1e-12)


@pytest.mark.parametrize(
    ("P", "support"),
    [(gaussian(5, 4), 2), (gaussian(4, 4, 1), 1), (gaussian(3, 4, 2), 1), (even_sinusoids(4), 2)],
)
def test_another_solver_agrees(P, support):
    """SLSQP on every pair of on and off tokens, where ours has one of each support stand for
    all.
    """
    chosen, scale = on(4, support), 0.5
    W = max_margin.max_margin(P, P, chosen, scale)
    apart, together = margins(W, P, chosen, scale)
    assert apart.min() > 0.5 - 1e-10
    assert np.abs(together).max() < 1e-10
    size = (len(P), len(P))

    def ties(w: np.ndarray) -> np.ndarray:
        Z = P.T @ w.reshape(size) @ P
        return np.array(
            [
                Z[np.flatnonzero(c)[0], i] - Z[np.flatnonzero(c)[-1], i]
                for i, c in enumerate(chosen.T)
            ]
        )

    constraints = [
        {"type": "ineq", "fun": lambda w: margins(w.reshape(size), P, chosen, scale)[0] - 0.5}
    ]
    constraints += [{"type": "eq", "fun": ties}] if support > 1 else []
    start = W.ravel() + 0.1 * np.random.default_rng(0).standard_normal(W.size)
    theirs = minimize(
        lambda w: 0.5 * w @ w,
        start,
        jac=lambda w: w,
        constraints=constraints,
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert theirs.success
    np.testing.assert_allclose(theirs.x.reshape(size), W, atol=1e-5 * np.abs(W).max())


def test_what_cannot_be_separated_is_said():
    with pytest.raises(max_margin.NotSeparable, match="cannot separate"):
        max_margin.max_margin(gaussian(2, 8), gaussian(2, 8), on(8, 2), 1.0)
    assert not max_margin.separable(gaussian(2, 8), gaussian(2, 8), on(8, 2))
    assert max_margin.separable(gaussian(8, 8), gaussian(8, 8), on(8, 2))
    with pytest.raises(NoPrediction, match="nothing to separate"):
        max_margin.max_margin(np.eye(4), np.eye(4), on(4, 4), 0.5)


def test_a_planted_fault_is_seen():
    fault = Fault(
        "papers.teacher_models.theory.max_margin", "MARGIN = 0.5", "MARGIN = 0.5000005", ""
    )
    with fresh_package(fault), pytest.raises(AssertionError):
        check_counting_law()
    fault = Fault(
        "papers.teacher_models.theory.max_margin",
        "first, *others = np.flatnonzero(column)",
        "first, *others = np.flatnonzero(column)[:1]",
        "",
    )
    with fresh_package(fault), pytest.raises(AssertionError):
        check_counting_law()


def test_no_student_goes_below_the_floor_of_codes_that_do_not_separate():
    """The certified bound against 200 students of any scale."""
    setting = Setting(
        NEXT, 0.1, steps=2000, student=Part("position_attention", key_codes="gaussian", size=2)
    )
    floor = max_margin.floor(setting)
    assert floor == pytest.approx(8.0**2 / 4)
    problem = tt.build(setting)
    draw = np.random.default_rng(0)
    scores = 10 ** draw.uniform(-1, 3, (200, 1, 1)) * draw.standard_normal((200, 2, 2))
    values = draw.uniform(0, 1.5, (200, 1, 1)) * np.asarray(problem.objective.teacher.value)

    def excess(value: jax.Array, score: jax.Array) -> jax.Array:
        return problem.objective.excess(
            eqx.tree_at(lambda s: (s.value, s.key_query), problem.student, (value, score))
        )

    assert float(jax.vmap(excess)(jnp.asarray(values), jnp.asarray(scores)).min()) > floor
    with pytest.raises(NoPrediction, match="separate the supports"):
        max_margin.floor(setting.change(student=Part("position_attention")))
    with pytest.raises(NoPrediction, match="identity"):
        max_margin.floor(setting.change(**{"teacher.activation": "relu"}))


def test_the_average_over_all_orders_is_the_symmetrised_teacher():
    S = np.random.default_rng(0).dirichlet(np.ones(4), size=4).T
    orders = [np.eye(4)[:, list(order)] for order in itertools.permutations(range(4))]
    np.testing.assert_allclose(
        np.mean([P @ S @ P.T for P in orders], axis=0), equivariance.symmetrised(S), atol=1e-14
    )


def test_the_floor_without_codes_is_the_least_over_symmetric_predictors():
    """By least squares over aI + b11ᵀ."""
    setting = Setting(POOLING.change(tokens=4, dim=3), 0.1, steps=10)
    teacher = build_teacher(setting)
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    basis = np.stack([np.eye(4).ravel(), np.ones(16)], 1)
    best = basis @ np.linalg.lstsq(basis, S.ravel(), rcond=None)[0]
    assert equivariance.floor(setting) == pytest.approx(
        0.5 * np.sum(V**2) * np.sum((S.ravel() - best) ** 2), rel=1e-12
    )
    assert equivariance.silence(setting) == pytest.approx(
        0.5 * np.sum(V**2) * np.sum(S**2), rel=1e-12
    )
    with pytest.raises(NoPrediction, match="identity"):
        equivariance.floor(setting.change(**{"teacher.activation": "relu"}))


@pytest.mark.depth
def test_a_layer_without_codes_commutes_with_every_order():
    teacher = Part(
        "convolution", tokens=4, support=2, outputs=2, dim=3, norm=4.0, activation="identity"
    )
    student, objective = (
        Part("content_attention", mix="none", start=0.7),
        Part("online", batch=8, held_out=20),
    )
    layer = tt.build(Setting(teacher, 0.02, steps=50, student=student, objective=objective)).student
    tokens = jax.random.normal(tt.stream(0, "x"), (3, 4))
    there = layer(tokens)
    for order in itertools.permutations(range(4)):
        np.testing.assert_allclose(
            layer(tokens[:, np.array(order)]), there[:, np.array(order)], rtol=0, atol=1e-14
        )


def test_codes_by_name():
    def student(seed: int = 0, **options: object) -> object:
        return tt.build(
            Setting(POOLING, 0.1, steps=1, seed=seed, student=Part("position_attention", **options))
        ).student

    P = np.asarray(student(key_codes="orthonormal", code_scale=1.5).key_codes)
    np.testing.assert_allclose(P.T @ P, 2.25 * np.eye(8), atol=1e-13)
    assert student(key_codes="gaussian", size=5).key_query.shape == (5, 5)
    assert (
        student(0, key_codes="gaussian").key_codes != student(1, key_codes="gaussian").key_codes
    ).all()
    named = Setting(
        POOLING, 0.1, steps=1, student=Part("position_attention", key_codes="orthonormal")
    )
    assert theory.facts(named).orthonormal_codes
    assert not theory.facts(named.change(**{"student.code_scale": 1.5})).orthonormal_codes
    for options, words in (
        ({"size": 4}, "given by name"),
        ({"key_codes": np.eye(8), "code_scale": 2.0}, "given by name"),
        ({"key_codes": "binary"}, "position codes"),
        ({"learned": True}, "start from"),
        ({"key_codes": "gaussian", "code_scale": 0.0}, "code_scale"),
    ):
        with pytest.raises(Refused, match=words):
            student(**options)


def test_learned_codes_are_trained_as_codes_of_token_and_query_at_once():
    """The gradient of a shared table is the sum of those of two separate ones."""
    shared, separate = (
        tt.PositionAttention.random(
            TEACHER,
            key=tt.stream(0, "start"),
            key_codes=gaussian(3, 4),
            query_codes=asked,
            learned=True,
        )
        for asked in (None, gaussian(3, 4))
    )
    assert all(jax.tree.leaves((trainable(shared).key_codes, trainable(shared).key_query)))
    fixed = tt.PositionAttention.zeros(TEACHER, key_codes=gaussian(3, 4))
    assert not trainable(fixed).key_codes
    risk = tt.PopulationRisk(TEACHER)
    ours, theirs = jax.jit(jax.grad(risk))(shared), jax.jit(jax.grad(risk))(separate)
    np.testing.assert_allclose(
        ours.key_codes, theirs.key_codes + theirs.query_codes, rtol=1e-12, atol=1e-15
    )
    assert np.abs(ours.key_codes).max() > 1e-6
    assert risk.stable_rate(shared) is None
    assert risk.stable_rate(fixed) > 0


@pytest.fixture(scope="module")
def answered():
    plans = (
        Plan(steps=30_000, seeds=4, only=("orthonormal", "longer", "textbook-sinusoids")),
        Plan(steps=100_000, seeds=4, only=("gaussian-square",)),  # the slowest to settle
    )
    cases = [case for plan in plans for case in study.plan(plan)[0]]
    return {a.case.name: a for a in run_cases(study.name, cases)}


def status(answered, case, claim):
    (only,) = [v for v in answered[case].verdicts if v.id.endswith(f"/{case}/{claim}")]
    return only.status


@pytest.mark.depth
@pytest.mark.parametrize("case", ["orthonormal", "longer", "gaussian-square"])
@pytest.mark.parametrize("claim", ["excess-rate", "excess-constant", "increment"])
def test_the_law_holds(answered, case, claim):
    assert status(answered, case, claim) is Status.HOLDS


@pytest.mark.depth
def test_each_draw_has_its_own_codes_and_its_own_constant(answered):
    first, second, *_ = (
        max_margin.excess_constant(s) for s in answered["gaussian-square"].case.settings
    )
    assert abs(first / second - 1) > 0.1
    for run in answered["gaussian-square"].runs:
        assert run.curves["excess_risk"][-1] * run.time[-1] == pytest.approx(
            max_margin.excess_constant(run.setting), rel=0.03
        )
        assert (
            abs(
                theory.counted_pairs(theory.facts(run.setting))
                / max_margin.excess_constant(run.setting)
                - 1
            )
            > 0.5
        )  # what the old law would say
        W, step = max_margin.matrix(run.setting), increments(run)[-1]
        assert np.sum(step * W) / np.linalg.norm(step) / np.linalg.norm(W) > 0.995


@pytest.mark.depth
def test_textbook_sinusoids_are_out_of_reach_and_that_is_said(answered):
    assert {v.status for v in answered["textbook-sinusoids"].verdicts} == {Status.UNDECIDED}
    assert any("would decide" in v.sentence for v in answered["textbook-sinusoids"].verdicts)
    assert max_margin.condition(answered["textbook-sinusoids"].case.settings[0]) > 1e16


@pytest.mark.depth
def test_full_rank_codes_can_lose_a_token():
    """Seed 5 of the square draws: separable, and yet one weight of S* goes to zero, at any step
    size.
    """
    (case,), _ = study.plan(Plan(steps=20_000, only=("lost-token",)))
    setting = case.settings[5]
    runs = list(tt.execute([setting.change(rate=setting.rate * f) for f in (1.0, 0.5)]))
    for run in runs:
        assert max_margin.excess_constant(setting) < 1000
        assert not found(run)
        attention, S = (
            np.asarray(run.student.attention()),
            np.asarray(tt.build(setting).objective.teacher.selection),
        )
        assert attention[S > 0].min() < 1e-4


def test_changes_reach_the_law_and_leave_out_what_they_cannot():
    kinds, quick = {kind.name: kind for kind in KINDS}, study.presets["quick"]
    for change, teacher in (({"M": 3}, {"outputs": 3}), ({"D": 12}, {"tokens": 12})):
        (setting,) = law_case(
            kinds["even-sinusoids"], Plan(changes=change, seeds=1), quick
        ).settings
        assert teacher.items() <= setting.teacher.options.items()
        assert max_margin.codes_of(setting)[0].shape[1] == setting.teacher.options["tokens"]
    assert "tokens" in law_case(kinds["gaussian-square"], Plan(changes={"D": 12}), quick).left_out
    (setting,) = law_case(
        kinds["orthonormal"], Plan(changes={"eta": 0.01, "T": 7}, seeds=1), quick
    ).settings
    assert (setting.rate, setting.steps) == (0.01, 7)
    with pytest.raises(Refused, match="give a step size"):
        law_case(kinds["orthonormal"], Plan(changes={"activation": "erf"}, seeds=1), quick)


def test_too_short_a_run_is_undecided():
    cases, _ = study.plan(Plan(steps=60, seeds=1, only=("gaussian-square", "gaussian-narrow")))
    for answered in run_cases(study.name, cases):
        assert {v.status for v in answered.verdicts} == {Status.UNDECIDED}


@pytest.mark.depth
def test_the_table_has_a_row_per_kind_and_says_where_nothing_was_read(answered):
    verdicts = [v for a in answered.values() for v in a.verdicts]
    _, _, *rows = study.table(verdicts).splitlines()
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in answered]
    rate = answered["orthonormal"].verdicts[0]
    low, high = rate.interval
    assert f"| {rate.measured:.5g} of -1<br>[{low:.5g}, {high:.5g}] HOLDS |" in rows[0]
    unread = replace(rate, id="codes/orthonormal/increment", measured=None, interval=None)
    assert study.table([unread]).splitlines()[-1] == "| orthonormal | – of -1 HOLDS |"


@pytest.mark.depth
def test_the_figures_draw_what_was_measured(answered, tmp_path, shaded):
    paths = study.figures(list(answered.values()), tmp_path)
    kept = [
        run
        for name in ("orthonormal", "longer", "gaussian-square")
        for run in answered[name].runs
        if found(run)
    ]
    ends = [
        run.steps[-1] / max_margin.plateau(run.setting) for run in kept
    ]  # each in its own plateaus
    assert shaded == [pytest.approx((min(max(100.0, end / 100) for end in ends), max(ends)))]
    assert [p.name for p in paths if p.suffix == ".png"] == ["codes-law.png", "codes-matrices.png"]
    header, first = paths[1].read_text().splitlines()[:2]
    assert header.startswith('"orthonormal, 0: step / plateau"')
    assert np.isfinite(float(first.split(",")[1]))


@pytest.mark.depth
def test_the_figure_of_the_limits_has_all_three_panels(answered, tmp_path, shaded):
    """Runs at hand under the names of others: what is tested is where they are drawn."""
    cases = {case.name: case for case in study.plan(Plan(seeds=1))[0]}
    runs = answered["orthonormal"].runs
    known = {
        "orthonormal": answered["orthonormal"],
        "learned": Answered(cases["learned"], runs[:1], ()),
    }
    known["lost-token"] = Answered(cases["lost-token"], answered["gaussian-square"].runs, ())
    for name in ("added", "no-codes", "concatenated", "learned-content"):
        seen = tuple(
            replace(run, curves={"relative_excess": run.curves["excess_risk"]}) for run in runs
        )
        known[name] = Answered(cases[name], seen, ())
    study.figures(list(known.values()), tmp_path)
    header = (tmp_path / "codes-limits.csv").read_text().splitlines()[0]
    assert {
        "no codes: relative excess",
        "lost-token, seed 3: excess",
        "learned: excess times time",
    } <= set(next(csv.reader([header])))
    (run,) = known["learned"].runs
    halved = run.steps[np.argmax(run.curves["excess_risk"] <= run.curves["excess_risk"][0] / 2)]
    assert shaded[-1] == pytest.approx(
        (run.rate * max(30 * halved, run.steps[-1] / 100), run.time[-1])
    )


@pytest.mark.depth
def test_an_increment_that_goes_elsewhere_fails_and_one_that_is_early_does_not(answered):
    """The same runs judged by curves made up: stuck at half the distance, still falling, and stuck
    but short.
    """
    run = answered["orthonormal"].runs[0]

    def judged(curve: np.ndarray, points: int | None = None) -> Status:
        curves = {**run.curves, "increment_error": curve}
        made = replace(
            run,
            steps=run.steps[:points],
            curves={name: all_of_it[:points] for name, all_of_it in curves.items()},
        )
        return Increment().answer([made]).status

    steps = np.maximum(run.steps, 1)
    assert judged(np.full(len(steps), 0.5)) is Status.FAILS
    assert judged(0.5 * steps**-0.01) is Status.UNDECIDED
    assert judged(np.full(len(steps), 0.05)) is Status.HOLDS
    assert judged(np.full(len(steps), 0.5), points=40) is Status.UNDECIDED
    assert judged(np.full(len(steps), 0.05), points=30) is Status.UNDECIDED


def test_short_codes_separate_as_well_as_long_ones():
    """α times orthonormal codes: ‖W_svm‖² is the counting law over α⁴, at any length."""
    for scale in (1e-4, 1.0, 1e4):
        found = max_margin.max_margin(scale * np.eye(4), scale * np.eye(4), np.eye(4) > 0, 0.5)
        assert np.sum(found**2) * scale**4 == pytest.approx(4 * 1 * 3 / 4, rel=1e-10)
