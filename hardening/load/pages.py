"""Many pages against one explorer, on loopback alone, for a limited time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from tutelage.problem.room import resident_bytes

PATHS = (
    "/", "/page/app.js", "/api/catalogue", "/api/describe?rate=0.1",
    "/api/describe?teacher=nothing", "/api/describe?tokens=16&rate=0.2", "/api/saved",
    "/api/run?steps=50&visitor=v{visitor}.1", "/api/nothing",
)  # fmt: skip
PAUSE = 1.0  # seconds between two requests of a page, at most
TIMEOUT = 120.0


@dataclass
class Seen:
    """What the pages saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)  # connections that ended otherwise
    longest: float = 0.0  # seconds of a request other than a run
    bytes_before: float = 0.0  # that the server held
    bytes_after: float = 0.0

    @property
    def requests(self) -> int:
        return self.statuses.total() + self.broken.total()

    @property
    def errors(self) -> int:
        """Answers of 500 and above other than "too busy", and connections that broke."""
        failed = sum(n for status, n in self.statuses.items() if status >= 500 and status != 503)
        return failed + self.broken.total()


def load_pages(pages: int, seconds: float, folder: Path) -> Seen:
    """So many pages for so long; the server is ended whatever happens."""
    command = [sys.executable, "-m", "tutelage", "explore", "--port", "0", "--no-open"]
    with subprocess.Popen(
        [*command, "--store", str(folder / "out")],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            address = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
            seen = Seen()
            asyncio.run(_visit(address, 1, 2.0, Seen()))  # the first of all loads what is needed
            seen.bytes_before = resident_bytes(server.pid)
            asyncio.run(_visit(address, pages, seconds, seen))
            seen.bytes_after = resident_bytes(server.pid)
            return seen
        finally:
            server.terminate()


async def _visit(address: str, pages: int, seconds: float, seen: Seen) -> None:
    end = time.monotonic() + seconds
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=TIMEOUT, limits=limits) as client:
        await asyncio.gather(*(_page(client, number, end, seen) for number in range(pages)))


async def _page(client: httpx.AsyncClient, number: int, end: float, seen: Seen) -> None:
    draw = Random(number)
    while time.monotonic() < end:
        path = draw.choice(PATHS).format(visitor=number)
        start = time.monotonic()
        try:
            answer = await client.get(path)
            seen.statuses[answer.status_code] += 1
        except httpx.HTTPError as error:
            seen.broken[type(error).__name__] += 1
        if "/api/run" not in path:
            seen.longest = max(seen.longest, time.monotonic() - start)
        await asyncio.sleep(draw.uniform(0.0, PAUSE))
