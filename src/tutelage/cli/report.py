"""`report`: what was run, as one page, summary or table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tutelage.cli.options import Flag, Imports
from tutelage.refuse import Refused

if TYPE_CHECKING:
    from tutelage.report import FinishedStudy, Unread

FORMATS = (".html", ".md", ".csv", ".tex")


def report(
    *folders: Path,
    out: Path | None = None,
    compare: Flag = False,
    appendix: Flag = False,
    imports: Imports = (),
) -> int:
    """Write a report of all studies under some folders: a page per paper and one for all, or a
    summary, CSV or LaTeX.

    A page opens without a network, follows the light or dark theme, and prints as a short document.
    A study that cannot be read is named and left out, and the command then exits with 1.

    Parameters
    ----------
    folders
        Folders that `tutelage run` wrote to, by default `out`. With `--compare` two: OLD NEW.
    out
        What to write: a file whose ending says what it is (.html, .md for a review, .csv with every
        digit, .tex for a paper), or a folder for the pages. By default the first folder.
    compare
        Show what changed from the first folder to the second instead; with `--out` as Markdown.
    appendix
        Open all details in the pages: every verdict, setting and run.
    """
    from tutelage.plugins import import_all

    import_all(imports)  # a paper's own order of studies is that of the report
    if compare:
        return _compare(folders, out)
    chosen = folders or (Path("out"),)
    target = out if out is not None else chosen[0]
    _check_target(target)
    from tutelage.report import gather_all

    studies, unread = gather_all(chosen)
    if target.suffix:
        written = _render_one(studies, unread, target, appendix=appendix)
    else:
        written = _render_pages(studies, unread, target, appendix=appendix)
    _write(written)
    verdicts = sum(len(study.verdicts) for study in studies)
    print(
        f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}, "
        f"{verdicts:,} {'verdict' if verdicts == 1 else 'verdicts'}: "
        f"{', '.join(str(path) for path in written)}"
    )
    return 1 if unread else 0


def _check_target(target: Path) -> None:
    if target.suffix and target.suffix not in FORMATS and not os.path.isdir(target):
        raise Refused(
            f"`--out` says by its ending what to write: {', '.join(FORMATS)}; or it is a folder. "
            f"Got {target}."
        )
    if target.suffix and not os.path.isdir(target.parent):
        raise Refused(f"The report is written into a folder that exists. Got {target}.")


def _render_one(
    studies: Sequence[FinishedStudy],
    unread: dict[Path, Unread],
    target: Path,
    *,
    appendix: bool,
) -> dict[Path, str]:
    """One file with all studies."""
    from tutelage.report import render_csv, render_latex, render_markdown, render_page

    if target.suffix == ".html":
        return {target: render_page(studies, unread, appendix=appendix)}
    if target.suffix == ".csv":
        return {target: render_csv(studies)}
    if target.suffix == ".tex":
        return {target: render_latex(studies)}
    return {target: render_markdown(studies, target.parent, unread)}


def _render_pages(
    studies: Sequence[FinishedStudy],
    unread: dict[Path, Unread],
    folder: Path,
    *,
    appendix: bool,
) -> dict[Path, str]:
    """`report.html` with all papers, and where there are several one in a folder per paper."""
    from tutelage.report import render_page

    pages = {folder / "report.html": render_page(studies, unread, appendix=appendix)}
    papers = list(dict.fromkeys(study.name.partition("/")[0] for study in studies))
    for paper in papers if len(papers) > 1 else ():
        own = [study for study in studies if study.name.startswith(f"{paper}/")]
        pages[folder / paper / "report.html"] = render_page(own, appendix=appendix)
    return pages


def _compare(folders: Sequence[Path], out: Path | None) -> int:
    from tutelage.report import compare, render_changes

    if len(folders) != 2:
        raise Refused(
            "`--compare` takes two folders, OLD NEW, since it shows what changed from one to the "
            f"other. Got {len(folders)}."
        )
    if out is not None and out.suffix != ".md":
        raise Refused(f"`--compare` writes Markdown, a file that ends in .md. Got {out}.")
    text = render_changes(compare(*folders), *folders)
    if out is None:
        print(text)
        return 0
    _write({out: text})
    print(f"changes: {out}")
    return 0


def _write(files: dict[Path, str]) -> None:
    from tutelage.running.store.places import say_why
    from tutelage.studies.outputs import write_files

    try:
        for path in files:
            if not os.path.isdir(path.parent):
                path.parent.mkdir(parents=True)
        write_files(files)
    except OSError as error:
        raise Refused(
            f"The report cannot be written to {next(iter(files))}: {say_why(error)}. Make room or "
            "make the folder writable, or give another file (`--out`). The earlier file is "
            "unchanged."
        ) from None
