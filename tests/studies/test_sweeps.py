"""Sweeps: what a file says is what is run, each setting once; what fails is a row; shards share the
work and are whole together.
"""

import csv
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tutelage as tt
from tutelage.claims.verdict import FORMAT
from tutelage.cli import main
from tutelage.run import Outcome
from tutelage.running import work
from tutelage.studies.outputs import read_verdicts
from tutelage.studies.sweep_files import read_sweep
from tutelage.studies.sweeps import Sweep, log_range

TINY = """
seeds = 2
[setting]
rate = 0.1
steps = 60
measures = ["excess_risk"]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="small.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


def rows_of(out, name="small", table="table.csv"):
    with open(Path(out) / name / table, newline="") as text:
        return list(csv.DictReader(text))


def test_axes_are_combined_and_zips_go_together(file):
    given = read_sweep(
        file(
            TINY
            + """
[axes]
rate = { from = 1e-3, to = 1e-1, count = 3 }
activation = ["relu", "identity"]
[[zip]]
tokens = [4, 8]
support = [2, 4]
"""
        )
    )
    settings = given.settings()
    assert len(settings) == 3 * 2 * 2 * 2  # rates × activations × (tokens with support) × seeds
    assert {(s.teacher.options["tokens"], s.teacher.options["support"]) for s in settings} == {
        (4, 2),
        (8, 4),
    }
    assert sorted({s.rate for s in settings}) == [0.001, 0.01, 0.1]
    assert len({s.identity() for s in settings}) == len(settings)


def test_log_ranges_have_round_ends():
    assert log_range("D", 4, 64, 5) == [4, 8, 16, 32, 64]
    assert log_range("rate", 1e-3, 1e-1, 3) == [0.001, 0.01, 0.1]


def test_a_sweep_of_a_study_has_the_studys_claims_at_every_point():
    from tutelage.studies.discovery import find_study

    rates = find_study("teacher-models/rates")
    cases = Sweep(
        "dimension", rates, axes={"D": [12, 24]}, only=("cnn-relu",), seeds=(0, 1)
    ).cases()
    assert [case.name for case in cases] == ["cnn-relu D=12", "cnn-relu D=24"]
    assert [case.settings[0].teacher.options["tokens"] for case in cases] == [12, 24]
    assert all(len(case.claims) == 8 and len(case.settings) == 2 for case in cases)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sede = 2", "seeds"),
        ("seeds = 2", "neither"),
        ('study = "teacher-models/rates"\n[setting]\nrate = 1', "both"),
        ('study = "teacher-models"', "whole paper"),
        ('study = "teacher-models/rats"', "teacher-models/rates"),
        (TINY + "[axes]\nrate = []", "at least one value"),
        (TINY + "[axes]\nrate = 3", "is a list"),
        (TINY + "[axes]\ntokns = [4]", "tokens"),
        (TINY + "[axes]\nrate = { from = 1.0, to = 0.1, count = 3 }", "larger"),
        (TINY + "[axes]\nrate = [1.0]\n[[zip]]\nrate = [2.0]", "twice"),
        (TINY + "[[zip]]\nrate = [1.0]\ntokens = [4, 8]", "equally long"),
        (TINY + '[[claims]]\nkind = "rat"', "rate"),
        (TINY + '[[claims]]\nkind = "rate"\nmeasure = "excess_risk"', "exponent"),
        (
            TINY + '[[claims]]\nkind = "exponent"\nmeasure = "excess_risk"\nexponent = 1\nalong = '
            '"rate"',
            "axis",
        ),
        (
            TINY + '[axes]\nrate = [1, 2]\n[[claims]]\nkind = "exponent"\nmeasure = '
            '"excess_risk"\nexponent = 1\nalong = "rate"',
            "three",
        ),
        (
            TINY + '[[claims]]\nkind = "rate"\nmeasure = "excess_risk"\nexponent = 1\nwithin = 1',
            "entry",
        ),
        ("x = ", "must be TOML"),
        ('import = ["absent.py"]\n' + TINY, "no such file"),
        ("[setting]\nrate = 0.1", "teacher"),
        ("[setting]\nrate = 0.1\nsteps = 5\nteacher = { tokens = 4 }", "name"),
        ("[setting]\nrate = 0.1\nsteps = 5\nteachr = 4", "teacher"),
        ('preset = "quick"\n' + TINY, "belongs to a `study`"),
        ("axes = 3\n" + TINY, "is a table"),
        ("case = 3\n" + TINY, "name of a case"),
        ('import = "mine.py"\n' + TINY, "list of modules"),
        (TINY + "[zip]\nrate = [1.0]", "list of tables"),
        (TINY + "[axes]\nrate = [[1.0]]", "numbers or words"),
        (TINY + "[axes]\nrate = { from = 'a', to = 2, count = 3 }", "log range"),
        (TINY + "[axes]\nseed = [7, 8]", "given once"),
        ("steps = 9\n" + TINY + "[axes]\nsteps = [7, 8]", "given once"),
        (TINY + '[[claims]]\nkind = "rate"\nmeasure = "excess"\nexponent = 1', "excess_risk"),
        (
            TINY + '[[claims]]\nkind = "rate"\nmeasure = "excess_risk"\nexponent = "x"',
            "must be a number",
        ),
        (
            TINY
            + '[[claims]]\nkind = "rate"\nmeasure = "excess_risk"\nexponent = 1\ntolerance = -1',
            "positive",
        ),
        ("[setting]\nrate = [0.1]\nsteps = 5\nteacher = { name = 'convolution' }", "is a number"),
        ("[setting]\nrate = 0.1\nsteps = 5\nteacher = 3", "has a name"),
        (
            "[setting]\nrate = 0.1\nsteps = 5\nmeasures = 3\nteacher = { name = 'convolution' }",
            "list of names",
        ),
    ],
)
def test_a_bad_file_is_refused_with_a_reason(file, text, said, monkeypatch):
    monkeypatch.setattr(work, "train_batch", lambda *a, **k: pytest.fail("work was started"))
    with pytest.raises(tt.Refused, match=said):
        read_sweep(file(text)).cases()


@pytest.mark.parametrize(
    ("head", "changes", "said"),
    [
        ("seeds = 2\n", {"seed": 5}, "Got a change of 'seed' and `seeds`"),
        ("seeds = 2\n", {"seed": -1}, "Got a change of 'seed' and `seeds`"),
        ("steps = 9\n", {"steps": 7}, "Got a change of 'steps' and `steps`"),
    ],
)
def test_what_is_given_for_all_is_not_changed_in_silence(file, head, changes, said):
    sweep = read_sweep(file(head + TINY.replace("seeds = 2\n", "")))
    with pytest.raises(tt.Refused, match=said):
        replace(sweep, changes=changes).cases()
    assert replace(sweep, changes={"rate": 0.5}).cases()


def test_a_sweep_runs_once_and_failures_are_rows_with_their_reason(file, tmp_path, capsys):
    path, out = file(TINY + "[axes]\nsupport = [1, 3]\nrate = [0.1, 80.0]"), tmp_path / "out"
    assert run("sweep", path, "--out", out) == 1  # 3 does not divide 4
    rows = rows_of(out)
    assert len(rows) == 8
    failed = [row for row in rows if row["outcome"] == "FAILED"]
    assert {row["support"] for row in failed} == {"3"}
    assert all("multiple of `support`" in row["reason"] for row in failed)
    assert {row["outcome"] for row in rows if row["rate"] == "80.0" and row["support"] == "1"} == {
        "DIVERGED"
    }
    assert "4 settings could not be run" in capsys.readouterr().err
    assert run("sweep", path, "--out", out, "--dry-run") == 0
    said = capsys.readouterr().out
    assert said.count("stored") == 4
    assert said.count("refused: ") == 4


def test_a_list_in_an_axis_of_numbers_is_a_row_with_its_reason(file, capsys):
    assert run("sweep", file(TINY), "--axis", "rate=[[]],0.1", "--dry-run") == 0
    printed = capsys.readouterr()
    assert "No setting can be made at 1 point of the axes" in printed.err
    said = " ".join(printed.out.split())
    assert said.count("Got rate=[[]].") == 1
    assert "to run" in said


def test_the_same_command_again_trains_nothing_and_gives_the_same_rows(file, tmp_path, monkeypatch):
    path, out = file(TINY + "[axes]\nrate = [0.1, 0.2]"), tmp_path / "out"
    assert run("sweep", path, "--out", out) == 0
    rows = rows_of(out)
    monkeypatch.setattr(
        work, "train_batch", lambda *a, **k: pytest.fail("a stored run was trained again")
    )
    assert run("sweep", path, "--out", out) == 0
    assert rows_of(out) == rows


def test_extend_goes_on_and_never_shortens(file, tmp_path):
    path, out = file(TINY + "[axes]\nrate = [0.1]"), tmp_path / "out"
    run("sweep", path, "--out", out)
    assert run("sweep", path, "--out", out, "--extend", "200") == 0
    assert {row["steps"] for row in rows_of(out)} == {"200"}
    assert run("sweep", path, "--out", out, "--extend", "5") == 0
    assert {row["steps"] for row in rows_of(out)} == {"60"}
    store = tt.Store(out / "runs")
    assert [
        piece["to"] for piece in store.find(read_sweep(path).settings()[0].change(steps=200)).made
    ] == [60, 200]


def test_what_a_sweep_lacks_is_named(file, tmp_path, capsys):
    path, out = file(TINY + "[axes]\nsupport = [1, 3]\nrate = [0.1, 0.2]"), tmp_path / "out"
    assert run("runs", "lacking", path, "--store", out) == 1
    assert "8 of 8 settings are missing" in capsys.readouterr().out
    run("sweep", path, "--out", out, "--shard", "1/2")
    capsys.readouterr()
    assert run("runs", "lacking", path, "--store", out, "--json") == 1
    rows = json.loads(capsys.readouterr().out)
    assert (
        sorted(row["outcome"].partition(":")[0] for row in rows)
        == ["failed"] * 2 + ["not begun"] * 4
    )
    assert run("runs", "lacking", path, "--store", out, "--json", "--steps", "100") == 1
    assert (
        sum(row["outcome"] == "reached step 60" for row in json.loads(capsys.readouterr().out)) == 2
    )


def test_shards_are_disjoint_and_whole_together(file, tmp_path, capsys):
    path, out = (
        file(
            TINY + "[axes]\nrate = [0.1, 0.2, 0.3]\n[[claims]]\nkind = 'rate'\nmeasure = "
            "'excess_risk'\nexponent = -1"
        ),
        tmp_path / "o",
    )
    seen = []
    for part in (1, 2, 3):
        assert run("sweep", path, "--out", out, "--shard", f"{part}/3") == 0
        seen += [row["run"] for row in rows_of(out, table=f"table-{part}-of-3.csv")]
    assert "without --shard" in capsys.readouterr().out
    assert sorted(seen) == sorted(s.identity() for s in read_sweep(path).settings())
    assert run("sweep", path, "--out", out) == 0
    assert len(json.loads((out / "small" / "verdicts.json").read_text())["verdicts"]) == 3
    for bad in ("0/3", "4/3", "1", "a/b"):
        assert run("sweep", path, "--out", out, "--shard", bad) == 2


def test_a_claim_along_an_axis_is_answered(file, tmp_path):
    """K(D−K)/4 a column at D = 2K: D columns of D²/16 each, so that excess·ηT grows like D³ once
    the plateau is over.
    """
    text = """
