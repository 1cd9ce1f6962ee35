"""The explorer's server: pages, and what they ask for. One object holds all that visitors share."""

from __future__ import annotations

import asyncio
import html
import ipaddress
import json
import secrets
import socket
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from string import Template

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tutelage.cores import cores
from tutelage.explorer.catalogue import catalogue
from tutelage.explorer.describing import describe
from tutelage.explorer.event_stream import EventStream
from tutelage.explorer.limits import Limits
from tutelage.explorer.loopback import is_loopback
from tutelage.explorer.patience import Left, Patience, Served
from tutelage.explorer.reading import Event
from tutelage.explorer.saved import Held, listed, opened
from tutelage.explorer.site import find_site
from tutelage.explorer.slots import Slots
from tutelage.explorer.states import read_state
from tutelage.explorer.stream import Known
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
MOST_BODY = 4096  # bytes of a request that is sent; an identity has 20
COOKIE = "tutelage-token"  # of those who have opened the address with the token in it


class Explorer:
    """What all visitors share: the limits, the slots, the shapes that are compiled, the store."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        store: str = "out",
        limits: Limits | None = None,
        slots: int | None = None,
        token: str = "",
    ) -> None:
        self.host, self.store, self.limits = host, store, limits or Limits()
        self.token = token  # that visitors must show; "" where none is needed
        self.site = find_site()
        self.slots = Slots(slots or cores())
        self.describing = Slots(max(2, slots or cores()))  # apart: a page describes while it runs
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
            Route("/api/describe", self._describe),
            Route("/api/run", self._run),
            Route("/api/saved", _answer(self._list)),
            Route("/api/saved/{identity}/{steps}", _answer(self._open)),
            Route("/api/save", self._save, methods=["POST"]),
            Route("/api/study/{paper}", _answer(self._studies)),
            Route("/api/study/{paper}/{study}", _answer(self._study)),
            Route("/", self._show),
            Route("/{name}", self._show),
        ]
        return Guard(Starlette(routes=routes), self.host, self.token)

    def warm(self) -> None:
        """Imports JAX and compiles the page's default shape."""
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

    async def _describe(self, request: Request) -> Response:
        """Its parts are built for that, which takes a slot and has the time of a run."""

        def make(before: Patience) -> Event:
            state = read_state(request.url.query, self.site)
            self.limits.check(state.setting)
            return describe(state, self.known, self.store, before, self.limits.seconds)

        serve = Served[Event](self.describing, _client(request), self.limits.seconds, self.start)
        try:
            return JSONResponse(await serve(make, request.receive))
        except Refused as refused:
            return JSONResponse({"ok": False, "sentence": str(refused)})
        except Left:
            return Response(status_code=499)  # which no one reads

    def _list(self, request: Request) -> Event:
        asked = request.query_params
        study = asked.get("study", "")
        if study:
            one_of("study", study, self.site.studies)
        return listed(self.store, asked.get("where", ""), self.site, study)

    def _open(self, request: Request) -> Event:
        named = request.path_params
        return opened(self.store, named["identity"], named["steps"], self.site, self.limits)

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
            given = json.loads(await _read_body(request))
            identity = given.get("identity") if isinstance(given, dict) else None
            return JSONResponse(await asyncio.to_thread(self.held.save, identity, self.store))
        except (ValueError, RecursionError) as error:  # Refused is one
            return JSONResponse({"ok": False, "sentence": str(error)})

    async def _run(self, request: Request) -> Response:
        visitor = request.query_params.get("visitor", "")
        return EventStream(self, request.url.query, visitor, _client(request))


def _client(request: Request) -> str:
    return request.client.host if request.client is not None else ""


async def _read_body(request: Request) -> bytes:
    """What was sent, up to a limit: no one can fill the memory with it."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY:
            raise Refused(f"A request sends at most {MOST_BODY:,} bytes. Got more.")
    return body


def _serve_file(request: Request) -> Response:
    name = request.path_params["path"]
    try:
        path = (PAGE / name).resolve()
        found = path.is_relative_to(PAGE.resolve()) and path.is_file()
    except (OSError, ValueError):  # too long, or with characters that no file name has
        return _missing(name)
    if not found:
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
    host, origin or fetch. Where there is a token, it refuses everyone who does not show it.
    """

    def __init__(self, app: ASGIApp, host: str, token: str = "") -> None:
        self.app, self.host, self.token = app, host, token

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
        if self.token and (answer := self._admit(Request(scope))) is not None:
            return await answer(scope, receive, with_headers)
        await self.app(scope, receive, with_headers)

    def _admit(self, request: Request) -> Response | None:
        """None for who has shown the token before. Who shows it now, in the address, is given a
        cookie that no other site's request carries, and is led to the address without it.
        """
        if self._knows(request.cookies.get(COOKIE, "")):
            return None
        if self._knows(request.query_params.get("token", "")):
            left = str(request.url.remove_query_params("token").replace(scheme="", netloc=""))
            answer = RedirectResponse(left or "/", 303)
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return answer
        sentence = (
            "This explorer can be reached from other machines, and answers those who have opened "
            "the address that it printed, with its token."
        )
        return JSONResponse({"ok": False, "sentence": sentence}, 401)

    def _knows(self, shown: str) -> bool:
        return secrets.compare_digest(shown.encode(), self.token.encode())

    def _foreign(self, scope: Scope) -> str:
        headers = {key.decode().lower(): value.decode("latin-1") for key, value in scope["headers"]}
        host = headers.get("host", "")
        if not self._ours(_name(host)):
            return (
                "The explorer answers to its own address only, since a foreign name may be "
                f"another site's. Got the host {host!r}."
            )
        origin = headers.get("origin")
        asks = scope["method"] != "GET" or scope["path"].startswith("/api/")
        if asks and origin is not None and origin.partition("://")[2] != host:
            return f"The explorer answers its own page only. Got the origin {origin!r}."
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"].startswith("/api/"):
            return "The explorer answers its own page only. Got a request from another site."
        return ""

    def _ours(self, name: str) -> bool:
        if name == self.host or is_loopback(name):
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
