"""README and docs stay true: their code runs, their commands exist, their tables are those of the
committed verdicts.
"""

import importlib.util
import re
from pathlib import Path

import pytest
from tools.committed import committed_studies

import tutelage as tt
from tutelage.claims.development import FAMILIES
from tutelage.claims.evaluation import SETS
from tutelage.claims.families import KINDS
from tutelage.claims.verdict import Verdict
from tutelage.cli import main
from tutelage.studies.discovery import find_study
from tutelage.studies.outputs import read_verdicts

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
STUDIES = (ROOT / "docs" / "studies.md").read_text()
COMMANDS = (ROOT / "docs" / "commands.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def make_table():
    spec = importlib.util.spec_from_file_location("make_table", ROOT / "docs" / "make_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_examples_run_and_hold(number, capsys):
    exec(blocks("python")[number], {})
    printed, shown = capsys.readouterr().out, blocks("text")[number]
    assert printed.splitlines()[0] == shown.splitlines()[0] == "HOLDS"
    assert [re.sub(r"[\d.,]+", "", line) for line in printed.splitlines()] == [
        re.sub(r"[\d.,]+", "", line) for line in shown.splitlines()
    ]


TABLES = make_table().find_tables()


@pytest.mark.parametrize(
    ("page", "marker", "study"), TABLES, ids=[f"{p.name} {s.name}" for p, _, s in TABLES]
)
def test_tables_are_those_of_the_committed_verdicts(page, marker, study):
    found = re.search(rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->", page.read_text(), re.S)
    assert found[1].strip() == make_table().study_table(study).strip()


def test_every_study_but_the_one_among_all_has_a_table_on_its_page():
    (shown,) = [study.name for page, _, study in TABLES if page.name == "studies.md"]
    assert {study.name for _, _, study in TABLES} == set(committed_studies())
    assert [study.name for _, _, study in TABLES].count(shown) == 1


def test_the_table_of_studies_is_that_of_the_committed_verdicts():
    inside = re.search(r"<!-- studies -->\n(.*?)<!-- /studies -->", STUDIES, re.S)[1].strip()
    assert inside == make_table().studies_table().strip()


def test_the_table_of_paper_sizes_is_that_of_the_committed_verdicts():
    inside = re.search(r"<!-- paper-size -->\n(.*?)<!-- /paper-size -->", STUDIES, re.S)[1].strip()
    assert inside == make_table().paper_table().strip()


def test_every_study_of_two_papers_has_their_sizes_within_an_hour():
    for study in committed_studies().values():
        of_both = study.paper.name in ("teacher-models", "shallow-transformers")
        if of_both and study.entry.reproduce:
            assert study.paper.study(study.short).presets["paper"].seconds <= 3600, study.name


def test_the_index_lists_the_papers_as_they_are():
    index = (ROOT / "docs" / "index.md").read_text()
    inside = re.search(r"<!-- papers -->\n(.*?)<!-- /papers -->", index, re.S)[1].strip()
    assert inside == make_table().papers_list()


def agree(found, there, share):
    """Two numbers, or both absent: an order has none, and an interval may have no end on a side."""
    if there is None or found is None:
        assert found is there
    else:
        assert found == pytest.approx(there, rel=share)


@pytest.mark.depth
def test_one_row_of_the_table_run_again_agrees():
    """Token selection, the quick horizon: the committed numbers to the rounding of
    another machine.
    """
    found = tt.reproduce("teacher-models/rates", cases=["token-selection"])
    quick = read_verdicts(committed_studies()["teacher-models/rates"].results)
    committed = {v["id"]: Verdict.from_plain(v) for v in quick}
    assert found.verdicts
    for verdict in found.verdicts:
        there = committed[verdict.id]
        assert verdict.status is there.status
        agree(verdict.measured, there.measured, 1e-6)
        if there.interval is None:
            assert verdict.interval is None
        else:
            for end, beside in zip(verdict.interval, there.interval, strict=True):
                agree(end, beside, 1e-4)


def test_every_study_has_committed_verdicts_and_a_page():
    for name, study in committed_studies().items():
        assert study.results.exists()
        page = study.page.read_text()
        assert f"tutelage run {name}" in page
        assert find_study(name).checked_in.split("/")[-1] in page


def test_what_the_docs_say_of_ten_seeds_is_in_their_verdicts():
    study = committed_studies()["teacher-models/rates"]
    verdicts = read_verdicts(study.results.with_stem("rates-full"))
    claims = [v for v in verdicts if not v["control"]]
    assert {v["preset"] for v in verdicts} == {"full"}
    assert f"all {len(claims)} claims hold" in study.page.read_text()
    assert {v["status"] for v in claims} == {"HOLDS"}
    assert all(v["status"] != "HOLDS" for v in verdicts if v["control"])


@pytest.mark.depth
def test_the_calibration_table_is_what_the_rule_gives():
    text = (ROOT / "docs" / "verdicts.md").read_text()
    inside = re.search(r"<!-- calibration -->\n(.*?)<!-- /calibration -->", text, re.S)[1].strip()
    judged = [family for family in FAMILIES if family.kind in ("bound", "ratio")]
    for row in make_table().calibration_table(judged).splitlines():  # the others by `make table`
        assert row in inside
    for name, found in SETS.items():  # judged anew by `make table`: that takes minutes
        assert f"*The {name} held-out set.* {found.evaluated}" in inside
        for kind in KINDS:
            families = sum(family.kind == kind for family in found.families)
            if families:
                assert f"| {kind} | {families} families | {20 * families} |" in inside


LONG = ("--json", "--strict", "--dry-run")  # left out, or given once


def test_commands_exist(capsys, tmp_path, monkeypatch):
    (tmp_path / "out" / "runs").mkdir(parents=True)  # as the first `tutelage run` makes it
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```sh\n(.*?)```", COMMANDS, re.S)
    commands = [line.split("#")[0].split() for line in block.splitlines()]
    commands += [line.split() for line in re.findall(r"`(tutelage [^`]+)`", README)]
    for command in commands:
        assert command[0] == "tutelage"
        arguments = command[1:]
        name = arguments[0] if arguments else ""
        if name in ("run", "sweep"):
            arguments = [a for a in arguments if a not in LONG] + ["--dry-run"]
        if name == "calibrate":  # all of it takes minutes
            arguments += ["--kind", "ratio", "--repetitions", "1"]
        if name in ("report", "animate", "explore", "check", "learn", "new-paper"):
            # Of runs or logs that are not here, or a server; each has tests of its own.
            arguments = [name, "--help"]
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0, command
    capsys.readouterr()


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:^|`)make ([\w-]+)", README + COMMANDS, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
