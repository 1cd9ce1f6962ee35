"""Stores that were written before still load: two runs of tutelage 0.1.0, as it was before parts
had their code in their identity and before calculations.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

import tutelage as tt
from tutelage.run import Outcome

DATA = Path(__file__).parent / "data"
CONVOLUTION, BY_HAND = "055ade66ff233c1f195f/5000", "0a9f84ee2312136c5c76/500"


@pytest.fixture
def store(tmp_path):
    shutil.copytree(DATA, tmp_path / "runs")
    return tt.Store(tmp_path / "runs")


def test_they_are_listed_whole(store):
    entries = list(store.entries())
    assert [entry.name for entry in entries] == [CONVOLUTION, BY_HAND]
    assert [store.verify(entry.name) for entry in entries] == ["", ""]
    assert set(tt.table(store)["student"]) == {"position_attention", "known_selection"}


@pytest.mark.parametrize("name", [CONVOLUTION, BY_HAND])
def test_each_is_found_by_its_setting(store, name, monkeypatch):
    loaded = tt.load(f"{store.root}/{name}")
    assert loaded.outcome is Outcome.FINISHED
    assert loaded.setting.identity() == name.partition("/")[0]
    monkeypatch.setattr(
        "tutelage.running.work.train_batch", lambda *_, **__: pytest.fail("it was trained again")
    )
    (run,) = tt.execute([loaded.setting], store=store)
    np.testing.assert_array_equal(run.curves["excess_risk"], loaded.curves["excess_risk"])


@pytest.mark.usefixtures("adam_allowed")
@pytest.mark.parametrize("name", [CONVOLUTION, BY_HAND])
def test_its_student_is_read_into_the_fields_of_the_same_names(store, name):
    loaded = tt.load(f"{store.root}/{name}")
    excess = tt.build(loaded.setting).objective.excess(loaded.student)
    np.testing.assert_allclose(float(excess), loaded.curves["excess_risk"][-1], rtol=1e-9)
