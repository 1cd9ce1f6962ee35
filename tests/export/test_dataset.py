"""Runs as a dataset of xarray: a dimension for everything in which they differ."""

import sys

import numpy as np
import pytest

import tutelage as tt
from tutelage.refuse import Refused

SETTING = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2, norm=2.0, activation="identity"),
    rate=0.1,
    steps=30,
    measures=("excess_risk", "support_mass"),
)


def grid():
    return [
        SETTING.change(rate=rate, seed=seed, **{"teacher.norm": norm})
        for rate in (0.05, 0.1)
        for norm in (1.0, 2.0)
        for seed in (0, 1)
    ]


@pytest.fixture
def xarray():
    return pytest.importorskip("xarray")


def test_a_store_has_the_axes_of_its_sweep(xarray, tmp_path):
    store = tt.Store(tmp_path)
    runs = {run.setting: run for run in tt.execute(grid(), store=store)}
    found = tt.dataset(store)
    assert set(found["excess_risk"].dims) == {"rate", "teacher.norm", "seed", "step"}
    for setting in grid():
        place = {"rate": setting.rate, "teacher.norm": setting.teacher.options["norm"]}
        there = found["excess_risk"].sel(place | {"seed": setting.seed})
        run = runs[setting]
        assert there.sel(step=run.steps).values.tolist() == run.curves["excess_risk"].tolist()
        assert found["identity"].sel(place | {"seed": setting.seed}) == setting.identity()
    assert found.attrs["teacher.tokens"] == 4
    assert found.attrs["tutelage"] == tt.__version__


def test_what_was_not_run_is_nan(xarray):
    runs = list(tt.execute(grid()[:-1]))
    found = tt.dataset(runs)
    absent = found.sel({"rate": 0.1, "teacher.norm": 2.0, "seed": 1})
    assert np.isnan(absent["excess_risk"]).all()
    assert absent["outcome"] == ""


def test_a_measure_with_entries_has_a_dimension_for_them(xarray):
    (run,) = tt.execute([SETTING])
    found = tt.dataset([run])["support_mass"]
    if run.curves["support_mass"].ndim > 1:
        assert found.dims == ("seed", "step", "support_mass_entry")
    assert np.array_equal(found.values[0], run.curves["support_mass"])


def test_a_dataset_is_evidence(xarray):
    found = tt.dataset(list(tt.execute(grid()[:2])))
    verdict = tt.check(tt.Slope("excess_risk"), found["excess_risk"], by="seed")
    assert verdict.status in (tt.Status.MEASURED, tt.Status.UNDECIDED)


def test_runs_that_make_no_grid_are_refused(xarray):
    settings = [
        SETTING.change(rate=0.01 * (i + 1), **{"teacher.norm": 1.0 + i}, seed=i) for i in range(8)
    ]
    with pytest.raises(Refused, match="must fill a grid"):
        tt.dataset(list(tt.execute(settings)))


def test_runs_without_a_setting_are_refused(xarray):
    with pytest.raises(Refused, match="must have a setting"):
        tt.dataset([tt.curve([1, 2], [1.0, 0.5])])
    with pytest.raises(Refused, match="at least one run"):
        tt.dataset([])


def test_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(Refused, match=r"pip install 'tutelage\[xarray\]'"):
        tt.dataset([])
