"""Reports: studies that have been run, as one page, table or list. They read what `run` wrote, and
never train.
"""

from tutelage.report.gather import Told, gathered
from tutelage.report.page import page
from tutelage.report.record import about, command_of, words, words_of
from tutelage.report.tables import as_csv, as_latex, as_markdown

__all__ = [
    "Told",
    "about",
    "as_csv",
    "as_latex",
    "as_markdown",
    "command_of",
    "gathered",
    "page",
    "words",
    "words_of",
]
