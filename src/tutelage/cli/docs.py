"""`docs`: the pages of the documentation in the terminal, also where only a wheel is installed."""

from __future__ import annotations

import sys
from pathlib import Path

from tutelage.refuse import Refused, one_of_paths

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
    for name, path in found.items():
        print(f"{name:<{width}}  {read_title(path)}")


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


def read_title(path: Path) -> str:
    """The first heading of a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.lstrip("# ") for line in lines if line.startswith("#")), "")


def print_page(text: str) -> None:
    """Rendered in a terminal, as Markdown in a pipe."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
