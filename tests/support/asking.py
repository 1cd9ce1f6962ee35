"""Asks an application in process, one request after the other."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx


class Client:
    """Sends requests to an ASGI application as a browser on this machine would, and waits for the
    whole answer. With `errs` an error of the application is the answer that a browser would get.
    """

    def __init__(self, app: Any, *, errs: bool = False) -> None:
        self.app, self.errs = app, errs

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self._ask("GET", path, more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self._ask("POST", path, more)

    def _ask(self, method: str, path: str, more: dict[str, Any]) -> httpx.Response:
        async def ask() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(self.app, raise_app_exceptions=not self.errs),
                base_url="http://127.0.0.1:8000",
                timeout=None,
            ) as client:
                return await client.request(method, path, **more)

        return asyncio.run(ask())
