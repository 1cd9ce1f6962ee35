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
from tutelage.cli import main
from tutelage.studies.discovery import find_study
from tutelage.studies.outputs import read_verdicts

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


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
    assert "HOLDS" in capsys.readouterr().out


TABLES = make_table().find_tables()


@pytest.mark.parametrize(
    ("page", "marker", "study"), TABLES, ids=[f"{p.name} {s.name}" for p, _, s in TABLES]
)
def test_tables_are_those_of_the_committed_verdicts(page, marker, study):
    found = re.search(rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->", page.read_text(), re.S)
    assert found[1].strip() == make_table().study_table(study).strip()


def test_every_study_but_the_one_in_readme_has_a_table_on_its_page():
    (shown,) = [study.name for page, _, study in TABLES if page.name == "README.md"]
    assert {study.name for _, _, study in TABLES} == set(committed_studies())
    assert [study.name for _, _, study in TABLES].count(shown) == 1


def test_the_table_of_studies_is_that_of_the_committed_verdicts():
    inside = re.search(r"<!-- studies -->\n(.*?)<!-- /studies -->", README, re.S)[1].strip()
    assert inside == make_table().studies_table().strip()


def test_one_row_of_the_table_run_again_agrees():
    """Token selection, the quick horizon: the committed numbers to the rounding of
    another machine.
    """
    found = tt.reproduce("teacher-models/rates", cases=["token-selection"])
    committed = {v.id: v for v in committed_studies()["teacher-models/rates"].verdicts}
    assert found.verdicts
    for verdict in found.verdicts:
        there = committed[verdict.id]
        assert verdict.status is there.status
        assert verdict.measured == pytest.approx(there.measured, rel=1e-6)
        if there.interval is None:  # one that has no end on one side
            assert verdict.interval is None
        else:
            assert verdict.interval == pytest.approx(there.interval, rel=1e-4)


def test_every_study_has_committed_verdicts_and_a_page():
    for name, study in committed_studies().items():
        assert study.results.exists()
        page = study.page.read_text()
        assert f"tutelage run {name}" in page
        assert find_study(name).checked_in.split("/")[-1] in page


def test_what_the_docs_say_of_the_full_preset_is_in_its_verdicts():
    study = committed_studies()["teacher-models/rates"]
    verdicts = read_verdicts(study.results.with_stem("rates-full"))
    claims = [v for v in verdicts if not v["control"]]
    assert {v["preset"] for v in verdicts} == {"full"}
    assert f"all {len(claims)} claims hold" in study.page.read_text()
    assert {v["status"] for v in claims} == {"HOLDS"}
    assert all(v["status"] != "HOLDS" for v in verdicts if v["control"])


def test_the_calibration_table_is_what_the_rule_gives():
    text = (ROOT / "docs" / "verdicts.md").read_text()
    inside = re.search(r"<!-- calibration -->\n(.*?)<!-- /calibration -->", text, re.S)[1].strip()
    assert inside.endswith(make_table().calibration_table(FAMILIES))
    for name, found in SETS.items():  # judged anew by `make table`: that takes minutes
        assert f"*The {name} held-out set.* {found.evaluated}" in inside
        for kind in KINDS:
            families = sum(family.kind == kind for family in found.families)
            assert f"| {kind} | {families} families | {20 * families} |" in inside


def test_commands_exist(capsys, tmp_path, monkeypatch):
    (tmp_path / "out" / "runs").mkdir(parents=True)  # as the first `tutelage run` makes it
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    commands = [
        line.split("#")[0].split() for block in blocks("sh")[1:] for line in block.splitlines()
    ]
    for command in commands:
        assert command[0] == "tutelage"
        arguments = command[1:]
        if arguments[0] in ("run", "sweep"):
            arguments = [a for a in arguments if a not in ("--json", "--strict")] + ["--dry-run"]
        if arguments[0] in ("report", "animate", "explore", "check"):
            arguments = [
                arguments[0],
                "--help",
            ]  # of runs or logs that are not here, or a server; each has tests of its own
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0, command
    capsys.readouterr()


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([\w-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.M), target


PAGES = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(part.startswith(".") or part == "out" for part in path.relative_to(ROOT).parts)
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_of_every_page_resolves(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        target, _, anchor = link.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), link
        if anchor and there.suffix == ".md":
            text = there.read_text()
            headings = re.findall(r"^#+ (.*)$", text, re.M)
            named = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings]
            assert f'id="{anchor}"' in text or anchor in named, link
