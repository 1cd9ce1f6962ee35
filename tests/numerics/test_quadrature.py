"""Activations without a closed form: the rule against a far finer one in other coordinates, its own
estimate, and its gradient.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twins

import tutelage as tt
from tutelage.measures import excess_risk
from tutelage.numerics import quadrature

erf = tt.activation(lambda x: jax.scipy.special.erf(x))
excess = jax.jit(lambda risk, student: risk.excess(student))
GIVEN: dict[str, Any] = {"tanh": "tanh", "gelu": "gelu", "silu": "silu", "a callable": erf}


@functools.cache
def risk_at(name: str, largest: float) -> tt.PopulationRisk:
    """One pair of rows and one token: the pre-activation is the row's first two features; `largest`
    sets the rule.
    """
    return tt.PopulationRisk(
        tt.BilinearTeacher(np.full((1, 2), 0.1), [[1.0]], GIVEN.get(name, name)),
        largest_std=largest,
    )


def pairs(largest: float) -> list[tuple[float, float, float]]:
    """Standard deviations of student and teacher, and their correlation: all angles, and both at
    full reach.
    """
    return [
        (largest, largest, 0.3),
        (largest, 0.5 * largest, -0.8),
        (0.1 * largest, largest, 0.5),
        (largest, largest, 0.95),
        (0.99 * largest, largest, 1.0),
        (largest, 0.5 * largest, 1.0),
        (largest, largest, -1.0),
        (0.0, largest, 0.0),
        (largest, 0.0, 0.0),
    ]


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        pytest.param("tanh", 3.0, marks=pytest.mark.depth),
        pytest.param("gelu", 1.5, marks=pytest.mark.depth),
        pytest.param("silu", 1.0, marks=pytest.mark.depth),
        ("a callable", 1.0),
    ],
)
def test_excess_is_a_far_finer_integral_and_the_estimate_is_honest(
    name: str, largest: float
) -> None:
    risk = risk_at(name, largest)
    assert risk.accuracy.reach == largest
    errors = twins.quadrature_errors(risk, twins.NUMPY[name], pairs(largest))
    # The promise of the module, and of the requirement.
    assert max(errors) <= 1e-10, f"actual errors {errors}, printed {risk.accuracy.excess}"
    # The estimate compares two spacings at a few pairs; ten times it must cover any pair within
    # reach. 1e-14: rounding of the sums.
    assert max(errors) <= 10 * risk.accuracy.excess + 1e-14, (
        f"actual errors {errors}, printed {risk.accuracy.excess}"
    )


def test_erf_as_a_callable_is_the_closed_form() -> None:
    case = twins.at_distance(1.0, tokens=2, queries=2)
    case = replace(case, value=0.3 * case.value, teacher_value=0.3 * case.teacher_value)
    rule = case.risk(erf, largest_std=1.0)
    rule.check(case.student(erf))
    want = excess(case.risk("erf"), case.student("erf"))
    np.testing.assert_allclose(excess(rule, case.student(erf)), want, rtol=1e-10)


def test_the_rule_is_the_closed_form_of_erf_at_fifty_digits() -> None:
    twins.check_quadrature()


def test_gradient_is_the_slope_of_the_excess() -> None:
    name = "tanh"
    case = twins.at_distance(0.7, tokens=2, queries=2)
    case = replace(case, value=0.4 * case.value, teacher_value=0.4 * case.teacher_value)
    risk, student = case.risk(name, largest_std=3.0), case.student(name)
    risk.check(student)
    draw = np.random.default_rng(8)
    direction = draw.normal(size=student.value.shape), draw.normal(size=student.weights.shape)

    def along(h: jax.Array) -> jax.Array:
        moved = student.value + h * direction[0], student.weights + h * direction[1]
        return risk.excess(eqx.tree_at(lambda s: (s.value, s.weights), student, moved))

    compiled = jax.jit(along)
    step = twins.EPS ** (1 / 5)
    f = {k: float(compiled(k * step)) for k in (-2.0, -1.0, 1.0, 2.0)}
    slope = (8 * (f[1.0] - f[-1.0]) - (f[2.0] - f[-2.0])) / (12 * step)
    # Differences of fourth order with a step of eps^⅕: eps^⅘ = 3e-13 of the risk and its fifth
    # derivative, which is of order 100.
    np.testing.assert_allclose(
        float(jax.jit(jax.grad(along))(0.0)), slope, rtol=0, atol=1e-9 * abs(slope)
    )


@pytest.mark.parametrize("name", ["value", "weights"])
def test_one_block_may_be_differentiated_alone(name: str) -> None:
    risk = risk_at("tanh", 3.0)
    student = twins.given(jnp.asarray([[0.4, 0.3]]), jnp.ones((1, 1)), risk.teacher.activation)
    alone = lambda x: risk.excess(eqx.tree_at(lambda s: getattr(s, name), student, x))  # noqa: E731
    # Tracing is enough: the risk must not ask a traced student how large it is.
    assert (
        jax.eval_shape(jax.grad(alone), getattr(student, name)).shape
        == getattr(student, name).shape
    )


def test_excess_is_never_negative() -> None:
    risk, draw = risk_at("tanh", 3.0), np.random.default_rng(9)
    start = twins.given(jnp.asarray(risk.teacher.value), jnp.ones((1, 1)), risk.teacher.activation)
    assert float(excess(risk, start)) == 0.0
    for size in 10.0 ** np.arange(-17, 1):
        moved = eqx.tree_at(
            lambda s: s.value, start, start.value + size * draw.uniform(-0.4, 0.4, size=(1, 2))
        )
        assert float(excess(risk, moved)) >= 0.0
        if size >= 1e-12:
            assert float(excess(risk, moved)) > 0.0


@pytest.mark.parametrize(("distance", "relative"), [(1e-2, 1e-12), (1e-4, 1e-10), (1e-6, 1e-8)])
def test_excess_near_the_teacher(distance: float, relative: float) -> None:
    # The difference of two values of σ is rounded to eps of the values: eps/distance of the
    # difference, at random signs.
    risk = risk_at("tanh", 3.0)
    value = 0.1 + distance * np.array([[1.0, -0.5]])
    student = twins.given(jnp.asarray(value), jnp.ones((1, 1)), risk.teacher.activation)
    got = float(excess(risk, student))
    d = (value - 0.1)[0]
    # σ(a) − σ(b) = d·x σ'(m) with m the midpoint, to third order in d: relative error d², far below
    # the tolerance but at 1e-2.
    grid = np.linspace(-10, 10, 401)
    weight = np.exp(-0.5 * grid**2) / np.sum(np.exp(-0.5 * grid**2))
    x, y = grid[:, None], grid[None, :]
    half, middle = 0.5 * (d[0] * x + d[1] * y), (0.1 + 0.5 * d[0]) * x + (0.1 + 0.5 * d[1]) * y
    # tanh(m+h) − tanh(m−h) = sinh 2h / (cosh(m+h) cosh(m−h)): no cancellation.
    gap = np.sinh(2 * half) / (np.cosh(middle + half) * np.cosh(middle - half))
    want = 0.5 * weight @ gap**2 @ weight
    assert abs(got - want) <= relative * want


@pytest.mark.depth
def test_a_kink_shows_in_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        quadrature, "COUNTS", quadrature.COUNTS[-1:]
    )  # where a kink ends anyway: no count satisfies it
    accuracy = tt.PopulationRisk(tt.BilinearTeacher([[0.1, 0.1]], [[1.0]], jnp.abs)).accuracy
    assert accuracy.excess > 1e-5
    assert accuracy.gradient > 1e-2
    assert f"{accuracy.gradient:.1e}" in accuracy.sentence


def test_a_student_beyond_the_reach_is_refused_before_work() -> None:
    risk = risk_at("tanh", 3.0)
    steps: list[int] = []
    start = tt.PositionAttention.zeros(risk.teacher)
    far = eqx.tree_at(lambda s: s.value, start, jnp.asarray([[3.0, 4.0]]))
    with pytest.raises(
        tt.Refused, match=r"reach of the quadrature.*standard deviation 5, reach 3.*largest_std"
    ):
        tt.train(
            far, risk, rate=0.1, steps=10, watch=lambda member, step, curves: steps.append(step)
        )
    assert steps == []


def test_the_accuracy_is_said_before_training(caplog: pytest.LogCaptureFixture) -> None:
    risk = risk_at("tanh", 3.0)
    start = eqx.tree_at(
        lambda s: s.value, tt.PositionAttention.zeros(risk.teacher), jnp.asarray([[0.3, -0.2]])
    )
    run = tt.train(start, risk, rate=0.5, steps=20, measures=[excess_risk])
    assert risk.accuracy.sentence in caplog.text
    assert run.curves["excess_risk"][-1] < run.curves["excess_risk"][0]


def test_like_teachers_share_one_rule() -> None:
    first, second = (
        replace(twins.cases()["square"], teacher_value=np.full((2, 3), s)).risk("tanh").accuracy
        for s in (1.5, 1.6)
    )
    assert first is second
    # The row norms are s·√3 and the column norms 1/√2: half as much again is 2.76 and 2.94, rounded
    # up to a multiple of ½.
    assert first.reach == 3.0


@pytest.mark.parametrize(("stein", "gradient"), [(-3.0, 0.3), (0.1, 0.25)])
def test_the_accuracy_is_the_largest_difference_to_half_the_spacing(
    monkeypatch: pytest.MonkeyPatch, stein: float, gradient: float
) -> None:
    """Nine nodes against seventeen: 0.5 of 2.5, and 2.5 or 3 of the largest slope, 10."""
    excess = {9: [[1.1, 2.0]], 17: [[1.0, 2.5]]}
    first = {9: [[4.0, -8.0]], 17: [[4.5, -10.0]]}
    last = {9: [[1.0, 1.0]], 17: [[1.0, 3.5]]}
    gaps = {9: [[9.0, 9.0]], 17: [[stein, 0.0]]}

    def form(_: Any, nodes: int) -> quadrature.Form:
        slopes = (first[nodes], [[0.0, 0.0]], last[nodes])
        made = quadrature.Slopes(*map(jnp.asarray, slopes))
        return quadrature.Form(lambda p: jnp.asarray(excess[nodes]), lambda p: made)

    monkeypatch.setattr(quadrature, "form", form)
    monkeypatch.setattr(quadrature, "_stein_gap", lambda *given: jnp.asarray(gaps[given[-1]]))
    monkeypatch.setattr(quadrature, "COUNTS", (9,))
    found = quadrature.fit(jnp.tanh, 1.5, f"by hand {stein}")
    assert (found.nodes, found.reach) == (9, 1.5)
    assert (found.excess, found.gradient) == pytest.approx((0.2, gradient), rel=1e-12)
