"""README and docs stay true: their code runs, their commands exist, their tables are those of the
committed verdicts.
"""

import importlib.util
import re
from pathlib import Path

import pytest

from tutelage.cli import main

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


@pytest.mark.parametrize(
    ("page", "marker", "table", "study"),
    [
        ("README.md", "rates", "readme_table", "teacher-models/rates"),
        ("docs/scaling.md", "scaling", "sweep_table", "teacher-models/scaling"),
        *(
            (
                f"docs/{make_table().page_of(study)}.md",
                make_table().page_of(study),
                "verdict_table",
                study,
            )
            for study in make_table().PLAIN
        ),
        ("docs/phases.md", "phases", "phases_table", "teacher-models/phases"),
        ("docs/hypotheses.md", "hypotheses", "hypotheses_table", "teacher-models/hypotheses"),
        ("docs/codes.md", "codes", "codes_table", "teacher-models/codes"),
        ("docs/limits.md", "limits", "limits_table", "teacher-models/limits"),
    ],
)
def test_tables_are_those_of_the_committed_verdicts(page, marker, table, study):
    made = make_table()
    inside = re.search(
        rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->", (ROOT / page).read_text(), re.S
    )[1].strip()
    assert inside == getattr(made, table)(made.verdicts_of(study)).strip()


def test_the_table_of_studies_is_that_of_the_committed_verdicts():
    inside = re.search(r"<!-- studies -->\n(.*?)<!-- /studies -->", README, re.S)[1].strip()
    assert inside == make_table().studies_table().strip()


def test_one_row_of_the_table_run_again_agrees():
    """Token selection, four seeds, the quick horizon: the committed numbers to the rounding of
    another machine.
    """
    from tutelage.papers.teacher_models.rates.study import RATES
    from tutelage.studies.study import Plan, plan_cases, run_study

    (answered,) = run_study(plan_cases(RATES, Plan(only=("token-selection",)))[0])
    committed = {v["id"]: v for v in make_table().verdicts_of("teacher-models/rates")}
    for verdict in answered.verdicts:
        there = committed[verdict.id]
        assert verdict.status.value == there["status"]
        assert verdict.measured == pytest.approx(there["measured"], rel=1e-6)
        assert verdict.interval == pytest.approx(there["interval"], rel=1e-4)


def test_every_study_has_committed_verdicts_and_a_page():
    from tutelage.papers import PAPERS, questions, studies

    made = make_table()
    assert {study.name for study in studies()} == {*made.STUDIES, *made.QUESTIONS}
    assert {study.name for paper in PAPERS for study in questions(paper)} == set(made.QUESTIONS)
    for study in studies():
        assert made.committed(study.name).exists()
        page = (ROOT / "docs" / f"{made.page_of(study.name)}.md").read_text()
        assert f"tutelage run {study.name}" in page
        assert study.checked_in.split("/")[-1] in page


def test_what_the_docs_say_of_the_full_preset_is_in_its_verdicts():
    verdicts = make_table().verdicts_of("teacher-models/rates/full")
    claims = [v for v in verdicts if not v["control"]]
    assert {v["preset"] for v in verdicts} == {"full"}
    assert f"all {len(claims)} claims hold" in (ROOT / "docs" / "rates.md").read_text()
    assert {v["status"] for v in claims} == {"HOLDS"}
    assert all(v["status"] != "HOLDS" for v in verdicts if v["control"])


def test_the_calibration_table_is_what_the_rule_gives():
    text = (ROOT / "docs" / "verdicts.md").read_text()
    inside = re.search(r"<!-- calibration -->\n(.*?)<!-- /calibration -->", text, re.S)[1].strip()
    assert inside == make_table().calibration_table().strip()


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
        if arguments[0] in ("report", "animate", "explore"):
            arguments = [
                arguments[0],
                "--help",
            ]  # of runs that are not here, or a server; each has tests of its own
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0, command
    capsys.readouterr()


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([\w-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_links_and_files_named_in_the_docs_exist():
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            if not link.startswith("http"):
                assert (path.parent / link).exists(), f"{path.name}: {link}"
