"""Reports: studies that have been run, as a page, a summary or a table.

They read what `run` wrote, and never train. What they know of a paper comes from its folder.
"""

from tutelage.report.comparing import compare, render_changes
from tutelage.report.gather import FinishedStudy, Unread, gather_all, gather_studies
from tutelage.report.page import render_page
from tutelage.report.summary import render_latex, render_markdown
from tutelage.report.tables import render_csv

__all__ = [
    "FinishedStudy",
    "Unread",
    "compare",
    "gather_all",
    "gather_studies",
    "render_changes",
    "render_csv",
    "render_latex",
    "render_markdown",
    "render_page",
]
