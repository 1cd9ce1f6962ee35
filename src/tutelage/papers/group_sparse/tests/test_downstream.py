"""A new task: exact errors beside counted ones, and inputs with a margin."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tutelage.papers.group_sparse.parts.downstream import (
    GroupDownstream,
    draw_along,
    error_of,
    learn_online,
)
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.refuse import Refused


def test_errors_are_those_of_pairs_of_normals():
    """arccos(c)/π, by the integral over the margin at 0⁺; and by counting, within four errors."""
    cosines = np.array([-0.3, 0.2, 0.95])
    np.testing.assert_allclose(error_of(cosines, 1e-12), np.arccos(cosines) / math.pi, rtol=1e-10)
    draw = np.random.default_rng(0)
    along = draw_along(draw.random(200_000), 0.4)
    assert np.abs(along).min() >= 0.4
    assert abs(np.sign(along).mean()) < 4 / math.sqrt(len(along))
    noise = draw.standard_normal(len(along))
    counted = np.mean(along * (0.8 * along + 0.6 * noise) < 0)
    expected = error_of(np.array([0.8]), 0.4)[0]
    assert counted == pytest.approx(expected, abs=4 * math.sqrt(expected / len(along)))


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_steps_are_those_of_logistic_regression(decay: float):
    draw = np.random.default_rng(1)
    rows, labels, target = draw.standard_normal((3, 2)), np.array([1.0, -1.0, 1.0]), np.eye(2)[0]
    value = np.zeros(2)
    for k in range(3):
        pull = labels[k] * rows[k] / (1 + math.exp(labels[k] * rows[k] @ value))
        value += pull / (k + 1) ** decay
    found = learn_online(rows, labels, target, decay)
    assert found[-1] == pytest.approx(value[0] / np.linalg.norm(value), rel=1e-13)


@pytest.mark.parametrize("learner", ["frozen", "vectorised"])
def test_the_stated_error_is_met_on_fresh_inputs(learner: str):
    """More samples err less, and frozen attention less than all features."""
    given = SimpleNamespace(teacher=GroupSigns(10, 4, "sine"), seed=3)
    found = GroupDownstream(400, learner, 0.01, 0.0)(given)
    errors = found.curves["error"]
    assert errors[-1] < 0.5 * errors[0]
    assert found.curves["mean_error"][-1] > errors[-1]
    assert (errors[-1] < 0.06) == (learner == "frozen")


def test_attention_that_misses_cannot_do_better_than_its_noise():
    """With u learned exactly the error is arctan(B/A)/π; after 3000 samples it is near that."""
    given = SimpleNamespace(teacher=GroupSigns(5, 2, "unit"), seed=0)
    found = GroupDownstream(3000, "frozen", 0.5, 0.0)(given)
    floor = math.atan(0.5 / 2 / 0.5) / math.pi
    assert floor < found.curves["error"][-1] < 1.1 * floor


def test_what_is_not_meant_is_refused():
    with pytest.raises(Refused, match="frozen attention leaves"):
        GroupDownstream(10, "frozen", 1.0, 0.0)
    with pytest.raises(Refused, match="some must remain"):
        GroupDownstream(10, "frozen", 0.0, 4.0)
    with pytest.raises(Refused, match="steps of one size"):
        GroupDownstream(10, "frozen", 0.0, 0.0, -0.5)
    with pytest.raises(Refused, match="no learner"):
        GroupDownstream(10, "ridge", 0.0, 0.0)
