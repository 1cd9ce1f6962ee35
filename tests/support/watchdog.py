"""Ends what would hang, so that a test fails where the code would never return."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def give_up_after(seconds: float) -> Iterator[None]:
    """Raises TimeoutError inside of the block once that much time has passed."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"still at work after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
