"""A short run on the exact risk is compiled in less time, and takes the same steps."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.numerics.compiling import SOON
from tutelage.objectives import population

TOKENS, SUPPORT = 6, 2
TEACHER = tt.BilinearTeacher(
    np.random.default_rng(0).normal(size=(3, 4)), tt.pooling(TOKENS, SUPPORT), "relu"
)


def test_steps_times_scores_decide(monkeypatch):
    monkeypatch.setattr(population, "BRIEF_SCORES", 10 * TOKENS**2)
    risk, student = tt.PopulationRisk(TEACHER), tt.PositionAttention.zeros(TEACHER)
    assert risk.compiler_options(student, 10, "cpu") == SOON
    assert risk.compiler_options(student, 11, "cpu") != SOON
    assert risk.compiler_options(student, 10, "gpu") != SOON


@pytest.mark.compiled
def test_both_programs_take_the_same_steps(monkeypatch):
    """They differ in how they round: a few units in the last place of a step, over 200 steps."""
    ends = []
    for most in (0, population.BRIEF_SCORES):
        monkeypatch.setattr(population, "BRIEF_SCORES", most)
        run = tt.train(
            tt.PositionAttention.zeros(TEACHER), tt.PopulationRisk(TEACHER), rate=0.1, steps=200
        )
        ends.append(run.curves["excess_risk"])
    np.testing.assert_allclose(*ends, rtol=1e-12)
