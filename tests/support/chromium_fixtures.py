"""Chromium without a screen, and axe: for the tests of the explorer and of reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NONE = (
    "The page is tested in Chromium, driven by playwright, and here is none of one of them: "
    "`make browser` gets them."
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)
PATIENCE = 60_000  # milliseconds, on a machine that does other things
AXE = Path(__file__).parents[1] / "explorer" / "axe" / "axe.min.js"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for a module; its absence skips, with the reason."""
    path = (
        os.environ.get("TUTELAGE_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )  # else playwright's own
    sync = pytest.importorskip("playwright.sync_api", reason=NONE)
    sync.expect.set_options(timeout=PATIENCE)
    with sync.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except sync.Error:
            pytest.skip(NONE)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which looks for what a reader of screens or a keyboard cannot use."""
    return Path(os.environ.get("TUTELAGE_AXE", AXE)).read_text(encoding="utf-8")
