"""The explorer as a visitor has it: the real server in a process of its own, and Chromium without a
screen.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chromium_fixtures import axe, chromium

__all__ = ("axe", "chromium")  # fixtures
pytest.importorskip("starlette", reason="the explorer needs tutelage[explore]")
pytest.importorskip("uvicorn", reason="the explorer needs tutelage[explore]")

SOURCE = {
    **os.environ,
    "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
}  # for processes in other folders


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `tutelage explore` answers."""
    folder = tmp_path_factory.mktemp("explorer")
    command = [
        sys.executable,
        "-m",
        "tutelage",
        "explore",
        "--port",
        "0",
        "--no-open",
        "--store",
        str(folder / "out"),
    ]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=SOURCE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            yield next(
                word for word in server.stdout.readline().split() if word.startswith("http://")
            )
        finally:
            server.terminate()


@pytest.fixture
def visit(chromium: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens a page of the explorer. At the end no page may have asked another host for anything, or
    complained on its console.
    """
    contexts, complaints, asked = [], [], []

    def open_page(path: str = "/", **options: Any) -> Any:
        given = {
            "viewport": {"width": 1280, "height": 860},
            "permissions": ["clipboard-read", "clipboard-write"],
            **options,
        }
        contexts.append(chromium.new_context(**given))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if _complains(message) else None,
        )
        page.goto(address.rstrip("/") + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))} == {
        urlsplit(address).netloc
    }


def _complains(message: Any) -> bool:
    return message.type in ("error", "warning")
