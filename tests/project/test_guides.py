"""docs/judge-a-curve.md and docs/your-theorem-in-ci.md, followed from an empty folder."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tutelage.cli import main
from tutelage.evidence.laws import FORMS

ROOT = Path(__file__).parents[2]
CURVE, CI = (
    (ROOT / "docs" / name).read_text() for name in ("judge-a-curve.md", "your-theorem-in-ci.md")
)
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)


def call(line, capsys):
    """A command of a page, and what it printed."""
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line)[1:])
    said = capsys.readouterr()
    assert ended.value.code == 0, (line, said.err)
    return said.out


def test_a_curve_of_ones_own_is_judged_in_the_order_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = {}
    for language, code in BLOCK.findall(CURVE):
        if language == "python":
            exec(code, {})
            shown[code] = capsys.readouterr().out
        elif language == "sh":
            for line in code.splitlines():
                assert line.startswith("tutelage check ")
                shown[line] = call(line, capsys)
    first = shown["tutelage check losses.csv --slope -1 --by seed --figure losses.png"]
    assert "HOLDS" in first
    for word in ("class", "plateau", "noise"):
        assert f"  {word} " in first
    assert (tmp_path / "losses.png").exists()
    assert "MEASURED" in shown["tutelage check losses.csv --by seed"]
    forms = shown["tutelage check losses.csv --by seed --forms"]
    assert "excludes: exponential, stretched exponential" in " ".join(forms.split())
    theorem = next(text for code, text in shown.items() if "tt.claims(" in code)
    assert "hypothesis" in theorem


def test_every_option_that_the_page_names_is_one(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    known = capsys.readouterr().out
    for option in re.findall(r"`(--[a-z]+)", CURVE):
        assert option in known


def blocks(text, language):
    return [code for name, code in BLOCK.findall(text) if name == language]


def pytest_in(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_tutelage", "-q", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        timeout=240,
    )  # fmt: skip


@pytest.mark.docs
def test_the_suite_of_the_page_passes(tmp_path):
    (suite,) = blocks(CI, "python")
    (tmp_path / "test_theorem.py").write_text(suite)
    done = pytest_in(tmp_path, "test_theorem.py")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    (tmp_path / "pyproject.toml").write_text(blocks(CI, "toml")[0])
    assert pytest_in(tmp_path, "test_theorem.py").returncode == 0


def test_the_package_of_the_page_is_written_as_it_says(tmp_path, monkeypatch, capsys):
    """That it installs and passes is in tests/studies/test_creating.py."""
    monkeypatch.chdir(tmp_path)
    (line,) = [
        line
        for code in blocks(CI, "sh")
        for line in code.splitlines()
        if line.startswith("tutelage new-paper")
    ]
    call(line, capsys)
    package = tmp_path / "my-theorem" / "my_theorem"
    for name in re.findall(
        r"`([\w/]+\.py)`", CI.split("in this order")[1].split("`check_paper`")[0]
    ):
        assert (package / name).exists(), name
    workflow = (tmp_path / "my-theorem" / ".github" / "workflows" / "theorems.yml").read_text()
    for step in blocks(CI, "yaml")[0].splitlines():
        assert step in workflow


# ------------------------------------------------------------------- the table of excluded forms


def make_forms():
    spec = importlib.util.spec_from_file_location("make_forms", ROOT / "docs" / "make_forms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rows_of_exact_curves_are_what_the_comparison_gives():
    maker = make_forms()
    for name in maker.CURVES:
        assert maker.make_row(name, 0.0, 1) in CURVE


def test_the_true_form_is_hardly_ever_excluded_in_the_table():
    table = CURVE.split("<!-- forms -->")[1].split("<!-- /forms -->")[0]
    rows = [line for line in table.splitlines() if "**" in line]
    shares = [float(re.search(r"\*\*(\d+)%\*\*", row)[1]) for row in rows]
    assert len(rows) == 3 * 7
    assert max(shares) <= 5
    assert sum(shares) / len(shares) <= 1
    assert all(row.count("|") == 3 + len(FORMS) for row in rows)
