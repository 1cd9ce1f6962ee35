"""`report`: what was run, as one page or table."""

from __future__ import annotations

from pathlib import Path

from tutelage.refuse import Refused

FORMATS = (".html", ".md", ".csv", ".tex")


def report(*folders: Path, out: Path | None = None) -> None:
    """Write one report of all studies under some folders: a page that opens without a network,
    Markdown, CSV or LaTeX.

    Parameters
    ----------
    folders
        Folders that `tutelage run` wrote to, by default `out`.
    out
        The file to write, by default `report.html` in the first folder; its ending (.html, .md,
        .csv, .tex) says what it is.
    """
    from tutelage.report import as_csv, as_latex, as_markdown, gathered, page

    chosen = folders or (Path("out"),)
    target = out if out is not None else chosen[0] / "report.html"
    if target.suffix not in FORMATS:
        raise Refused(
            f"`--out` says by its ending what to write: {', '.join(FORMATS)}. Got {target}."
        )
    if not target.parent.is_dir():
        raise Refused(f"The report is written into a folder that exists. Got {target}.")
    studies = gathered(chosen)
    made = {
        ".html": page,
        ".csv": as_csv,
        ".tex": as_latex,
        ".md": lambda told: as_markdown(told, target.parent),
    }[target.suffix](studies)
    target.write_text(made, encoding="utf-8")
    print(
        f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}, "
        f"{sum(len(told.verdicts) for told in studies)} verdicts: {target}"
    )
