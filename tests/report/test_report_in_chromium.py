"""The report as its readers have it, in headless Chromium: on a screen, on a phone and printed.
Part of `make test-browser`. Verdicts and figures are the committed ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from committed_report import write_committed
from tools.committed import own_papers

from tutelage.report import gather_studies, render_page

pytestmark = pytest.mark.browser
MOST_PAGES = 12  # of a printed paper
PAPERS = [paper.name for paper in own_papers()]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a paper, written once."""
    folder = tmp_path_factory.mktemp("reports")

    def find(paper: str) -> Path:
        page = folder / f"{paper}.html"
        if not page.exists():
            studies = gather_studies([write_committed(paper, folder / paper)])
            page.write_text(render_page(studies), encoding="utf-8")
        return page

    return find


@pytest.fixture
def read(chromium: Any, reports: Callable[[str], Path]) -> Iterator[Callable[..., Any]]:
    """Opens the report of a paper from disk. It may ask for nothing else, nor complain."""
    contexts, complaints, asked = [], [], []

    def open_page(paper: str, **options: Any) -> Any:
        contexts.append(
            chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        )
        page = contexts[-1].new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(reports(paper).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("data:", "file:"))] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_prints_on_at_most_twelve_pages(read, paper):
    page = read(paper)
    printed = page.pdf(prefer_css_page_size=True)
    assert 1 < _count_pages(printed) <= MOST_PAGES
    page.evaluate("document.body.classList.add('appendix')")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert _count_pages(page.pdf(prefer_css_page_size=True)) > _count_pages(printed)


def _count_pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("width", [360, 390, 1280])
def test_it_fits_its_screen(read, paper, width):
    page = read(paper, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("paper", PAPERS)
def test_axe_finds_nothing(read, axe, paper, theme):
    page = read(paper, color_scheme=theme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate(axe)
    found = page.evaluate(
        "async () => (await axe.run()).violations.map((one) => [one.id, one.nodes.map((node) => "
        "node.target.join(' ')).slice(0, 3)])"
    )
    assert found == []


def test_verdicts_are_found_by_words_and_by_status(read):
    page = read("teacher-models")
    shown = page.locator(".verdicts li:visible")
    assert shown.count() == 0  # closed
    page.click("[data-filter=FAILS]")
    failing = page.inner_text("#found")
    assert shown.count() == int(failing.split()[0]) > 0
    assert all("fails" in line for line in shown.all_inner_texts())
    page.fill("#search", "excess printed")
    assert 0 < shown.count() < int(failing.split()[0])
    page.fill("#search", "W_V")  # its index stands below the line
    assert 0 < shown.count() < int(failing.split()[0])
    page.fill("#search", "nothing is called this")
    assert page.inner_text("#found") == "0 verdicts"
    page.fill("#search", "")
    page.click("[data-filter=FAILS]")
    assert page.inner_text("#found") == ""
    assert shown.count() == 0


def test_what_fails_leads_to_its_verdict(read):
    page = read("teacher-models")
    page.locator(".open .pending a").first.click()
    assert page.locator(".verdicts li:target").is_visible()
