"""Files of a release agree with each other: version, citation, bounds, pins, workflows, address."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from tools.run_tests import read_selection

from tutelage import address, citation
from tutelage.studies.discovery import papers
from tutelage.version import YEAR, __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text())
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
WORKFLOWS = {path.stem: path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")}
MAKEFILE = (ROOT / "Makefile").read_text()
ELSEWHERE = read_selection().removesuffix(" and not depth")
PIN = re.compile(r"^([a-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
SOMEWHERE = "https://example.org/group/tutelage"


def test_the_version_has_one_source():
    assert "version" in PROJECT["dynamic"]
    assert CITED["version"] == RECIPE["context"]["version"] == __version__
    assert f"version = {{{__version__}}}" in citation.format_bibtex()
    assert f"year    = {{{YEAR}}}" in citation.format_bibtex()


def test_the_citation_file_names_every_paper_with_all_authors():
    cited = {
        one["title"]: ", ".join(
            f"{author['given-names']} {author['family-names']}" for author in one["authors"]
        )
        for one in CITED["references"]
    }
    assert CITED["title"] == citation.TITLE
    assert cited == {
        paper.title: paper.authors
        for paper in papers().values()
        if paper.module.startswith("tutelage.papers.")
    }


@pytest.mark.parametrize("name", papers())
def test_a_paper_is_cited_with_full_names(name):
    paper = papers()[name]
    (listed,) = re.findall(r"author\s*=\s*\{(.*?)\},\n", paper.bibtex, re.DOTALL)
    names = [one.split(", ") for one in re.split(r"\s+and\s+", listed)]
    assert all(len(one) == 2 for one in names), f"{paper.name} is cited by surnames only"
    shown = ", ".join(f"{given} {family}" for family, given in names)
    assert shown.replace("{\\'e}", "é") == paper.authors


def test_without_an_address_nothing_is_linked_and_with_one_everything():
    assert address.make_links("") == {}
    assert "url" not in citation.format_bibtex("")
    assert set(address.make_links(SOMEWHERE)) == {
        *("Homepage", "Repository", "Documentation", "Changelog", "Issues")
    }
    assert f"url     = {{{SOMEWHERE}}}" in citation.format_bibtex(SOMEWHERE)
    assert CITED.get("repository-code", "") == address.PUBLIC_ADDRESS
    assert "urls" in PROJECT["dynamic"]


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    asked = {re.split(r"[<>=]", one)[0]: one for one in PROJECT["dependencies"]}
    given = {one.split()[0]: one.replace(" ", "") for one in RECIPE["requirements"]["run"]}
    assert given.pop("python") == f"python{PROJECT['requires-python']}"
    given["matplotlib"] = given.pop("matplotlib-base").replace("-base", "")
    assert given == asked


def test_every_pin_has_its_hashes_and_no_address():
    pinned = (ROOT / "requirements.txt").read_text()
    versions = set(PIN.findall(pinned))
    assert versions <= set(PIN.findall((ROOT / "constraints.txt").read_text()))
    for requirement in re.split(r"\n(?=[a-z])", pinned)[1:]:
        assert "--hash=sha256:" in requirement, requirement.split("\n")[0]
    assert "://" not in pinned
    names = {name for name, _ in versions}
    for dependency in PROJECT["dependencies"]:
        assert re.split(r"[<>=]", dependency)[0].replace("_", "-") in names


def test_workflows_call_targets_that_exist_and_select_the_tests_of_make_test():
    targets = set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))
    for name, text in WORKFLOWS.items():
        called = re.findall(r"run: make ([\w -]+)", text)
        assert {one for words in called for one in words.split() if "=" not in one} - {
            "DIST"
        } <= targets, name
    selected = read_selection().replace(ELSEWHERE, "$(ELSEWHERE)")
    assert f'-m "{selected}"' in MAKEFILE


def test_workflows_can_write_nothing_but_their_proof_of_identity():
    for name, text in WORKFLOWS.items():
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}, name
        for job in workflow["jobs"].values():
            assert job.get("permissions", {}) in ({}, {"id-token": "write"})
            assert job["timeout-minutes"]
            for step in job["steps"]:
                assert step.get("uses", "actions/").startswith("actions/")


def test_the_devcontainer_is_json_and_issue_forms_have_what_a_form_needs():
    assert json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())["name"] == "tutelage"
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        if path.stem == "config":
            continue
        form = yaml.safe_load(path.read_text())
        assert form["name"]
        assert form["description"]
        ids = [part["id"] for part in form["body"]]
        assert len(ids) == len(set(ids))
        assert all(part["attributes"]["label"] for part in form["body"])


def test_secrets_are_found_and_never_shown(tmp_path):
    from tools.secrets import find_secrets

    planted = {
        "cloud access key": "AKIA" + "ABCDEFGHIJKLMNOP",
        "private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
        "code host token": "ghp_" + "a1B2" * 9,
        "assigned secret": "api_" + 'key = "' + "x9" * 12 + '"',
        "password in an address": "https://me:" + "hunter2@example.org",
    }
    for kind, text in planted.items():
        assert list(find_secrets(f"first\n{text}\n")) == [(2, kind)]
        assert list(find_secrets(f"{text}  # secret: allow")) == []
    file = tmp_path / "settings.txt"
    file.write_text("\n".join(planted.values()))
    command = [sys.executable, "-m", "tools.secrets", str(file)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 1
    assert f"{file}:1: cloud access key" in found.stdout
    assert not any(text in found.stdout + found.stderr for text in planted.values())


def test_types_are_announced():
    assert (ROOT / "src/tutelage/py.typed").exists()
    assert (ROOT / "src/pytest_tutelage/py.typed").exists()
