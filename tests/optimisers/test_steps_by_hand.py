"""Steps of averaged and of projected descent, one after the other."""

import heads_twin
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.optimisers.averaged import averaged_descent
from tutelage.optimisers.projected import project, projected_descent


@pytest.mark.parametrize(("degree", "weights"), [(0.0, (1, 1, 1)), (2.0, (2, 6, 12))])
def test_the_average_has_weights_that_rise_with_the_step(degree, weights):
    """s(s+1) for degree 2, over the iterates after each step."""
    method = averaged_descent(0.1, degree=degree)
    here = jnp.asarray([1.0, -2.0])
    state, iterates = method.init(here), []
    for slope in ([0.5, 1.0], [-2.0, 0.25], [1.5, 3.0]):
        move, state = method.update(jnp.asarray(slope), state, here)
        np.testing.assert_allclose(move, -0.1 * np.array(slope), rtol=1e-15)
        here = here + move
        iterates.append(np.asarray(here))
    mean = np.average(iterates, axis=0, weights=weights)
    np.testing.assert_allclose(state.mean, mean, rtol=1e-14)
    assert state.taken == 3.0


def test_projected_descent_and_its_mean_and_least_loss():
    heads_twin.check_descent()
    start = heads_twin.some_heads(4, 6)
    method = projected_descent(0.3, radii={"output": 1.0, "reading": 1.0, "attention": 1.0})
    state = method.init(start)
    assert (state.least, state.taken) == (np.inf, 0.0)
    for value in (2.0, 1.5, 1.75):
        _, state = method.update(start, state, start, value=value)
    assert (state.least, state.taken) == (1.5, 3.0)


def test_a_point_within_its_ball_stays_and_one_on_its_edge_too():
    """Four heads have balls of half the radius."""
    centre = heads_twin.some_heads(4, 6)
    radii = {"output": 1.0, "reading": 1.0, "attention": 1.0}
    moved = type(centre)(centre.attention, centre.reading, jnp.zeros(4))
    middle = type(centre)(centre.attention, centre.reading, jnp.asarray([0.5, -0.25, 2.0, -4.0]))
    found = project(moved, middle, radii)
    np.testing.assert_array_equal(found.output, [0.0, 0.0, 1.5, -3.5])
    np.testing.assert_array_equal(found.reading, centre.reading)
