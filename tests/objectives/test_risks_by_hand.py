"""The exact risk by enumeration: all inputs of signs, and plain formulas for what goes with it."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.durations import say_seconds
from tutelage.numerics import quadrature
from tutelage.objectives.population import LONG, PopulationRisk
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.teachers.collapsed import CollapsedTeacher, equal_weights

VALUE = np.array([[1.0, -0.5], [0.25, 2.0]])
SELECTION = np.array([[0.7, 0.1, 0.5], [0.1, 0.6, 0.5]])  # columns that do not sum to 1


def test_the_risk_of_signs_is_a_mean_over_all_of_them():
    """X = ½ + 2·signs, all sixteen of them."""
    teacher = tt.BilinearTeacher(VALUE, SELECTION, "identity", noise=0.3, outside=True)
    risk = PopulationRisk(teacher, tt.Independent("rademacher", shift=0.5, scale=2.0))
    draw = np.random.default_rng(0)
    value, scores = draw.standard_normal((2, 2)), draw.standard_normal((2, 3))
    lifted = np.exp(scores / np.sqrt(2))
    attention = lifted / lifted.sum(0)
    squares = [
        np.sum((value @ X @ attention - VALUE @ X @ SELECTION) ** 2)
        for X in 0.5 + 2 * np.array([*itertools.product((-1, 1), repeat=4)]).reshape(-1, 2, 2)
    ]
    by_hand = 0.5 * np.mean(squares)
    student = eqx.tree_at(
        lambda s: (s.value, s.key_query),
        tt.PositionAttention.zeros(teacher),
        (jnp.asarray(value), jnp.asarray(scores)),
    )
    assert float(risk.excess(student)) == pytest.approx(by_hand, rel=1e-12)
    assert float(risk(student)) == pytest.approx(by_hand + 0.5 * 2 * 3 * 0.09, rel=1e-12)


def test_the_noise_floor_counts_outputs_and_queries():
    """½·2·5·0.09 of two outputs of three features, and five queries of four tokens."""
    teacher = tt.BilinearTeacher(np.ones((2, 3)), np.full((4, 5), 0.25), noise=0.3)
    assert float(PopulationRisk(teacher).noise_floor) == pytest.approx(0.45, rel=1e-14)


@pytest.mark.parametrize(("norm", "largest"), [(1.0, 3.0), (20.0, 400 / 24)])
def test_the_largest_stable_step_is_two_over_the_largest_curvature(norm, largest):
    """Q/K = 3 along W_V, ‖V*‖²/(DK²) = ‖V*‖²/24 along scores; half of both for ReLU."""
    for activation, lam in (("identity", 1.0), ("relu", 0.5)):
        setting = tt.Setting(
            tt.Part("convolution", tokens=6, support=2, outputs=2, dim=3, norm=norm),
            rate=0.1,
            steps=1,
        ).change(**{"teacher.activation": activation})
        problem = tt.build(setting)
        found = problem.objective.stable_rate(problem.student)
        assert found == pytest.approx(2 / (lam * largest), rel=1e-12)


def jacobian(weights):
    return np.diag(weights) - np.outer(weights, weights)


@pytest.mark.parametrize("norm", [1.0, 30.0])
def test_the_stable_step_with_codes_covariances_and_a_slope(norm):
    """λ = ½(1 + ¼); the largest eigenvalue of Σ is 4; codes stretch by 3 and by 2."""
    value, covariance = norm * VALUE, np.diag([4.0, 1.0])
    selection = np.array([[0.5, 0.2, 0.3], [0.5, 0.3, 0.3], [0.0, 0.5, 0.4]])
    correlation = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    teacher = tt.BilinearTeacher(value, selection, "leaky_relu(0.5)")
    student = tt.PositionAttention.zeros(
        teacher,
        key_codes=np.diag([3.0, 1.0, 1.0]),
        query_codes=np.diag([2.0, 1.0, 1.0]),
        attention_scale=0.7,
    )
    one_code = tt.PositionAttention.zeros(
        teacher, key_codes=np.diag([3.0, 1.0, 1.0]), attention_scale=0.7
    )
    power = np.trace(value @ covariance @ value.T)
    for R in (None, correlation):
        risk = PopulationRisk(teacher, tt.Gaussian(covariance, R))
        R = np.eye(3) if R is None else R
        sharpest = max(np.linalg.eigvalsh(jacobian(s) @ R @ jacobian(s))[-1] for s in selection.T)
        along_value = 4 * np.trace(selection.T @ R @ selection)
        for asked, codes in ((student, 36.0), (one_code, 81.0)):
            along_scores = 0.49 * codes * power * sharpest
            expected = 2 / (0.625 * max(along_value, along_scores))
            assert risk.stable_rate(asked) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("norm", [1.0, 30.0])
def test_a_collapsed_teacher_has_the_risk_of_the_whole_one(norm):
    """Its noise floor is ½ M Q noise², and its stable step that of all tokens and queries."""
    pattern = equal_weights(5, 2, 7)
    collapsed = CollapsedTeacher(norm * VALUE, pattern, noise=0.3)
    risk = PopulationRisk(collapsed)
    assert float(risk.noise_floor) == pytest.approx(0.5 * 2 * 7 * 0.09, rel=1e-14)
    student = CollapsedAttention.zeros(collapsed)
    # As many tokens as share a weight move as one: along (√2·½, 0) and its complement.
    classes = np.diag([0.5, 0.0]) - np.outer([0.5**0.5, 0.0], [0.5**0.5, 0.0])
    scores = np.sum((norm * VALUE) ** 2) * np.linalg.norm(classes, 2) ** 2 / 5
    expected = 2 / max(7 / 2, scores)
    assert risk.stable_rate(student) == pytest.approx(expected, rel=1e-12)


def test_there_is_no_stable_step_where_there_is_no_formula():
    whole = SELECTION / SELECTION.sum(0)

    def ask(activation="identity", selection=whole, inputs=None, **student):
        teacher = tt.BilinearTeacher(VALUE, selection, activation, outside=True)
        made = tt.PositionAttention.zeros(teacher, **student)
        return PopulationRisk(teacher, inputs).stable_rate(made)

    assert ask() is not None
    assert ask("relu", key_codes=np.eye(2), query_codes=np.eye(3)) is not None
    assert ask("erf") is None
    assert ask(selection=SELECTION) is None
    assert ask(inputs=tt.Independent("rademacher")) is None
    assert ask(key_codes=np.eye(2), query_codes=np.eye(3), learned=True) is None


def test_quadrature_reaches_half_as_far_again_as_the_teacher(monkeypatch):
    """Rows of the norms 5 and 1, columns of the norms 1 and ½: the largest is 5·1·scale."""
    asked = []

    def fit(function, reach, name):
        asked.append((reach, name))
        return quadrature.Accuracy(41, 1e-12, 1e-13, reach)

    monkeypatch.setattr(quadrature, "fit", fit)
    selection = np.array([[1.0, 0.25], *[[0.0, 0.25]] * 3])

    def risk(scale, **options):
        value = scale * np.array([[3.0, 4.0], [0.6, 0.8]])
        return PopulationRisk(tt.BilinearTeacher(value, selection, "tanh"), **options)

    # 7.5 is a multiple of a half; 0.75 is below 1; 1.5·5.1 = 7.65 is rounded up to 8.
    for scale, reach in ((1.0, 7.5), (0.1, 1.0), (1.02, 8.0)):
        risk(scale)
        assert asked.pop() == (reach, "tanh")
    risk(1.0, largest_std=5.0)
    assert asked.pop() == (5.0, "tanh")
    with pytest.raises(tt.Refused, match="at least the teacher's own"):
        risk(1.0, largest_std=4.99)
    made = risk(1.0)
    assert [(term.name, term.size) for term in made.error_terms()] == [("quadrature", 1e-12)]
    # 6e-9 s × 4 pairs × 41² nodes: 4.03e-5 s per step.
    steps = int(np.ceil(LONG / (6e-9 * 4 * 41**2)))
    assert made.cost_note(steps - 1) == ""
    assert made.cost_note(steps).startswith(f"{steps:,} steps take about {say_seconds(5.0)}")
    assert "41×41 nodes for each of 4 outputs and queries" in made.cost_note(steps)
    student = tt.PositionAttention.zeros(made.teacher)
    # Attention is uniform, so that its columns have the norm ½.
    made.check(eqx.tree_at(lambda s: s.value, student, 15.0 * jnp.eye(2)))
    with pytest.raises(tt.Refused, match="within the reach"):
        made.check(eqx.tree_at(lambda s: s.value, student, 15.1 * jnp.eye(2)))
