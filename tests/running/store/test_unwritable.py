"""A store that cannot be written: told before the work where that is known, and otherwise the work
goes on, its results are printed, and the end says what was not saved and what to do.

The tests may run as root, whom no mode keeps out, so that the system's refusals are made here.
"""

import errno
import json
import os
import shutil
import threading
from dataclasses import asdict, replace

import pytest
from stored import TINY, a_run
from tiny_paper import write_paper

import tutelage as tt
from tutelage.cli import main
from tutelage.explorer.saved import Held
from tutelage.run import Outcome
from tutelage.running import execute
from tutelage.running.store.places import Folders
from tutelage.training.method import USUAL

SWEEP = """
seeds = 4
[setting]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 2, dim = 3 }
rate = 0.1
steps = 100
measures = ["excess_risk"]
"""
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
SETTINGS = [TINY.change(steps=100, seed=seed) for seed in range(4)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return write_paper(tmp_path_factory.mktemp("paper") / "tiny.py")


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def fill_up(monkeypatch, after, error=FULL):
    """The disk takes so many more runs, and then neither runs nor notes nor folders."""
    left = [after]
    for name in ("put", "write"):
        real = getattr(Folders, name)

        def write(place, *given, real=real):
            left[0] -= 1
            if left[0] < 0:
                raise error
            return real(place, *given)

        monkeypatch.setattr(Folders, name, write)


def a_file_in_the_way(tmp_path, monkeypatch):
    (tmp_path / "out").write_text("")


def a_file_for_the_runs(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "runs").write_text("")


def a_full_disk(tmp_path, monkeypatch):
    def fill(place, path, data):
        path.touch()
        raise FULL

    monkeypatch.setattr(Folders, "_fill", fill)


def a_read_only_disk(tmp_path, monkeypatch):
    def make(place, folder):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Folders, "_make", make)


UNWRITABLE = (a_file_in_the_way, a_file_for_the_runs, a_full_disk, a_read_only_disk)


