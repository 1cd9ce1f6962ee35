"""Papers are found wherever they come from. One that is broken is named, and the others work."""

import os
import shutil
import subprocess
import sys

import pytest
from tiny_paper import install, install_paper, write_paper

import tutelage as tt
from tutelage import plugins
from tutelage.cli import main
from tutelage.refuse import Refused
from tutelage.studies import discovery, planning
from tutelage.studies.study import Plan

BROKEN = "import sys\nsys.stderr.write('imported')\nraise RuntimeError('out of order')\n"
HEAVY = "\nimport sys\nassert 'jax' not in sys.modules and 'numpy' not in sys.modules, 'heavy'\n"


@pytest.fixture(autouse=True)
def _forget_files(monkeypatch):
    monkeypatch.setattr(plugins, "_FILES", {})


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def call_beside(folder, *arguments, after=""):
    """The command in a process that has installed packages in a folder."""
    code = (
        "import sys\nfrom tutelage.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as ended:\n    code = ended.code\n"
        f"{after}\nsys.exit(code)\n"
    )
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_installed_packages_are_read_once_until_one_is_added_or_removed(tmp_path, monkeypatch):
    asked = []
    entry_points = plugins.metadata.entry_points

    def ask(**group):
        asked.append(group)
        return entry_points(**group)

    monkeypatch.setattr(plugins.metadata, "entry_points", ask)
    monkeypatch.syspath_prepend(tmp_path)
    before = plugins.find_plugins()
    assert plugins.find_plugins() == before
    assert len(asked) == 1
    install_paper(tmp_path, "added_later", "added-later")
    assert {one.module for one in plugins.find_plugins()} - {one.module for one in before} == {
        "added_later"
    }
    shutil.rmtree(tmp_path)
    assert plugins.find_plugins() == before


def test_papers_and_studies_are_found_from_python():
    found = tt.papers()
    assert "teacher-models" in found
    assert found["teacher-models"].origin == "built in"
    assert discovery.find_study("teacher-models/rates").name == "teacher-models/rates"
    import tutelage.papers.teacher_models as one  # the names are packages, too

    assert one.paper.name == "teacher-models"
    assert callable(tt.studies)


def test_those_that_make_reproduce_runs_are_marked():
    names = discovery.reproduced_names()
    entries = tt.papers()["teacher-models"].studies
    assert "teacher-models/rates" in names
    assert not any(entries[name.split("/")[1]].beyond for name in names if "teacher-" in name)


def test_studies_are_listed_and_reproduced_by_paper_and_as_each_paper_lists_them():
    found = tt.papers()
    own = [name for name, paper in found.items() if paper.origin == "built in"]
    assert own == sorted(own)
    listed = [f"{name}/{short}" for name, paper in found.items() for short in paper.studies]
    assert discovery.study_names() == listed
    reproduced = discovery.reproduced_names()
    assert reproduced == sorted(reproduced, key=listed.index)


def test_a_broken_plugin_is_one_sentence_and_the_rest_goes_on(tmp_path):
    install(tmp_path, "out_of_order", BROKEN)
    install_paper(tmp_path, "tiny_package", "tiny")
    listed = call_beside(tmp_path, "list")
    assert listed.returncode == 0
    assert "tiny/pooling " in listed.stdout
    assert "teacher-models/rates" in listed.stdout
    said = [line for line in listed.stderr.splitlines() if "tutelage:" in line]
    assert len(said) == 1
    assert "out_of_order (package out_of_order 1.5) is left out" in said[0]
    assert "RuntimeError: out of order" in said[0]


def test_help_imports_no_plugin_and_list_no_study(tmp_path):
    install(tmp_path, "out_of_order", BROKEN)
    done = call_beside(tmp_path, "--help", after=HEAVY)
    assert done.returncode == 0
    assert "imported" not in done.stderr
    light = (
        HEAVY
        + "assert not any(name.endswith('.study') for name in sys.modules if 'papers' in name)\n"
    )
    done = call_beside(tmp_path, "list", after=light)
    assert done.returncode == 0, done.stderr
    assert "teacher-models/rates" in done.stdout


def test_plugins_are_listed_with_their_troubles(tmp_path):
    install(tmp_path, "out_of_order", BROKEN)
    install(tmp_path, "no_paper", "paper = 3\n")
    install_paper(tmp_path, "tiny_package", "tiny")
    done = call_beside(tmp_path, "plugins")
    assert done.returncode == 0
    for words in (
        "tiny\n  origin   package tiny_package 1.5 (tiny_package)\n  studies  pooling, further",
        "no_paper\n  origin   package no_paper 1.5 (no_paper)\n  trouble  it has no `paper`",
        "trouble  RuntimeError: out of order",
        "teacher-models\n  origin   built in",
    ):
        assert words in done.stdout


def test_two_plugins_of_one_name_are_refused_with_both_origins(tmp_path):
    install_paper(tmp_path, "first_package", "tiny")
    install_paper(tmp_path, "second_package", "tiny")
    done = call_beside(tmp_path, "list")
    assert done.returncode == 2
    assert "package first_package 1.5" in done.stderr
    assert "package second_package 1.5" in done.stderr
    listed = call_beside(tmp_path, "plugins")
    assert listed.returncode == 0
    assert listed.stdout.count("another paper has the same name") == 2


