"""Gathers the pages of the docs, writes those that come from the code, and builds the site.

The pages are those of the repository's root, of docs/ and of each paper's folder; and three that
are written from the code: Python names, the command line, and the schema of a sweep file. Pages
keep their formulas and their links: a link to a file that is no page becomes plain text, since a
site has no source tree.

python docs/make_site.py out/site
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import UnionType
from typing import get_args

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from tools.committed import own_papers  # noqa: E402
from tools.mathematics import write_formulas  # noqa: E402

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
PICTURES = (".png", ".gif", ".svg")
PAGES = (".md", ".ipynb")
MADE = {  # pages written from the code, as the index of the site lists them
    "reference.md": "Python names",
    "command-line.md": "The command line",
    "sweep-file.md": "The sweep file",
}
CALLED = {  # packages that can be called: where the function is
    "tt.claims": "tutelage.studies.theorems",
    "tt.papers": "tutelage.studies.discovery",
    "tt.studies": "tutelage.studies.discovery",
}
ROOT_PAGES = {  # docs/ has a contributing.md and a security.md of its own
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "how-to-contribute.md",
    "SECURITY.md": "security-policy.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
}


def find_pages() -> dict[Path, str]:
    """Where each page and picture of the repository stands in the site."""
    places = {ROOT / name: place for name, place in ROOT_PAGES.items()}
    places |= {path: path.name for path in DOCS.iterdir() if path.suffix in PAGES}
    places |= {path: f"figures/{path.name}" for path in (DOCS / "figures").iterdir()}
    places |= {path: f"notebooks/{path.name}" for path in (DOCS / "notebooks").glob("*.ipynb")}
    for paper in own_papers():
        for path in sorted((paper.folder / "docs").rglob("*")):
            if path.suffix in (*PAGES, *PICTURES):
                inside = path.relative_to(paper.folder / "docs").as_posix()
                places[path] = f"papers/{paper.name}/{inside}"
        for path in (paper.folder / "results").glob("*.md"):
            places[path] = f"papers/{paper.name}/results/{path.name}"
    return places


def move_links(text: str, page: Path, places: dict[Path, str]) -> str:
    """The page's links as the site has them."""
    here = places[page]

    def move(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or not path:
            return found[0]
        there = (page.parent / path).resolve()
        if there not in places:
            return words if not mark else ""
        moved = os.path.relpath(places[there], Path(here).parent).replace(os.sep, "/")
        return f"{mark}[{words}]({moved}{hash_sign}{anchor})"

    parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)
    return "".join(part if part.startswith("```") else LINK.sub(move, part) for part in parts)


def make_contents(index: str) -> str:
    """The index with the pages that are written from the code, and with a hidden tree per section,
    from which the sidebar is made.
    """
    links = "\n".join(f"- [{words}]({name})" for name, words in MADE.items())
    index = re.sub(r"<!-- made -->.*?<!-- /made -->", links, index, flags=re.S)
    sections = re.split(r"(?m)^## ", index)
    found = [sections[0]]
    for section in sections[1:]:
        heading, _, body = section.partition("\n")
        pages = [
            f"{words} <{re.sub(r'[.](md|ipynb)$', '', target)}>"
            for _, words, target in LINK.findall(body)
            if target.endswith(PAGES) and not target.startswith("..")
        ]
        tree = "\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```"])
        found.append(f"## {heading}\n\n{body.strip()}\n\n{tree}\n\n")
    return "".join(found)


def make_paper_tree(pages: list[str]) -> str:
    """The studies of a paper below its landing page."""
    inside = [page.removesuffix(".md") for page in sorted(pages) if page != "index.md"]
    return "\n".join(["", "```{toctree}", ":hidden:", "", *inside, "```", ""])


# --------------------------------------------------------------------- pages made from the code


def make_reference() -> str:
    """Every public name: signature with shapes, equation, fields and methods."""
    import tutelage as tt

    lines = [
        "# Python names",
        "",
        "[Contents](index.md)",
        "",
        "Everything that `import tutelage as tt` gives, in the order of the alphabet. Shapes are "
        'those of the annotations: `Float[Array, "M d"]` is an array of numbers with M rows and '
        "d columns.",
    ]
    for name in sorted(tt.__all__, key=str.lower):
        lines += ["", f"## {name}", "", *describe(f"tt.{name}", getattr(tt, name))]
    return "\n".join([*lines, ""])


def describe(name: str, value: object) -> list[str]:
    """A signature and a docstring; of a class its public methods, too; of a package that can be
    called, what calling it does.
    """
    if inspect.ismodule(value):
        value = getattr(importlib.import_module(CALLED[name]), name.removeprefix("tt."))
    lines = ["```python", write_signature(name, value), "```", "", write_docstring(value)]
    if not inspect.isclass(value):
        return lines
    if issubclass(value, enum.Enum):
        lines += [
            "",
            *(f"- `{one.name}`: {one.value}".removesuffix(f": {one.name}") for one in value),
        ]
    if dataclasses.is_dataclass(value):
        asked = inspect.signature(value).parameters  # which the signature shows
        fields = [f for f in dataclasses.fields(value) if f.name not in asked]
        lines += ["", *(f"- `{f.name}`: `{f.type}`" for f in fields)] if fields else []
    for method, member in vars(value).items():
        if method.startswith("_") or not inspect.getdoc(member):
            continue
        if inspect.isfunction(member) or isinstance(member, classmethod | staticmethod | property):
            inner = member.fget if isinstance(member, property) else member
            called = inspect.unwrap(getattr(inner, "__func__", inner))
            said = "" if isinstance(member, property) else write_signature("", called)
            lines += ["", f"**`{method}{said}`** {write_docstring(member)}"]
    return lines


