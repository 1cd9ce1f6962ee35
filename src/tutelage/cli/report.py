"""`report`: what was run, as one page or table."""

from __future__ import annotations

from pathlib import Path

from tutelage.cli.options import Imports
from tutelage.refuse import Refused

FORMATS = (".html", ".md", ".csv", ".tex")


def report(*folders: Path, out: Path | None = None, imports: Imports = ()) -> int:
    """Write one report of all studies under some folders: a page that opens without a network,
    Markdown, CSV or LaTeX.

    A study that cannot be read is named and left out; the command exits with 1 then.

    Parameters
    ----------
    folders
        Folders that `tutelage run` wrote to, by default `out`.
    out
        The file to write, by default `report.html` in the first folder; its ending (.html, .md,
        .csv, .tex) says what it is.
    """
    from tutelage.plugins import import_all
    from tutelage.report import (
        gather_all,
        render_csv,
        render_latex,
        render_markdown,
        render_page,
    )
    from tutelage.running.store.places import say_why
    from tutelage.studies.outputs import write_files

    import_all(imports)  # a paper's own order of studies is that of the report
    chosen = folders or (Path("out"),)
    target = out if out is not None else chosen[0] / "report.html"
    if target.suffix not in FORMATS:
        raise Refused(
            f"`--out` says by its ending what to write: {', '.join(FORMATS)}. Got {target}."
        )
    if not target.parent.is_dir():
        raise Refused(f"The report is written into a folder that exists. Got {target}.")
    studies, unread = gather_all(chosen)
    if target.suffix == ".html":
        text = render_page(studies, unread)
    elif target.suffix == ".csv":
        text = render_csv(studies)
    elif target.suffix == ".tex":
        text = render_latex(studies)
    else:
        text = render_markdown(studies, target.parent, unread)
    try:
        write_files({target: text})
    except OSError as error:
        raise Refused(
            f"The report cannot be written to {target}: {say_why(error)}. Make room or make the "
            "folder writable, or give another file (`--out`). What was there is as it was."
        ) from None
    print(
        f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}, "
        f"{sum(len(study.verdicts) for study in studies)} verdicts: {target}"
    )
    return 1 if unread else 0
