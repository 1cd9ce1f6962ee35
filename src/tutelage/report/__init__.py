"""Reports: studies that have been run, as one page, table or list.

They read what `run` wrote, and never train.
"""

from tutelage.report.gather import FinishedStudy, Unread, gather_all, gather_studies
from tutelage.report.page import render_page
from tutelage.report.tables import render_csv, render_latex, render_markdown

__all__ = [
    "FinishedStudy",
    "Unread",
    "gather_all",
    "gather_studies",
    "render_csv",
    "render_latex",
    "render_markdown",
    "render_page",
]
