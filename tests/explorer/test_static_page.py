"""The exported page in Chromium, opened from disk as a visitor has it: `make test-browser`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tutelage.claims.verdict import Status, Verdict
from tutelage.explorer.exporting import export
from tutelage.explorer.limits import Limits
from tutelage.explorer.site import Site, find_site
from tutelage.explorer.states import setting_of
from tutelage.running.execute import execute
from tutelage.studies.outputs import VERDICTS, open_store, write_verdicts
from tutelage.studies.pages import Prepared

pytestmark = pytest.mark.browser
SMALL = (
    "teacher=convolution&teacher.tokens=8&teacher.support=2&teacher.outputs=2&teacher.dim=3"
    "&teacher.norm=8&rate=0.2&steps=2000&seed=0"
)
SAMPLED = f"{SMALL}&objective=empirical&objective.samples=8&objective.held_out=8".replace(
    "steps=2000", "steps=50"
)


CONTROL = Verdict(
    "paper/study/all-tokens/rate",
    "excess = Θ(1/T)",
    "Theorem 1",
    -1.0,
    -3.0,
    (-3.1, -2.9),
    0.02,
    Status.FAILS,
    "The slope is −3.",
    control="K < D",
).plain()


def small_site() -> Site:
    """The first page with two prepared states: one that runs in the page, one that does not."""
    site = find_site()
    states = (
        Prepared("live", "It runs in the page.", SMALL),
        Prepared("recorded", "It was run in Python.", SAMPLED),
    )
    first, *_ = site.pages
    pages = (replace(first, page=replace(first.page, tour=(), prepared=states)),)
    return replace(site, pages=pages, papers={first.paper: site.papers[first.paper]})


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported page with one stored run."""
    folder = tmp_path_factory.mktemp("export")
    out, site = str(folder / "out"), small_site()
    (run,) = execute([setting_of(SMALL, site).change(steps=100)])
    path = open_store(out).save(run)
    write_verdicts(Path(path) / VERDICTS, [CONTROL])
    return export(folder / "site", out, site, Limits(), tell=lambda _: None)


@pytest.fixture
def visit(chromium: Any, index: Path) -> Iterator[Callable[..., Any]]:
    """Opens the file. Whatever else a page asks for is refused and told, and must be nothing."""
    contexts, complaints, asked = [], [], []

    def look(route: Any) -> None:
        url = route.request.url
        if url.startswith(("data:", "blob:")) or url.split("?")[0] == index.as_uri():
            return route.continue_()
        asked.append(url)
        return route.abort()

    def open_page(query: str = "", **options: Any) -> Any:
        contexts.append(
            chromium.new_context(**{"viewport": {"width": 1280, "height": 720}, **options})
        )
        contexts[-1].route("**/*", look)
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{index.as_uri()}{query}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert asked == []


def say(page: Any, place: str, words: str) -> None:
    """Waits until some place says something."""
    from playwright.sync_api import expect

    expect(page.locator(place)).to_have_text(re.compile(words, re.I), timeout=60_000)


def wait_for_end(page: Any) -> None:
    say(page, "#status", "^([Ff]inished|[Cc]onverged|[Dd]iverged|[Ss]talled|[Rr]isen|[Nn]ot begun)")


def test_a_prepared_state_runs_in_the_page_and_has_the_verdicts_of_python(visit):
    page = visit(f"?page=teacher-models&{SMALL}")
    wait_for_end(page)
    assert int(page.locator("#plot").get_attribute("data-points")) > 50
    page.wait_for_selector("#verdict-table td .chip")
    assert page.locator("#hypothesis-list li").count() == 9
    assert "theory" in page.locator("#legend").inner_text()
    assert page.locator("#maps canvas").count() >= 2
    assert page.locator("#save").is_disabled()
    assert "no store" in page.locator("#save").get_attribute("title")


def test_a_recorded_run_is_replayed(visit):
    page = visit(f"?page=teacher-models&{SAMPLED}")
    wait_for_end(page)
    assert int(page.locator("#plot").get_attribute("data-points")) > 20


def test_a_link_restores_a_run_of_ones_own(visit):
    page = visit("?page=teacher-models&D=12&K=3&teacher.outputs=2&teacher.dim=3&norm=9&steps=500")
    wait_for_end(page)
    assert "teacher.tokens=12" in page.url
    assert "teacher.support=3" in page.url
    assert "theory" in page.locator("#legend").inner_text()
    say(page, "#verdict-table", "computed in Python")
    code = page.locator("#python").text_content()
    assert "norm=9.0, outputs=2, support=3, tokens=12" in code
    assert ".verdicts(run)" in code
    again = visit(page.url.partition("index.html")[2])
    wait_for_end(again)
    assert again.url == page.url


def test_copied_code_is_python_that_makes_the_setting(visit):
    page = visit(
        f"?page=teacher-models&{SMALL}&student.start=0.3".replace("steps=2000", "steps=20")
    )
    wait_for_end(page)
    code = page.locator("#python").text_content()
    found: dict[str, Any] = {}
    exec(code.partition("for run in")[0], found)
    expected = setting_of(f"{SMALL}&student.start=0.3", find_site())
    assert found["setting"] == expected.change(steps=20)


def test_what_needs_python_is_disabled_or_says_so(visit):
    page = visit("?page=teacher-models")
    online = page.locator("#choose-objective option[value=online]")
    assert online.is_disabled()
    assert "Python" in online.get_attribute("title")
    assert page.locator("#option-teacher-activation option[value=tanh]").is_disabled()
    asked = visit(f"?page=teacher-models&{SMALL}&teacher.activation=tanh")
    asked.wait_for_selector("#problem:not([hidden])")
    assert "needs Python, since" in asked.locator("#problem").inner_text()


def test_bad_values_are_refused_in_the_page(visit):
    page = visit(f"?page=teacher-models&{SMALL}".replace("support=2", "support=3"))
    page.wait_for_selector("#problem:not([hidden])")
    assert "`tokens` must be a multiple of `support`" in page.locator("#problem").inner_text()


def test_stored_runs_are_listed_and_opened(visit):
    page = visit("?page=saved")
    page.locator("#runs tbody a").first.click()
    page.wait_for_selector("#plot[data-points]:not([data-points='0'])")
    assert "saved=" in page.url


def test_a_negative_control_is_not_shown_as_a_claim_that_fails(visit):
    page = visit("?page=saved")
    listed = page.locator("#runs tbody tr")
    assert "control: 1 FAILS, as expected" in listed.inner_text()
    listed.locator("a").click()
    page.wait_for_selector("#chips .chip")
    assert page.locator(".FAILS").count() == 0
    assert "control fails, as expected" in page.inner_text("#verdict-table")
    assert "breaks K < D" in page.inner_text("#verdict-table")


def test_a_run_stops_when_it_is_told(visit):
    page = visit(f"?page=teacher-models&{SMALL}".replace("steps=2000", "steps=10000000"))
    say(page, "#status", "^running")
    page.locator("#stop").click()
    say(page, "#status", "^stopped")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_its_screen(visit, theme, width):
    page = visit(
        f"?page=teacher-models&{SMALL}",
        viewport={"width": width, "height": 720},
        color_scheme=theme,
    )
    wait_for_end(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_nothing(visit, axe):
    page = visit(f"?page=teacher-models&{quote(SMALL, safe='=&')}")
    wait_for_end(page)
    page.evaluate(axe)
    found = page.evaluate("axe.run().then((all) => all.violations.map((each) => each.id))")
    assert found == []
