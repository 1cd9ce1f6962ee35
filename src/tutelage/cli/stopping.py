"""Being told to stop, by Ctrl-C or a cluster's warning: runs are saved where they stand."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutelage.running.store import Store

# What schedulers send before they kill: SIGTERM by default, USR1 or USR2 by `sbatch --signal`. HUP
# when a terminal goes away.
WARNINGS = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGHUP")
TEMPORARY = 75  # EX_TEMPFAIL of sysexits.h: all is saved, run the same command again


class Warned(KeyboardInterrupt):
    """A signal asked the process to end; like Ctrl-C, but the exit code says that it should be run
    again.
    """


class Lost(KeyboardInterrupt):
    """It was stopped, and not all could be saved; says what was not."""


@contextlib.contextmanager
def stopping_on_signals(store: Store) -> Iterator[None]:
    """Turns a warning signal into the same clean stop as Ctrl-C; runs end in `store`."""

    def stop(number: int, frame: FrameType | None) -> None:
        for known in watched:  # a second warning must not break into the saving
            signal.signal(known, signal.SIG_IGN)
        raise Warned(signal.Signals(number).name)

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print(
            "\ntutelage: saving what is under way; Ctrl-C again ends at once, without.",
            file=sys.stderr,
        )
        raise KeyboardInterrupt

    watched = [one for one in signal.Signals if one.name in WARNINGS]  # Windows has fewer
    before = {number: signal.signal(number, stop) for number in watched}
    before[signal.Signals.SIGINT] = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except KeyboardInterrupt as stopped:
        if store.lost:
            raise Lost(store.lost) from stopped
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
