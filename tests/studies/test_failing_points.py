"""One value of an axis that errs while its setting is made or built is a row with its reason; all
others run, on every engine.
"""

import csv
import json
import threading
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_paper import write_paper

import tutelage as tt
from tutelage.cli import engines, main
from tutelage.run import Outcome
from tutelage.running import execute
from tutelage.studies.study import Case, Preset, Study
from tutelage.studies.sweep_runs import run_sweep
from tutelage.studies.sweeps import Sweep

MOODY = """
import numpy as np

import tutelage as tt


class Sulking(Exception):
    pass


@tt.register("teacher", "moody")
def make(seed, *, mood: int):
    if mood == 1:
        raise Sulking("not today")
    if mood == 2:
        raise MemoryError
    if mood == 3:
        return object()
    if mood == 4:
        return None
    if mood == 5:
        raise SystemExit(3)
    return tt.BilinearTeacher(np.eye(2), np.eye(2), "identity")
"""
SWEEP = """
import = ["moody.py"]
seeds = 2
[setting]
rate = 0.1
steps = 20
measures = ["excess_risk"]
teacher = { name = "moody", mood = 0 }
"""
# Axes of which one value is fine, and others err: while the setting is made, or while it is built.
AXES = {
    "a part that raises": ("mood", [0, 1, 2, 3, 4, 5]),
    "a word for a number of an option": ("mood", [0, "cheerful"]),
    "a word for the rate": ("rate", [0.1, "fast"]),
    "a rate that no computer holds": ("rate", [0.1, 10**400, -1.0, float("inf")]),
    "a word for the steps": ("steps", [20, "many"]),
    "steps that are none": ("steps", [20, 0, -5, 1.5, 10**400]),
    "a word for the seed": ("seed", [0, "lucky"]),
    "a part of a number": ("student", ["position_attention", 3]),
    "a part that no one knows": ("student", ["position_attention", "pupil"]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("moody")
    (made / "moody.py").write_text(MOODY)
    return made


def call(capsys, *arguments):
    """The exit code, the rows of a command with --json, and what it said."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def sweep_file(folder, key, values):
    """One file per axis; JSON's numbers and words are TOML's, but for infinity."""
    text = json.dumps(values).replace("Infinity", "inf")
    head = SWEEP.replace("seeds = 2\n", "") if key == "seed" else SWEEP
    path = folder / f"{key}-{abs(hash(text))}.toml"
    path.write_text(f"{head}[axes]\n{key} = {text}\n")
    return path


def check_rows(rows, key, values):
    """Every value has a row; the first is fine, and each of the others says why it is not."""
    assert {str(row[key]) for row in rows} == {str(value) for value in values}
    for row in rows:
        if str(row[key]) == str(values[0]):
            assert (row["outcome"], row["reason"]) == ("FINISHED", "")
            assert row["excess_risk"] > 0
        else:
            assert row["outcome"] == "FAILED"
            assert len(row["reason"]) > 10


@pytest.mark.brief(3)
@pytest.mark.parametrize("axis", AXES)
def test_a_value_that_errs_is_a_row(axis, folder, tmp_path, capsys):
    key, values = AXES[axis]
    path, out = sweep_file(folder, key, values), tmp_path / "out"
    code, text, err = call(capsys, "sweep", path, "--out", out, "--dry-run")
    assert code == 0
    assert text.count("refused: ") >= len(values) - 1
    assert "to run" in text
    assert not (out / "runs").exists()
    code, text, err = call(capsys, "sweep", path, "--out", out, "--json")
    assert code == 1
    assert "could not be run" in err
    check_rows(json.loads(text)["rows"], key, values)
    with open(out / path.stem / "table.csv", newline="") as table:
        written = list(csv.DictReader(table))
    assert len(written) == len(json.loads(text)["rows"])
    code, text, _ = call(capsys, "sweep", path, "--out", out, "--json")  # what is fine is stored
    check_rows(json.loads(text)["rows"], key, values)
    code, text, _ = call(capsys, "runs", "lacking", path, "--store", out, "--json")
    lacking = json.loads(text)
    assert (code, len(lacking) >= len(values) - 1) == (1, True)
    assert str(values[0]) not in {str(row[key]) for row in lacking}
    # One that did not come as far as a setting says no more, and no less, when it is extended.
    code, text, _ = call(capsys, "sweep", path, "--out", out, "--json", "--extend", "30")
    check_rows(json.loads(text)["rows"], key, [30, *values[1:]] if key == "steps" else values)


@pytest.mark.parametrize("axis", ["a part that raises", "steps that are none"])
def test_shards_share_the_values_that_err(axis, folder, tmp_path, capsys):
    key, values = AXES[axis]
    path, rows = sweep_file(folder, key, values), []
    for shard in ("1/2", "2/2"):
        _, text, _ = call(
            capsys, "sweep", path, "--out", tmp_path / "out", "--json", "--shard", shard
        )
        rows.append(json.loads(text)["rows"])
    check_rows([row for part in rows for row in part], key, values)
    both = [{(row["run"], str(row[key]), row.get("seed")) for row in part} for part in rows]
    assert not both[0] & both[1]


def test_a_study_whose_code_errs_at_one_value_runs_at_the_others(tmp_path, capsys):
    paper = write_paper(tmp_path / "study.py", "moody-study")
    values = [4, "x", 6]
    code, text, _ = call(
        capsys,
        "sweep",
        "moody-study/pooling",
        "--import",
        paper,
        "--axis",
        "D=4,x,6",
        "--steps",
        20,
        "--seeds",
        1,
        "--case",
        "pooling",
        "--out",
        tmp_path / "out",
        "--json",
    )
    assert code == 1
    rows = json.loads(text)["rows"]
    assert [row["D"] for row in rows if row["outcome"] == "FINISHED"] == [4, 6]
    assert {str(row["D"]) for row in rows} == set(map(str, values))


def test_the_code_of_a_study_may_raise_anything(tmp_path):
    base = tt.Setting(
        tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=20
    )
    more = base.change(seed=1)

    def cases(plan, preset):
        rate = plan.changes["rate"] / 2  # which no word has
        first, second = base.change(rate=rate), more.change(rate=rate)

        def begin(setting, run):
            raise LookupError("nowhere to begin")

        then = {"after": {second: first}, "begin": begin}
        return [Case("first", "", (first,), ()), Case("then", "", (second,), (), **then)]

    study = Study("", "", "", {"quick": Preset(1.0)}, cases, name="raising/study")
    sweep = Sweep("raising", study, axes={"rate": [0.2, "word"]})
    planned, refused = sweep.plan()
    assert [each.point for each in refused] == [(("rate", "word"),)]
    words = "The cases of raising/study could not be made: TypeError: "
    assert refused[0].reason.startswith(words)
    settings = [setting for case in planned for setting in case.settings]
    _, rows = run_sweep(sweep, planned, settings, store=tt.Store(tmp_path), keep_going=True)
    assert [row["outcome"] for row in rows] == ["FINISHED", "FAILED"]
    assert rows[1]["reason"] == "LookupError: nowhere to begin"


def test_an_axis_on_which_nothing_can_be_made_is_refused(folder, tmp_path, capsys):
    path = sweep_file(folder, "steps", ["many", "more"])
    code, _, err = call(capsys, "sweep", path, "--out", tmp_path / "out")
    assert code == 2
    assert "`steps` must be a whole number" in err


def test_a_claim_along_an_axis_is_answered_from_its_numbers(folder, tmp_path, capsys):
    path = sweep_file(folder, "rate", [0.1, 0.2, 0.3, "fast"])
    claim = '[[claims]]\nkind = "exponent"\nmeasure = "excess_risk"\nalong = "rate"\nexponent = 1\n'
    path.write_text(path.read_text() + claim)
    code, text, _ = call(capsys, "sweep", path, "--out", tmp_path / "out", "--json")
    found = json.loads(text)
    assert code == 1
    (verdict,) = found["verdicts"]
    assert verdict["measured"] is not None
    assert [row["outcome"] for row in found["rows"]].count("FINISHED") == 6


@pytest.fixture
def workers(monkeypatch):
    """`--workers` with workers that are threads of this process."""
    distributed = pytest.importorskip("distributed")
    from tutelage.running.engines import cluster

    # These workers end with the test, and those of other tests in this process do not.
    monkeypatch.setattr(cluster, "CLOSING", threading.Event())

    @contextmanager
    def open_engine(workers, scheduler, slurm, imports, certificates, jobs):
        yield cluster.Cluster(client, 2, imports)

    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            scheduler_kwargs=engines.NO_PAGES,  # port 8787 may be another's
        ) as made,
        distributed.Client(made) as client,
    ):
        warnings.simplefilter("ignore")  # sockets that Python finds open while the cluster closes
        monkeypatch.setattr(engines, "open_engine", open_engine)
        yield


def test_workers_leave_rows_too(workers, folder, tmp_path, capsys, monkeypatch):
    key, values = AXES["a part that raises"]
    path = sweep_file(folder, key, values)
    command = ["sweep", path, "--workers", "2", "--json", "--out"]
    code, text, _ = call(capsys, *command, tmp_path / "out")
    assert code == 1
    check_rows(json.loads(text)["rows"], key, values)

    def import_all(names):
        raise ModuleNotFoundError("No module named 'moody' here")

    # What errs on a worker before a batch is begun there is a row of every setting in it.
    monkeypatch.setattr("tutelage.running.engines.cluster.import_all", import_all)
    code, text, _ = call(capsys, *command, tmp_path / "other")
    rows = json.loads(text)["rows"]
    assert (code, {row["outcome"] for row in rows}) == (1, {"FAILED"})
    assert "ModuleNotFoundError: No module named 'moody' here" in {row["reason"] for row in rows}


class Leaf:
    """What cannot be told apart from others, nor counted."""

    __hash__ = None


def test_a_problem_that_cannot_be_planned_is_a_failure_of_its_own(tmp_path, monkeypatch):
    good, bad = (
        tt.Setting(
            tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
            rate=0.1,
            steps=20,
            seed=seed,
        )
        for seed in (0, 1)
    )
    real = execute.checked

    def checked(setting, method):
        problem = real(setting, method)
        return replace(problem, measures=(Leaf(),)) if setting == bad else problem

    monkeypatch.setattr(execute, "checked", checked)
    runs = {run.setting: run for run in tt.execute([bad, good], keep_going=True)}
    assert runs[good].outcome is Outcome.FINISHED
    assert runs[bad].outcome is Outcome.FAILED
    assert "unhashable" in runs[bad].note


def test_a_whole_number_of_steps_is_found_again_however_it_is_written(tmp_path):
    setting = tt.Setting(
        tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=2e1
    )
    assert setting.steps == 20
    assert isinstance(setting.steps, int)
    store = tt.Store(tmp_path)
    list(tt.execute([setting], store=store))
    assert store.holds(setting.change(steps=20))
    assert Path(store.path(setting)).name == "20"
