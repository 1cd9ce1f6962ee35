"""Makes the pictures of the explorer and of a report that README and docs show, from the real
server in headless Chromium.

    python docs/make_screens.py [OUT]

OUT is a folder with studies for the picture of the report. Without it one study is run for it.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from tutelage.explorer.catalogue import prepared_query
from tutelage.explorer.site import find_site
from tutelage.studies.discovery import papers

FIGURES = Path(__file__).parent / "figures"
SOURCE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
TUTELAGE = [sys.executable, "-m", "tutelage"]
ENDED = re.compile("^(finished|converged|diverged|stalled|risen|not begun)", re.IGNORECASE)
LARGEST = 200_000  # bytes of a picture
MARGIN = 20  # pixels below its last element
BOTTOM = "(part) => part.getBoundingClientRect().bottom"
HEIGHT = "() => innerHeight"


def find_reported() -> str:
    """The first study of the paper that the explorer opens with: the report shows that one."""
    paper = find_site().pages[0].paper
    return f"{paper}/{next(iter(papers()[paper].studies))}"


def shown(page: Page, name: str, last: str = "") -> None:
    """Keeps a picture of the window, or of the page down to its last element; with as many colours
    as it needs: a page of lines and words has few.
    """
    edge = int(page.locator(last).evaluate(BOTTOM)) + MARGIN if last else page.evaluate(HEIGHT)
    image = Image.open(io.BytesIO(page.screenshot(full_page=bool(last)))).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, edge)))
    path = FIGURES / f"{name}.png"
    image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size = path.stat().st_size
    assert size < LARGEST, f"{path.name} has {size:,} bytes; make its window smaller"
    print(f"{path.name}: {image.width} × {image.height}, {size:,} bytes")


def finished(page: Page) -> None:
    expect(page.locator("#status")).to_have_text(ENDED, timeout=180_000)


def running(page: Page) -> None:
    expect(page.locator("#plot")).to_have_attribute(
        "data-points", re.compile(r"^([5-9]\d|1\d\d)$"), timeout=60_000
    )


def finished_run(page: Page) -> None:
    finished(page)
    page.locator("#replay").evaluate(
        "(slider) => { slider.value = slider.max * 0.42; slider.dispatchEvent(new "
        "Event('input')); }"
    )


def broken(page: Page) -> None:
    finished(page)
    page.click("#keep")
    page.fill("#option-rate", "0.58")
    page.press("#option-rate", "Enter")
    finished(page)


def refused(page: Page) -> None:
    finished(page)
    page.fill("#option-teacher-support", "40")
    page.press("#option-teacher-support", "Enter")
    page.wait_for_selector("#problem:visible")


def presented(page: Page) -> None:
    page.wait_for_selector("body.presenting")
    page.keyboard.press("Space")
    finished(page)


def graph(page: Page) -> None:
    finished(page)
    page.select_option("#choose-teacher", "graph_convolution")
    page.click("#open-graph")
    page.fill("#edges", "0-1, 1-2, 2-3, 3-0, 0-2, 3-4, 4-5, 5-6, 6-4, 6-7, 7-8")
    page.locator("#edges").blur()
    expect(page.locator("dialog circle")).to_have_count(9)


def kept(page: Page) -> None:
    """Two runs in the store, and the list of them."""
    finished(page)
    for rate in ("0.2", "0.1"):
        page.fill("#option-steps", "2000")
        page.fill("#option-rate", rate)
        page.press("#option-rate", "Enter")
        finished(page)
        page.click("#save")
        expect(page.locator("#save")).to_be_disabled()  # it has been saved
    page.get_by_role("link", name="Saved runs").click()
    page.wait_for_selector("#runs tbody tr")


def bound(page: Page) -> None:
    expect(page.locator("#legend .remove")).to_have_count(1, timeout=180_000)
    finished(page)


def show_first_study(page: Page) -> None:
    """Down to its second figure."""
    page.locator("section").nth(1).evaluate("(part) => part.scrollIntoView()")


def find_stop(name: str) -> str:
    """The address of the stop of this name, whichever paper's tour has it."""
    stops = [
        (f"/{page.name}", prepared_query(stop), place)
        for paper in papers().values()
        for page in paper.shown_pages()
        for place, stop in enumerate(page.tour, 1)
        if stop.name == name
    ]
    ((address, query, place),) = stops
    return f"{address}?{query}&stop={place}"


@dataclass(frozen=True)
class Screen:
    """A picture: what to open in which window, what to do there, and where the picture ends."""

    path: str
    window: tuple[int, int]
    act: Callable[[Page], None]
    last: str = ""  # the element that it ends with; the window where none is named
    scheme: Literal["light", "dark"] = "light"


WIDE, PHONE = (1280, 720), (390, 844)
RUNS = "#runs table"
SCREENS = {
    "explorer-start": Screen("/", WIDE, finished_run),
    "explorer-running": Screen("/", WIDE, running),
    "explorer-finished": Screen("/", WIDE, finished),
    "explorer-dark": Screen("/", WIDE, broken, scheme="dark"),
    "explorer-error": Screen("/", WIDE, refused),
    "explorer-presentation": Screen("/?present=1", (1600, 900), presented),
    "explorer-phone": Screen("/", PHONE, finished),
    "explorer-graph": Screen("/", WIDE, graph),
    "explorer-saved": Screen("/", WIDE, kept, RUNS),
    "explorer-heads": Screen(find_stop("A projection that binds"), WIDE, bound, scheme="dark"),
}


def main(out: str | None) -> None:
    expect.set_options(timeout=60_000)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        found = (
            os.environ.get("TUTELAGE_CHROMIUM")
            or shutil.which("chromium")
            or shutil.which("chromium-browser")
        )
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )

        def opened(address: str, screen: Screen) -> Page:
            width, height = screen.window
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=screen.scheme
            )
            page.goto(address)
            return page

        command = [*TUTELAGE, "explore", "--port", "0", "--no-open", "--store", f"{folder}/store"]
        with subprocess.Popen(command, env=SOURCE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                address = next(
                    word for word in server.stdout.readline().split() if word.startswith("http://")
                ).rstrip("/")
                for name, screen in SCREENS.items():
                    page = opened(address + screen.path, screen)
                    page.wait_for_selector("#panel fieldset", state="attached")
                    screen.act(page)
                    page.evaluate("() => scrollTo(0, 0)")
                    shown(page, name, screen.last)
                    page.close()
            finally:
                server.terminate()
        if out is None:
            out = f"{folder}/out"
            subprocess.run(
                [*TUTELAGE, "run", find_reported(), "--out", out], env=SOURCE, check=True
            )
        subprocess.run(
            [*TUTELAGE, "report", out, "--out", f"{folder}/report.html"], env=SOURCE, check=True
        )
        report = Screen(f"file://{folder}/report.html", (1200, 1175), show_first_study)
        page = opened(report.path, report)
        report.act(page)
        shown(page, "report")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
