"""Imports go one way: no module imports what stands below it in one list, and nothing is exempt."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tutelage"
ORDER = """
refuse log cores notebook settings plugins activations numerics run claims
teachers inputs students objectives optimisers measures calculations
training problem running studies figures papers report explorer testing template cli
""".split()
RANK = {name: rank for rank, name in enumerate(ORDER)}


def find_imports(path):
    """The modules of tutelage that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "tutelage":
            yield from (f"tutelage.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def find_home(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def list_modules():
    """All files but the tests of papers, which may import anything, and the two that collect."""
    return [
        path
        for path in SOURCE.rglob("*.py")
        if "tests" not in path.parts and find_home(path) not in ("__init__", "__main__")
    ]


def test_nothing_imports_what_stands_below_it():
    wrong = []
    for path in list_modules():
        for name in find_imports(path):
            part = name.split(".")[1] if name.startswith("tutelage.") else find_home(path)
            if part in RANK and RANK[part] > RANK[find_home(path)]:
                wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert wrong == []


def test_every_module_has_a_place():
    assert {find_home(path) for path in list_modules()} - set(RANK) == set()


def test_only_papers_and_their_template_know_a_paper():
    """A paper is a folder, and nothing outside of it imports it."""
    found = {}
    for path in list_modules():
        home = find_home(path)
        for name in find_imports(path):
            parts = name.split(".")
            if parts[:2] == ["tutelage", "papers"] and len(parts) > 2:
                own = path.relative_to(SOURCE).parts[:2]
                if home != "papers" or (len(own) > 1 and own[1] != parts[2]):
                    found.setdefault(str(path.relative_to(SOURCE)), []).append(name)
    assert found == {}


def test_claims_know_no_paper():
    text = "".join(p.read_text() for p in (SOURCE / "claims").rglob("*.py"))
    assert "Zhang" not in text
    assert "teacher" not in text.replace("teacher_models", "")


def test_the_makefile_and_the_scripts_of_the_docs_name_no_paper():
    root = SOURCE.parents[1]
    names = [path.name for path in (SOURCE / "papers").iterdir() if (path / "docs").is_dir()]
    assert names
    for path in (root / "Makefile", *(root / "docs").glob("*.py")):
        text = path.read_text()
        for name in names:
            assert name not in text, path.name
            assert name.replace("_", "-") not in text, path.name
