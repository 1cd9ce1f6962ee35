"""The commands as an application that reads its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App, CycloptsError

from tutelage.cli.commands import ABOUT, COMMANDS
from tutelage.cli.paragraphs import Paragraphs
from tutelage.version import __version__


def make_app(asked: str = "") -> App:
    """All commands, none imported; the one that is asked for shows all of its own help."""
    made = App(
        name="tutelage",
        help=ABOUT,
        version=__version__,
        help_formatter=Paragraphs(),
        help_format="plaintext",  # a parser of Markdown takes a twentieth of a second to load
        suppress_keyboard_interrupt=False,  # `main` says what was saved
    )
    for name, (place, sentence) in COMMANDS.items():
        brief = None if name == asked else sentence
        made.command(f"tutelage.cli.{place}", name=name, help=brief)
    return made


app = make_app()


def call(arguments: Sequence[str]) -> int:
    """Does what is asked; 2 where the arguments are wrong, which is printed with the nearest
    match.
    """
    asked = make_app(next(iter(arguments), ""))
    try:
        code: int | None = asked(arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        return 2
    return code or 0
