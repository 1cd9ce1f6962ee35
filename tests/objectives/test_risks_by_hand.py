"""The exact risk by enumeration: all inputs of signs, and plain formulas for what goes with it."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.objectives.population import PopulationRisk

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
