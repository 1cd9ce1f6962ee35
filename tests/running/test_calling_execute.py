"""`execute` refuses when it is called, and runs when its runs are asked for."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.running import work

SETTING = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2, norm=8.0, activation="identity"),
    rate=0.1,
    steps=40,
    measures=("excess_risk",),
)
WRONG = SETTING.change(**{"teacher.support": 9})


def test_a_wrong_setting_is_refused_before_the_first_run_is_asked_for(tmp_path):
    with pytest.raises(tt.Refused, match="Got support=9, tokens=4"):
        tt.execute([SETTING, WRONG])
    store = tt.Store(tmp_path / "runs")
    list(tt.execute([SETTING], store=store))
    with pytest.raises(tt.Refused, match="Got support=9"):  # also where the first is stored
        tt.execute([SETTING, WRONG], store=store)


def test_a_store_that_cannot_be_written_is_refused_likewise(tmp_path):
    (tmp_path / "runs").write_text("no folder")
    with pytest.raises(tt.Refused):
        tt.execute([SETTING], store=tt.Store(tmp_path / "runs"))


def test_nothing_runs_until_a_run_is_asked_for(monkeypatch):
    trained = []
    train_batch = work.train_batch
    monkeypatch.setattr(
        work, "train_batch", lambda *a, **k: trained.append(1) or train_batch(*a, **k)
    )
    runs = tt.execute([SETTING])
    assert trained == []
    assert next(runs).outcome is tt.Outcome.FINISHED
    assert trained == [1]


def test_a_stored_run_is_read_only_when_it_is_asked_for(tmp_path, monkeypatch):
    store = tt.Store(tmp_path / "runs")
    (first,) = tt.execute([SETTING], store=store)
    runs = tt.execute([SETTING], store=store)
    monkeypatch.setattr(work, "train_batch", lambda *a, **k: pytest.fail("it was run again"))
    (again,) = runs
    np.testing.assert_array_equal(again.curves["excess_risk"], first.curves["excess_risk"])


def test_a_stored_run_that_is_damaged_since_is_run_again(tmp_path):
    store = tt.Store(tmp_path / "runs")
    (first,) = tt.execute([SETTING], store=store)
    runs = tt.execute([SETTING, SETTING.change(seed=1)], store=store)
    (tmp_path / "runs" / SETTING.identity() / "40" / "curves.parquet").unlink()
    found = {run.setting: run for run in runs}
    assert len(found) == 2
    np.testing.assert_array_equal(found[SETTING].curves["excess_risk"], first.curves["excess_risk"])


def test_with_keep_going_the_wrong_one_fails_and_the_others_run():
    runs = {run.setting: run for run in tt.execute([WRONG, SETTING], keep_going=True)}
    assert runs[WRONG].outcome is tt.Outcome.FAILED
    assert "support=9" in runs[WRONG].note
    assert runs[SETTING].outcome is tt.Outcome.FINISHED
