"""The runner and the store: batches equal lone runs, what is stored comes back, and nothing is run
twice.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import tutelage as tt
from tutelage.running import work

CNN = tt.Setting(tt.Part("convolution", tokens=8, support=2, outputs=2, dim=3), rate=0.1, steps=400)
GROUP = tt.Setting(tt.Part("group_sparse", tokens=6, dim=3), rate=0.05, steps=300)
SETTINGS = (
    [CNN.change(seed=i) for i in range(3)]
    + [GROUP.change(seed=i) for i in range(2)]
    + [CNN.change(rate=0.05)]
)


def by_setting(runs):
    return {run.setting: run for run in runs}


def test_every_setting_gives_one_run_and_equal_shapes_share_a_batch(monkeypatch):
    sizes = []
    real = work.train_batch
    monkeypatch.setattr(
        work, "train_batch", lambda s, *a, **k: (sizes.append(len(s)), real(s, *a, **k))[1]
    )
    runs = by_setting(tt.execute([*SETTINGS, SETTINGS[0]], threads=1))
    assert set(runs) == set(SETTINGS)
    assert sorted(sizes) == [2, 4]  # two shapes, and different rates of one shape train together


def test_a_batch_member_equals_its_lone_run():
    together = by_setting(tt.execute(SETTINGS))
    for setting in SETTINGS[:4]:
        (alone,) = tt.execute([setting])
        for name, curve in alone.curves.items():
            np.testing.assert_allclose(
                together[setting].curves[name], curve, rtol=1e-10, atol=1e-14
            )


def test_a_bad_setting_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(work, "train_batch", lambda *a, **k: pytest.fail("work was started"))
    with pytest.raises(tt.Refused):
        list(tt.execute([CNN, CNN.change(rate=-1.0)]))


def test_watch_sees_growing_curves():
    seen = []
    list(
        tt.execute(
            [CNN],
            watch=lambda setting, step, curves: seen.append(
                (setting, step, len(curves["excess_risk"]))
            ),
        )
    )
    assert [s for _, s, _ in seen] == sorted(s for _, s, _ in seen)
    assert seen[-1][1] == CNN.steps
    assert all(setting == CNN for setting, _, _ in seen)


def test_leaving_early_stops_the_other_batches():
    long = [CNN.change(steps=10**9), GROUP]
    for run in tt.execute(long, threads=2):
        assert run.setting == GROUP
        break  # closing the generator must not wait for a billion steps


def test_stored_runs_come_back_whole(tmp_path):
    store = tt.Store(tmp_path)
    by_hand = tt.Setting(
        tt.Part("bilinear", value=np.eye(2), selection=tt.pooling(4, 2), activation="relu"),
        rate=0.1,
        steps=100,
    )
    for run in tt.execute([CNN, by_hand], store=store):
        again = tt.load(store.path(run.setting))
        assert again.setting == run.setting
        assert again.outcome is run.outcome
        np.testing.assert_array_equal(again.steps, run.steps)
        for name, curve in run.curves.items():
            np.testing.assert_array_equal(again.curves[name], curve)
        np.testing.assert_array_equal(again.student.attention(), run.student.attention())
        problem = tt.build(run.setting)
        assert float(problem.objective.excess(again.student)) == pytest.approx(
            float(run.curves["excess_risk"][-1]), rel=1e-12
        )
    assert (
        json.loads(Path(store.path(CNN), "run.json").read_text())["made"][-1]["precision"]
        == "float64"
    )
    table = pyarrow.parquet.read_table(Path(store.path(CNN), "curves.parquet"))
    assert table.column_names[0] == "step"
    assert len(table["support_mass"][0].as_py()) == 8


def test_a_stored_run_is_not_run_again_and_another_horizon_is(tmp_path, monkeypatch):
    store = tt.Store(tmp_path)
    list(tt.execute([CNN], store=store))
    calls = []
    real = work.train_batch
    monkeypatch.setattr(
        work, "train_batch", lambda *a, **k: (calls.append(k["steps"]), real(*a, **k))[1]
    )
    (again,) = tt.execute([CNN], store=store)
    assert calls == []
    assert again.steps[-1] == CNN.steps
    list(tt.execute([CNN.change(steps=500)], store=store))
    assert calls == [500]


def test_a_run_without_a_setting_cannot_be_stored(tmp_path):
    problem = tt.build(CNN)
    run = tt.train(problem.student, problem.objective, rate=0.1, steps=5)
    with pytest.raises(tt.Refused, match="made from a setting"):
        tt.Store(tmp_path).save(run)


def test_random_starts_differ_by_seed_and_not_by_measures():
    start = {"student.start": 0.3}
    one, two = (tt.build(CNN.change(seed=s, **start)).student for s in (0, 1))
    assert not np.array_equal(one.value, two.value)
    fewer = tt.build(CNN.change(measures=("excess_risk",), **start)).student
    np.testing.assert_array_equal(fewer.value, one.value)
