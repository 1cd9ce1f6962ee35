"""The gradient through the softmax in one pass, against the softmax differentiated and
`bilinear_excess`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twins

import tutelage as tt
from tutelage.numerics.closed_forms import ERF, IDENTITY, leaky
from tutelage.numerics.geometry import bilinear_excess
from tutelage.numerics.softmax import softmax
from tutelage.numerics.softmax_excess import softmax_excess

pytestmark = pytest.mark.compiled

FORMS = {"identity": IDENTITY, "leaky": leaky(0.1), "erf": ERF}


@pytest.mark.parametrize("distance", [1.0, 1e-4, 1e-8])
@pytest.mark.parametrize("name", FORMS)
def test_the_fast_gradient_is_the_plain_one(name: str, distance: float) -> None:
    student, teacher = twins.attending("identity", distance)
    V, T = jnp.asarray(teacher.value), jnp.asarray(teacher.selection)

    def fast(W: jax.Array, z: jax.Array) -> jax.Array:
        return softmax_excess(FORMS[name], W, z, jax.lax.stop_gradient(W - V), V, T)

    def plain(W: jax.Array, z: jax.Array) -> jax.Array:
        S = softmax(z)
        return bilinear_excess(
            FORMS[name], W, S, jax.lax.stop_gradient(W - V), jax.lax.stop_gradient(S - T), V, T
        )

    at = (student.value, student.attention_scale * student.key_query)
    assert float(fast(*at)) == float(plain(*at))
    # Outside of a compiled program both start from one rounded S. The plain sum over tokens rounds
    # like eps of ∇_s, the fast one less.
    for one, other in zip(jax.grad(fast, (0, 1))(*at), jax.grad(plain, (0, 1))(*at), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14 * float(jnp.abs(other).max()))


def test_correlated_positions_go_the_plain_way() -> None:
    twins.check_correlated_scores()


def test_the_smallest_student_trains() -> None:
    # XLA writes very small loops in another way, which must know the barriers too.
    teacher = tt.BilinearTeacher(jnp.ones((1, 1)), jnp.asarray([[1.0], [0.0]]), "relu")
    run = tt.train(
        tt.PositionAttention.zeros(teacher), tt.PopulationRisk(teacher), rate=0.1, steps=200
    )
    assert run.curves["excess_risk"][-1] < 0.2 * run.curves["excess_risk"][0]
