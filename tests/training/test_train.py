"""The training loop: against loops and recursions written here by hand, alone and in batches, and
how it ends.
"""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import twins

import tutelage as tt
from tutelage.measures import STANDARD, excess_risk
from tutelage.numerics.grids import PER_DECADE
from tutelage.students.base import trainable
from tutelage.training import literal as training
from tutelage.training import record as recording

pytestmark = pytest.mark.compiled

D, K = 6, 2


def value_matrix(student: Any, objective: Any) -> jax.Array:
    return student.value


def scores(student: Any, objective: Any) -> jax.Array:
    return student.key_query


def problem(
    seed: int = 0, activation: str = "relu", support: int = K, norm: float = 2.0
) -> tuple[Any, Any]:
    """A random start and its risk; one shape for all tests, so that programs are shared."""
    value = np.random.default_rng(seed).normal(size=(2, 3))
    teacher = tt.BilinearTeacher(
        norm * value / np.linalg.norm(value), tt.pooling(D, support), activation
    )
    return tt.PositionAttention.random(
        teacher, scale=0.3, key=tt.stream(seed, "start")
    ), tt.PopulationRisk(teacher)


@jax.jit
def excess_and_slopes(objective: Any, student: Any) -> Any:
    return jax.value_and_grad(lambda s: objective.excess(s))(student)


def by_hand(
    student: Any, objective: Any, update: Any, steps: int
) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """W_V, W_KQ and the excess after 0, 1, … steps; `update(step, parameters, gradients)` in
    NumPy.
    """
    now, seen = (np.asarray(student.value), np.asarray(student.key_query)), []
    for step in range(steps + 1):
        at = eqx.tree_at(lambda s: (s.value, s.key_query), student, tuple(map(jnp.asarray, now)))
        excess, slopes = excess_and_slopes(objective, at)
        seen.append((*now, float(excess)))
        if not np.isfinite(excess):
            break
        now = update(step, now, [np.asarray(slopes.value), np.asarray(slopes.key_query)])
    return seen


def descend(rate: float) -> Any:
    return lambda step, now, slopes: tuple(p - rate * g for p, g in zip(now, slopes, strict=True))


# ---- the steps themselves


