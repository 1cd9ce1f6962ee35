"""A NaN that an optimiser of one's own makes is not told as a rate that is too large."""

import jax
import jax.numpy as jnp
import optax
import pytest

import tutelage as tt
from tutelage.plugins import import_all
from tutelage.problem.build import build
from tutelage.run import Outcome
from tutelage.running.engines import cluster
from tutelage.training.loop import train

SMALL = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2, norm=1.0, activation="identity"),
    rate=0.1,
    steps=20,
)


def breaking(rate):
    """Plain descent whose eighth step divides zero by zero."""

    def update(gradient, count, _=None):
        factor = jnp.where(count == 7, jnp.nan, -rate)
        return jax.tree.map(lambda g: factor * g, gradient), count + 1

    return optax.GradientTransformation(lambda _: jnp.zeros((), int), update)


def test_its_note_names_the_optimiser():
    problem = build(SMALL)
    run = train(problem.student, problem.objective, rate=0.1, steps=20, optimiser=breaking)
    assert run.outcome is Outcome.DIVERGED
    assert "At step 8 the excess risk was not a number" in run.note
    assert "optimiser" in run.note


def test_a_rate_that_is_too_large_is_told_as_such():
    problem = build(SMALL)
    run = train(problem.student, problem.objective, rate=1e3, steps=20)
    assert run.outcome is Outcome.DIVERGED
    assert "rate" in run.note
    assert "not a number" not in run.note


def test_a_worker_without_a_module_says_that_it_is_the_worker():
    with pytest.raises(tt.Refused, match="`--import` takes"):
        import_all(["absent_here"])
    with pytest.raises(tt.Refused, match=r"The worker .* must be able to import .*'absent_here'"):
        cluster.remote("[]", b"", {"imports": ["absent_here"]})