def test_a_file_is_taken_by_every_command_that_takes_a_study(tmp_path, capsys):
    file = write_paper(tmp_path / "mine.py", "mine")
    assert "mine/pooling" in call(capsys, "list", "--import", file)[1]
    assert f"file {file}" in call(capsys, "plugins", "--import", file)[1]
    assert call(capsys, "cite", "mine", "--import", file)[1] == "@misc{tiny}\n"
    code, out, _ = call(capsys, "show", "mine/pooling", "--import", file)
    assert code == 0
    assert "negative control, breaks K < D" in out
    where = ["--out", tmp_path / "out", "--import", file]
    code, out, _ = call(capsys, "run", "mine", *where, "--seeds", 1)
    assert code == 0
    assert "The negative control fails, as expected." in out
    axis = ["--axis", "D=4,6", "--case", "pooling", "--seeds", 1]
    assert call(capsys, "sweep", "mine/pooling", *axis, *where)[0] == 0
    stored = ["--store", *where[1:]]
    assert call(capsys, "runs", "lacking", "mine/pooling", *axis, *stored)[0] == 0
    (tmp_path / "out" / "mine" / "pooling" / "figures" / "excess.svg").unlink()  # no picture
    code, out, _ = call(capsys, "report", tmp_path / "out", "--import", file)
    assert (code, out.split(":")[0]) == (0, "1 study, 2 verdicts")


def test_the_command_of_a_record_imports_the_file_again(tmp_path, capsys):
    import json

    file = write_paper(tmp_path / "mine.py", "recorded")
    call(capsys, "run", "recorded/pooling", "--steps", 50, "--out", tmp_path, "--import", file)
    record = json.loads((tmp_path / "recorded" / "pooling" / "study.json").read_text())
    assert f"--import {file}" in record["command"]


def test_a_file_that_cannot_be_imported_is_refused_in_a_sentence(tmp_path, capsys):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    code, _, err = call(capsys, "list", "--import", tmp_path / "broken.py")
    assert code == 2
    assert "ZeroDivisionError" in err
    assert "broken.py, line 1" in err
    assert len(err.splitlines()) == 1
    assert "no such file" in call(capsys, "list", "--import", "absent.py")[2]


def test_a_file_that_ends_the_process_is_refused_like_any_other(tmp_path, capsys):
    (tmp_path / "ending.py").write_text("raise SystemExit(3)\n")
    code, _, err = call(capsys, "list", "--import", tmp_path / "ending.py")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "SystemExit: 3" in err


def test_a_sweep_file_that_names_a_broken_file_is_refused_in_a_sentence(tmp_path, capsys):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "small.toml").write_text("import = ['broken.py']\nstudy = 'mine/pooling'\n")
    code, _, err = call(capsys, "sweep", tmp_path / "small.toml")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "ZeroDivisionError" in err


def test_a_module_brings_its_paper_as_a_file_does(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    write_paper(tmp_path / "paper_of_a_module.py", "of-a-module")
    monkeypatch.setattr(plugins, "_PARTS_IMPORTED", set(plugins._PARTS_IMPORTED))
    assert "of-a-module/pooling" in call(capsys, "list", "--import", "paper_of_a_module")[1]
    code, out, err = call(capsys, "plugins", "--import", "paper_of_a_module")
    assert "origin   module paper_of_a_module" in out
    assert (code, err) == (0, "")


def test_installed_packages_that_end_the_process_or_have_broken_parts_cost_a_sentence(tmp_path):
    install(tmp_path, "ending_package", "raise SystemExit(3)\n")
    install_paper(tmp_path, "without_parts", "without-parts")
    (tmp_path / "without_parts").mkdir()
    (tmp_path / "without_parts.py").rename(tmp_path / "without_parts" / "__init__.py")
    (tmp_path / "without_parts" / "parts.py").write_text("import nowhere_to_be_found\n")
    done = call_beside(tmp_path, "plugins")
    assert done.returncode == 0
    assert "trouble  SystemExit: 3" in done.stdout
    assert "trouble  its parts could not be imported: ModuleNotFoundError" in done.stdout
    listed = call_beside(tmp_path, "list")
    assert "without-parts/pooling" in listed.stdout
    assert listed.stderr.count("tutelage:") == 1  # of the package that cannot be imported at all


def test_a_study_that_cannot_be_imported_is_named(tmp_path, monkeypatch, caplog):
    package = tmp_path / "half_a_paper"
    (package / "broken").mkdir(parents=True)
    (package / "broken" / "__init__.py").touch()
    (package / "broken" / "study.py").write_text("import nowhere_to_be_found\n")
    (package / "__init__.py").write_text(
        "from tutelage.studies.paper import Entry, Paper\n"
        "paper = Paper('half', '', '', 2026, '', {'broken': Entry(''), 'absent': Entry('')})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        plugins, "_FILES", {"half_a_paper": plugins.Plugin("half_a_paper", "paper", "here")}
    )
    with pytest.raises(Refused, match=r"half/broken \(here\).*nowhere_to_be_found"):
        discovery.find_study("half/broken")
    with pytest.raises(Refused, match="half/absent"):
        discovery.find_study("half/absent")
    planned, missing = planning.plan_studies([], Plan(), also=["half/broken"])
    assert planned == []
    assert "nowhere_to_be_found" in missing["half/broken"]
    assert "half/broken" not in tt.studies()
    assert "nowhere_to_be_found" in caplog.text


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_workers_import_the_file_too(tmp_path, capsys, monkeypatch, command):
    from contextlib import contextmanager

    from tutelage.cli import engines

    asked = []

    @contextmanager
    def open_engine(workers, scheduler, slurm, imports, certificates, jobs):
        asked.append((workers, list(imports)))
        yield None

    monkeypatch.setattr(engines, "open_engine", open_engine)
    file = write_paper(tmp_path / "mine.py", f"mine-{command}")
    words = ["--workers", 2, "--steps", 20, "--case", "pooling", "--out", tmp_path]
    assert call(capsys, command, f"mine-{command}/pooling", *words, "--import", file)[0] == 0
    assert asked == [(2, [str(file)])]