seeds = 1
[setting]
rate = 0.3
steps = 4000
teacher.name = "convolution"
teacher.tokens = 4
teacher.support = 2
teacher.outputs = 2
teacher.dim = 2
teacher.norm = 4.0
teacher.activation = "identity"
measures = ["excess_risk"]
[[zip]]
tokens = [4, 8, 16]
support = [2, 4, 8]
[[claims]]
kind = "exponent"
measure = "excess_risk"
along = "tokens"
exponent = 3.0
tolerance = 0.5
certain = true
[[claims]]
kind = "number"
measure = "excess_risk"
value = 1e9
side = "at most"
"""
    path, out = file(text), tmp_path / "out"
    assert run("sweep", path, "--out", out) == 0
    verdicts = {
        verdict["id"]: verdict
        for verdict in json.loads((out / "small" / "verdicts.json").read_text())["verdicts"]
    }
    assert len(verdicts) == 4  # one a point, and one along tokens, with which support is zipped
    (along,) = [verdict for name, verdict in verdicts.items() if "along tokens" in name]
    assert along["status"] == "HOLDS"
    assert along["measured"] == pytest.approx(3.0, abs=0.5)


def test_axes_on_the_command_line(tmp_path):
    out = tmp_path / "out"
    common = (
        "--case",
        "cnn-relu",
        "--seeds",
        "1",
        "--set",
        "M=1",
        "--set",
        "d=2",
        "--set",
        "K=1",
        "--steps",
        "30",
        "--out",
        out,
    )
    assert run("sweep", "teacher-models/rates", "--axis", "D=2,4", *common) == 0
    rows = rows_of(out, "teacher-models-rates")
    assert [row["D"] for row in rows] == ["2", "4"]
    assert run("sweep", "teacher-models/rates", "--axis", "D", *common) == 2
    assert run("sweep", "teacher-models/rates", "--axis", "eta=1..2", *common) == 2
    assert run("sweep", "nothing", *common) == 2


def test_parts_of_ones_own_are_imported(file, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "import tutelage as tt\n"
        "@tt.register('teacher', 'mine-of-a-sweep')\n"
        "def mine(seed, *, scale: float):\n"
        "    return tt.BilinearTeacher(scale * np.eye(2), np.eye(2), 'identity')\n"
    )
    path = file(
        'import = ["mine.py"]\n[axes]\nscale = [1.0, 2.0]\n'
        '[setting]\nrate = 0.1\nsteps = 20\nteacher = { name = "mine-of-a-sweep", scale = 1.0 }\n'
    )
    assert run("sweep", path, "--out", tmp_path / "out") == 0
    assert {row["outcome"] for row in rows_of(tmp_path / "out")} == {"FINISHED"}


def test_an_edited_file_is_imported_anew(tmp_path):
    from tutelage.plugins import import_all
    from tutelage.problem.registry import registered_names

    path = tmp_path / "edited.py"
    for name in ("before-the-edit", "after-the-edit"):
        path.write_text(
            f"import tutelage as tt\n@tt.register('teacher', '{name}')\ndef mine(seed): ...\n"
        )
        import_all([str(path)])
        assert name in registered_names("teacher")
    path.write_text("raise RuntimeError('at once')")
    for _ in range(2):
        with pytest.raises(tt.Refused, match="RuntimeError: at once"):
            import_all([str(path)])


def test_cases_that_go_on_from_others_are_left_to_the_whole_sweep(monkeypatch, tmp_path, capsys):
    command = importlib.import_module(
        "tutelage.cli.sweep"
    )  # the name in the package is the function
    from tutelage.studies.study import Case, Preset, Study

    first = tt.Setting(
        tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=20
    )
    second = first.change(rate=0.2)

    def cases(plan, preset):
        again = {
            "after": {second: first},
            "begin": lambda setting, run: setting.change(seed=int(run.steps[-1])),
        }
        return [Case("first", "", (first,), ()), Case("second", "", (second,), (), **again)]

    two = Study("", "", "", {"quick": Preset(1.0)}, cases, name="two/two")
    monkeypatch.setattr(command, "choose_sweep", lambda *given: Sweep("two", two))
    assert run("sweep", "two", "--out", tmp_path, "--shard", "1/1") == 0
    assert "1 settings go on from where others end" in capsys.readouterr().err
    assert len(rows_of(tmp_path, "two", "table-1-of-1.csv")) == 1
    assert run("sweep", "two", "--out", tmp_path) == 0
    assert len(rows_of(tmp_path, "two")) == 2
    assert {entry.about["setting"]["seed"] for entry in tt.Store(tmp_path / "runs").entries()} == {
        0,
        20,
    }


def test_a_run_keeps_every_verdict_that_it_served(file, tmp_path):
    claims = "[[claims]]\nkind = 'number'\nmeasure = 'excess_risk'\nvalue = 1\n"
    along = "[[claims]]\nkind = 'exponent'\nmeasure = 'excess_risk'\nalong = 'rate'\nexponent = 1\n"
    path = file(TINY + "[axes]\nrate = [0.1, 0.2, 0.3]\n" + claims + along)
    assert run("sweep", path, "--out", tmp_path) == 0
    for beside in (tmp_path / "runs").glob("*/60/verdicts.json"):
        assert json.loads(beside.read_text())["format"] == FORMAT
        assert [verdict["id"].rpartition("/")[2] for verdict in read_verdicts(beside)] == [
            "number-excess_risk",
            "exponent-excess_risk",
        ]
    assert len(list((tmp_path / "runs").glob("*/60/verdicts.json"))) == 6


def test_one_setting_that_errs_does_not_take_its_batch_along(monkeypatch, tmp_path):
    good = [
        tt.Setting(
            tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
            rate=0.1,
            steps=20,
            seed=seed,
        )
        for seed in range(4)
    ]
    real = work.train_batch

    def sometimes(students, *given, **more):
        if any(float(np.asarray(rate)) == 0.3 for rate in more["rates"]):
            raise FloatingPointError("a cosmic ray")
        return real(students, *given, **more)

    monkeypatch.setattr(work, "train_batch", sometimes)
    settings, store = [*good, good[0].change(rate=0.3)], tt.Store(tmp_path)
    runs = {r.setting: r for r in tt.execute(settings, store=store, keep_going=True, threads=1)}
    assert [runs[setting].outcome for setting in settings] == [Outcome.FINISHED] * 4 + [
        Outcome.FAILED
    ]
    assert runs[settings[-1]].note == "FloatingPointError: a cosmic ray"
    (left,) = [entry for entry in store.entries() if entry.outcome == "FAILED"]
    assert "cosmic ray" in left.about["trace"]
    monkeypatch.setattr(work, "train_batch", real)
    (mended,) = tt.execute([settings[-1]], store=store)
    assert mended.outcome is Outcome.FINISHED
    assert not [entry for entry in store.entries() if entry.outcome == "FAILED"]
    monkeypatch.setattr(work, "train_batch", sometimes)
    with pytest.raises(FloatingPointError):
        list(tt.execute([good[0].change(rate=0.3, seed=9)]))


LONG = """
[setting]
rate = 0.1
steps = 1000000000
measures = ["excess_risk"]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }
[axes]
rate = [0.1, 0.2]
"""


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGUSR1, 75, "stopped by SIGUSR1"),
        pytest.param(signal.SIGINT, 130, "stopped.", marks=pytest.mark.depth),
    ],
)
def test_a_signal_saves_what_is_under_way(file, tmp_path, number, code, said):
    path, out = file(LONG), tmp_path / "out"
    child = subprocess.Popen(
        [sys.executable, "-m", "tutelage", "sweep", str(path), "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
    )
    leases = out / "runs" / ".leases"
    deadline = time.monotonic() + 120
    while (
        len(list(leases.glob("[!.]*"))) < 2 if leases.exists() else True
    ) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.5)
    os.kill(child.pid, number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == code, err
    assert said in err
    assert "goes on from there" in err
    store = tt.Store(out / "runs")
    entries = list(store.entries())
    assert [entry.outcome for entry in entries] == ["STOPPED", "STOPPED"]
    assert all(entry.about["taken"] > 0 for entry in entries)
    assert list(leases.iterdir()) == []


CALCULATION = """
import tutelage as tt
from tutelage.calculations import Calculated, Calculation


