"""The page as visitors use it, in headless Chromium. The first test is quick; the others are `make
test-browser`.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from tutelage.explorer.site import find_site

SOURCE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
ENDED = re.compile("^(finished|converged|diverged|stalled|risen|not begun)", re.IGNORECASE)
SMALL = (
    "teacher=convolution&teacher.tokens=12&teacher.support=3&teacher.outputs=3&teacher.dim=4"
    "&teacher.norm=10&rate=0.2&steps={}&seed=0"
)
SHALLOW = "/shallow-transformers"
PAGES = find_site().pages
TEACHERS = [
    (placed.address, teacher) for placed in find_site().pages for teacher in placed.page.teachers
]
browser = pytest.mark.browser


def ended(page: Any) -> None:
    """Waits until the page says that its run has come to an end. Its tables are written by then."""
    says(page, "#status", ENDED)


def says(page: Any, place: str, words: str | re.Pattern[str]) -> None:
    """Waits until some place has these words."""
    from playwright.sync_api import expect

    expect(page.locator(place)).to_have_text(words, timeout=120_000)


def settled(page: Any) -> None:
    """Waits until a page has done what its address asks for: run, refused, read the store, or got
    ready for a lecture.
    """
    if "/saved" in page.url:
        says(page, "#found", re.compile("run"))
    elif "present=1" in page.url:
        page.wait_for_selector("#copy-python:not([disabled])", state="attached")
    else:
        says(page, "#status", re.compile(f"{ENDED.pattern}|^refused", re.IGNORECASE))


def points(page: Any) -> int:
    return int(page.locator("#plot").get_attribute("data-points"))


def last_values(page: Any) -> dict[str, str]:
    """The table of last values: a name and what is written beside it."""
    page.locator("#numbers summary").first.click()
    rows = page.locator("#value-table tbody tr").all_inner_texts()
    return dict(row.split("\t")[:2] for row in rows)


def written(text: str) -> float:
    """1.234·10⁻⁵ as a number."""
    plain = (
        text.replace("−", "-")
        .replace("·10", "e")
        .translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    )
    return float(plain)


def put(page: Any, key: str, value: str) -> None:
    """Types a value and leaves the field."""
    page.fill(f"#option-{key}", value)
    page.press(f"#option-{key}", "Enter")


def test_the_page_opens_runs_and_its_curve_grows(visit):
    from playwright.sync_api import expect

    page = visit("/?teacher.tokens=8&teacher.support=2&teacher.outputs=2&teacher.dim=2&steps=2000")
    ended(page)
    assert points(page) > 30
    assert "teacher.tokens=8" in page.url
    assert page.locator("#legend .entry").count() >= 2  # the student and what theory says
    expect(page.locator("#chips .chip").nth(3)).to_be_visible()


WATCH = """() => new Promise((resolve) => {
  const [status, table] = ["#status", "#verdict-table"].map((name) => document.querySelector(name));
  const look = () => /^Finished/.test(status.textContent) && resolve(table.innerText);
  new MutationObserver(look).observe(status, { childList: true });
  document.querySelector("#run").click();
})"""


@browser
def test_when_a_run_is_said_to_have_ended_its_verdicts_are_there(visit):
    page = visit(f"/?{SMALL.format(2000)}")
    ended(page)
    assert page.evaluate(WATCH).startswith("Verdicts of this run")


@browser
@pytest.mark.parametrize("placed", PAGES, ids=lambda placed: placed.page.name)
def test_the_first_screen_tells_the_story_without_a_click_or_a_scroll(visit, placed):
    page = visit(placed.address, viewport={"width": 1280, "height": 720})
    ended(page)
    assert page.inner_text("#title") == placed.page.tour[0].name
    assert page.locator("#theorem math").count() > 0
    for part in ("#chips .chip", "#blocks .block", "#plot", "#legend"):
        box = page.locator(part).last.bounding_box()
        assert box["y"] + box["height"] <= 720, part
    if page.locator("#attention").is_visible():
        box = page.locator("#replay").bounding_box()
        assert box["y"] + box["height"] <= 720


@browser
def test_a_tour_goes_on_and_keeps_what_it_has_run(visit):
    page = visit(f"/?{SMALL.format(200)}")
    ended(page)
    runs: list[str] = []
    page.on(
        "request", lambda request: runs.append(request.url) if "/api/run" in request.url else None
    )
    page.click("#tour-next")
    says(page, "#title", PAGES[0].page.tour[0].name)
    ended(page)
    assert "Try:" in page.inner_text("#task")
    assert len(runs) == 1
    with page.expect_response("**/api/describe*"):
        page.click("#tour a:nth-of-type(3)")
    says(page, "#title", PAGES[0].page.tour[2].name)
    ended(page)
    assert len(runs) == 1  # the same run, looked at in another way
    assert "stop=3" in page.url
    with page.expect_response("**/api/describe*"):
        page.click("#tour a:nth-of-type(4)")
    says(page, "#title", PAGES[0].page.tour[3].name)
    assert page.is_checked("#view")
    assert "view=ratio" in page.url


@browser
def test_axes_collapse_runs_of_different_learning_rates(visit):
    slow = quote(SMALL.format(8000).replace("rate=0.2", "rate=0.05"), safe="")
    page = visit(f"/?{SMALL.format(2000)}&also={slow}&axis=time")
    page.locator("#legend").get_by_text("η = 0.05").wait_for()
    ended(page)
    assert page.input_value("#axis") == "time"
    assert page.locator("#legend .sample.predicted").count() == 2  # a theory line for each run
    page.select_option("#axis", "plateau")
    assert "axis=plateau" in page.url
    assert page.locator("#hint").is_hidden()


@browser
def test_a_stalled_run_is_said_to_have_stalled(visit):
    page = visit(f"/?{SMALL.format(20000).replace('rate=0.2', 'rate=1.6')}")
    ended(page)
    assert page.inner_text("#status").startswith(("stalled", "diverged", "risen"))


@browser
@pytest.mark.parametrize("kind", ["PNG", "SVG", "CSV"])
def test_panels_are_saved_as_files(visit, kind):
    page = visit(f"/?{SMALL.format(300)}")
    ended(page)
    begins = {"PNG": b"\x89PNG", "SVG": b"<svg", "CSV": b""}[kind]
    for panel in ("chart", "attention", "machine", "alignment"):
        data = save_panel(page, panel, kind)
        assert data.startswith(begins)
        assert len(data) > 200
    if kind == "SVG":
        drawn = ElementTree.fromstring(data)
        assert len(drawn.findall("{*}svg")) == 2  # the cosine and the share of V*


@browser
def test_tables_are_saved_as_pictures(visit):
    page = visit(f"/?{SMALL.format(300)}")
    ended(page)
    for panel in ("verdicts", "hypotheses", "phases"):
        assert save_panel(page, panel, "PNG").startswith(b"\x89PNG")
        drawn = ElementTree.fromstring(save_panel(page, panel, "SVG"))
        saved = "".join(drawn.itertext()).replace("\u200b", "")
        rows = page.locator(f'[data-panel="{panel}"]').locator("xpath=ancestor::section[1]")
        for label in rows.locator("tbody th, li > span:nth-child(2)").all():
            words = label.evaluate("each => each.firstChild.textContent").split()
            assert words
            assert all(word in saved for word in words)
        width, height = (float(drawn.get(side)) for side in ("width", "height"))
        for text in drawn.iter("{http://www.w3.org/2000/svg}text"):
            assert 0 < float(text.get("x")) < width
            assert 0 < float(text.get("y")) < height


@browser
def test_tables_are_saved_as_csv(visit):
    page = visit(f"/?{SMALL.format(300)}")
    ended(page)
    heads = {
        "verdicts": ["id", "statement", "status"],
        "hypotheses": ["hypothesis", "met", "detail"],
        "phases": ["phase", "predicted", "seen"],
    }
    for panel, head in heads.items():
        first, *rows = csv.reader(save_panel(page, panel, "CSV").decode().splitlines())
        assert first[:3] == head
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(first)}
    assert all(float(row[1]) > 0 for row in rows)  # plain numbers


def save_panel(page: Any, panel: str, kind: str) -> bytes:
    """The file that the menu of a panel gives."""
    page.click(f".take[data-panel={panel}] summary")
    with page.expect_download() as started:
        page.click(f".take[data-panel={panel}] button:text-is('{kind}')")
    return Path(started.value.path()).read_bytes()


@browser
def test_a_slow_activation_says_its_cost_and_waits(visit):
    from playwright.sync_api import expect

    page = visit(f"/?{SMALL.format(5000)}&teacher.activation=tanh&teacher.norm=5")
    page.locator("#cost").wait_for()
    assert "Press Run to start" in page.inner_text("#cost")
    assert points(page) == 0
    expect(page.locator("#budget")).to_contain_text("quadrature")  # tables follow a moment later


@browser
@pytest.mark.parametrize(
    ("path", "teacher"),
    TEACHERS,
)
def test_every_teacher_can_be_chosen_and_run(visit, path, teacher):
    page = visit(f"{path}?steps=60")
    ended(page)
    page.uncheck("#auto")
    page.select_option("#choose-teacher", teacher)
    put(page, "steps", "60")
    page.click("#run")
    ended(page)
    assert points(page) > 3  # four a decade where a sample is drawn at every step
    assert "step 60" in page.get_attribute("#plot", "aria-label")
    assert f"teacher={teacher}" in page.url


@browser
def test_a_curve_grows_while_it_trains(visit):
    page = visit(f"/?{SMALL.format(3_000_000)}")
    seen = set()
    for _ in range(400):
        seen.add(points(page))
        if len(seen) > 4 or ENDED.match(page.inner_text("#status")):
            break
        page.wait_for_timeout(50)
    assert len(seen) > 3
    page.click("#stop")
    says(page, "#status", re.compile("^(stopped at step|Finished)"))


@browser
def test_attention_is_replayed_by_keyboard_and_by_itself(visit):
    page = visit(f"/?{SMALL.format(5000)}")
    ended(page)
    picture = "() => document.querySelector('.maps canvas').toDataURL()"
    learned = page.evaluate(picture)
    assert page.inner_text("#replay-bar output") == "step 5,000"
    page.focus("#replay")
    page.keyboard.press("Home")
    start = page.evaluate(picture)
    assert start != learned
    assert page.inner_text("#replay-bar output") == "step 0"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#replay-bar output") == "step 1"
    assert "step=1" in page.url
    page.click("#replay-bar button")
    says(page, "#replay-bar output", re.compile("^step (?![01]$)"))


@browser
def test_a_bad_value_gets_the_sentence_of_the_command_line(visit, tmp_path):
    page = visit(f"/?{SMALL.format(50)}")
    ended(page)
    put(page, "teacher-support", "13")
    page.wait_for_selector("#problem:visible")
    command = [
        sys.executable,
        "-m",
        "tutelage",
        "run",
        "teacher-models/rates",
        "--set",
        "D=12",
        "--set",
        "K=13",
    ]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=SOURCE)
    assert told.stderr.strip() == f"tutelage: {page.inner_text('#problem')}"
    assert page.get_attribute("#option-teacher-support", "aria-invalid") == "true"
    put(page, "teacher-support", "4")
    ended(page)
    assert page.locator("#problem").is_hidden()


@browser
def test_a_smaller_shape_follows_a_larger_one(visit):
    page = visit(f"/?{SMALL.format(50)}")
    ended(page)
    with page.expect_request("**/api/run*"):  # the picture of the larger run is still there
        put(page, "teacher-tokens", "6")
    ended(page)
    assert "teacher.tokens=6" in page.url


@browser
def test_the_index_of_a_letter_stands_below_the_line(visit):
    page = visit(SHALLOW)
    label = page.locator("label[for=option-teacher-nu_c]")
    assert label.locator("i sub").inner_text() == "c"
    assert "_" not in label.inner_text()


@browser
def test_a_shared_address_is_the_same_state(visit):
    page = visit(f"/?{SMALL.format(3000)}&show=attention_error")
    ended(page)
    put(page, "rate", "0.1")
    ended(page)
    shared, values = page.url, last_values(page)
    again = visit(shared[shared.index("/?") :])
    ended(again)
    assert last_values(again) == values
    assert again.input_value("#show") == "attention_error"
    assert again.input_value("#option-rate") == "0.1"
    assert again.input_value("#option-teacher-tokens") == "12"


@browser
def test_letters_of_the_paper_are_read(visit):
    page = visit("/?teacher=convolution&D=12&K=3&M=2&d=2&eta=0.1&T=40")
    ended(page)
    assert page.input_value("#option-teacher-tokens") == "12"
    assert page.input_value("#option-steps") == "40"
    assert "teacher.tokens=12" in page.url


@browser
def test_the_copied_python_gives_the_numbers_of_the_page(visit, tmp_path):
    page = visit(f"/?{SMALL.format(2000)}")
    ended(page)
    page.click("#copy-python")
    page.get_by_text("Copied.").wait_for()
    script = page.evaluate("() => navigator.clipboard.readText()")
    told = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=SOURCE,
        check=True,
    ).stdout
    numbers = {
        line.split()[0]: float(line.split()[1])
        for line in told.splitlines()
        if re.fullmatch(r"\w+ \S+", line)
    }
    statuses = re.findall("^(HOLDS|FAILS|UNDECIDED|OUTSIDE|VACUOUS|MEASURED) ", told, re.MULTILINE)
    chips = page.locator("#chips .chip .hidden").all_text_contents()
    assert [chip.strip() for chip in chips] == statuses
    assert len(statuses) > 3
    shown = last_values(page)
    assert written(shown["Excess risk"]) == pytest.approx(
        numbers["excess_risk"], rel=1e-4
    )  # five or six digits are shown
    assert written(shown["Attention error"]) == pytest.approx(numbers["attention_error"], rel=1e-4)
    assert written(shown["Entropy of attention"]) == pytest.approx(numbers["entropy"], rel=1e-4)


@browser
def test_the_copied_command_gives_the_numbers_of_the_page(visit, tmp_path):
    page = visit(f"/?{SMALL.format(500)}")
    ended(page)
    page.click("#copy-command")
    page.get_by_text("Copied.").wait_for()
    command = page.evaluate("() => navigator.clipboard.readText()").replace(
        "tutelage", f"{sys.executable} -m tutelage", 1
    )
    told = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
        env=SOURCE,
    ).stdout
    excess = float(re.search(r'"excess_risk": ?([^,}]+)', told)[1])
    assert written(last_values(page)["Excess risk"]) == pytest.approx(excess, rel=1e-4)


@browser
def test_runs_are_laid_over_each_other_and_taken_away(visit):
    page = visit(f"/?{SMALL.format(2000)}")
    ended(page)
    page.click("#keep")
    put(page, "rate", "0.05")
    ended(page)
    page.locator("#legend").get_by_text("η = 0.05").wait_for()
    assert page.locator("#legend").get_by_text("η = 0.2").count() == 1
    assert "also=" in page.url
    again = visit(page.url[page.url.index("/?") :])
    again.locator("#legend").get_by_text("η = 0.2").wait_for()
    again.get_by_role("button", name="Remove").click()
    again.locator("#legend").get_by_text("η = 0.2").wait_for(state="detached")
    assert "also=" not in again.url


@browser
def test_numbers_act_while_a_slider_moves_and_shapes_when_it_is_let_go(visit):
    page = visit(f"/?{SMALL.format(200)}")
    ended(page)
    runs: list[str] = []
    page.on(
        "request", lambda request: runs.append(request.url) if "/api/run" in request.url else None
    )
    move = (
        "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input', { "
        "bubbles: true })); }"
    )
    with page.expect_request("**/api/run*"):
        page.eval_on_selector("#option-rate-slider", move, 500)
    ended(page)
    assert len(runs) == 1
    page.eval_on_selector("#option-teacher-dim-slider", move, 6)
    page.wait_for_timeout(600)  # four times what a slider waits: a run would have been asked for
    assert len(runs) == 1
    with page.expect_request("**/api/run*"):
        page.eval_on_selector(
            "#option-teacher-dim-slider",
            "(slider) => slider.dispatchEvent(new Event('change', { bubbles: true }))",
        )
    assert len(runs) == 2
    assert "teacher.dim=6" in runs[-1]


@browser
def test_sliders_stop_where_a_setting_is_one_and_choices_bring_what_they_need(visit):
    page = visit(f"/?{SMALL.format(50)}")
    page.uncheck("#auto")
    move = (
        "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input', { "
        "bubbles: true })); }"
    )
    for at in range(0, 1001, 125):
        page.eval_on_selector("#option-teacher-support-slider", move, at)
        assert 12 % int(page.input_value("#option-teacher-support")) == 0
    put(page, "teacher-support", "4")
    for at in (9, 30, 77):
        page.eval_on_selector("#option-teacher-tokens-slider", move, at)
        assert int(page.input_value("#option-teacher-tokens")) % 4 == 0
    page.select_option("#choose-teacher", "graph_convolution")
    for graph, tokens, degree in (
        ("karate", "34", ""),
        ("regular", "34", "4"),
        ("cycle", "34", ""),
    ):
        page.select_option("#option-teacher-graph", graph)
        assert page.input_value("#option-teacher-tokens") == tokens
        assert page.input_value("#option-teacher-degree") == degree


@browser
def test_a_link_to_another_pages_teacher_leads_there(visit):
    page = visit("/?teacher=transported&teacher.pool=64&student.heads=8&steps=5")
    page.wait_for_url(f"**{SHALLOW}?*")
    assert page.input_value("#choose-teacher") == "transported"


@browser
def test_a_lecture_is_given_by_keyboard(visit):
    page = visit("/?present=1")
    page.wait_for_selector("body.presenting")
    assert page.locator("#panel").is_hidden()
    page.keyboard.press("ArrowRight")
    says(page, "#title", PAGES[0].page.tour[1].name)
    assert points(page) == 0
    page.goto(page.url.split("?")[0] + f"?{SMALL.format(3000)}&present=1")
    page.wait_for_selector("body.presenting")
    page.keyboard.press("Space")
    ended(page)
    page.keyboard.press("a")
    assert page.locator("#maps").is_visible()
    assert page.locator("#plot").is_hidden()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("?")
    assert page.locator("#keys").is_hidden()
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_visible()
    assert "present" not in page.url


@browser
@pytest.mark.parametrize("window", [(1280, 720), (1600, 900), (1920, 1080)])
def test_nothing_overlaps_in_a_lecture_and_the_slider_is_in_reach(visit, window):
    page = visit("/?present=1", viewport={"width": window[0], "height": window[1]})
    page.wait_for_selector("body.presenting")
    page.keyboard.press("Space")
    ended(page)
    parts = ("#title", ".words", "#theorem", "#chips", "#status", "#plot", "#legend", "#replay")
    boxes = {part: page.locator(part).bounding_box() for part in parts}
    for part, box in boxes.items():
        assert box["x"] >= 0, part
        assert box["y"] + box["height"] <= window[1], part
        assert box["x"] + box["width"] <= window[0], part
    for one, other in combinations(parts, 2):
        a, b = boxes[one], boxes[other]
        apart = (
            a["x"] + a["width"] <= b["x"] + 1
            or b["x"] + b["width"] <= a["x"] + 1
            or a["y"] + a["height"] <= b["y"] + 1
            or b["y"] + b["height"] <= a["y"] + 1
        )
        assert apart, (one, other)


@browser
def test_a_graph_is_drawn_typed_and_uploaded(visit, tmp_path):
    from playwright.sync_api import expect

    page = visit("/?teacher=graph_convolution&teacher.outputs=2&teacher.dim=2&steps=100")
    ended(page)
    page.click("#open-graph")
    box = page.locator("dialog svg").bounding_box()
    corners = [(box["x"] + x, box["y"] + y) for x, y in ((60, 60), (300, 60), (180, 250))]
    for corner in corners:
        page.mouse.click(*corner)
    for one, other in ((0, 1), (1, 2)):
        page.mouse.move(*corners[one])
        page.mouse.down()
        page.mouse.move(*corners[other], steps=3)
        page.mouse.up()
    assert page.input_value("#edges") == "0-1, 1-2"
    page.click("#use-graph")
    ended(page)
    assert "teacher.graph=edges:0-1,1-2" in page.url
    assert page.input_value("#option-teacher-tokens") == "3"

    page.click("#open-graph")
    page.fill("#edges", "0-1, 1-2, 2-3, 3-0")
    page.click("#use-graph")
    ended(page)
    assert page.input_value("#option-teacher-tokens") == "4"

    files = {
        "list.txt": "# a path\na b\nb c\nc d\nd e\n",
        "matrix.json": json.dumps([[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        "lists.json": json.dumps({"0": [1, 2], "1": [3]}),
    }
    expected = {
        "list.txt": "0-1, 1-2, 2-3, 3-4",
        "matrix.json": "0-1, 0-2, 1-2",
        "lists.json": "0-1, 0-2, 1-3",
    }
    page.click("#open-graph")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        page.set_input_files("#graph-file", tmp_path / name)
        expect(page.locator("#edges")).to_have_value(expected[name])
    (tmp_path / "wrong.json").write_text('{"a": 3}')
    page.set_input_files("#graph-file", tmp_path / "wrong.json")
    page.get_by_text("This JSON is no graph").wait_for()


@browser
def test_saved_runs_are_listed_opened_and_compared(visit):
    from playwright.sync_api import expect

    page = visit(f"/?{SMALL.format(300)}")
    for rate in ("0.2", "0.1"):
        put(page, "rate", rate)
        ended(page)
        page.click("#save")
        expect(page.locator("#save")).to_be_disabled()  # it has been saved
    shown = visit("/saved?where=steps=300")  # the copied command has put others there
    expect(shown.locator("#runs tbody tr")).to_have_count(2)
    for box in shown.locator("#runs input[type=checkbox]").all():
        box.check()
    shown.click("#compare")
    shown.wait_for_selector("#legend li")
    shown.locator("#legend").get_by_text("η = 0.1").wait_for()
    assert shown.locator("#legend").get_by_text("η = 0.2").count() == 1
    shown.go_back()
    shown.locator("#runs tbody a").first.click()
    ended(shown)
    assert points(shown) > 10
    assert shown.input_value("#option-teacher-tokens") == "12"


@browser
def test_the_page_of_shallow_transformers(visit):
    page = visit(
        f"{SHALLOW}?teacher=transported&teacher.pool=64&student.heads=8&objective.samples=20"
        "&steps=40"
    )
    ended(page)
    assert page.input_value("#show") == "loss"
    assert page.locator("#studies").is_visible()
    assert page.locator("#attention").is_hidden()


@browser
@pytest.mark.parametrize("path", [f"/?{SMALL.format(200)}", "/", "/saved", SHALLOW])
@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_shows_it_without_scrolling_sideways(visit, path, width):
    page = visit(path, viewport={"width": width, "height": 780})
    settled(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") == width


@browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "path",
    [
        *(placed.address for placed in PAGES),
        f"/?{SMALL.format(500)}",
        "/?teacher.support=40",
        f"/?{SMALL.format(50)}&present=1",
        "/saved",
    ],
)
def test_axe_finds_nothing(visit, axe, path, theme):
    page = visit(f"{path}{'&' if '?' in path else '?'}theme={theme}")
    settled(page)
    for details in page.locator("details").all():
        details.evaluate("(part) => { part.open = true; }")
    page.evaluate(axe)
    found = page.evaluate(
        "async () => (await axe.run()).violations.map((one) => [one.id, one.nodes.map((node) => "
        "node.target.join(' '))])"
    )
    assert found == []


@browser
def test_axe_finds_nothing_in_the_editor_of_graphs(visit, axe):
    page = visit("/?teacher=graph_convolution&teacher.outputs=2&teacher.dim=2&steps=50")
    page.click("#open-graph")
    page.fill("#edges", "0-1, 1-2, 2-0")
    page.locator("#edges").blur()
    page.evaluate(axe)
    assert page.evaluate("async () => (await axe.run()).violations.map((one) => one.id)") == []
    # What finds nothing anywhere finds nothing here either: a picture without words must be found.
    page.evaluate(
        "() => document.querySelector('dialog[open]').append(document.createElement('img'))"
    )
    assert "image-alt" in page.evaluate(
        "async () => (await axe.run()).violations.map((one) => one.id)"
    )


@browser
def test_another_site_cannot_frame_the_page(chromium, address):
    page = chromium.new_page()
    with page.expect_console_message(lambda message: "frame" in message.text):
        page.set_content(f"<iframe src={address}></iframe>")
    assert page.frames[1].locator("#status").count() == 0
    page.close()


def test_nothing_of_the_page_is_left_over():
    """Every file of the page is one that another asks for."""
    folder = Path(__file__).parents[2] / "src" / "tutelage" / "explorer" / "page"
    files = {path.name for path in folder.iterdir() if path.suffix in (".js", ".css", ".svg")}
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in folder.iterdir()
        if path.suffix in (".js", ".html")
    ) + (folder.parent / "server.py").read_text(encoding="utf-8")
    assert {name for name in files if f"/{name}" not in text and f'"{name}"' not in text} == set()
