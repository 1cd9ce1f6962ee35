"""The command line as a person uses it: what it prints, writes, refuses and exits with."""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from cyclopts import App
from rich.cells import cell_len

from tutelage.claims.verdict import FORMAT
from tutelage.cli import main
from tutelage.cli.commands import COMMANDS
from tutelage.figures import look

SMALL = ["run", "teacher-models/rates", "--case", "gcn-relu", "--seeds", "2", "--steps", "4000"]


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def test_help_and_list_do_not_import_jax():
    for arguments in (["--help"], ["list"]):
        code = (
            "import sys\nfrom tutelage.cli import main\ntry:\n    main(sys.argv[1:])\nexcept "
            "SystemExit as e:\n    assert not e.code\n"
            "assert 'jax' not in sys.modules and 'matplotlib' not in sys.modules, 'heavy import'"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert "tutelage" in done.stdout or "teacher-models/rates" in done.stdout


def test_help_imports_nothing_that_takes_long_and_lists_every_command(capsys, monkeypatch):
    code = (
        "import sys\nfrom tutelage.cli import main\ntry:\n    main(['--help'])\nfinally:\n    "
        + ("print(sorted({'cyclopts', 'rich', 'numpy', 'attrs', 'asyncio'} & {*sys.modules}))")
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("[]\n"), done.stderr
    monkeypatch.setenv("COLUMNS", "90")
    for arguments in (["--help"], ["-h"]):
        code, out, err = call(capsys, *arguments)
        assert (code, err) == (0, "")
        shown = " ".join(out.split())
        for name, (_, sentence) in COMMANDS.items():
            assert f"{name} {sentence}" in shown
        assert max(map(len, out.splitlines())) <= 90


@pytest.mark.parametrize("name", COMMANDS)
def test_the_sentence_of_a_command_is_the_first_of_its_docstring(name):
    place, sentence = COMMANDS[name]
    module, _, attribute = place.partition(":")
    command = vars(importlib.import_module(f"tutelage.cli.{module}"))[attribute]
    said = command.help if isinstance(command, App) else inspect.getdoc(command)
    assert " ".join(said.split("\n\n")[0].split()) == sentence


def test_a_commands_own_help_has_all_of_its_docstring(capsys):
    code, out, _ = call(capsys, "run", "--help")
    assert code == 0
    assert "the same command resumes where it stopped" in " ".join(out.split())
    assert "--jobs" in out


def test_help_breaks_lines_where_the_terminal_ends_and_not_where_the_source_does(
    capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "500")  # every description fits on one line
    for command in COMMANDS:
        _, out, _ = call(capsys, command, "--help")
        assert re.findall(r"^│ {9,}\S.*$", out, re.M) == [], command
        assert not re.search(r"[a-z,;]\n[a-z]", out), command


def test_list_has_one_study_a_line(capsys):
    code, out, _ = call(capsys, "list")
    assert code == 0
    assert any(line.startswith("teacher-models/rates  ") for line in out.splitlines())


def test_what_show_says_hangs_below_its_beginning(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = call(capsys, "show", "teacher-models/scaling")
    lines = out.split("Claims")[1].splitlines()
    assert max(map(cell_len, lines)) <= 80  # X̃ is two code points in one cell
    assert any(line.startswith("    ") and line.strip() for line in lines)
    assert [
        line for line in lines if re.match(r"\S|  ?[^ ·]", line) and "tutelage" not in line
    ] == [line for line in lines if re.match(r"  (?:Hypotheses|Left open)", line)]


def test_show_tells_everything_without_running(capsys):
    code, out, _ = call(capsys, "show", "teacher-models/rates")
    assert code == 0
    flat = " ".join(out.split())
    for words in (
        "Θ(1/T)",
        "sharp_constants.py",
        "Hypotheses",
        "Left open by the paper",
        "negative control",
        "on two cores",
        "cnn-relu",
        "met up to an unstated constant",
    ):
        assert words in flat


def test_cite_prints_bibtex(capsys):
    code, out, _ = call(capsys, "cite", "teacher-models/rates")
    assert code == 0
    assert out.startswith("@inproceedings{")
    assert "2603.22801" in out
    assert "Zhang, Chenyang and Zhao, Qingyue and Gu, Quanquan and Cao, Yuan" in out


def test_cite_without_a_name_cites_tutelage(capsys):
    code, out, _ = call(capsys, "cite")
    assert code == 0
    assert out.startswith("@software{tutelage,")
    assert "version = {0.1.0}" in out


def test_doctor_reports_precision_and_versions(capsys):
    code, out, _ = call(capsys, "doctor")
    assert code == 0
    assert "float64" in out
    assert "jax " in out
    values = [line.index(line.split("  ")[-1].strip()) for line in out.splitlines()]
    assert len(set(values)) == 1  # in one column, also of `distributed (optional)`


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One small run, made once."""
    folder = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look, "FORMATS", ("png", "svg"))
        with pytest.raises(SystemExit) as ended:
            main([*SMALL, "--out", str(folder)])
    assert ended.value.code == 0
    return folder


def test_run_writes_verdicts_figures_their_data_and_runs(finished):
    study = finished / "teacher-models" / "rates"
    document = json.loads((study / "verdicts.json").read_text())
    assert document["format"] == FORMAT
    verdicts = document["verdicts"]
    needed = {
        "id",
        "statement",
        "source",
        "predicted",
        "measured",
        "interval",
        "tolerance",
        "status",
        "hypotheses",
        "seeds",
        "preset",
    }
    assert all(needed <= set(verdict) for verdict in verdicts)
    assert {v["status"] for v in verdicts} <= {"HOLDS", "FAILS", "UNDECIDED"}
    assert all(v["seeds"] == [0, 1] for v in verdicts)
    figures = study / "figures"
    for name in ("excess-and-alignment", "constants", "six-runs-one-axis", "attention"):
        for ending in ("png", "svg", "csv"):
            assert (figures / f"{name}.{ending}").stat().st_size > 500
    runs = list((finished / "runs").glob("*/*"))
    assert len([run for run in runs if run.name.isdigit()]) == 2
    for run in runs:
        if run.name.isdigit():
            assert {p.name for p in run.iterdir()} == {
                "curves.parquet",
                "end.safetensors",
                "run.json",
                "verdicts.json",
            }


@pytest.fixture
def undrawn(monkeypatch):
    """No figures: they are drawn and looked at in `finished`, and take longer than all else."""
    from tutelage.papers.teacher_models.rates import study

    monkeypatch.setattr(study, "study", replace(study.study, figures=lambda answered, folder: []))


@pytest.mark.usefixtures("undrawn")
def test_json_goes_to_standard_output_alone_and_stored_runs_are_used(finished, capsys, monkeypatch):
    from tutelage.running import work

    monkeypatch.setattr(
        work, "train_batch", lambda *a, **k: pytest.fail("a stored run was run again")
    )
    code, out, err = call(capsys, *SMALL, "--out", str(finished), "--json")
    assert code == 0
    assert len(json.loads(out)["verdicts"]) == 8
    assert "teacher-models/rates" in err


@pytest.mark.depth
def test_the_table_is_plain_when_not_a_terminal(finished, capsys):
    code, out, _ = call(capsys, *SMALL, "--out", str(finished))
    assert code == 0
    assert "\x1b[" not in out
    assert "excess risk = Θ(1/T)" in out
    assert "8 claims:" in out
    assert "figures" in out


@pytest.mark.usefixtures("undrawn")
def test_strict_exits_with_1_when_a_claim_fails(tmp_path, capsys):
    unstable = [*SMALL, "--set", "rate=0.9", "--out", str(tmp_path)]  # stable below 0.6
    code, out, _ = call(capsys, *unstable)
    assert code == 0
    assert "FAILS" in out
    assert call(capsys, *unstable, "--strict")[0] == 1


def test_dry_run_runs_nothing(tmp_path, capsys):
    code, out, err = call(
        capsys, "run", "teacher-models", "--dry-run", "--out", str(tmp_path / "none")
    )
    assert code == 0
    assert "cnn-relu" in out
    assert "steps in all" in err
    assert not (tmp_path / "none").exists()


def test_settings_can_be_changed_and_cases_without_the_option_say_so(tmp_path, capsys):
    changes = ["--set", "D=24", "--set", "K=6", "--set", "activation=leaky_relu(0.2)", "--dry-run"]
    code, out, err = call(capsys, "run", "teacher-models/rates", *changes)
    assert code == 0
    assert "cnn-relu" in out
    assert "gcn-relu" not in out
    assert "Left out" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "teacher-models/raets"], "Did you mean 'teacher-models/rates'"),
        (["run"], "needs the name"),
        (["run", "teacher-models", "--quick", "--full"], "exclude each other"),
        (["run", "teacher-models", "--seeds", "0"], "Got seeds=0"),
        (["run", "teacher-models", "--steps", "ten"], "Got 'ten'"),
        (["run", "teacher-models", "--steps", "2.5"], "Got steps=2.5"),
        (["run", "teacher-models", "--set", "K"], "KEY=VALUE"),
        (["run", "teacher-models", "--set", "K=40"], "Got support=40, tokens=36"),
        (["run", "teacher-models", "--set", "rate=-0.1"], "Got rate=-0.1"),
        (["run", "teacher-models", "--set", "activation=reul"], "Did you mean 'relu'"),
        (["run", "teacher-models", "--set", "activaton=relu"], "Did you mean 'activation'"),
        (["run", "teacher-models", "--case", "cnn-rleu"], "Did you mean 'cnn-relu'"),
        (["show", "teacher-modles"], "Did you mean 'teacher-models'"),
        (["cite", "nobody"], "There is no study named 'nobody'"),
        (["rnu"], "run"),
    ],
)
def test_bad_use_exits_with_2_and_says_why(capsys, tmp_path, arguments, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert words in " ".join(err.replace("│", " ").split())
    assert os.listdir(tmp_path) == []  # refused before anything was written


@pytest.mark.depth
def test_calibrate_prints_a_table(capsys):
    code, out, _ = call(capsys, "calibrate", "--repetitions", "1", "--development", "--families")
    assert code == 0
    assert "log t / t" in out
    assert "recovery" in out
    assert "undecided where the class decides" in out


def test_calibrate_judges_one_kind_when_asked(capsys):
    code, out, _ = call(capsys, "calibrate", "--repetitions", "1", "--kind", "ratio")
    assert code == 0
    assert "The first held-out set. Evaluated once under rule 2" in out
    assert "The second held-out set. Written by others" in out
    assert out.count("ratio") == 2
    assert "order" not in out
    code, _, err = call(capsys, "calibrate", "--kind", "shape")
    assert code == 2
    assert "kind of claim" in err
