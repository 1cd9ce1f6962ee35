"""What is attacked: something that takes input, and a way to give it one bad case."""

from __future__ import annotations

import abc
import contextlib
import io
import sys
from collections.abc import Sequence
from random import Random
from typing import ClassVar

from hardening.bad_input.yard import Yard

CODES = (0, 1, 2, 75, 130, 141)  # with which a command may end (docs/commands.md)


class Partial(AssertionError):
    """A result that was cut or changed was taken as whole."""


class Escaped(AssertionError):
    """What should have been refused in a sentence was not."""


class Target(abc.ABC):
    """One door for input. It is made once per process, and attacked many times."""

    name: ClassVar[str]
    share: ClassVar[int]  # of all cases, relative to the other targets
    seconds: ClassVar[float] = 30.0  # of processor time, after which a case hangs

    def __init__(self, yard: Yard) -> None:
        self.yard = yard

    def warm(self) -> None:  # noqa: B027 (most need nothing)
        """What makes the first cases as quick as the later ones, before there are thousands."""

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """Lets go of what is held between cases, where the process goes on."""

    @abc.abstractmethod
    def attack(self, draw: Random) -> bool:
        """Gives one bad input, all drawn from `draw`; whether it was taken, and not refused.

        What escapes is a defect, unless it is a `tutelage.Refused`.
        """


def call(arguments: Sequence[str], typed: str = "") -> tuple[int, str]:
    """Calls the command line in this process: its exit code, and what it printed."""
    from tutelage.cli import main

    written = io.BytesIO()  # encoded as a terminal's: half of a pair of characters is an error
    out = io.TextIOWrapper(written, "utf-8", write_through=True)
    errors = io.TextIOWrapper(written, "utf-8", "backslashreplace", write_through=True)
    before, sys.stdin = sys.stdin, io.StringIO(typed)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            main([_typed(word) for word in arguments])
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.stdin = before
    said = written.getvalue().decode("utf-8", "replace")
    if code not in CODES or "Traceback (most recent call last)" in said:
        raise Escaped(f"exit {code!r}: {said[-600:]}")
    return int(code), said


def _typed(word: str) -> str:
    """As a shell can give it: no zero byte, and half of a pair only where a byte is not UTF-8."""
    return word.replace("\0", "").replace("\ud800", "\udcff")
