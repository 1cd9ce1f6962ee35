"""That the campaigns of faults and load would notice what they look for; none is run here."""

import json
import shutil
import time

import numpy as np
import pytest
from hardening.faults import sweeps
from hardening.faults.clusters import dask_cluster, read_address
from hardening.faults.scenarios import SCENARIOS
from hardening.faults.sweeps import SETTINGS, TEXT, Place, compare
from hardening.faults.told import Told
from hardening.load.lifetime import Life, live_long, many_shapes, short_runs
from hardening.load.pages import Seen
from stored import TINY, a_run

import tutelage as tt
from tutelage.studies.sweep_files import read_sweep


@pytest.fixture
def place(tmp_path):
    tt.Store(tmp_path / "out" / "runs").save(a_run(TINY))
    place = Place(tmp_path)
    assert place.look() == []
    assert len(place.finished) == 1
    return place


def run_folder(place):
    return place.out / "runs" / TINY.identity() / str(TINY.steps)


def test_a_finished_run_that_is_gone_is_noticed(place):
    shutil.rmtree(run_folder(place))
    assert [trouble.rpartition(" ")[2] for trouble in place.look()] == ["gone"]


def test_a_damaged_run_is_noticed(place):
    file = run_folder(place) / "curves.parquet"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    troubles = place.look()
    assert any("listed as whole" in trouble for trouble in troubles)


def test_a_run_that_was_written_again_is_noticed(place):
    changed = a_run(TINY)
    tt.Store(place.out / "runs").save(tt.Run(**{**vars(changed), "note": "Another."}))
    assert any(trouble.endswith("changed") for trouble in place.look())


def test_stores_are_compared_run_by_run():
    one = {"a": np.array([1.0, 0.5])}
    assert compare(one, {"a": np.array([1.0, 0.5 + 1e-14])}) == []
    assert compare(one, {"a": np.array([1.0, 0.5 + 1e-9])}) == ["a"]
    assert compare(one, {"a": np.array([1.0])}) == ["a"]
    assert compare(one, {}) == ["1 runs here and 0 there"]


def test_the_sweep_has_as_many_settings_as_are_counted(tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    assert len(read_sweep(tmp_path / "small.toml").settings()) == SETTINGS
    assert all(share >= 1 for share in SCENARIOS.values())
    assert Told("x").troubles == []


@pytest.mark.depth
def test_growth_is_that_of_the_second_half():
    assert Life(10, (100.0, 300.0, 310.0, 320.0, 325.0)).growth == 15.0
    life = live_long(short_runs(4), 4)
    assert life.runs == 4
    assert len(life.megabytes) >= 3


def test_every_shape_is_another():
    shapes = {json.dumps(dict(setting.teacher.options)) for setting in many_shapes(500)}
    assert len(shapes) == 500


def test_errors_are_counted_and_being_told_to_wait_is_none():
    seen = Seen()
    seen.statuses.update({200: 5, 404: 2, 503: 3})
    assert (seen.requests, seen.errors) == (10, 0)
    seen.statuses[500] += 1
    seen.broken["ReadError"] += 1
    assert (seen.requests, seen.errors) == (12, 2)


@pytest.mark.cluster
@pytest.mark.parametrize("lost", ["worker", "scheduler"])
def test_a_cluster_that_is_lost_in_mid_work_is_told_in_a_sentence(lost, tmp_path, monkeypatch):
    """With steps enough that the sweep is at work when it is killed."""
    monkeypatch.setattr(sweeps, "TEXT", TEXT.replace("steps = 2000", "steps = 3_000_000"))
    place = Place(tmp_path)
    with dask_cluster(tmp_path) as cluster:
        process = place.start("--scheduler", read_address(tmp_path))
        deadline = time.monotonic() + 120
        while not list((place.out / "runs").glob(".leases/*")) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert process.poll() is None
        cluster[lost].kill()
        if lost == "worker":
            process.terminate()
        out, errors = process.communicate(timeout=300)
    assert "Traceback" not in out + errors
    assert process.returncode != 0
    assert lost == "worker" or "the connection to it was lost" in errors
