"""The skeleton paper, installed as a package of its own, appears in every command and page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tutelage

TEMPLATE = Path(tutelage.__file__).parent / "template"
PROJECT = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["project"]
PACKAGE = "geometric_descent"
STUDY = "geometric-descent/contraction"
LARGEST = 125  # lines of Python that are not empty

# All that is asked of the installed paper, in one process: each answer by its name, as JSON.
ASKED = """
import contextlib, io, json, sys
from pathlib import Path
from tutelage.cli import main

out, answers = Path(sys.argv[1]), {}


def ask(name, *arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code or 0
    answers[name] = {"code": code, "out": out.getvalue(), "err": err.getvalue()}


ask("list", "list")
ask("plugins", "plugins")
ask("show", "show", "geometric-descent")
ask("cite", "cite", "geometric-descent")
ask("run", "run", "geometric-descent", "--out", out, "--json")
ask("misspelt", "run", "geometric-descent", "--set", "DD=6", "--dry-run")
ask("report", "report", out / "geometric-descent", "--out", out / "report.html")

from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan

cases, _ = find_study("geometric-descent/contraction").plan(Plan(changes={"D": 6}))
answers["changed"] = [dict(setting.teacher.options) for setting in cases[0].settings]

from starlette.testclient import TestClient
from tutelage.explorer.server import Explorer

client = TestClient(Explorer(store=str(out / "runs")).app(), base_url="http://127.0.0.1")
answers["catalogue"] = client.get("/api/catalogue").json()
answers["page"] = client.get("/geometric-descent").status_code
query = "page=geometric-descent&teacher=averaging"
answers["described"] = client.get("/api/describe?" + query).json()

from geometric_descent.tests import test_paper

from pytest_tutelage import Holds

for name, test in vars(test_paper).items():
    if name.startswith("test_"):
        test(Holds("fail")) if "holds" in test.__code__.co_varnames else test()
        answers.setdefault("tests", []).append(name)
Path(sys.argv[2]).write_text(json.dumps(answers))
"""


def install(folder: Path) -> None:
    """As pip would: the package, and its metadata from `pyproject.toml`."""
    shutil.copytree(TEMPLATE / PACKAGE, folder / PACKAGE)
    about = folder / f"{PACKAGE}-{PROJECT['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    )
    lines = []
    for group, entries in PROJECT["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, out: Path) -> dict[str, Any]:
    site = tmp_path_factory.mktemp("site")
    install(site)
    done = subprocess.run(
        [sys.executable, "-c", ASKED, str(out), str(site / "answers.json")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads((site / "answers.json").read_text())
    return found


def test_it_is_listed_beside_the_papers_that_are_built_in(answers):
    names = [line.split()[0] for line in answers["list"]["out"].splitlines()]
    assert STUDY in names
    assert "teacher-models/rates" in names
    assert f"package {PROJECT['name']} {PROJECT['version']}" in answers["plugins"]["out"]


def test_it_is_shown_and_cited(answers):
    for words in ("Theorem 1", "negative control, breaks tokens N(0, I)", f"tutelage run {STUDY}"):
        assert words in answers["show"]["out"]
    assert answers["cite"]["out"].startswith("@misc{")


def test_its_claim_holds_and_its_control_fails(answers):
    assert answers["run"]["code"] == 0, answers["run"]["err"]
    verdicts = {v["id"]: v["status"] for v in json.loads(answers["run"]["out"])["verdicts"]}
    assert verdicts == {f"{STUDY}/equal/excess": "HOLDS", f"{STUDY}/unequal/excess": "FAILS"}


def test_its_letters_change_its_settings(answers):
    assert answers["changed"] == 2 * [{"tokens": 6, "dim": 5, "norm": 2.0}]
    assert answers["misspelt"]["code"] == 2
    assert "Did you mean 'D'" in answers["misspelt"]["err"]


def test_its_figure_is_in_the_report_with_its_caption(answers, out):
    assert answers["report"]["code"] == 0, answers["report"]["err"]
    page = (out / "report.html").read_text()
    assert "<figcaption>Excess risk, its prediction, and the control, which leaves it." in page


def test_its_page_is_in_the_explorer_with_its_prediction(answers):
    (page,) = [p for p in answers["catalogue"]["pages"] if p["paper"] == "geometric-descent"]
    assert (page["address"], page["teachers"]) == ("/geometric-descent", ["averaging"])
    assert answers["page"] == 200
    (part,) = [p for p in answers["catalogue"]["kinds"]["teacher"] if p["name"] == "averaging"]
    assert [option["letter"] for option in part["options"]] == ["D", "d", "‖V*‖"]
    (line,) = answers["described"]["predicted"]
    assert (line["curve"], line["label"]) == ("excess_risk", "Theorem 1")


def test_its_own_tests_pass(answers):
    assert len(answers["tests"]) == 3


def test_it_is_short(capsys):
    lines = [
        line
        for path in TEMPLATE.rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip()
    ]
    assert len(lines) < LARGEST