@pytest.mark.parametrize("harm", UNWRITABLE)
def test_it_is_said_before_anything_runs(harm, file, paper, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(execute, "build", lambda setting: pytest.fail("it was run"))
    harm(tmp_path, monkeypatch)
    for command in (["sweep", file], ["run", "tiny/pooling", "--import", paper]):
        code, out, err = call(capsys, *command, "--out", tmp_path / "out")
        assert (code, out) == (2, "")
        assert f"Runs are saved under {tmp_path}/out/runs, which cannot be written: " in err
        assert "give another place (`--out`). Nothing was run." in err
        assert "Traceback" not in err
    with pytest.raises(tt.Refused, match="cannot be written"):
        list(tt.execute(SETTINGS, store=tt.Store(tmp_path / "out" / "runs")))
    monkeypatch.undo()
    assert not list(tmp_path.rglob(".writing-*"))


def test_an_object_store_that_refuses_is_told_alike(monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    store = tt.Store("memory://unwritable/runs")
    store.probe()
    assert store.place.names("") == []  # nothing is left of it

    def refuse(system, path, data, **more):
        raise RuntimeError("no such bucket")

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "pipe_file", refuse)
    with pytest.raises(tt.Refused, match="cannot be written: RuntimeError: no such bucket"):
        list(tt.execute(SETTINGS, store=store))


@pytest.mark.parametrize("saved", [0, 1, 3])
def test_a_disk_that_fills_up_in_mid_work_loses_no_row(saved, file, tmp_path, capsys, monkeypatch):
    fill_up(monkeypatch, saved)
    code, text, err = call(capsys, "sweep", file, "--out", tmp_path / "out", "--json")
    rows = json.loads(text)["rows"]
    assert code == 1
    assert [row["outcome"] for row in rows] == ["FINISHED"] * 4
    assert all(row["excess_risk"] > 0 for row in rows)
    unsaved = [row["reason"] for row in rows if row["reason"]]
    assert unsaved == ["It could not be saved: No space left on device."] * (4 - saved)
    assert f"runs could not be saved under {tmp_path}/out/runs: No space left" in err.replace(
        "1 run could", "runs could"
    )
    assert "the same command then runs them again" in err
    assert err.count("The work goes on.") == 1
    monkeypatch.undo()
    assert len(list(tt.Store(tmp_path / "out" / "runs").entries())) == saved
    code, text, _ = call(capsys, "sweep", file, "--out", tmp_path / "out", "--json")
    again = json.loads(text)["rows"]
    assert code == 0
    assert [row["excess_risk"] for row in again] == [row["excess_risk"] for row in rows]


def test_the_table_is_printed_where_it_cannot_be_written(file, tmp_path, capsys):
    """All runs are stored, and beside them nothing can be written."""
    assert call(capsys, "sweep", file, "--out", tmp_path / "out")[0] == 0
    shutil.rmtree(tmp_path / "out" / "small")
    (tmp_path / "out" / "small").write_text("in the way")
    code, text, err = call(capsys, "sweep", file, "--out", tmp_path / "out")
    assert code == 1
    assert text.count("FINISHED") == 4
    assert f"The table could not be written under {tmp_path}/out: File exists." in err


def test_a_study_prints_its_verdicts_where_nothing_can_be_written(
    paper, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "out"
    command = ["run", "tiny/pooling", "--import", paper, "--steps", "300", "--out", out]
    fill_up(monkeypatch, 1)
    monkeypatch.setattr("tutelage.studies.outputs.write_json", fail_with(FULL))
    code, text, err = call(capsys, *command)
    assert code == 1
    assert "1 claim:" in text
    assert f"runs      {out}/runs" in text
    assert "figures   " not in text
    assert "the verdicts and figures of tiny/pooling cannot be written" in err
    assert "2 runs could not be saved" in err
    monkeypatch.undo()
    assert not (out / "tiny" / "pooling").exists()
    assert not list(out.rglob(".writing-*"))
    code, again, _ = call(capsys, *command)
    assert code == 0
    assert f"figures   {out}/tiny/pooling/figures" in again


def fail_with(error):
    def fail(*given, **more):
        raise error

    return fail


def test_a_folder_that_vanishes_in_mid_work_is_made_again(file, tmp_path, capsys, monkeypatch):
    real, vanished = Folders.put, []

    def put(place, name, files):
        if not vanished:
            vanished.append(shutil.rmtree(tmp_path / "out"))
        real(place, name, files)

    monkeypatch.setattr(Folders, "put", put)
    code, text, _ = call(capsys, "sweep", file, "--out", tmp_path / "out", "--json")
    assert (code, len(json.loads(text)["rows"])) == (0, 4)
    assert len(list(tt.Store(tmp_path / "out" / "runs").entries())) == 4


@pytest.mark.parametrize("keep_going", [False, True])
def test_runs_are_yielded_though_they_cannot_be_saved(keep_going, tmp_path, monkeypatch, caplog):
    fill_up(monkeypatch, 0)
    store = tt.Store(tmp_path)
    runs = list(tt.execute(SETTINGS, store=store, keep_going=keep_going))
    assert [run.outcome for run in runs] == [Outcome.FINISHED] * 4
    assert set(store.unsaved) == {setting.identity() for setting in SETTINGS}
    assert caplog.text.count("The work goes on") == 1
    monkeypatch.undo()
    for run in runs:
        store.keep(run)
    assert store.unsaved == {}
    assert store.lost == ""


def test_a_failure_is_a_row_though_no_note_of_it_can_be_left(tmp_path, monkeypatch):
    fill_up(monkeypatch, 0)
    bad = replace(SETTINGS[0], rate=-1.0)
    (run,) = tt.execute([bad], store=tt.Store(tmp_path), keep_going=True)
    assert run.outcome is Outcome.FAILED
    assert "`rate` must be a positive" in run.note


def test_being_stopped_does_not_say_that_all_is_saved(file, tmp_path, capsys, monkeypatch):
    fill_up(monkeypatch, 0)

    def stop(run):
        raise KeyboardInterrupt

    monkeypatch.setattr("tutelage.cli.sweep_screen.Progress.count_run", lambda bar, run: stop(run))
    code, _, err = call(capsys, "sweep", file, "--out", tmp_path / "out")
    assert code == 1
    assert "tutelage: stopped. " in err
    assert "could not be saved" in err
    assert "All runs are saved" not in err


def test_a_worker_sends_what_it_cannot_save(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from tutelage.running.engines import cluster
    from tutelage.running.engines.cluster import packed, read_answer, remote
    from tutelage.running.work import Work

    # Workers of other tests were threads of this process, and set it when they ended.
    monkeypatch.setattr(cluster, "CLOSING", threading.Event())
    how = {
        "root": str(tmp_path),
        "sync": False,
        "rerun_foreign": False,
        "keep_going": True,
        "method": asdict(USUAL),
        "imports": [],
        "client": "a full disk",
        "any_size": False,
    }
    fill_up(monkeypatch, 1)
    said = remote(*packed(SETTINGS), how)
    monkeypatch.undo()
    store = tt.Store(tmp_path)
    result = read_answer(SETTINGS, said, Work(store))
    assert [run.setting for run in result.runs] == SETTINGS
    assert [run.outcome for run in result.runs] == [Outcome.FINISHED] * 4
    assert len(store.unsaved) == 3
    assert sum("could not be saved" in run.note for run in result.runs) == 3
    assert all(len(run.curves["excess_risk"]) for run in result.runs)


def test_the_page_says_why_a_run_cannot_be_saved(tmp_path, monkeypatch):
    held, run = Held(), a_run()
    held.add(run)
    fill_up(monkeypatch, 0)
    with pytest.raises(tt.Refused, match="cannot be written: No space left on device"):
        held.save(run.setting.identity(), str(tmp_path))


def test_verdicts_that_cannot_be_left_beside_a_run_are_told(tmp_path, monkeypatch, caplog):
    store = tt.Store(tmp_path)
    store.save(a_run())
    fill_up(monkeypatch, 0)
    store.attach(TINY, [])
    assert "cannot be written" in caplog.text
