"""The measures on nested samples against their definitions in plain loops."""

import numpy as np
import pytest
import samples_twin as twin

from tutelage.measures.samples import SAMPLES, approximation_sups
from tutelage.numerics.grids import nested_sizes
from tutelage.papers.shallow_transformers.setup import setting_at
from tutelage.problem.build import build
from tutelage.refuse import Refused


def test_the_measures_are_their_definitions():
    setting = setting_at(
        heads=6, samples=40, steps=1, measures=(), dim=3, tokens=5, pool=8, teacher={"anchors": 2}
    )
    problem = build(setting)
    for measure in SAMPLES:
        got = np.atleast_1d(measure(problem.student, problem.objective))
        want = np.atleast_1d(twin.MEASURES[measure.__name__](problem.student, problem.objective))
        assert got == pytest.approx(want, rel=1e-12, abs=1e-15)
    assert set(twin.MEASURES) == {measure.__name__ for measure in SAMPLES}


def test_a_teacher_of_other_features_is_refused():
    problem = build(
        setting_at(
            heads=2,
            samples=4,
            steps=1,
            measures=(),
            dim=2,
            tokens=3,
            pool=4,
            teacher={"scores": "diagonal"},
        )
    )
    with pytest.raises(Refused, match="reads the whole of W"):
        approximation_sups(problem.student, problem.objective)


def test_prefixes_are_even_in_the_logarithm_and_end_at_the_sample():
    assert nested_sizes(10_000) == (
        10,
        18,
        32,
        56,
        100,
        178,
        316,
        562,
        1000,
        1778,
        3162,
        5623,
        10_000,
    )
    assert nested_sizes(40) == (10, 18, 32, 40)
    assert nested_sizes(7) == (7,)


def test_labels_are_the_same_whoever_shares_the_work():
    """2,000 inputs go to the cores in parts; a label knows of no other."""
    problem = build(
        setting_at(heads=2, samples=2000, steps=1, measures=(), dim=3, tokens=4, pool=16)
    )
    alone = problem.teacher.through(problem.teacher.pool, problem.objective.tokens)
    assert np.array_equal(alone.values, problem.objective.labels)
    assert np.array_equal(alone.errors, problem.objective.errors)


def test_foreign_labels_are_nested_of_the_same_law_and_not_the_inputs_own():
    base = setting_at(heads=2, samples=400, steps=1, measures=(), dim=3, tokens=4, pool=64)
    own, foreign = (
        build(base.change(**{"objective.labels": kind})).objective for kind in ("own", "foreign")
    )
    few = build(base.change(**{"objective.labels": "foreign", "objective.samples": 50})).objective
    assert np.array_equal(own.tokens, foreign.tokens)
    assert np.asarray(few.labels) == pytest.approx(np.asarray(foreign.labels[:50]), rel=1e-12)
    assert abs(np.corrcoef(own.labels, foreign.labels)[0, 1]) < 4 / np.sqrt(
        400
    )  # four standard errors of no correlation
    assert float(foreign.power()) == pytest.approx(float(own.power()), rel=0.5)
