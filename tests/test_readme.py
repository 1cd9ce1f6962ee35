"""README and docs stay true: their code runs, their commands exist, their tables are those of the committed verdicts."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from tutelage.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMITTED = json.loads((ROOT / "docs" / "results" / "teacher-models-rates.json").read_text())


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


def test_the_table_is_that_of_the_committed_verdicts():
    inside = re.search(r"<!-- rates -->\n(.*?)<!-- /rates -->", README, re.S)[1].strip()
    assert inside == make_table().readme_table(COMMITTED).strip()


def test_the_calibration_table_is_what_the_rule_gives():
    text = (ROOT / "docs" / "verdicts.md").read_text()
    inside = re.search(r"<!-- calibration -->\n(.*?)<!-- /calibration -->", text, re.S)[1].strip()
    assert inside == make_table().calibration_table().strip()


def test_commands_exist(capsys):
    commands = [line.split("#")[0].split() for line in blocks("sh")[1].splitlines()]
    for command in commands:
        assert command[0] == "tutelage"
        arguments = command[1:]
        if arguments[0] == "run":
            arguments = [a for a in arguments if a not in ("--json", "--strict")] + ["--dry-run"]
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
