"""Programs so small that XLA makes one function of them: they compile and are right."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.training import literal
from tutelage.training.small_loops import has_barrier

pytestmark = pytest.mark.compiled

STEPS, RATE = 20, 0.1


def make_teacher(tokens, queries, outputs=1, dim=1):
    selection = np.zeros((tokens, queries))
    selection[0] = 1
    value = np.random.default_rng(0).standard_normal((outputs, dim))
    return tt.BilinearTeacher(value, selection, "identity")


def train(student, teacher):
    return tt.train(student, tt.PopulationRisk(teacher), rate=RATE, steps=STEPS)


@pytest.mark.parametrize(("outputs", "dim"), [(1, 1), (1, 2), (3, 5)])
def test_a_single_token_is_learned_at_the_geometric_rate_of_a_linear_map(outputs, dim):
    """Its attention is 1 whatever the scores, so that each step shrinks W_V − V* by 1 − η."""
    teacher = make_teacher(1, 1, outputs, dim)
    run = train(tt.PositionAttention.zeros(teacher), teacher)
    expected = 0.5 * np.sum(teacher.value**2) * (1 - RATE) ** (2 * run.steps)
    np.testing.assert_allclose(run.curves["excess_risk"], expected, rtol=1e-12)


@pytest.mark.parametrize(("tokens", "queries"), [(1, 2), (2, 1)])
def test_two_scores_are_learned(tokens, queries):
    teacher = make_teacher(tokens, queries)
    run = train(tt.PositionAttention.zeros(teacher), teacher)
    excess = run.curves["excess_risk"]
    assert np.all(np.diff(excess) < 0)


def test_only_small_programs_with_barriers_lose_the_pass():
    free = tt.build(
        tt.Setting(
            tt.Part("convolution", tokens=6, support=2, outputs=1, dim=2, activation="identity"),
            student=tt.Part("known_selection"),
            rate=RATE,
            steps=STEPS,
        )
    )
    asked = tuple(free.objective.compiler_options(free.student, STEPS, "cpu").items())
    usual, unhoisted = (
        literal.compile_steps("cpu", False, options)
        for options in (asked, (*asked, literal.UNHOISTED))
    )
    before = usual._cache_size(), unhoisted._cache_size()
    tt.train(free.student, free.objective, rate=RATE, steps=STEPS)
    assert (usual._cache_size(), unhoisted._cache_size()) == (before[0] + 1, before[1])
    teacher = make_teacher(5, 3)
    train(tt.PositionAttention.zeros(teacher), teacher)
    kept = 1 if literal.BARRIERS else 0
    assert unhoisted._cache_size() == before[1] + kept


def test_a_barrier_is_found_inside_of_loops_and_branches():
    def kept(x):
        return jax.lax.optimization_barrier(x + 1)

    def loop(x):
        return jax.lax.fori_loop(0, 3, lambda _, x: kept(x), x)

    def branch(x):
        return jax.lax.cond(x > 0, jnp.sin, kept, x)

    def free(x):
        return jax.lax.cond(x > 0, jnp.sin, jnp.cos, x)

    found = [has_barrier(jax.make_jaxpr(f)(1.0).jaxpr) for f in (kept, loop, branch, free)]
    assert found == [True, True, True, False]
