"""Names of measures: each stands for one curve, whoever registers it."""

from __future__ import annotations

import pytest

import tutelage as tt
from tutelage.measures import MEASURES
from tutelage.problem import build as building
from tutelage.problem.build import build_measure
from tutelage.problem.registry import registered_names


def test_no_registered_measure_has_the_name_of_one_that_is_there():
    assert not MEASURES.keys() & set(registered_names("measure"))


def test_a_measure_by_the_name_of_one_that_is_there_is_refused(monkeypatch):
    def value_scale(student: object, objective: object) -> float:
        return 0.0

    monkeypatch.setattr(building, "own_measures", lambda: {"value_scale": value_scale})
    with pytest.raises(tt.Refused, match=r"one measure.*Got 'value_scale' from .*test_names"):
        build_measure("excess_risk")