class Bound(Calculation):
    def __init__(self, width):
        self.width = width

    def __call__(self, given):
        return Calculated.numbers(bound=3.0 / self.width)


@tt.register("calculation", "bound-of-a-sweep")
def make_bound(*, width: int):
    return Bound(width)
"""
CALCULATED = """
import = ["bound.py"]
[setting]
calculation = { name = "bound-of-a-sweep", width = 4 }
[axes]
width = [2, 4, 8]
[[claims]]
kind = "exponent"
measure = "bound"
along = "width"
exponent = -1.0
[[claims]]
kind = "number"
measure = "bound"
value = 1.5
side = "at most"
certain = true
"""


@pytest.mark.usefixtures("own_registrations")
def test_a_calculation_is_swept_without_rate_and_steps(file, tmp_path, capsys):
    (tmp_path / "bound.py").write_text(CALCULATION)
    path, out = file(CALCULATED), tmp_path / "out"
    settings = read_sweep(path).settings()
    assert [setting.calculation.options["width"] for setting in settings] == [2, 4, 8]
    assert {(setting.rate, setting.steps, setting.measures) for setting in settings} == {(0, 0, ())}
    assert run("sweep", path, "--out", out) == 0
    rows = rows_of(out)
    assert [float(row["bound"]) for row in rows] == [1.5, 0.75, 0.375]
    assert {row["calculation"] for row in rows} == {"bound-of-a-sweep"}
    verdicts = json.loads((out / "small" / "verdicts.json").read_text())["verdicts"]
    assert [verdict["status"] for verdict in verdicts] == ["HOLDS"] * 4
    assert run("runs", "lacking", path, "--store", out) == 0
    assert run("sweep", path, "--out", out, "--dry-run") == 0
    assert capsys.readouterr().out.count("stored") >= 3


@pytest.mark.usefixtures("own_registrations")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CALCULATED.replace("[axes]", "rate = 0.1\n[axes]"), "no `rate`"),
        (CALCULATED.replace("width = [2, 4, 8]", "width = [2, 4, 8]\nsteps = [3, 4]"), "no steps"),
        ("steps = 5\n" + CALCULATED, "takes no steps"),
        (CALCULATED.replace("certain = true", "certain = 1"), "true or false"),
    ],
)
def test_what_a_calculation_does_not_have_is_refused(file, tmp_path, text, said):
    (tmp_path / "bound.py").write_text(CALCULATION)
    with pytest.raises(tt.Refused, match=said):
        read_sweep(file(text)).cases()


def test_a_paper_of_a_file_is_swept_and_its_verdicts_have_names_of_their_own(file, tmp_path):
    from tiny_paper import write_paper

    write_paper(tmp_path / "swept.py", "swept")
    path = file('import = ["swept.py"]\nstudy = "swept/pooling"\nseeds = 1\n[axes]\nD = [4, 6]\n')
    assert run("sweep", path, "--out", tmp_path / "out") == 0
    document = json.loads((tmp_path / "out" / "small" / "verdicts.json").read_text())
    assert document["format"] == FORMAT
    assert [verdict["id"] for verdict in document["verdicts"]] == [
        "small/pooling D=4/rate",
        "small/all-tokens D=4/rate",
        "small/pooling D=6/rate",
        "small/all-tokens D=6/rate",
    ]
