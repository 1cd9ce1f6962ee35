"""The answer to `/api/run`: a run as lines of JSON while it goes on."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tutelage.explorer.limits import Limits
from tutelage.explorer.loopback import is_loopback
from tutelage.explorer.patience import describe_lateness, gone
from tutelage.explorer.reading import Event
from tutelage.explorer.saved import Held
from tutelage.explorer.site import Site
from tutelage.explorer.slots import Slots
from tutelage.explorer.states import read_state
from tutelage.explorer.stream import LOG, Follower, Known
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

WAITING = 64  # runs in the queue


class Shared(Protocol):
    """What all visitors share, as far as a run needs it."""

    site: Site
    limits: Limits
    slots: Slots
    known: Known
    held: Held
    stops: dict[str, threading.Event]  # of the run of each visitor
    streams: set[EventStream]
    work: set[asyncio.Future[None]]

    def start(self, work: Callable[[], None]) -> None: ...


class EventStream(Response):
    """A run as lines of JSON; it stops when the client goes away."""

    def __init__(self, explorer: Shared, query: str, visitor: str, client: str) -> None:
        super().__init__(media_type="application/x-ndjson")
        del self.headers["content-length"]
        self.explorer, self.query, self.visitor = explorer, query, visitor
        # By its own name only on this machine, where many windows have one address: elsewhere a
        # client could take all slots under many names.
        self.who = (visitor.partition(".")[0] if is_loopback(client) else "") or client
        self.stop = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        self.events: asyncio.Queue[Event | None] = asyncio.Queue()
        left = asyncio.ensure_future(gone(receive))
        work = asyncio.ensure_future(self._work(self.events))
        self.explorer.streams.add(self)
        self.explorer.work.add(work)
        work.add_done_callback(self.explorer.work.discard)
        try:
            while True:
                coming = asyncio.ensure_future(self.events.get())
                await asyncio.wait([coming, left], return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    return
                if (event := coming.result()) is None:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return
                line = json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n"
                await send({"type": "http.response.body", "body": line.encode(), "more_body": True})
        finally:
            self.stop.set()  # the run ends at its next pause, and leaves its slot then
            self.explorer.streams.discard(self)
            left.cancel()

    async def _work(self, events: asyncio.Queue[Event | None]) -> None:
        """Waits for a slot, runs in a thread of its own, and leaves the slot when that has
        ended.
        """
        stops, key = self.explorer.stops, self.visitor or f"#{id(self)}"
        if key in stops:
            stops[key].set()  # a visitor's new run replaces their old one
        stops[key] = self.stop
        ticket = self.explorer.slots.enter(self.who)
        loop, ahead = asyncio.get_running_loop(), 0

        def put(event: Event) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(events.put_nowait, event)

        def keep(run: Run) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self.explorer.held.add, run)

        try:
            if len(self.explorer.slots.waiting) > WAITING:
                raise Refused(f"At most {WAITING} runs wait here. Try again when some have ended.")
            state = read_state(self.query, self.explorer.site)
            while not ticket.ready and not self.stop.is_set():
                if ahead != (ahead := self.explorer.slots.ahead(ticket)):
                    events.put_nowait({"event": "queued", "ahead": ahead})
                ticket.changed.clear()
                try:
                    await asyncio.wait_for(ticket.changed.wait(), 0.2)
                except TimeoutError:
                    continue
            if ticket.ready and not self.stop.is_set():
                follower = Follower(
                    state, put, self.stop, self.explorer.limits, self.explorer.known, keep
                )
                await self._in_thread(follower, events)
            else:
                events.put_nowait(_stopped("It was stopped."))
        except Refused as refused:
            events.put_nowait({"event": "error", "sentence": str(refused)})
        except Exception as error:
            LOG.exception("a run of the explorer could not begin")
            events.put_nowait(
                {
                    "event": "error",
                    "sentence": f"stopped by an error: {type(error).__name__}: {error}",
                }
            )
        finally:
            self.explorer.slots.leave(ticket)
            if stops.get(key) is self.stop:
                del stops[key]
            loop.call_soon(events.put_nowait, None)

    async def _in_thread(self, follower: Follower, events: asyncio.Queue[Event | None]) -> None:
        """Until the thread has ended. One that still prepares when its time is up is told to stop,
        and the answer ends without waiting for it.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def work() -> None:
            follower()
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(None))

        self.explorer.start(work)
        seconds = self.explorer.limits.seconds
        await asyncio.wait([done], timeout=seconds)
        if not done.done() and not follower.prepared:
            self.stop.set()
            events.put_nowait(_stopped(describe_lateness(seconds), seconds))
            events.put_nowait(None)
        await done


def _stopped(sentence: str, seconds: float = 0.0) -> Event:
    """The last event of a run that has no curves."""
    return {
        "event": "end",
        "outcome": Outcome.STOPPED.name,
        "sentence": sentence,
        "seconds": seconds,
        "identity": "",
    }
