"""Ordinary mistakes on the command line and in sweep files end with a sentence: no traceback, and
nothing is written.
"""

import os
import subprocess
import sys

import pytest

from tutelage.cli import main
from tutelage.running import work

HUGE = f"steps={'9' * 400}"
STUDY = 'study = "teacher-models/rates"\ncase = ["cnn-relu"]\nseeds = 1\n'
DEEP, LONG = 100_000, 5000  # brackets; digits, of which Python reads 4300


@pytest.fixture
def refuse(tmp_path, monkeypatch, capsys):
    """Calls the command line in an empty folder and gives what it says on standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(work, "train_batch", lambda *a, **k: pytest.fail("work was started"))

    def call(*arguments):
        before = sorted(os.listdir(tmp_path))
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = " ".join(capsys.readouterr().err.split())
        assert ended.value.code == 2, said
        assert sorted(os.listdir(tmp_path)) == before
        assert len(said) < 1000  # also where thousands of digits were received
        return said

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "steps=10k"], "Got steps='10k'"),
        (["--set", "student=3"], "registered name. Got 3"),
        (["--set", f"steps={'9' * 400}"], "1,329 bits"),
        (["--set", f"rate={'9' * 400}"], "1,329 bits"),
        (["--set", f"D={'9' * 400}"], "1,329 bits"),
        (["--set", f"D={'9' * LONG}"], "5,002 characters"),
        (["--set", f"D={'[' * DEEP}"], "nested too deeply"),
        (["--axis", f"D={'[' * DEEP}"], "nested too deeply"),
        (["--axis", f"D=1..{'[' * DEEP}/3"], "A log range is"),
        (["--axis", "D=1..10/2.5"], "whole number of at least 2"),
        (["--axis", "D=1..10/1e9"], "at most 1,000,000 values"),
        (["--axis", "D=1..Infinity/3"], "from 1 to inf"),
        (["--axis", f"D=1..{'9' * 400}/3"], "1,329 bits"),
        (["--shard", "²/3"], "Got '²/3'"),
        (["--shard", f"1/{'9' * LONG}"], "I from 1 to N"),
        (["--shard", "3/2"], "I from 1 to N"),
        (["--import", ""], "takes a Python file or a module"),
    ],
)
def test_arguments(refuse, arguments, words):
    study = ("teacher-models/rates", "--case", "cnn-relu", "--seeds", 1)
    assert words in refuse("sweep", *study, "--dry-run", *arguments)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STUDY + 'claims = ["a"]', "list of tables"),
        (STUDY + 'import = [""]', "takes a Python file or a module"),
        (STUDY + f"steps = {'9' * 400}", "1,329 bits"),
        (STUDY + f"steps = {'9' * LONG}", "at most 4,300 digits"),
        (STUDY + f"zip = {'[' * LONG}{']' * LONG}", "nested too deeply"),
        (STUDY + f"[axes]\nD = {'9' * 400}", "1,329 bits"),
        (STUDY + "[axes]\nD = { from = 1, to = inf, count = 3 }", "from 1 to inf"),
        (STUDY + "[axes]\nD = { from = 1, to = 10, count = 1_000_000_000 }", "at most 1,000,000"),
    ],
)
def test_sweep_files(refuse, tmp_path, text, words):
    (tmp_path / "small.toml").write_text(text)
    assert words in refuse("sweep", "small.toml", "--dry-run")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("def (:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
    ],
)
def test_an_imported_file_with_an_error(refuse, tmp_path, code, words):
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "__pycache__").mkdir()  # which Python may write, and only Python
    said = refuse("sweep", "teacher-models/rates", "--dry-run", "--import", "mine.py")
    assert words in said
    assert "mine.py" in said


def test_a_count_may_be_written_with_an_exponent(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ("--case", "cnn-relu", "--seeds", "1", "--dry-run")
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "teacher-models/rates", "--axis", "rate=0.01..0.1/3e0", *options])
    assert ended.value.code == 0
    assert "3 settings" in capsys.readouterr().err


def test_output_that_nobody_reads_on_is_no_error():
    """As in `tutelage list | head`."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tutelage", "list"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("change", ["steps=[]", "rate=[1,2]", "seed=[1]", "steps=10k", HUGE])
def test_a_study_with_a_number_that_is_none(refuse, change):
    name = change.partition("=")[0]
    assert f"`{name}` must be" in refuse(
        "run", "teacher-models/rates", "--set", change, "--dry-run"
    )


def test_a_name_that_no_file_system_takes(refuse):
    """Python raises where it asks whether there is such a file."""
    long = "a" * 300
    assert "must be a file or a folder that exists" in refuse("check", f"{long}.csv")
    assert "there is no such file" in refuse("learn", f"{long}.py:net")
    assert "must be a folder" in refuse("run", "teacher-models/rates", "--data", long)


def test_ctrl_c_while_modules_are_imported_is_no_traceback(monkeypatch, capsys):
    class Interrupting:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "tutelage.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "tutelage.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting, *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main(["list"])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "tutelage: stopped before anything was begun.\n"


@pytest.mark.parametrize(
    ("error", "why"), [(MemoryError("std::bad_alloc"), "(std::bad_alloc)"), (MemoryError(), "")]
)
def test_too_little_memory_is_a_sentence(error, why, monkeypatch, capsys):
    def run_out(given):
        raise error

    monkeypatch.setattr("tutelage.cli.app.call", run_out)
    with pytest.raises(SystemExit) as ended:
        main(["list"])
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert said.startswith("tutelage: there was not enough memory for what was asked")
    assert why in said
    assert "`--jobs`" in said
