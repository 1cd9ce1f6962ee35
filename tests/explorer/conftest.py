"""The explorer as a visitor has it: the real server in a process of its own, and Chromium without a
screen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette", reason="the explorer needs tutelage[explore]")
pytest.importorskip("uvicorn", reason="the explorer needs tutelage[explore]")

NONE = (
    "The page is tested in Chromium, driven by playwright, and here is none of one of them: "
    "`make browser` gets them."
)
SOURCE = {
    **os.environ,
    "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
}  # for processes in other folders
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)


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


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for a module; its absence skips, with the reason."""
    path = (
        os.environ.get("TUTELAGE_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )  # else playwright's own
    sync = pytest.importorskip("playwright.sync_api", reason=NONE)
    with sync.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except sync.Error:
            pytest.skip(NONE)
        yield browser
        browser.close()


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


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which looks for what a reader of screens or a keyboard cannot use."""
    return Path(
        os.environ.get("TUTELAGE_AXE", Path(__file__).parent / "axe" / "axe.min.js")
    ).read_text(encoding="utf-8")
