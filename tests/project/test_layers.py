"""Data flows one way: no module imports what stands to its right."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tutelage"
ORDER = [
    ["refuse", "compiling", "cores", "notebook"],
    ["streams", "activations"],
    ["heads"],
    ["inputs", "teachers"],
    ["students"],
    ["objectives"],
    ["settings"],
    ["run"],
    ["recording"],
    ["measures"],
    ["optimisers"],
    ["flow"],
    ["training", "pretraining", "registry", "collapse", "parts", "claims"],
    ["store"],
    ["engines"],
    ["execution"],
    ["study"],
    ["figures"],
    ["papers"],
    ["sweeps", "report", "explorer"],
    ["cli"],
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def test_nothing_imports_what_stands_to_its_right():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if home not in RANK:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in names:
                part = name.split(".")[1] if name.startswith("tutelage.") else None
                if part in RANK and RANK[part] > RANK[home]:
                    wrong.append(f"{path.name} imports {name}")
    assert wrong == []


def test_every_module_has_a_place():
    modules = {p.name.removesuffix(".py") for p in SOURCE.iterdir() if not p.name.startswith("__")}
    assert modules == set(RANK)


def test_claims_know_no_paper():
    text = "".join(p.read_text() for p in (SOURCE / "claims").rglob("*.py"))
    assert "Zhang" not in text
    assert "teacher" not in text.replace("teacher_models", "")
