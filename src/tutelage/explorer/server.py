"""The explorer's server: pages, and what they ask for. One object holds all that visitors share."""

from __future__ import annotations

import asyncio
import html
import ipaddress
import json
import socket
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from string import Template

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tutelage.cores import cores
from tutelage.explorer.catalogue import catalogue
from tutelage.explorer.describing import describe
from tutelage.explorer.limits import Limits
from tutelage.explorer.reading import Event
from tutelage.explorer.saved import Held, listed, opened
from tutelage.explorer.site import find_site
from tutelage.explorer.slots import Slots
from tutelage.explorer.states import read_state
from tutelage.explorer.stream import LOG, Follower, Known
from tutelage.explorer.studies import describe_study, list_studies
from tutelage.problem.registry import options_of
from tutelage.refuse import Refused, one_of

PAGE = Path(__file__).parent / "page"
TEMPLATE = "page.html"  # of every page; $title, $page and $script are filled in
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    "": "text/plain; charset=utf-8",
}
# No other site may show the page in a frame, where a click could be led to start a run; nor may
# what stands on the page change where its links lead, or send a form anywhere.
HEADERS = {
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src "
    "'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
WAITING = 64  # runs in the queue
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Explorer:
    """What all visitors share: the limits, the slots, the shapes that are compiled, the store."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        store: str = "out",
        limits: Limits | None = None,
        slots: int | None = None,
    ) -> None:
        self.host, self.store, self.limits = host, store, limits or Limits()
        self.site = find_site()
        self.slots = Slots(slots or cores())
        self.known, self.held = Known(), Held()
        self.stops: dict[str, threading.Event] = {}  # of the run of each visitor
        self.streams: set[EventStream] = set()
        # Held here, since a task that no one holds may vanish.
        self.work: set[asyncio.Future[None]] = set()
        self.threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    def app(self) -> ASGIApp:
        routes = [
            Route("/page/{path:path}", _serve_file),
            Route("/api/catalogue", _answer(lambda _: catalogue(self.site, self.limits))),
            Route("/api/describe", _answer(self._describe)),
            Route("/api/run", self._run),
            Route("/api/saved", _answer(self._list)),
            Route("/api/saved/{identity}/{steps}", _answer(self._open)),
            Route("/api/save", self._save, methods=["POST"]),
            Route("/api/study/{paper}", _answer(self._studies)),
            Route("/api/study/{paper}/{study}", _answer(self._study)),
            Route("/", self._show),
            Route("/{name}", self._show),
        ]
        return Guard(Starlette(routes=routes), self.host)

    def warm(self) -> None:
        """Imports JAX and compiles the shape that the page begins with."""
        from tutelage.running.execute import checked, execute

        setting = read_state("", self.site).setting.change(steps=1)
        list(execute([setting], threads=1))
        starts = [setting]
        if "start" in options_of("student", setting.student.name):
            # The same program, once what draws a start is there.
            starts.append(setting.change(**{"student.start": 0.1}))
        for start in starts:
            self.known.add(self.known.shape(start, checked(start)))

    def start(self, work: Callable[[], None]) -> None:
        """Does it in a thread that the process need not wait for at its end: one that compiles
        cannot be asked to stop.
        """
        thread = threading.Thread(target=work, daemon=True)
        self.threads.add(thread)
        thread.start()

    @property
    def busy(self) -> bool:
        return any(thread.is_alive() for thread in self.threads)

    def close(self) -> None:
        """Ends every stream, and every run at its next pause."""
        for stream in self.streams:
            stream.stop.set()
            stream.events.put_nowait(None)

    def _show(self, request: Request) -> Response:
        """The page at an address: the first page at `/`, the list of studies of a paper that has
        no page, and the stored runs.
        """
        name = request.path_params.get("name", self.site.pages[0].page.name)
        pages = {placed.page.name: placed.page.title for placed in self.site.pages}
        papers = {paper.name: paper.title for paper in self.site.bare}
        if name == "saved":
            return _fill("saved runs", name, "saved.js")
        if name in pages:
            return _fill(pages[name], name, "app.js")
        if name in papers:
            return _fill(papers[name], name, "paper.js")
        return _missing(name)

    def _describe(self, request: Request) -> Event:
        state = read_state(request.url.query, self.site)
        self.limits.check(state.setting)
        return describe(state, self.known, self.store)

    def _list(self, request: Request) -> Event:
        asked = request.query_params
        study = asked.get("study", "")
        if study:
            one_of("study", study, self.site.studies)
        return listed(self.store, asked.get("where", ""), self.site, study)

    def _open(self, request: Request) -> Event:
        named = request.path_params
        return opened(self.store, named["identity"], named["steps"], self.site)

    def _studies(self, request: Request) -> Event:
        return list_studies(self.site.find_paper(request.path_params["paper"]), self.store)

    def _study(self, request: Request) -> Event:
        named = request.path_params
        return describe_study(self.site.find_paper(named["paper"]), named["study"])

    async def _save(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse(
                {"ok": False, "sentence": "A run is saved by its identity, as JSON."}, 415
            )
        try:
            given = await request.json()
            identity = given.get("identity") if isinstance(given, dict) else None
            return JSONResponse(await asyncio.to_thread(self.held.save, identity, self.store))
        except ValueError as error:  # Refused is one
            return JSONResponse({"ok": False, "sentence": str(error)})

    async def _run(self, request: Request) -> Response:
        client = request.client.host if request.client is not None else ""
        return EventStream(self, request.url.query, request.query_params.get("visitor", ""), client)


class EventStream(Response):
    """A run as lines of JSON; it stops when the client goes away."""

    def __init__(self, explorer: Explorer, query: str, visitor: str, client: str) -> None:
        super().__init__(media_type="application/x-ndjson")
        del self.headers["content-length"]
        self.explorer, self.query, self.visitor = explorer, query, visitor
        self.who = visitor.partition(".")[0] or client
        self.stop = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        self.events: asyncio.Queue[Event | None] = asyncio.Queue()
        gone = asyncio.ensure_future(_gone(receive))
        work = asyncio.ensure_future(self._work(self.events))
        self.explorer.streams.add(self)
        self.explorer.work.add(work)
        work.add_done_callback(self.explorer.work.discard)
        try:
            while True:
                coming = asyncio.ensure_future(self.events.get())
                await asyncio.wait([coming, gone], return_when=asyncio.FIRST_COMPLETED)
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
            gone.cancel()

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
                    state, put, self.stop, self.explorer.limits, self.explorer.known
                )
                await self._in_thread(follower)
                if follower.run is not None:
                    self.explorer.held.add(follower.run)
            else:
                events.put_nowait(
                    {
                        "event": "end",
                        "outcome": "STOPPED",
                        "sentence": "It was stopped.",
                        "seconds": 0.0,
                        "identity": "",
                    }
                )
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

    async def _in_thread(self, follower: Follower) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def work() -> None:
            follower()
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(None))

        self.explorer.start(work)
        await done


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _serve_file(request: Request) -> Response:
    name = request.path_params["path"]
    path = (PAGE / name).resolve()
    if not path.is_relative_to(PAGE.resolve()) or not path.is_file():
        return _missing(name)
    kind = TYPES.get(path.suffix, "application/octet-stream")
    return Response(path.read_bytes(), media_type=kind)


def _fill(title: str, page: str, script: str) -> Response:
    """The page of a name: the one template, filled in."""
    values = {"title": title, "page": page, "script": script}
    text = Template((PAGE / TEMPLATE).read_text(encoding="utf-8"))
    filled = text.substitute({key: html.escape(value) for key, value in values.items()})
    return Response(filled, media_type=TYPES[".html"])


def _missing(name: str) -> Response:
    return JSONResponse({"ok": False, "sentence": f"There is no page {name!r}."}, 404)


def _answer(of: Callable[[Request], Event]) -> Callable[[Request], Response]:
    """A route that answers with data, or with the sentence of a refusal: an answer too, which a
    browser need not log as a fault.
    """

    def answer(request: Request) -> Response:
        try:
            return JSONResponse(of(request))
        except Refused as refused:
            return JSONResponse({"ok": False, "sentence": str(refused)})

    return answer


class Guard:
    """Adds the headers of every response, and refuses what another site could have sent: a foreign
    host, origin or fetch.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app, self.host = app, host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((k.encode(), v.encode()) for k, v in HEADERS.items()),
                ]
            await send(message)

        reason = self._foreign(scope)
        if reason:
            return await JSONResponse({"ok": False, "sentence": reason}, 403)(
                scope, receive, with_headers
            )
        await self.app(scope, receive, with_headers)

    def _foreign(self, scope: Scope) -> str:
        headers = {key.decode().lower(): value.decode("latin-1") for key, value in scope["headers"]}
        host = headers.get("host", "")
        if not self._ours(_name(host)):
            return (
                "The explorer answers to its own address only, since a foreign name may be "
                f"another site's. Got the host {host!r}."
            )
        origin = headers.get("origin")
        if scope["method"] != "GET" and origin is not None and origin.partition("://")[2] != host:
            return f"The explorer takes changes from its own page only. Got the origin {origin!r}."
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"].startswith("/api/"):
            return "The explorer answers its own page only. Got a request from another site."
        return ""

    def _ours(self, name: str) -> bool:
        if name in (*LOOPBACK, self.host):
            return True
        if self.host not in ("0.0.0.0", "::"):
            return False
        try:  # a number is no name that another site could point here
            ipaddress.ip_address(name)
        except ValueError:
            return name == socket.gethostname().lower()
        return True


def _name(host: str) -> str:
    """The host without its port."""
    name = (
        host.rpartition("]")[0].removeprefix("[")
        if host.startswith("[")
        else host.partition(":")[0]
    )
    return name.lower()
