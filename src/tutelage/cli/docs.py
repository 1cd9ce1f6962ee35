"""`docs`: the pages of the documentation in the terminal, also where only a wheel is installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tutelage.cli.formulas import to_unicode, write_plain
from tutelage.refuse import Refused, one_of_paths
from tutelage.studies.discovery import papers

PACKAGE = Path(__file__).parents[1]
# A wheel has the pages beside its modules; a clone has them at its top.
FOLDERS = (PACKAGE / "docs", PACKAGE.parents[1] / "docs")


def docs(page: str = "") -> None:
    """Print a page of the documentation, or list all pages.

    Parameters
    ----------
    page
        The name of a page such as `sweeps`, or of a study such as `teacher-models/rates`
        (`scaling` alone where only one paper has it). If omitted, the pages are listed.
    """
    found = find_pages()
    if page:
        name = page.removeprefix("docs/").removesuffix(".md")
        path = found[one_of_paths("page", name, found)]
        print_page(path.read_text(encoding="utf-8"))
        return
    width = max(map(len, found))
    titles = list_titles()
    for name, path in found.items():
        print(f"{name:<{width}}  {titles.get(name) or read_title(path)}")


def find_pages() -> dict[str, Path]:
    """Every page by name: those of the documentation, then `paper/page` of the papers."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    if folder is None:
        raise Refused(
            "The pages of the documentation are installed with the package, in the folder `docs`. "
            f"This installation has none in {PACKAGE}."
        )
    pages = {str(path.relative_to(folder).with_suffix("")): path for path in folder.rglob("*.md")}
    for path in (PACKAGE / "papers").glob("*/docs/*.md"):
        pages[f"{path.parts[-3].replace('_', '-')}/{path.stem}"] = path
    return dict(sorted(pages.items(), key=lambda item: ("/" in item[0], item[0])))


def list_titles() -> dict[str, str]:
    """The titles of all studies, whose pages have their names as headings."""
    return {
        f"{paper.name}/{short}": entry.title
        for paper in papers().values()
        for short, entry in paper.studies.items()
    }


def read_title(path: Path) -> str:
    """The first heading of a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
    return re.sub(r"\$([^$]+)\$", lambda found: to_unicode(found[1]), heading)


def print_page(text: str) -> None:
    """Rendered in a terminal, with formulas in Unicode; as Markdown in a pipe."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(write_plain(text)))
