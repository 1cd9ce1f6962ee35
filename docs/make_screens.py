"""Makes the pictures of the explorer and of a report that README and docs show, from the real
server in headless Chromium.

    python docs/make_screens.py [OUT]

OUT is a folder with studies for the picture of the report. Without it the study is run whose table
is in README.
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

from tutelage.studies.discovery import papers

FIGURES = Path(__file__).parent / "figures"
README = Path(__file__).parents[1] / "README.md"
SOURCE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
TUTELAGE = [sys.executable, "-m", "tutelage"]
ENDED = re.compile("^(finished|converged|diverged)")
LARGEST = 200_000  # bytes of a picture
MARGIN = 20  # pixels below its last element
BOTTOM = "(part) => part.getBoundingClientRect().bottom"
HEIGHT = "() => innerHeight"
# Controls of the panel that the edge of the picture would cut, and a group of which nothing but
# its title would be seen.
HIDE_CUT = """(edge) => {
  const bottom = (part) => part.getBoundingClientRect().bottom;
  for (const group of document.querySelectorAll("#panel fieldset")) {
    const parts = [...group.children];
    const cut = parts.filter((part) => bottom(part) > edge - 4);
    const hidden = parts.length - cut.length < 2 ? [group] : cut;
    hidden.forEach((part) => (part.style.visibility = "hidden"));
  }
}"""


def shown(page: Page, name: str, last: str = "") -> None:
    """Keeps a picture of the window, or of the page down to its last element; with as many colours
    as it needs: a page of lines and words has few.
    """
    edge = int(page.locator(last).evaluate(BOTTOM)) + MARGIN if last else page.evaluate(HEIGHT)
    page.evaluate(HIDE_CUT, edge)
    image = Image.open(io.BytesIO(page.screenshot(full_page=bool(last)))).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, edge)))
    path = FIGURES / f"{name}.png"
    image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size = path.stat().st_size
    assert size < LARGEST, f"{path.name} has {size:,} bytes; make its window smaller"
    print(f"{path.name}: {image.width} × {image.height}, {size:,} bytes")


def chosen(page: Page, name: str, *, wait: bool = True) -> None:
    """Follows the link of a prepared state and waits for its run."""
    page.get_by_role("link", name=name, exact=True).click()
    if wait:
        finished(page)


def finished(page: Page) -> None:
    expect(page.locator("#status")).to_have_text(ENDED, timeout=180_000)
    page.wait_for_timeout(700)


def start(page: Page) -> None:
    page.locator("#legend li").first.wait_for(timeout=60_000)
    page.wait_for_timeout(300)


def running(page: Page) -> None:
    chosen(page, "it works", wait=False)
    expect(page.locator("#plot")).to_have_attribute(
        "data-points", re.compile(r"^([5-9]\d|1\d\d)$"), timeout=60_000
    )


def finished_run(page: Page) -> None:
    chosen(page, "it works")
    page.locator("#replay").evaluate(
        "(slider) => { slider.value = slider.max * 0.42; slider.dispatchEvent(new "
        "Event('input')); }"
    )
    page.wait_for_timeout(300)


def broken(page: Page) -> None:
    chosen(page, "it works")
    page.click("#keep")
    page.fill("#option-rate", "0.58")
    page.press("#option-rate", "Enter")
    page.wait_for_timeout(500)
    finished(page)


def refused(page: Page) -> None:
    page.fill("#option-teacher-support", "40")
    page.press("#option-teacher-support", "Enter")
    page.wait_for_timeout(1500)


def presented(page: Page) -> None:
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    page.keyboard.press("Space")
    finished(page)


def graph(page: Page) -> None:
    page.select_option("#choose-teacher", "graph_convolution")
    page.click("#open-graph")
    page.fill("#edges", "0-1, 1-2, 2-3, 3-0, 0-2, 3-4, 4-5, 5-6, 6-4, 6-7, 7-8")
    page.locator("#edges").blur()
    page.wait_for_timeout(400)


def kept(page: Page) -> None:
    """Two runs in the store, and the list of them."""
    for rate in ("0.2", "0.1"):
        page.fill("#option-steps", "2000")
        page.fill("#option-rate", rate)
        page.press("#option-rate", "Enter")
        page.wait_for_timeout(600)
        finished(page)
        page.click("#save")
        page.get_by_text("Saved to the store.").wait_for()
    page.get_by_role("link", name="Saved runs").click()
    page.wait_for_selector("#runs tbody tr")


def heads(page: Page) -> None:
    chosen(page, "a projection that binds")
    expect(page.locator("#legend .remove")).to_have_count(1, timeout=180_000)
    finished(page)


def show_first_study(page: Page) -> None:
    """Down to its second figure."""
    page.locator("section").nth(1).evaluate("(part) => part.scrollIntoView()")
    page.wait_for_timeout(300)


def find_page(prepared: str) -> str:
    """The address of the page that has a prepared state of this name, whichever paper brings it."""
    pages = [page for paper in papers().values() for page in paper.shown_pages()]
    return next(f"/{page.name}" for page in pages if prepared in [s.name for s in page.prepared])


@dataclass(frozen=True)
class Screen:
    """A picture: what to open in which window, what to do there, and where the picture ends."""

    path: str
    window: tuple[int, int]
    act: Callable[[Page], None]
    last: str = ""  # the element that it ends with; the window where none is named
    scheme: Literal["light", "dark"] = "light"


WIDE, PHONE = (1400, 860), (390, 844)
BUTTONS, REPLAY, RUNS = ".tools", "#replay-bar", "#runs table"
SCREENS = {
    "explorer-start": Screen("/", WIDE, start, BUTTONS),
    "explorer-running": Screen("/", WIDE, running, BUTTONS),
    "explorer-finished": Screen("/", WIDE, finished_run, REPLAY),
    "explorer-dark": Screen("/", WIDE, broken, BUTTONS, scheme="dark"),
    "explorer-error": Screen("/", WIDE, refused),
    "explorer-presentation": Screen("/?present=1", (1600, 900), presented),
    "explorer-phone": Screen("/", PHONE, lambda page: chosen(page, "it works")),
    "explorer-graph": Screen("/", WIDE, graph),
    "explorer-saved": Screen("/", WIDE, kept, RUNS),
    "explorer-heads": Screen(
        find_page("a projection that binds"), WIDE, heads, BUTTONS, scheme="dark"
    ),
}


def main(out: str | None) -> None:
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
            (shown_study,) = re.findall(r"<!-- table ([\w/-]+) -->", README.read_text())
            subprocess.run([*TUTELAGE, "run", shown_study, "--out", out], env=SOURCE, check=True)
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
