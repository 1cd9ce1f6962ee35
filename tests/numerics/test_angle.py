"""The polynomial arctangent."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import twins

from tutelage.numerics.angle import angle


def test_angle_is_atan2() -> None:
    twins.check_angle()


def test_angle_at_the_axes_and_the_diagonals() -> None:
    y = jnp.asarray([0.0, 0.0, 0.0, 2.0, 3.0, 3.0])
    x = jnp.asarray([0.0, 5.0, -5.0, 0.0, 3.0, -3.0])
    want = [0.0, 0.0, math.pi, math.pi / 2, math.pi / 4, 3 * math.pi / 4]
    # The axes to the last digit, since there the excess must be exactly 0 or exactly that of
    # opposites.
    got = np.asarray(angle(y, x))
    np.testing.assert_array_equal(got[:4], want[:4])
    np.testing.assert_allclose(got[4:], want[4:], rtol=1e-15, atol=0)
    assert got.dtype == np.float64


def test_angle_does_not_step_down_at_a_join() -> None:
    # Across the joins at π/4, π/2 and 3π/4: neighbours are 1e-9 apart, the error 1e-15.
    theta = np.add.outer([math.pi / 4, math.pi / 2, 3 * math.pi / 4], 1e-9 * np.arange(-50, 51))
    assert np.all(
        np.diff(np.asarray(jax.jit(angle)(jnp.asarray(np.sin(theta)), jnp.asarray(np.cos(theta)))))
        > 0
    )
