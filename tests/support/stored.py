"""A tiny run with curves of every kind, made without training."""

from __future__ import annotations

import jax
import numpy as np

import tutelage as tt
from tutelage.run import Outcome, Rest, Run
from tutelage.training.literal import first_state

TINY = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3), rate=0.1, steps=400
)
BY_HAND = tt.Setting(
    tt.Part("bilinear", value=np.eye(2), selection=tt.pooling(4, 2), activation="relu"),
    rate=0.1,
    steps=400,
)


def curves_of(points: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(points)
    return {
        "excess_risk": 1 / (1.0 + np.arange(points)),
        "support_mass": rng.normal(size=(points, 4)),
        "gram": rng.normal(size=(points, 2, 3)),
        "single": rng.normal(size=points).astype(np.float32),
        "count": np.arange(points),
        "flag": np.arange(points) % 2 == 0,
    }


def a_run(
    setting: tt.Setting = TINY, outcome: Outcome = Outcome.FINISHED, taken: int | None = None
) -> Run:
    """A run of NumPy arrays alone, so that saving it in a forked process needs nothing of JAX's
    threads.
    """
    problem = tt.build(setting)
    student = jax.tree.map(lambda leaf: np.asarray(leaf) + 0.25, problem.student)
    state = jax.tree.map(np.asarray, first_state(problem.student, setting.rate, problem.optimiser))
    taken = setting.steps if taken is None else taken
    steps = tt.log_spaced(taken)
    rest = None if outcome is Outcome.DIVERGED else Rest(taken, state, 2.0)
    return Run(
        steps, curves_of(len(steps)), student, outcome, "Said so.", setting.rate, setting, rest
    )


def assert_equal(one: Run, two: Run) -> None:
    """To the bit, types and shapes included."""
    assert (one.outcome, one.note, one.rate, one.setting) == (
        two.outcome,
        two.note,
        two.rate,
        two.setting,
    )
    trees = [
        (
            run.steps,
            run.curves,
            run.student,
            run.rest and (run.rest.taken, run.rest.first, run.rest.state),
        )
        for run in (one, two)
    ]
    assert jax.tree.structure(trees[0]) == jax.tree.structure(trees[1])
    for a, b in zip(*map(jax.tree.leaves, trees), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)
