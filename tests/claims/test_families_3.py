"""The truth of every family of the third set, and whether it is decidable, follow from the family's
own law. No verdict is asked for.
"""

import numpy as np
import pytest

from tutelage.claims.families_3 import FAMILIES
from tutelage.claims.verdict import Status

SEEDS = range(4)
NO_POWER = 10  # tolerances by which local exponents differ where there is no power law
each = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


def local_exponents(case):
    """Between neighbouring points of a fine grid over the sweep, without chance."""
    x = np.log([point[0] for point in case.asked.points(case.runs)])
    grid = np.unique(np.concatenate([np.linspace(x.min(), x.max(), 801), np.unique(x)]))
    grid = grid[np.concatenate([[True], np.diff(grid) > 1e-9])]
    return np.diff(case.law(grid)) / np.diff(grid)


@each
def test_the_local_exponents_over_the_sweep_give_the_truth(family):
    for seed in SEEDS:
        case = family.make(seed)
        local = local_exponents(case)
        tolerance = case.asked.tolerance
        holds = np.abs(local - case.asked.exponent).max() <= tolerance
        assert holds == (family.truth is Status.HOLDS)
        if family.truth is Status.FAILS and family.decidable:
            pure = np.ptp(local) <= 1e-6
            assert pure or np.ptp(local) >= NO_POWER * tolerance
        if case.limit is not None:
            assert local.min() - 1e-6 <= case.limit <= local.max() + 1e-6


@each
def test_points_are_positive_and_always_the_same(family):
    first, again = (family.make(3) for _ in range(2))
    points = first.asked.points(first.runs)
    assert points == again.asked.points(again.runs)
    assert all(x > 0 and y > 0 and np.isfinite([x, y]).all() for x, y, _ in points)


def test_both_truths_are_there_and_most_families_are_decidable():
    """As many hold as fail, so that a rule which always says one of them is wrong in half."""
    assert len(FAMILIES) == 30
    assert sum(family.truth is Status.HOLDS for family in FAMILIES) == 15
    assert sum(family.decidable for family in FAMILIES) == 20
