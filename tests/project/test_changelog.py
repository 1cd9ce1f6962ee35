"""The list of renames: each new name is there, and each old one is gone."""

import importlib
import re
from pathlib import Path

import pytest

CHANGES = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
PREFIX = {"## Modules and names": "tutelage.", "Theory of the papers": "tutelage.papers."}


def read_renames():
    """Pairs of dotted names, before and now, of the tables."""
    prefix, found = "", []
    for line in CHANGES.splitlines():
        prefix = next((given for start, given in PREFIX.items() if line.startswith(start)), prefix)
        if line.startswith("| `"):
            before, now = (re.findall("`([^`]+)`", cell) for cell in line.strip("|").split("|"))
            found += [(prefix + a, prefix + b) for a, b in zip(before, now, strict=True)]
    return found


RENAMES = read_renames()


def is_there(name):
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if part not in vars(found):
                return False
            found = vars(found)[part]
        return True
    return False


def test_there_are_renames_of_both_tables():
    assert {".".join(before.split(".")[:2]) for before, _ in RENAMES} >= {
        "tutelage.registry",
        "tutelage.papers",
    }


@pytest.mark.parametrize(("before", "now"), RENAMES)
def test_a_rename_says_what_is_there_now(before, now):
    assert is_there(now), f"{now} is not there"
    assert not is_there(before), f"{before} is still there"


def test_names_of_the_package_that_the_list_gives_are_its_own():
    import tutelage as tt

    given = set(re.findall(r"`tt\.(\w+)", CHANGES)) - {"teacher_of"}
    assert given <= set(tt.__all__)
    assert "teacher_of" not in tt.__all__
