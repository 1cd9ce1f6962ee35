"""What a sample refuses before it is drawn."""

import pytest

import tutelage as tt
from tutelage.problem.build import build
from tutelage.teachers.transported import TransportedTeacher


def test_labels_that_are_no_matrices_are_refused_before_any_is_computed(monkeypatch):
    calls = []
    label = TransportedTeacher.__call__

    def count(self, tokens):
        calls.append(tokens)
        return label(self, tokens)

    monkeypatch.setattr(TransportedTeacher, "__call__", count)
    setting = tt.Setting(
        tt.Part("transported", pool=1024),
        rate=0.01,
        steps=5,
        objective=tt.Part("minibatch", samples=2000, held_out=1000),
        measures=("excess_risk",),
    )
    with pytest.raises(tt.Refused, match=r"Got a teacher with labels of shape \(\)"):
        build(setting)
    assert len(calls) == 1  # for its shape alone, which takes no numbers
