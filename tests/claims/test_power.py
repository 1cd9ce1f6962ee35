"""The power calculation of a preset is that of the spread which its verdict shows."""

from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Number, check
from tutelage.claims.chance import seeds_needed
from tutelage.claims.power import count_seeds
from tutelage.run import Outcome, Run

RUN = Run(np.array([1]), {"it": np.ones(1)}, None, Outcome.FINISHED)


def verdict_of(values, *, tolerance=0.5, certain=False):
    claim = Number(lambda runs: values, 1.0, "it", tolerance, certain=certain, scale="linear")
    return replace(check(claim, RUN), seeds=tuple(range(len(values))))


@pytest.mark.parametrize("scale", [0.1, 0.5])
def test_the_number_of_seeds_is_that_of_the_spread_and_of_the_room(scale):
    values = 1.1 + scale * np.array([-1.5, -0.7, -0.2, 0.0, 0.2, 0.7, 1.5])
    found = count_seeds(verdict_of(values))
    assert found is not None
    assert found.had == 7
    assert found.needed == seeds_needed(float(values.std(ddof=1)), 0.4)
    assert found.met == (scale == 0.1)


def test_where_there_is_no_chance_no_seeds_are_counted():
    assert count_seeds(verdict_of(np.full(5, 1.1), certain=True)) is None
    assert count_seeds(verdict_of(np.array([1.0, 1.2]))) is None


def test_a_mean_on_the_edge_needs_more_than_any_number():
    found = count_seeds(verdict_of(1.5 + 0.1 * np.array([-1.0, 0.0, 0.0, 1.0])))
    assert found is not None
    assert found.needed is None
    assert not found.met
