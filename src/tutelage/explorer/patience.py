"""How long someone is served: while they listen, and until their time is up.

Neither a part that is being built nor a program that compiles can be stopped from outside. So the
answer ends at its time, what is under way ends at the next pause, and its slot is free after that.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from starlette.types import Receive

from tutelage.explorer.slots import Slots
from tutelage.refuse import Refused

Answer = TypeVar("Answer")
Start = Callable[[Callable[[], None]], None]  # does something in a thread


class Left(Exception):
    """No one listens any more."""


class Patience:
    """Asked before each part is built: raises once no one listens, or time is up."""

    def __init__(self, seconds: float, stop: threading.Event) -> None:
        self.seconds, self.stop, self.begin = seconds, stop, time.monotonic()

    def __call__(self, kind: str) -> None:
        if self.stop.is_set():
            raise Left
        if time.monotonic() - self.begin > self.seconds:
            raise Refused(describe_lateness(self.seconds))


def describe_lateness(seconds: float) -> str:
    return (
        f"It was stopped after {seconds:g} s, the longest that one run may take here, while it was "
        "still being prepared. A smaller one takes less."
    )


async def gone(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Served(Generic[Answer]):
    """One answer that is worked out in a thread, in a slot of its own, while someone listens."""

    def __init__(self, slots: Slots, who: str, seconds: float, start: Start) -> None:
        self.slots, self.who, self.seconds, self.start = slots, who, seconds, start
        self.stop = threading.Event()

    async def __call__(self, make: Callable[[Patience], Answer], receive: Receive) -> Answer:
        """What `make` returns, or raises. Raises `Left` when the client has left, and refuses when
        time is up.
        """
        work = asyncio.ensure_future(self._work(make))
        left = asyncio.ensure_future(gone(receive))
        try:
            await asyncio.wait(
                [work, left], timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if work.done():
                return work.result()
            if left.done():
                raise Left
            raise Refused(describe_lateness(self.seconds))
        finally:
            self.stop.set()
            left.cancel()
            work.add_done_callback(_forget)

    async def _work(self, make: Callable[[Patience], Answer]) -> Answer:
        """Waits for a slot, and leaves it when the thread has ended."""
        ticket = self.slots.enter(self.who)
        try:
            while not ticket.ready:
                if self.stop.is_set():
                    raise Left
                ticket.changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(ticket.changed.wait(), 0.2)
            loop = asyncio.get_running_loop()
            done: asyncio.Future[Answer] = loop.create_future()
            patience = Patience(self.seconds, self.stop)

            def work() -> None:
                try:
                    patience("")
                    answer = make(patience)
                except BaseException as error:
                    _tell(loop, done, done.set_exception, error)
                else:
                    _tell(loop, done, done.set_result, answer)

            self.start(work)
            return await done
        finally:
            self.slots.leave(ticket)


def _tell(
    loop: asyncio.AbstractEventLoop,
    done: asyncio.Future[Answer],
    how: Callable[..., None],
    what: object,
) -> None:
    with suppress(RuntimeError):  # the server has ended
        loop.call_soon_threadsafe(lambda: None if done.done() else how(what))


def _forget(work: asyncio.Future[Answer]) -> None:
    """An error that no one waits for any more is no fault of the server."""
    if not work.cancelled():
        work.exception()