def test_the_loop_is_gradient_descent() -> None:
    student, objective = problem(activation="identity")
    run = tt.train(
        student, objective, rate=0.3, steps=60, measures=[value_matrix, scores, excess_risk]
    )
    seen = by_hand(student, objective, descend(0.3), 60)
    for i, step in enumerate(run.steps):
        for j, name in enumerate(("value_matrix", "scores", "excess_risk")):
            # The same sums in the order of another compiled program: a few eps for each of 60
            # steps.
            np.testing.assert_allclose(run.curves[name][i], seen[step][j], rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(run.student.value, run.curves["value_matrix"][-1])
    np.testing.assert_array_equal(run.student.key_query, run.curves["scores"][-1])


def test_momentum() -> None:
    student, objective = problem(activation="identity")
    speed = [0.0, 0.0]

    def update(step: int, now: Any, slopes: Any) -> Any:
        for i, g in enumerate(slopes):
            speed[i] = 0.9 * speed[i] + g
        return tuple(p - 0.05 * s for p, s in zip(now, speed, strict=True))

    run = tt.train(
        student,
        objective,
        rate=0.05,
        steps=40,
        optimiser=partial(optax.sgd, momentum=0.9),
        measures=[value_matrix, scores],
    )
    last = by_hand(student, objective, update, 40)[-1]
    np.testing.assert_allclose(run.student.value, last[0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.student.key_query, last[1], rtol=1e-11, atol=1e-12)


def test_adam_by_factory_and_finished() -> None:
    student, objective = problem(activation="identity")
    first, second = [0.0, 0.0], [0.0, 0.0]

    def update(step: int, now: Any, slopes: Any) -> Any:
        moved = []
        for i, (p, g) in enumerate(zip(now, slopes, strict=True)):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g**2
            mean, square = first[i] / (1 - 0.9 ** (step + 1)), second[i] / (1 - 0.999 ** (step + 1))
            moved.append(p - 0.01 * mean / (np.sqrt(square) + 1e-8))
        return tuple(moved)

    last = by_hand(student, objective, update, 40)[-1]
    with jax.numpy_dtype_promotion(
        "standard"
    ):  # optax counts steps in int32 and raises floats to that power
        factory = tt.train(
            student, objective, rate=0.01, steps=40, optimiser=optax.adam, measures=[value_matrix]
        )
        finished = tt.train(
            student, objective, steps=40, optimiser=optax.adam(0.01), measures=[value_matrix]
        )
    for run in (factory, finished):
        # Optax forms the powers of 0.9 and 0.999 in its own way, 1e-13 apart; the quotient of small
        # numbers keeps ten digits.
        np.testing.assert_allclose(run.student.value, last[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(run.student.key_query, last[1], rtol=0, atol=1e-10)
    assert factory.rate == 0.01
    np.testing.assert_array_equal(factory.time, 0.01 * factory.steps)
    assert finished.rate is None
    with pytest.raises(ValueError, match="no time ηT"):
        _ = finished.time


def test_only_the_weights_are_trained() -> None:
    _, objective = problem()
    draw = np.random.default_rng(1)
    codes = draw.normal(size=(4, D))
    student = tt.PositionAttention.random(
        objective.teacher, key=tt.stream(0, "s"), key_codes=codes, attention_scale=0.3
    )
    moving = trainable(student)
    assert moving.value is True
    assert moving.key_query is True
    assert not any(jax.tree.leaves((moving.key_codes, moving.query_codes, moving.attention_scale)))


def test_any_student_and_objective_will_do() -> None:
    twins.check_descent()
    twins.check_divergence_step()
    twins.check_convergence_step()


# ---- the two numbers of the theorem's proof


def two_scalars(
    slope: float, norm: float, tokens: int, support: int, rate: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""C₁ and the gap z = C₂+C₃ of scores on and off the support, after 0 … `steps` steps of
    gradient descent from zero.

    With W_V = C₁V* every row has the same angle and ratio of norms, and a column of S has p on its
    support and r off it. With A = C₁²‖v‖²‖s‖², C = C₁‖v‖²p and B = ‖v‖²/K, the risk ½E(σ(a)−σ(b))²
    of a leaky ReLU has 2∂_A = λ − c√(B/A) sin θ and ∂_C = −λ + cθ, λ = (1+k²)/2, c = (1−k)²/2π,
    where tan θ = r√(D−K)/(p√K) since the part of s across s* is r on the D−K other tokens. The
    chain rule through C₁ and through the softmax gives the two updates; the gradient of W_V is a
    multiple of V*, and that of W_KQ a number on the support and another off it, for every query.
    """
    n, scale = tokens - support, 1 / math.sqrt(tokens)
    lam, c = 0.5 * (1 + slope**2), (1 - slope) ** 2 / (2 * math.pi)
    c1 = z = 0.0
    history = [(c1, z)]
    for _ in range(steps):
        p = 1 / (support + n * math.exp(-scale * z))
        r = p * math.exp(-scale * z)
        square = support * p * p + n * r * r  # ‖s‖²
        if c1 > 0:
            theta = math.atan2(r * math.sqrt(n), p * math.sqrt(support))
            bend = c * math.sin(theta) / (math.sqrt(support) * c1 * math.sqrt(square))
        else:
            theta, bend = (
                math.pi / 2,
                0.0,
            )  # the symmetric choice at the kink; a = 0 has no direction of its own
        by_a, by_c = lam - bend, c * theta - lam  # 2∂_A and ∂_C
        to_c1 = tokens * (
            by_a * c1 * square + by_c * p
        )  # the gradient of W_V is this multiple of V*
        on = norm**2 * (
            by_a * c1 * c1 * p + by_c * c1 / support
        )  # the gradient of an entry of S on the support
        off = norm**2 * by_a * c1 * c1 * r
        mean = support * p * on + n * r * off
        to_gap = scale * (p * (on - mean) - r * (off - mean))
        c1, z = c1 - rate * to_c1, z - rate * to_gap
        history.append((c1, z))
    return tuple(np.array(history).T)


@pytest.mark.brief(1)
@pytest.mark.parametrize(("activation", "slope"), [("identity", 1.0), ("relu", 0.0)])
def test_the_full_matrices_follow_the_two_scalars_of_the_proof(
    activation: str, slope: float
) -> None:
    steps, rate = 100_000, 0.2
    objective = problem(activation=activation)[1]
    teacher = objective.teacher
    run = tt.train(
        tt.PositionAttention.zeros(teacher),
        objective,
        rate=rate,
        steps=steps,
        measures=[value_matrix, scores, excess_risk],
    )
    c1, z = two_scalars(slope, 2.0, D, K, rate, steps)
    support = np.asarray(teacher.selection) > 0
    W, G = run.curves["value_matrix"], run.curves["scores"]
    at = run.steps
    assert at[-1] == steps
    # Descent towards the teacher forgets rounding, so neither side gathers more than a few hundred
    # eps.
    np.testing.assert_allclose(
        W, c1[at, None, None] * np.asarray(teacher.value), rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(
        G,
        np.where(support, z[at, None, None] * (D - K) / D, -z[at, None, None] * K / D),
        rtol=0,
        atol=1e-10,
    )
    assert z[-1] > 5, "attention has hardly moved, so this would test nothing"
    assert c1[-1] > 1, "C₁ comes down to 1 from above"
    assert run.curves["excess_risk"][-1] < 1e-3


# ---- batches of runs


@pytest.mark.depth
def test_a_member_of_a_batch_is_its_lone_run() -> None:
    problems = [problem(seed) for seed in range(5)]
    rates = [0.3, 0.1, 0.3, 0.1, 0.3]
    students, objectives = zip(*problems, strict=True)
    batch = tt.train_batch(students, objectives, rates=rates, steps=3000)
    for (student, objective), rate, member in zip(problems, rates, batch, strict=True):
        lone = tt.train(student, objective, rate=rate, steps=3000)
        _, here, there = np.intersect1d(lone.steps, member.steps, return_indices=True)
        assert len(here) == len(tt.log_spaced(3000))
        assert member.rate == rate
        for name, curve in lone.curves.items():
            # Two compiled programs round differently; descent does not amplify it over 3000 steps.
            np.testing.assert_allclose(
                member.curves[name][there], curve[here], rtol=1e-10, atol=1e-12, err_msg=name
            )
        np.testing.assert_allclose(
            member.student.key_query, lone.student.key_query, rtol=0, atol=1e-10
        )
    finals = [run.curves["excess_risk"][-1] for run in batch]
    assert len(set(finals)) == 5, "the members are one and the same"


def test_members_end_each_in_its_own_way() -> None:
    starts, bowls = [twins.point(jnp.ones(2))] * 3, [twins.bowl(jnp.zeros(2))] * 3
    runs = tt.train_batch(
        starts, bowls, rates=[0.001, 31 / 32, 2.02], steps=1000, measures=[twins.place]
    )
    assert [run.outcome for run in runs] == [
        tt.Outcome.FINISHED,
        tt.Outcome.CONVERGED,
        tt.Outcome.DIVERGED,
    ]
    # As each does alone (`check_convergence_step`, `check_divergence_step`), however long the
    # others go on.
    np.testing.assert_array_equal(runs[0].steps, tt.log_spaced(1000))
    assert runs[1].steps.tolist() == list(range(11))
    assert "By step 233 " in runs[2].note
    for run in runs[:2]:
        np.testing.assert_array_equal(run.student.at, run.curves["place"][-1])
    assert np.isfinite(runs[2].curves["place"]).all()


def test_new_numbers_do_not_recompile() -> None:
    def go(seed: int, rate: float, shift: int, steps: int) -> None:
        draw = np.random.default_rng(seed)
        teacher = tt.BilinearTeacher(
            draw.normal(size=(2, 3)), np.roll(tt.pooling(D, K), shift, 0), "relu", noise=0.1 * seed
        )
        student = tt.PositionAttention.random(
            teacher, key=tt.stream(seed, "start"), attention_scale=0.1 * (1 + seed)
        )
        tt.train(student, tt.PopulationRisk(teacher), rate=rate, steps=steps)

    before = training.compile_steps("cpu", False, ())._cache_size()
    go(0, 0.1, 0, 50)
    compiled = training.compile_steps("cpu", False, ())._cache_size()
    assert compiled <= before + 1  # one program a run, whatever the number of calls it takes
    for seed, rate, shift, steps in ((1, 0.2, 0, 50), (2, 1, 1, 51), (3, np.float64(0.3), 2, 700)):
        go(seed, rate, shift, steps)
    assert training.compile_steps("cpu", False, ())._cache_size() == compiled


# ---- what is measured


def test_log_spaced() -> None:
    assert tt.log_spaced(1).tolist() == [0, 1]
    assert tt.log_spaced(7).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    for steps in (1, 2, 9, 10, 11, 99, 100, 1000, 12_345, 10**6):
        points = tt.log_spaced(steps)
        assert (points[0], points[-1]) == (0, steps)
        assert np.all(np.diff(points) > 0)
        assert points.dtype == np.int64
    long, short = tt.log_spaced(10**6), tt.log_spaced(5000)
    assert set(short[:-1].tolist()) <= set(long.tolist())
    assert set(10 ** np.arange(7)) <= set(long.tolist())
    assert np.count_nonzero((long >= 1000) & (long < 10_000)) == PER_DECADE


@pytest.mark.parametrize("seconds", [recording.BLOCK_SECONDS, 1e-9])
def test_measured_steps_are_log_spaced_on_any_machine(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`BLOCK_SECONDS` of a nanosecond stands for a slow machine: how fast the loop runs must not
    show in what it reports.
    """
    monkeypatch.setattr(recording, "BLOCK_SECONDS", seconds)
    student, objective = problem()
    runs = {steps: tt.train(student, objective, rate=0.1, steps=steps) for steps in (3000, 2000)}
    for steps, run in runs.items():
        np.testing.assert_array_equal(run.steps, tt.log_spaced(steps))
        assert all(len(curve) == len(run.steps) for curve in run.curves.values())
    assert set(runs[2000].steps[:-1].tolist()) <= set(runs[3000].steps.tolist())


def test_vector_measures_have_an_entry_for_each_query() -> None:
    student, objective = problem()
    run = tt.train(student, objective, rate=0.1, steps=20)
    assert set(run.curves) == {measure.__name__ for measure in STANDARD}
    for name, curve in run.curves.items():
        assert curve.shape == (
            (len(run.steps), D) if name in ("support_mass", "entropy") else (len(run.steps),)
        ), name
        assert curve.dtype == np.float64
    np.testing.assert_allclose(
        run.curves["entropy"][0],
        -np.sum(student.attention() * jnp.log(student.attention()), 0),
        rtol=1e-14,
    )


def test_adding_a_measure_changes_no_other_number() -> None:
    student, objective = problem()
    one = tt.train(
        student, objective, rate=0.1, steps=100, measures=[value_matrix, scores, excess_risk]
    )
    all_of_them = tt.train(student, objective, rate=0.1, steps=100)
    np.testing.assert_array_equal(one.curves["excess_risk"], all_of_them.curves["excess_risk"])
    np.testing.assert_array_equal(one.student.value, all_of_them.student.value)
    np.testing.assert_array_equal(one.student.key_query, all_of_them.student.key_query)


def test_a_watcher_sees_the_curves_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "BLOCK_SECONDS", 1e-9)  # many short blocks
    student, objective = problem()
    seen: list[tuple[int, int, np.ndarray]] = []
    run = tt.train(
        student,
        objective,
        rate=0.1,
        steps=1000,
        watch=lambda m, step, curves: seen.append((m, step, curves["excess_risk"])),
    )
    members, steps, curves = zip(*seen, strict=True)
    assert set(members) == {0}
    assert len(steps) > 5
    assert list(steps) == sorted(set(steps))
    assert steps[-1] == 1000
    for before, after in itertools.pairwise(curves):
        assert len(after) >= len(before)
        np.testing.assert_array_equal(after[: len(before)], before)
    np.testing.assert_array_equal(curves[-1], run.curves["excess_risk"])


def test_each_member_is_watched() -> None:
    problems = [problem(seed) for seed in range(5)]
    seen = set()
    tt.train_batch(
        *zip(*problems, strict=True),
        rates=[0.1] * 5,
        steps=10,
        watch=lambda member, step, curves: seen.add((member, step)),
    )
    assert seen == {(member, 10) for member in range(5)}


# ---- how it ends


@pytest.mark.parametrize("times", [2.0, 2.5, 6.0])
def test_divergence_is_found_at_the_right_step(times: float) -> None:
    student, objective = problem(0, "identity", support=3)
    stable = objective.stable_rate(student)
    # Near this teacher W_V feels a curvature of ‖S*‖² = D/K = 2, and W_KQ one of ‖V*‖²/(DK²) =
    # 2/27.
    assert abs(stable - 1.0) < 1e-12
    rate = times * stable
    run = tt.train(student, objective, rate=rate, steps=400, measures=[excess_risk])
    excess = np.array([e for *_, e in by_hand(student, objective, descend(rate), 400)])
    first = int(np.flatnonzero(~(excess <= 1e4 * excess[0]))[0])
    assert run.outcome is tt.Outcome.DIVERGED
    assert f"By step {first:,} " in run.note
    assert f"stable below a rate of {stable:.3g}; this run's was {rate:.3g}" in run.note
    assert run.steps[-1] < first
    assert np.isfinite(run.curves["excess_risk"]).all()
    # Growth amplifies rounding, but at most by the growth of the excess itself, here 1e4.
    np.testing.assert_allclose(run.curves["excess_risk"], excess[run.steps], rtol=1e-9)


def test_the_step_of_divergence_does_not_depend_on_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    student, objective = problem(0, "identity", support=3)
    notes = []
    for seconds in (recording.BLOCK_SECONDS, 1e-9):
        monkeypatch.setattr(recording, "BLOCK_SECONDS", seconds)
        notes.append(tt.train(student, objective, rate=2.0, steps=400, measures=[excess_risk]).note)
    assert notes[0] == notes[1]


@pytest.mark.parametrize(
    ("activation", "lam", "first"), [("identity", 1.0, 1.0), ("relu", 0.5, 0.25)]
)
def test_all_tokens_converge_to_the_rounding_floor(
    activation: str, lam: float, first: float
) -> None:
    """K = D: uniform attention is right from the start, W_V = C₁V*, and 1−C₁ shrinks by 1−λη a step
    (by 1−η/4 on leaving ReLU's kink).
    """
    objective, rate = problem(activation=activation, support=D)[1], 0.3
    run = tt.train(
        tt.PositionAttention.zeros(objective.teacher),
        objective,
        rate=rate,
        steps=10**6,
        measures=[value_matrix, scores, excess_risk],
    )
    assert run.outcome is tt.Outcome.CONVERGED
    assert "rounding floor" in run.sentence
    assert f"after {run.steps[-1]:,} steps" in run.sentence
    curve, steps = run.curves["excess_risk"], run.steps
    assert 0 <= curve[-1] <= (recording.ROUNDING * np.finfo(float).eps) ** 2 * curve[0] < curve[-2]
    # The gradient in a column of S is a constant up to eps, and the softmax takes its mean away.
    np.testing.assert_allclose(run.curves["scores"], 0.0, atol=1e-16)
    left = np.where(
        steps == 0, 1.0, (1 - first * rate) * (1 - lam * rate) ** np.maximum(steps - 1.0, 0)
    )
    high = left > 1e-5
    # ‖V*‖² = 4 and ‖S*‖² = 1; a relative error of eps in C₁ is eps/left of the gap, 1e-10 at the
    # end of this range, and doubles.
    np.testing.assert_allclose(curve[high], 0.5 * lam * 4.0 * left[high] ** 2, rtol=1e-9)


@pytest.mark.parametrize("seconds", [recording.BLOCK_SECONDS, 1e-9])
def test_the_student_of_a_converged_run_is_that_of_its_last_step(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BLOCK_SECONDS", seconds)
    objective = problem(activation="identity", support=D)[1]
    run = tt.train(
        tt.PositionAttention.zeros(objective.teacher),
        objective,
        rate=0.03,
        steps=10**5,
        measures=[value_matrix, scores, excess_risk],
    )
    assert run.outcome is tt.Outcome.CONVERGED
    np.testing.assert_array_equal(run.student.value, run.curves["value_matrix"][-1])


def test_a_finished_run_says_so() -> None:
    student, objective = problem()
    run = tt.train(student, objective, rate=0.1, steps=20)
    assert run.outcome is tt.Outcome.FINISHED
    assert run.sentence == "Finished all steps."
    assert "steps=20" in repr(run)
    assert "FINISHED" in repr(run)


# ---- stable rates


def curvature(
    teacher: Any,
    scale: float,
    lam: float,
    covariance: np.ndarray,
    correlation: np.ndarray,
    codes: np.ndarray,
) -> float:
    """λ times the largest eigenvalue of the Gram matrix of all tangents dW⊗S* + V*⊗dS, both blocks
    at once.
    """
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    rows, positions = np.linalg.cholesky(covariance), np.linalg.cholesky(correlation)
    tangents = []
    for unit in np.eye(V.size).reshape(-1, *V.shape):
        tangents.append(np.einsum("mi,jq->mijq", unit @ rows, positions.T @ S).ravel())
    for unit in np.eye(len(codes) ** 2).reshape(-1, len(codes), len(codes)):
        moved = scale * codes.T @ unit @ codes
        dS = S * (moved - np.sum(S * moved, 0))
        tangents.append(np.einsum("mi,jq->mijq", V @ rows, positions.T @ dS).ravel())
    tangents = np.array(tangents)
    return lam * float(np.linalg.eigvalsh(tangents @ tangents.T)[-1])


@pytest.mark.parametrize("norm", [1.0, 10.0])
@pytest.mark.parametrize("plain", [True, False])
def test_the_stable_rate_is_two_over_the_largest_curvature(norm: float, plain: bool) -> None:
    draw = np.random.default_rng(3)
    value = draw.normal(size=(2, 3))
    teacher = tt.BilinearTeacher(
        norm * value / np.linalg.norm(value), tt.pooling(4, 2), "leaky_relu(0.5)"
    )
    covariance = np.eye(3) if plain else np.diag([0.2, 1.0, 3.0])
    codes = np.eye(4) if plain else 1.3 * np.linalg.qr(draw.normal(size=(4, 4)))[0]
    risk = tt.PopulationRisk(teacher, tt.Gaussian() if plain else tt.Gaussian(covariance))
    student = tt.PositionAttention.zeros(
        teacher, **({} if plain else {"key_codes": codes, "attention_scale": 0.7})
    )
    largest = curvature(
        teacher, 0.5 if plain else 0.7, 0.5 * (1 + 0.25), covariance, np.eye(4), codes
    )
    # Equal weights: the softmax's Jacobian annuls S*, so the two blocks do not mix and the formula
    # is exact.
    np.testing.assert_allclose(risk.stable_rate(student), 2 / largest, rtol=1e-12)
    if plain:
        np.testing.assert_allclose(
            risk.stable_rate(student), 2 / max(0.625 * 4 / 2, 0.625 * norm**2 / (4 * 4)), rtol=1e-12
        )


def test_no_stable_rate_without_a_formula() -> None:
    student, objective = problem(activation="erf")
    assert objective.stable_rate(student) is None
