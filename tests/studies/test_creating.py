"""`tutelage new-paper` writes a package that installs and passes, under its own name throughout."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tutelage.cli import main
from tutelage.studies.creating import create_paper

SOURCE = Path(__file__).parents[2] / "src"
TITLE = 'Sums are "Small"'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The package, and beside it the metadata that an installation of it leaves."""
    folder = tmp_path_factory.mktemp("new") / "small-sums"
    files = create_paper("small-sums", folder, title=TITLE, authors="Ada L.")
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    about = folder / f"small_sums-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: small-sums\nVersion: 0.1.0\n")
    (entry,) = project["entry-points"]["tutelage.papers"].items()
    (about / "entry_points.txt").write_text("[tutelage.papers]\n{} = {}\n".format(*entry))
    return folder, files


def call(folder, *words):
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)])},
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.depth
def test_its_own_tests_pass(made):
    code, out, err = call(made[0], "-m", "pytest", "-p", "pytest_tutelage", "-q")
    assert code == 0, out + err
    assert "3 passed" in out


@pytest.mark.depth
def test_its_claim_holds_and_its_control_fails(made):
    code, out, err = call(made[0], "-m", "tutelage", "run", "small-sums", "--json", "--strict")
    assert code == 0, err
    statuses = {v["id"]: v["status"] for v in json.loads(out)["verdicts"]}
    study = "small-sums/contraction"
    assert statuses == {f"{study}/equal/excess": "HOLDS", f"{study}/unequal/excess": "FAILS"}
    assert (made[0] / "out" / study / "figures" / "excess.png").exists()


def test_every_file_of_it_has_its_own_name(made):
    folder, files = made
    names = {str(path.relative_to(folder)) for path in files}
    assert {"pyproject.toml", "README.md", ".gitignore", ".github/workflows/theorems.yml"} <= names
    assert {"small_sums/theory.py", "small_sums/contraction/study.py"} <= names
    for path in files:
        text = path.read_text()
        assert "geometric-descent" not in text
        assert "geometric_descent" not in text
        assert "authors of tutelage" not in text


def test_it_is_cited_by_its_title_and_authors(made):
    code, out, _ = call(made[0], "-m", "tutelage", "cite", "small-sums")
    assert code == 0
    assert out.startswith("@misc{smallsums20")
    assert TITLE in out
    assert "Ada L." in out


@pytest.mark.depth
def test_what_its_author_breaks_is_named(made, tmp_path):
    folder = tmp_path / "broken-sums"
    create_paper("broken-sums", folder)
    study = folder / "broken_sums" / "contraction" / "study.py"
    study.write_text(study.read_text().replace(", CONTROL.case()]", "]"))
    about = folder / "broken_sums-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-sums\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[tutelage.papers]\nbroken-sums = broken_sums:paper\n")
    asked = "from tutelage.testing import check_paper\nprint(check_paper('broken-sums'))"
    code, out, err = call(folder, "-c", asked)
    assert code == 0, err
    assert "has no control that tests Curve of excess_risk" in out


@pytest.mark.depth
def test_a_figure_that_cannot_be_drawn_is_refused_in_a_sentence(made):
    figures = made[0] / "small_sums" / "contraction" / "figures.py"
    text = figures.read_text()
    figures.write_text(text.replace("axis.plot(steps, curve,", "axis.plot(steps, curve[1:],"))
    code, _, err = call(made[0], "-m", "tutelage", "run", "small-sums")
    figures.write_text(text)
    assert code == 2, err
    assert "Traceback" not in err
    assert "The figures of small-sums/contraction must be drawn" in " ".join(err.split())
    assert "small_sums/contraction/figures.py, line" in "".join(err.split("\n"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My Paper", "lower-case words and hyphens"),
        ("3-sums", "begins with a letter"),
        ("class", "must not be a word of Python"),
        ("numpy", "which is installed"),
        ("teacher-models", "which is installed"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, said, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["new-paper", name, "--folder", str(tmp_path / "new")])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--folder", "a" * 300], "cannot be written to"),
        (["--authors", "A \udcff"], "`--authors` must be text that UTF-8 can hold"),
        (["--title", "A \udcff"], "`--title` must be text that UTF-8 can hold"),
    ],
)
def test_what_no_file_can_hold_is_refused(option, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["new-paper", "small-sums", *option])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_is_no_text_is_named_all_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = io.TextIOWrapper(io.BytesIO(), "utf-8")  # as a terminal: half a pair is an error
    with contextlib.redirect_stdout(shown), pytest.raises(SystemExit) as ended:
        main(["new-paper", "small-sums", "--folder", "a\udcff"])
    assert ended.value.code == 0
    assert rb"a\udcff/README.md" in shown.buffer.getvalue()


def test_no_file_is_written_over(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SystemExit) as ended:
        main(["new-paper", "small-sums", "--folder", str(tmp_path)])
    assert ended.value.code == 2
    assert "new or empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
