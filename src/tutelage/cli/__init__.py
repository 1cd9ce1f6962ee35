"""The command line. Nothing here, in `list` or in `runs` imports JAX: only computing does."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from tutelage.cli.commands import format_greeting, format_help
from tutelage.refuse import Refused

UNREAD = 128 + 13  # as a shell says of a program that SIGPIPE ended
HELP: tuple[list[str], ...] = (["--help"], ["-h"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Exits with 0 when the work was done, 1 when a run or (with `--strict`) a claim failed or
    results could not be written, 2 for bad use, 75 when a signal stopped it and it should be run
    again, 130 for Ctrl-C, 141 when nobody reads on.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A folder may have any name, and a terminal may lack a letter: shown as \u0398.
        sys.stdout.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given or given in HELP:  # answered before anything is loaded
        print(format_help() if given else format_greeting())
        sys.exit(0)
    try:  # Ctrl-C may come in the second that this takes
        from tutelage.cli.app import call
        from tutelage.cli.messages import install_messages
        from tutelage.cli.stopping import TEMPORARY, Lost, Warned
    except KeyboardInterrupt:
        print("tutelage: stopped before anything was begun.", file=sys.stderr)
        sys.exit(130)

    install_messages()
    try:
        code = call(given)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = UNREAD
    except Refused as refused:
        print(f"tutelage: {refused}", file=sys.stderr)
        code = 2
    except MemoryError as error:
        print(
            "tutelage: there was not enough memory for what was asked"
            f"{f' ({error})' if str(error) else ''}. All finished runs are saved. Ask for smaller "
            "sizes, or for fewer processes with `--jobs`.",
            file=sys.stderr,
        )
        code = 1
    except Lost as lost:
        print(f"tutelage: stopped. {lost}", file=sys.stderr)
        code = 1
    except Warned as signal:
        print(
            f"tutelage: stopped by {signal}. All runs are saved; the same "
            "command goes on from there.",
            file=sys.stderr,
        )
        code = TEMPORARY
    except KeyboardInterrupt:
        print(
            "tutelage: stopped. All runs are saved; the same command goes on from there.",
            file=sys.stderr,
        )
        code = 130
    sys.exit(code)