class Written:
    """An annotation as it stands in the source, without quotes."""

    def __new__(cls, annotation: object) -> object:
        return super().__new__(cls) if isinstance(annotation, str) else annotation

    def __init__(self, annotation: object):
        self.words = str(annotation).strip('"')

    def __repr__(self) -> str:
        return self.words


def write_signature(name: str, value: object) -> str:
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    parameters = [
        one.replace(annotation=Written(one.annotation))
        for one in found.parameters.values()
        if one.name not in ("self", "cls")
    ]
    made = inspect.isclass(value)  # calling it gives an object of the class, and not None
    returned = inspect.Signature.empty if made else Written(found.return_annotation)
    said = str(found.replace(parameters=parameters, return_annotation=returned))
    said = re.sub(r"<([A-Z]\w+\.[A-Z]+): [^<>]*>", r"\1", said)  # a member of an enumeration
    said = re.sub(r"<function (\w+) at [^<>]*>", r"\1", said)
    said = re.sub(r"<[^<>]*>", "...", said)  # other values that have no short name
    if name and len(name) + len(said) > 90:
        said = re.sub(r", (?=\w+:|\*|/)", ",\n    ", said).replace("(", "(\n    ", 1)
    return f"{name}{said}"


def write_docstring(value: object) -> str:
    text = re.sub(
        r"^(\s*)(Parameters|Returns)\n\s*-+$", r"\1\2:", inspect.getdoc(value) or "", flags=re.M
    )
    return write_formulas(text)


def make_commands() -> str:
    """The help of every command, as a terminal of 80 columns shows it."""
    import io

    from rich.console import Console

    from tutelage.cli.app import make_app
    from tutelage.cli.commands import format_help

    lines = [
        *("# The command line", "", "[Contents](index.md)", ""),
        "What `tutelage COMMAND --help` prints.",
    ]
    lines += ["", "## tutelage", "", "```text", format_help(), "```"]
    for words in list_commands():
        said = io.StringIO()
        console = Console(file=said, width=80, color_system=None)
        make_app(words[0]).help_print(words, console=console)
        title = " ".join(["tutelage", *words])
        lines += ["", f"## {title}", "", "```text", said.getvalue().strip(), "```"]
    return "\n".join([*lines, ""])


def list_commands() -> list[list[str]]:
    """The words of every command, also of those below another, such as `runs show`."""
    from tutelage.cli.app import app

    found: list[list[str]] = []
    for name in sorted(name for name in app if not name.startswith("-")):
        below = sorted(word for word in app[name] if not word.startswith("-"))
        found += [[name], *([name, word] for word in below)]
    return found


TYPES = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}


def make_schema() -> dict[str, object]:
    """The JSON schema of a sweep file, from the table by which `tutelage sweep` reads one."""
    from tutelage.studies.sweep_claims import CLAIMS
    from tutelage.studies.sweep_files import FIELDS, ITEMS

    entries: dict[str, object] = {}
    for name, field in FIELDS.items():
        kinds = get_args(field.type) if isinstance(field.type, UnionType) else (field.type,)
        words = [TYPES[kind] for kind in kinds]
        entry: dict[str, object] = {
            "description": field.sentence,
            "type": words[0] if len(words) == 1 else words,
        }
        if name in ITEMS:
            entry["items"] = {"type": TYPES[ITEMS[name]]}
        entries[name] = entry
    claims = [
        {
            "properties": {"kind": {"const": kind}},
            "required": ["kind", *known.needs],
            "propertyNames": {"enum": ["kind", *known.needs, *known.may_have]},
        }
        for kind, known in CLAIMS.items()
    ]
    entries["claims"]["items"] = {"type": "object", "oneOf": claims}  # type: ignore[index]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A sweep of tutelage",
        "type": "object",
        "properties": entries,
        "additionalProperties": False,
        "oneOf": [{"required": ["study"]}, {"required": ["setting"]}],
    }


def make_sweep_page() -> str:
    return "\n".join(
        [
            "# The sweep file",
            "",
            "[Contents](index.md)",
            "",
            "A sweep file is TOML. [Sweeps](sweeps.md) explains its entries. This is its JSON "
            "schema, for editors that check files while you write: save "
            "[sweep.schema.json](sweep.schema.json) beside your file, and begin the file with "
            "`#:schema sweep.schema.json`.",
            "",
            "```json",
            json.dumps(make_schema(), indent=2),
            "```",
            "",
        ]
    )


# --------------------------------------------------------------------------------- the site


def gather(source: Path) -> None:
    """All pages below one folder, as Sphinx wants them."""
    places = find_pages()
    for path, place in places.items():
        there = source / place
        there.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copy(path, there)
            continue
        text = move_links(path.read_text(encoding="utf-8"), path, places)
        if path == DOCS / "index.md":
            text = make_contents(text)
        if place.endswith("/index.md"):
            beside = [p.name for p in path.parent.glob("*.md")]
            text += make_paper_tree(beside)
        there.write_text(text, encoding="utf-8")
    for name, make in zip(MADE, (make_reference, make_commands, make_sweep_page), strict=True):
        (source / name).write_text(make(), encoding="utf-8")
    (source / "sweep.schema.json").write_text(json.dumps(make_schema(), indent=2))
    for path in (DOCS / "site").glob("*.py"):
        shutil.copy(path, source / path.name)


def main(out: Path) -> None:
    source = out / "source"
    shutil.rmtree(source, ignore_errors=True)
    gather(source)
    words = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(out / "trees")]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words, str(source), str(out / "html")])
    if done.returncode:
        raise SystemExit(done.returncode)
    print(f"Open {out / 'html' / 'index.html'}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
