"""The help of a command in paragraphs: a line of a docstring ends where the terminal does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclopts.help import DefaultFormatter

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel, InlineText
    from rich.console import Console, ConsoleOptions

LINE_END = re.compile(r"(?<!\n)\n(?!\n)")  # within a paragraph; an empty line begins another


class Paragraphs(DefaultFormatter):
    """The usual help, without the line ends of the source."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        for entry in panel.entries:
            join_lines(entry.description)
        super().__call__(console, options, panel)

    def render_description(
        self, console: Console, options: ConsoleOptions, description: InlineText
    ) -> None:
        join_lines(description)
        super().render_description(console, options, description)


def join_lines(described: InlineText) -> None:
    """Joins the lines of each paragraph of what cyclopts made of a docstring."""
    from rich.text import Text

    words = described.primary_renderable
    if isinstance(words, Text):
        words.plain = LINE_END.sub(" ", words.plain)
