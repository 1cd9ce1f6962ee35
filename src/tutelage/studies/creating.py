"""A new paper: a copy of the skeleton under another name, which installs and passes as it is."""

from __future__ import annotations

import ast
import datetime
import importlib.util
import keyword
import os
import re
from pathlib import Path

from tutelage.refuse import Refused, show
from tutelage.running.store.places import say_why
from tutelage.studies.discovery import papers

TEMPLATE = Path(__file__).parents[1] / "template"
NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")
# Where files go whose names would hide them, or have them run, in the template itself.
PLACES = {"theorems.yml": ".github/workflows/theorems.yml", "gitignore": ".gitignore"}
TEXTS = (".py", ".toml", ".md", ".yml", "")


def create_paper(
    name: str, folder: Path, *, title: str = "", authors: str = "Your Name"
) -> list[Path]:
    """Writes the package of a paper into a folder that is new or empty, and gives its files."""
    _check_name(name)
    if os.path.exists(folder) and (not os.path.isdir(folder) or any(folder.iterdir())):
        raise Refused(
            "A new paper is written into a folder that is new or empty, since it replaces no file. "
            f"Got {folder}, which is neither (`--folder`)."
        )
    for option, text in (("title", title), ("authors", authors)):
        _check_text(option, text)
    renames = _renames(name, title or name.replace("-", " ").capitalize(), authors)
    written: list[Path] = []
    try:
        _write_all(folder, renames, written)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise Refused(
            f"The paper cannot be written to {show(str(folder))}: {say_why(error)}. Make room or "
            "make the folder writable, or give another (`--folder`)."
        ) from None
    return written


def _write_all(folder: Path, renames: dict[str, str], written: list[Path]) -> None:
    for path in sorted(TEMPLATE.rglob("*")):
        if not path.is_file() or path.suffix not in TEXTS or "__pycache__" in path.parts:
            continue
        place = str(path.relative_to(TEMPLATE))
        target = folder / _replace(PLACES.get(place, place), renames)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_replace(path.read_text(encoding="utf-8"), renames), encoding="utf-8")
        written.append(target)


def _check_text(option: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused(
            f"`--{option}` must be text that UTF-8 can hold, since it stands in the paper's files. "
            f"Got {show(text)}."
        ) from None


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise Refused(
            "The name of a paper has lower-case words and hyphens and begins with a letter, since "
            f"it is typed and names a package. Got {name!r}."
        )
    package = name.replace("-", "_")
    if keyword.iskeyword(package):
        raise Refused(
            f"The name of a paper must not be a word of Python, since it names a package. Got "
            f"{name!r}."
        )
    if name in papers() or importlib.util.find_spec(package) is not None:
        raise Refused(
            "A new paper must have a name that is not taken, since papers and packages are found "
            f"by theirs. Got {name!r}, which is installed."
        )


def _renames(name: str, title: str, authors: str) -> dict[str, str]:
    """What stands in the skeleton, and what stands for it in the paper."""
    (package,) = (path.parent.name for path in TEMPLATE.glob("*/__init__.py"))
    cited = _citation(TEMPLATE / package / "__init__.py")
    year, key = str(datetime.date.today().year), re.search(r"@misc\{(\w+),", cited["bibtex"])
    parts = (TEMPLATE / package / "parts.py").read_text(encoding="utf-8")
    teacher = re.search(r'@register\("teacher", ("[\w-]+")', parts)
    assert key is not None
    assert teacher is not None
    return {
        key[1]: f"{name.replace('-', '')}{year}",
        cited["title"]: _quoted(title),
        cited["authors"]: _quoted(authors),
        cited["year"]: year,
        package: name.replace("-", "_"),
        package.replace("_", "-"): name,
        # Parts of all papers share one table of names.
        teacher[1]: f'"{name}-{teacher[1][1:]}',
    }


def _citation(file: Path) -> dict[str, str]:
    """What the skeleton's `Paper` is cited by: title, authors, year and bibtex."""
    found = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant) and node.arg:
            found[node.arg] = str(node.value.value)
    return found


def _quoted(text: str) -> str:
    """As it may stand inside of double quotes, on one line."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')


def _replace(text: str, renames: dict[str, str]) -> str:
    """All at once, so that nothing that was put in is replaced again."""
    pattern = re.compile("|".join(re.escape(old) for old in sorted(renames, key=len, reverse=True)))
    return pattern.sub(lambda found: renames[found[0]], text)
