"""The gradient of the risk against differences of the fifty-digit twin, automatic differentiation
and finite differences.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import twins
from twins import EPS, TIGHT

import tutelage as tt

pytestmark = pytest.mark.compiled

FOUR = ("identity", "relu", "leaky_relu(0.1)", "erf")
CASES = {
    name: case
    for name, case in twins.cases().items()
    if name not in ("wide", "opposite", "correlation", "covariance", "small student")
}
NEAR = (1.0, 1e-3, 1e-6)


@pytest.mark.brief(12)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("activation", FOUR)
def test_gradient_is_the_twins_in_every_corner(activation: str, name: str) -> None:
    # At W = 0 the twin's central difference averages the two sides of the kink, and so does the
    # convention.
    twins.check_gradient(activation, CASES[name])


@pytest.mark.parametrize("distance", NEAR)
@pytest.mark.parametrize("activation", FOUR)
def test_gradient_keeps_its_digits_near_the_teacher(activation: str, distance: float) -> None:
    twins.check_gradient(activation, twins.at_distance(distance))


@pytest.mark.parametrize("activation", ["relu", "erf"])
def test_the_compiled_gradient_keeps_them_too(activation: str) -> None:
    twins.check_gradient(activation, twins.at_distance(1e-6), compiled=True)


@pytest.mark.parametrize("activation", FOUR)
def test_gradient_of_a_very_small_student(activation: str) -> None:
    case = twins.cases()["small student"]
    got = jax.grad(case.risk(activation))(case.student(activation))
    with mpmath.workdps(twins.DIGITS):
        to_value, to_attention = twins.exact_gradient(activation, *twins.of_case(case))
    whole = math.sqrt(sum(float(x) ** 2 for x in (*to_value, *to_attention)))
    # W is 1e-6 of V*, and the gradient in S as much smaller than that in W: both to 1e-12 of the
    # whole gradient.
    for block, want in ((got.value, to_value), (got.weights, to_attention)):
        error = twins.exact(block) - want
        assert max(abs(float(x)) for x in error) <= TIGHT * whole


@pytest.mark.brief(5)
@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("distance", NEAR)
@pytest.mark.parametrize("activation", FOUR)
def test_gradient_in_the_students_own_parameters(
    activation: str, distance: float, codes: bool
) -> None:
    student, teacher = twins.attending(
        activation, distance, codes=codes, scale=0.3 if codes else None
    )
    twins.check_attention(student)
    twins.check_key_query_gradient(activation, student, teacher)


def naive(activation: str, student: tt.PositionAttention, teacher: tt.BilinearTeacher) -> jax.Array:
    """The textbook formula in double precision, for automatic differentiation; it loses digits near
    the teacher only.
    """
    W, S, V, T = student.value, student.attention(), teacher.value, teacher.selection
    A = jnp.outer(jnp.sum(W * W, 1), jnp.sum(S * S, 0))
    B = jnp.outer(jnp.sum(V * V, 1), jnp.sum(T * T, 0))
    C = jnp.outer(jnp.sum(W * V, 1), jnp.sum(S * T, 0))

    def product(A: jax.Array, B: jax.Array, C: jax.Array) -> jax.Array:
        if activation == "identity":
            return C
        if activation == "erf":
            return 2 / math.pi * jnp.arcsin(2 * C / jnp.sqrt((1 + 2 * A) * (1 + 2 * B)))
        k, scale = float(twins.slope_of(activation)), jnp.sqrt(A * B)
        theta = jnp.arccos(C / scale)
        return k * C + (1 - k) ** 2 * scale * (
            jnp.sin(theta) + (math.pi - theta) * jnp.cos(theta)
        ) / (2 * math.pi)

    square = (
        (lambda A: product(A, A, A))
        if activation in ("identity", "erf")
        else (lambda A: 0.5 * (1 + float(twins.slope_of(activation)) ** 2) * A)
    )
    return 0.5 * jnp.sum(square(A) + square(B) - 2 * product(A, B, C))


@pytest.mark.parametrize("activation", FOUR)
def test_gradient_is_automatic_differentiation_of_the_naive_formula(activation: str) -> None:
    student, teacher = twins.attending(activation, 1.0, codes=True)
    got = jax.grad(tt.PopulationRisk(teacher))(student)
    risk, want = jax.jit(jax.value_and_grad(lambda s: naive(activation, s, teacher)))(student)
    for block in ("value", "key_query"):
        scale = np.abs(getattr(want, block)).max()
        # Arccos loses √eps only where it is 0 or π; a distance of 1 keeps away from both.
        np.testing.assert_allclose(
            getattr(got, block), getattr(want, block), rtol=0, atol=1e-10 * scale
        )
    np.testing.assert_allclose(tt.PopulationRisk(teacher)(student), risk, rtol=1e-10)


@pytest.mark.parametrize("activation", FOUR)
def test_gradient_is_the_slope_of_the_risk_in_any_direction(activation: str) -> None:
    student, teacher = twins.attending(activation, 1.0)
    objective, draw = tt.PopulationRisk(teacher), np.random.default_rng(4)
    gradient = jax.grad(objective)(student)
    step = EPS ** (1 / 3)
    for _ in range(5):
        direction = draw.normal(size=student.value.shape), draw.normal(size=student.key_query.shape)
        along = lambda h: eqx.tree_at(  # noqa: E731
            lambda s: (s.value, s.key_query),
            student,
            (student.value + h * direction[0], student.key_query + h * direction[1]),  # noqa: B023
        )
        slope = float(objective(along(step)) - objective(along(-step))) / (2 * step)
        want = float(
            jnp.sum(gradient.value * direction[0]) + jnp.sum(gradient.key_query * direction[1])
        )
        # Central differences with step eps^⅓ err by eps^⅔ = 4e-11 times the risk and its third
        # derivative (order 10 here).
        assert abs(slope - want) <= 1e-8 * max(1.0, abs(want))


@pytest.mark.parametrize(
    ("activation", "expected"),
    [("identity", 1.0), ("relu", 0.25), ("leaky_relu(0.1)", 0.55**2), ("leaky_relu(0.5)", 0.75**2)],
)
def test_the_first_step_from_zero(activation: str, expected: float) -> None:
    # W₁ = η·expected·(Q/D)·V*; for a kinked σ this is σ'(0)² with the average of the two sides.
    twins.check_zero_start(activation, expected)


def test_the_first_relu_step_is_a_quarter() -> None:
    teacher = tt.BilinearTeacher(
        np.array([[1.0, -2.0, 0.0], [0.5, 3.0, 8.0]]), tt.pooling(4, 2), "relu"
    )
    slope = jax.grad(tt.PopulationRisk(teacher))(tt.PositionAttention.zeros(teacher))
    # Four terms of 1/4 each, all exact: W₁ = η/4 · Q/D · V* with Q = D, to the last digit.
    np.testing.assert_array_equal(slope.value, -0.25 * np.asarray(teacher.value))
    np.testing.assert_array_equal(slope.key_query, 0.0)


def attention_matrix(student: tt.PositionAttention, objective: tt.PopulationRisk) -> jax.Array:
    return student.attention()


def value_matrix(student: tt.PositionAttention, objective: tt.PopulationRisk) -> jax.Array:
    return student.value


def test_orthogonal_codes_change_nothing_but_the_basis() -> None:
    draw = np.random.default_rng(6)
    codes = np.linalg.qr(draw.normal(size=(6, 6)))[0]
    teacher = tt.BilinearTeacher(
        draw.normal(size=(2, 3)), twins.columns(draw, 6, 6, zeros=4), "relu"
    )
    objective = tt.PopulationRisk(teacher)
    plain, coded = (
        tt.train(
            student, objective, rate=0.3, steps=2000, measures=[value_matrix, attention_matrix]
        )
        for student in (
            tt.PositionAttention.zeros(teacher),
            tt.PositionAttention.zeros(teacher, key_codes=codes),
        )
    )
    assert plain.curves["attention_matrix"][-1].max() > 0.7, (
        "attention has hardly moved, so this would test nothing"
    )
    common, here, there = np.intersect1d(plain.steps, coded.steps, return_indices=True)
    assert common[-1] == 2000
    for name in ("attention_matrix", "value_matrix"):
        # A rotation costs a few eps a step and descent forgets them; 2000·10·eps even if it did
        # not.
        np.testing.assert_allclose(
            plain.curves[name][here], coded.curves[name][there], rtol=0, atol=1e-10
        )
    rotated = codes.T @ np.asarray(coded.student.key_query) @ codes
    np.testing.assert_allclose(rotated, plain.student.key_query, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(coded.student.key_codes, codes)


def test_codes_of_tokens_and_queries_of_any_size() -> None:
    draw = np.random.default_rng(7)
    teacher = tt.BilinearTeacher(draw.normal(size=(2, 3)), twins.columns(draw, 5, 3), "identity")
    codes = {"key_codes": draw.normal(size=(7, 5)), "query_codes": draw.normal(size=(2, 3))}
    start = tt.PositionAttention.random(teacher, key=tt.stream(0, "start"), **codes)
    assert start.key_query.shape == (7, 2)
    assert start.attention().shape == (5, 3)
    twins.check_attention(start)
    twins.check_key_query_gradient("identity", start, teacher, compiled=True)


def test_the_teacher_is_a_constant() -> None:
    case = twins.cases()["square"]
    student = case.student("relu")
    gradient = jax.grad(
        lambda value: case.risk("relu")(eqx.tree_at(lambda s: s.value, student, value))
    )(student.value)
    through = jax.grad(lambda risk: risk(student))(case.risk("relu"))
    assert float(jnp.abs(gradient).max()) > 0
    assert float(jnp.abs(through.value).max()) == 0
    assert mpmath.mp.dps < twins.DIGITS, "a twin has left its precision behind"
