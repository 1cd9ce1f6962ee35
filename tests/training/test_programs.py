"""Compiled programs are released beyond a number of shapes, and results do not change by it."""

from __future__ import annotations

import threading

import jax
import numpy as np
import pytest

import tutelage as tt
from tutelage.explorer.stream import Known
from tutelage.training import literal, programs
from tutelage.training.programs import Programs, describe_shape


@pytest.fixture
def cleared(monkeypatch):
    """How often JAX was told to forget its programs; it forgets none of the other tests'."""
    calls: list[None] = []
    monkeypatch.setattr(jax, "clear_caches", lambda: calls.append(None))
    return calls


def test_programs_are_released_when_there_is_one_shape_too_many(cleared):
    kept = Programs(most=3)
    for shape in ("a", "b", "c", "a", "b", "c"):
        kept.add(shape)
    assert (len(kept), len(cleared), kept.releases) == (3, 0, 0)
    kept.add("d")
    assert (len(kept), len(cleared), kept.releases) == (1, 1, 1)
    assert "d" in kept
    assert "a" not in kept


def test_of_many_threads_none_loses_a_shape(cleared):
    kept = Programs(most=10_000)
    workers = [
        threading.Thread(target=lambda w=w: [kept.add((w, i)) for i in range(500)])
        for w in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(kept) == 4000


def test_a_shape_is_its_structure_and_the_shapes_and_types_of_its_arrays():
    one = {"x": np.zeros((2, 3)), "y": np.zeros(2)}
    assert describe_shape(one) == describe_shape({"x": np.ones((2, 3)), "y": np.ones(2)})
    assert describe_shape(one) != describe_shape({"x": np.zeros((3, 2)), "y": np.zeros(2)})
    assert describe_shape(one) != describe_shape({"x": np.zeros((2, 3)), "z": np.zeros(2)})
    assert describe_shape(one) != describe_shape({"x": np.zeros((2, 3), "f4"), "y": np.zeros(2)})


def setting(tokens: int, rate: float = 0.1) -> tt.Setting:
    teacher = tt.Part("group_sparse", tokens=tokens, dim=2, norm=1.0, activation="identity")
    return tt.Setting(teacher, rate=rate, steps=5, measures=("excess_risk",))


def test_training_counts_shapes_and_not_numbers(monkeypatch, cleared):
    monkeypatch.setattr(literal, "PROGRAMS", kept := Programs(most=2))
    (first,) = tt.execute([setting(3)])
    list(tt.execute([setting(3, rate=0.05)]))
    assert len(kept) == 1
    list(tt.execute([setting(4)]))
    list(tt.execute([setting(5)]))
    assert (len(cleared), len(kept)) == (1, 1)
    (again,) = tt.execute([setting(3)])
    np.testing.assert_array_equal(again.curves["excess_risk"], first.curves["excess_risk"])


def test_the_page_forgets_the_shapes_whose_programs_are_gone(monkeypatch, cleared):
    monkeypatch.setattr(programs, "PROGRAMS", kept := Programs(most=1))
    known = Known()
    known.add("one")
    assert "one" in known
    kept.add("one")
    kept.add("two")
    assert "one" not in known
