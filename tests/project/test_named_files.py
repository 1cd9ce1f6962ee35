"""Python files that pages and docstrings name in backticks are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tutelage"
NAMED = re.compile(r"`([\w/.-]+\.py)(?:::(\w+))?`")
# Files that the reader of a page writes, or has written.
READERS = {
    "adding-a-paper.md": {"geometric.py", "study.py", "animate.py"},
    "explorer.md": {"my_parts.py", "explore.py"},  # the second in the folder of each paper
    "your-theorem-in-ci.md": {
        "test_theorem.py",
        "theory.py",
        "parts.py",
        "contraction/study.py",
        "contraction/figures.py",
    },
    "learn-a-layer.md": {"my.py"},
}


def find_texts(pattern):
    found = (path.relative_to(ROOT) for path in sorted(ROOT.rglob(pattern)))
    return [
        path
        for path in found
        if not any(part.startswith(".") or part == "out" for part in path.parts)
    ]


def find_folders(path):
    """Where a name may begin: the repository, the package, the text's own folder; the folder of a
    paper for its pages and for what all papers have; the template.
    """
    papers = [path for path in (PACKAGE / "papers").iterdir() if path.is_dir()]
    own = ROOT / path.parent
    paper = [own.parent] if own.name == "docs" else papers
    return [ROOT, PACKAGE, own, *paper, PACKAGE / "template"]


def find_missing(path):
    folders, text = find_folders(path), (ROOT / path).read_text(encoding="utf-8")
    for name, test in NAMED.findall(text):
        there = [folder / name for folder in folders if (folder / name).exists()]
        if name in READERS.get(path.name, ()):
            continue
        if not there or (test and f"def {test}(" not in there[0].read_text(encoding="utf-8")):
            yield f"{name}::{test}" if test else name


@pytest.mark.parametrize("kind", ["*.md", "*.py"])
def test_every_python_file_that_is_named_is_there(kind):
    texts = find_texts(kind)
    assert texts
    assert {str(path): missing for path in texts if (missing := [*find_missing(path)])} == {}
