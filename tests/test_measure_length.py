"""The boundary point and the distance from linearity there, against plain loops."""

import heads_twin as twin
import numpy as np
import pytest

from tutelage.measures.length import LENGTH, RADIUS, boundary, boundary_gap
from tutelage.papers.shallow_transformers.common import setting_at
from tutelage.registry import build


def problem(heads, tokens=5):
    return build(setting_at(heads=heads, samples=4, steps=1, measures=(), dim=3, tokens=tokens, pool=8, teacher={"anchors": 2}))


def test_every_block_of_every_head_lies_on_its_sphere():
    start = problem(4).student.start
    there = boundary(start)
    for block in ("attention", "reading", "output"):
        gone = np.asarray(getattr(there, block) - getattr(start, block)).reshape(4, -1)
        assert np.linalg.norm(gone, axis=1) == pytest.approx(np.full(4, RADIUS / 2), rel=1e-12)  # √m = 2
        if block != "output":
            assert len(np.unique(np.round(gone, 9), axis=0)) == 4  # every head its own way, a head and its mirror too


def test_a_head_goes_the_same_way_whatever_else_there_is():
    few, many = (problem(m).student.start for m in (4, 8))
    short, long = ((boundary(s).reading - s.reading) * np.sqrt(len(s.output)) for s in (few, many))
    assert np.asarray(short[:4]) == pytest.approx(np.asarray(long[:4]), rel=1e-12)
    other = problem(4, tokens=7).student.start
    assert np.array_equal(boundary(other).attention, boundary(few).attention)


def test_the_gap_is_its_definition():
    student, objective = (lambda p: (p.student, p.objective))(problem(4))
    there = boundary(student.start)
    gaps = [abs(twin.value(there, X, X[:, -1]) - twin.linearised(there, student.start, X, X[:, -1])) for X in np.asarray(objective.tokens)]
    assert np.asarray(boundary_gap(student, objective)) == pytest.approx([max(gaps), np.mean(gaps)], rel=1e-12)
    assert [m.__name__ for m in LENGTH] == ["boundary_gap"]
