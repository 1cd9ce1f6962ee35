"""The page as visitors use it, in headless Chromium. The first test is quick; the others are `make
test-browser`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tutelage.explorer.site import find_site

SOURCE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
ENDED = re.compile("^(finished|converged|diverged)")
SMALL = (
    "teacher=convolution&teacher.tokens=12&teacher.support=3&teacher.outputs=3&teacher.dim=4"
    "&teacher.norm=10&rate=0.2&steps={}&seed=0"
)
SHALLOW = "/shallow-transformers"
TEACHERS = [
    (placed.address, teacher) for placed in find_site().pages for teacher in placed.page.teachers
]
browser = pytest.mark.browser


def ended(page: Any) -> None:
    """Waits until the page says that its run has come to an end."""
    from playwright.sync_api import expect

    expect(page.locator("#status")).to_have_text(ENDED, timeout=120_000)


def points(page: Any) -> int:
    return int(page.locator("#plot").get_attribute("data-points"))


def last_values(page: Any) -> dict[str, str]:
    """The table of last values: a name and what is written beside it."""
    page.locator("#numbers summary").first.click()
    page.wait_for_timeout(400)  # tables are written four times a second
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
    page = visit("/")
    page.uncheck("#auto")
    for key, value in {
        "teacher-tokens": "8",
        "teacher-support": "2",
        "teacher-outputs": "2",
        "teacher-dim": "2",
        "steps": "2000",
    }.items():
        put(page, key, value)
    assert points(page) == 0
    page.click("#run")
    ended(page)
    assert points(page) > 30
    assert "teacher.tokens=8" in page.url
    assert page.locator("#legend li").count() >= 2  # the student and what theory says


@browser
@pytest.mark.parametrize(
    ("path", "teacher"),
    TEACHERS,
)
def test_every_teacher_can_be_chosen_and_run(visit, path, teacher):
    page = visit(path)
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
    assert page.inner_text("#status").startswith(("stopped at step", "finished"))


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
    page.wait_for_timeout(500)
    assert page.inner_text("#replay-bar output") not in ("step 0", "step 1")


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
    page.wait_for_timeout(300)
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
    again.wait_for_timeout(200)
    assert again.locator("#legend").get_by_text("η = 0.2").count() == 0
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
    page.eval_on_selector("#option-rate-slider", move, 500)
    page.wait_for_timeout(600)
    assert len(runs) == 1
    page.eval_on_selector("#option-teacher-dim-slider", move, 6)
    page.wait_for_timeout(600)
    assert len(runs) == 1
    page.eval_on_selector(
        "#option-teacher-dim-slider",
        "(slider) => slider.dispatchEvent(new Event('change', { bubbles: true }))",
    )
    page.wait_for_timeout(600)
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
    before = page.inner_text("#title")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert page.inner_text("#title") != before
    assert points(page) == 0
    page.goto(page.url.split("?")[0] + f"?{SMALL.format(3000)}&present=1")
    page.wait_for_selector("body.presenting")
    page.keyboard.press("Space")
    ended(page)
    page.keyboard.press("a")
    assert page.locator("#maps").is_visible()
    assert page.locator("#plot").is_hidden()
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_visible()
    assert "present" not in page.url


@browser
def test_a_graph_is_drawn_typed_and_uploaded(visit, tmp_path):
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
        "lists.json": json.dumps({"0": [1, 2], "1": [2]}),
    }
    expected = {
        "list.txt": "0-1, 1-2, 2-3, 3-4",
        "matrix.json": "0-1, 0-2, 1-2",
        "lists.json": "0-1, 0-2, 1-2",
    }
    page.click("#open-graph")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        page.set_input_files("#graph-file", tmp_path / name)
        page.wait_for_timeout(200)
        assert page.input_value("#edges") == expected[name]
    (tmp_path / "wrong.json").write_text('{"a": 3}')
    page.set_input_files("#graph-file", tmp_path / "wrong.json")
    page.get_by_text("This JSON is no graph").wait_for()


@browser
def test_saved_runs_are_listed_opened_and_compared(visit):
    page = visit(f"/?{SMALL.format(300)}")
    for rate in ("0.2", "0.1"):
        put(page, "rate", rate)
        ended(page)
        page.click("#save")
        page.get_by_text("Saved to the store.").wait_for()
    shown = visit("/saved?where=steps=300")  # the copied command has put others there
    shown.wait_for_selector("#runs tbody tr")
    assert shown.locator("#runs tbody tr").count() == 2
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
    page.wait_for_selector("h1")
    page.wait_for_timeout(1000)
    assert page.evaluate("() => document.documentElement.scrollWidth") == width


@browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        f"/?{SMALL.format(500)}",
        "/?teacher.support=40",
        f"/?{SMALL.format(50)}&present=1",
        "/saved",
        SHALLOW,
    ],
)
def test_axe_finds_nothing(visit, axe, path, theme):
    page = visit(f"{path}{'&' if '?' in path else '?'}theme={theme}")
    page.wait_for_selector("h1")
    page.wait_for_timeout(1500)
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
    page.evaluate("() => document.querySelector('dialog').append(document.createElement('img'))")
    assert "image-alt" in page.evaluate(
        "async () => (await axe.run()).violations.map((one) => one.id)"
    )


@browser
def test_another_site_cannot_frame_the_page(chromium, address):
    page = chromium.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_content(f"<iframe src={address}></iframe>")
    page.wait_for_timeout(1000)
    assert page.frames[1].locator("#status").count() == 0
    assert any("frame" in complaint for complaint in complaints)
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
