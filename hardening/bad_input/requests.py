"""The explorer's HTTP interface: odd paths, queries, bodies and headers, asked in process."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import ClassVar
from urllib.parse import quote

import httpx

from hardening.bad_input.odd import change_bytes, change_text, odd_text, odd_value, odd_word
from hardening.bad_input.target import Escaped, Target
from hardening.bad_input.yard import Yard

PATHS = (
    "/", "/page/app.js", "/api/catalogue", "/api/describe", "/api/describe", "/api/describe",
    "/api/saved", "/api/saved/abc/3", "/api/save", "/api/study/{paper}", "/api/study/{paper}/{x}",
    "/api/nothing", "/{paper}",
)  # fmt: skip
KEYS = (
    "teacher", "student", "inputs", "objective", "optimiser", "rate", "steps", "seed", "where",
    "page", "D", "K", "tokens", "teacher.tokens", "teacher.support", "teacher.activation",
    "teacher.norm", "student.start", "optimiser.power", "inputs.law", "inputs.freedom", "visitor",
    "teacher.graph", "objective.samples", "also", "view", "token",
)  # fmt: skip
SOUND = (
    "convolution", "position_attention", "gaussian", "independent", "population", "online", "adam",
    "0.1", "10", "4", "relu", "identity", "student_t", "excess_risk<1", "rate=0.1", "[[1,0],[0,1]]",
)  # fmt: skip
HEADERS = ("host", "origin", "cookie", "sec-fetch-site", "content-type", "content-length", "range")


class Requests(Target):
    """One request; an answer of 500 and above is a defect, and so is one that never ends."""

    name: ClassVar[str] = "requests"
    share: ClassVar[int] = 10

    def __init__(self, yard: Yard) -> None:
        from tutelage.explorer.limits import Limits
        from tutelage.explorer.server import Explorer

        super().__init__(yard)
        explorer = self.explorer = Explorer(
            store=str(yard.inside / "out"), limits=Limits(seconds=5.0)
        )
        self.paper, self.loop = next(iter(explorer.site.papers)), asyncio.Runner()
        transport = httpx.ASGITransport(explorer.app(), raise_app_exceptions=True)
        self.client = httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000", timeout=None
        )

    def warm(self) -> None:
        self.explorer.warm()  # or the first requests would only be told that they took too long

    def close(self) -> None:
        self.loop.run(self.client.aclose())
        self.loop.close()

    def attack(self, draw: Random) -> bool:
        path = draw.choice(PATHS).format(paper=self.paper, x=_quote(odd_word(draw)))
        if draw.random() < 0.3:
            path += draw.choice(("/", "?", "//", "/..", "%00", "%2e%2e/", _quote(odd_word(draw))))
        pairs = []
        for _ in range(draw.choice((0, 1, 2, 4))):
            key = draw.choice(KEYS) if draw.random() < 0.85 else odd_word(draw)
            value = draw.choice(SOUND) if draw.random() < 0.5 else odd_text(draw)
            pairs.append(f"{_quote(key)}={_quote(value)}")
        query = "&".join(pairs)
        if draw.random() < 0.1:
            query = change_text(draw, query)
        headers = {}
        if draw.random() < 0.2:
            headers[draw.choice(HEADERS)] = odd_word(draw).encode("utf-8", "replace")[:200]
        body = b""
        if path.startswith("/api/save") and draw.random() < 0.7:
            body = json.dumps({"identity": "abc", "steps": odd_value(draw)}, default=str).encode()
            body = change_bytes(draw, body)
        method = draw.choice(("GET", "GET", "GET", "POST", "PUT", "HEAD", "OPTIONS"))
        status = self.loop.run(self._ask(method, f"{path}?{query}", headers, body))
        if status >= 500:
            raise Escaped(f"{method} {path}?{query[:300]} gives {status}")
        return status == 200

    async def _ask(self, method: str, path: str, headers: dict[str, bytes], body: bytes) -> int:
        self.client.cookies.clear()
        try:
            request = self.client.build_request(method, path, headers=headers, content=body)
        except (httpx.InvalidURL, UnicodeError, ValueError):
            return 400  # nothing that a client could send
        return (await self.client.send(request)).status_code


def _quote(text: str) -> str:
    return quote(text, errors="surrogatepass", safe="")
