"""Papers and parts that do not come with tutelage: they appear on pages, and no link brings them
in.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asking import Client

from tutelage import plugins, settings
from tutelage.explorer.catalogue import catalogue
from tutelage.explorer.limits import Limits
from tutelage.explorer.server import Explorer
from tutelage.explorer.site import OWN_PARTS, find_site
from tutelage.explorer.states import read_state
from tutelage.problem import registry
from tutelage.refuse import Refused
from tutelage.settings import KINDS
from tutelage.studies.discovery import papers

PACKAGE = Path(sys.modules["tutelage"].__file__).parent / "explorer"
PARTS = """
from typing import Annotated

import jax.numpy as jnp

import tutelage as tt
from tutelage.problem.options import Option
from tutelage.students.base import Student
from tutelage.teachers.base import Shape, Teacher


class Shift(Teacher):
    tokens: int
    gain: float

    @property
    def shape(self):
        return Shape(2, 3, self.tokens, self.tokens)

    def __call__(self, tokens):
        return self.gain * jnp.roll(tokens, 1, axis=1)[:2]


@tt.register("teacher", "shift", label="cyclic shift", sentence="Every token moves on by one.")
def make_shift(
    seed: int,
    *,
    tokens: Annotated[int, Option("tokens", "D", 1, 20, shape=True)] = 5,
    gain: Annotated[float, Option("gain", "g", 0.1, 10, log=True, unit="dB")] = 1.0,
) -> Teacher:
    return Shift(tokens, gain)


class Linear(Student):
    weights: jnp.ndarray

    def __call__(self, tokens):
        return self.weights @ tokens


@tt.register("student", "linear", goes_with={"teacher": ("shift",)})
def make_linear(teacher: Teacher, seed: int) -> Student:
    return Linear(jnp.zeros((teacher.shape.outputs, teacher.shape.dim)))


@tt.register("optimiser", "slow_descent")
def make_slow_descent():
    import optax

    return lambda rate: optax.sgd(rate / 2)
"""
PAPER = """
from tutelage.studies.pages import Page, Prepared
from tutelage.studies.paper import Entry, Paper
from tutelage.studies.study import Preset, Study

study = Study(
    source="nowhere",
    statement="A shift is learned.",
    equation="y = x",
    presets={{"quick": Preset(seconds=1.0)}},
    cases=lambda plan, preset: [],
)
paper = Paper(
    name="shifts",
    title="On Shifts",
    authors="Doe",
    year=2026,
    bibtex="",
    studies={{"moving": Entry("does it move?", study=study)}},
    pages={pages},
)
"""
PAGE = """(
    Page(
        "shifting",
        "Shifts",
        ("shift", "convolution"),
        begin={"rate": 0.5, "steps": 7},
        letters={"g": "teacher.gain"},
        symbols={"steps": "n"},
        prepared=(Prepared("far", "Look.", "teacher=shift&teacher.gain=3"),),
    ),
)"""
SMALL = "steps=20&objective.samples=100&objective.held_out=20"


@pytest.fixture
def import_file(tmp_path, monkeypatch) -> Iterator[Callable[[str], Path]]:
    """Imports a file as `--import` does; afterwards nothing of it is left."""
    origins = dict(settings.ORIGINS)
    monkeypatch.setattr(plugins, "_FILES", dict(plugins._FILES))
    parts = {kind: dict(known) for kind, known in registry._REGISTERED.items()}
    monkeypatch.setattr(registry, "_REGISTERED", parts)

    def write_and_import(text: str) -> Path:
        path = tmp_path / f"mine{len(list(tmp_path.iterdir()))}.py"
        path.write_text(text)
        plugins.import_all([str(path)])
        return path

    yield write_and_import
    settings.ORIGINS.clear()
    settings.ORIGINS.update(origins)


def client_of(store: Path) -> Client:
    return Client(Explorer(store=str(store)).app())


def run(client: Client, query: str) -> list[dict]:
    return [json.loads(line) for line in client.get(f"/api/run?{query}").text.splitlines()]


@pytest.mark.usefixtures("adam_allowed")
def test_a_users_teacher_appears_with_its_options_and_runs(import_file, tmp_path):
    path = import_file(PARTS)
    client = client_of(tmp_path)
    found = client.get("/api/catalogue").json()
    page = next(page for page in found["pages"] if page["name"] == OWN_PARTS)
    assert (page["teachers"], page["paper"]) == (["shift"], "")
    assert client.get(page["address"]).status_code == 200
    part = next(part for part in found["kinds"]["teacher"] if part["name"] == "shift")
    assert (part["label"], part["sentence"]) == ("cyclic shift", "Every token moves on by one.")
    tokens, gain = part["options"]
    assert (tokens["letter"], tokens["default"], tokens["most"]) == ("D", 5, 256)
    assert gain["kind"] == "float"
    assert gain | {"label": "gain", "least": 0.1, "most": 10, "log": True, "unit": "dB"} == gain

    told = run(client, f"teacher=shift&teacher.gain=2&{SMALL}")
    assert told[-1]["outcome"] == "FINISHED", told[-1]
    points = [event for event in told if event["event"] == "points"]
    assert points[-1]["steps"][-1] == 20
    assert set(points[-1]["curves"]) == {"excess_risk"}
    (last,) = [event for event in told if event["event"] == "verdicts"][-1:]
    assert last["verdicts"] == []
    assert "covers this teacher (cyclic shift)" in last["sentence"]

    described = client.get(f"/api/describe?teacher=shift&{SMALL}").json()
    assert described["machine"] == []
    assert f"import_all([{str(path)!r}])" in described["python"]
    assert f"import = {json.dumps([str(path)])}" in described["command"]


def test_parts_of_users_go_with_what_they_name_or_with_everything(import_file):
    import_file(PARTS)
    site = find_site()
    assert site.companions["shift"]["student"][-1] == "linear"
    assert "linear" not in site.companions["convolution"]["student"]
    assert {kinds["optimiser"][-1] for kinds in site.companions.values()} == {"slow_descent"}
    assert site.companions["shift"]["objective"] == ("minibatch", "empirical")
    state = read_state(f"teacher=shift&student=linear&optimiser=slow_descent&{SMALL}", site)
    assert (state.placed.page.name, state.setting.rate) == (OWN_PARTS, 0.01)
    names = {part["name"] for part in catalogue(site, Limits())["kinds"]["student"]}
    assert "linear" in names


def test_a_paper_with_a_page_appears(import_file, tmp_path):
    import_file(PARTS)
    import_file(PAPER.format(pages=PAGE))
    client = client_of(tmp_path)
    found = client.get("/api/catalogue").json()
    (page,) = [page for page in found["pages"] if page["name"] == "shifting"]
    assert (page["title"], page["address"], page["paper"]) == ("Shifts", "/shifting", "shifts")
    assert page["teachers"] == ["shift", "convolution"]
    assert page["letters"] == {"steps": "n"}
    assert page["prepared"][0]["query"] == "teacher=shift&teacher.gain=3"
    assert OWN_PARTS not in {page["name"] for page in found["pages"]}  # it has a page now
    assert found["papers"] == []
    assert '"shifting"' in client.get("/shifting").text

    # A teacher of two pages is read as the page says that asks, else as the first.
    asked = read_state("page=shifting&teacher=convolution", find_site())
    assert (asked.placed.page.name, asked.setting.rate, asked.setting.steps) == ("shifting", 0.5, 7)
    usual = read_state("teacher=convolution", find_site())
    assert (usual.placed.address, usual.setting.rate) == ("/", 0.2)
    lettered = read_state("page=shifting&g=4", find_site()).setting
    assert (lettered.teacher.name, lettered.teacher.options["gain"]) == ("shift", 4.0)


def test_a_paper_without_a_page_is_listed_with_its_studies(import_file, tmp_path):
    import_file(PAPER.format(pages="()"))
    client = client_of(tmp_path)
    (paper,) = client.get("/api/catalogue").json()["papers"]
    assert (paper["name"], paper["address"], paper["trouble"]) == ("shifts", "/shifts", "")
    assert paper["citation"] == "Doe, On Shifts (2026)"
    assert "/page/paper.js" in client.get("/shifts").text
    (study,) = client.get("/api/study/shifts").json()["studies"]
    assert study == {
        "name": "shifts/moving",
        "title": "does it move?",
        "committed": {},
        "run": None,
    }
    assert client.get("/api/study/shifts/moving").json()["statement"] == "A shift is learned."
    assert client.get("/api/saved?study=shifts/moving").json()["runs"] == []


def test_a_page_that_cannot_be_shown_is_one_sentence(import_file, tmp_path, caplog):
    import_file(PAPER.format(pages='(Page("none", "None", ("no_such_teacher",)),)'))
    (paper,) = client_of(tmp_path).get("/api/catalogue").json()["papers"]
    assert "There is no teacher named 'no_such_teacher'" in paper["trouble"]
    assert caplog.text.count("no_such_teacher") == 1


def test_two_pages_of_one_name_are_refused(import_file):
    import_file(PAPER.format(pages='(Page("teacher-models", "Mine", ("convolution",)),)'))
    with pytest.raises(Refused, match="'teacher-models' from teacher-models and from shifts"):
        find_site()


@pytest.mark.parametrize("name", ["saved", "api", "Mine", "a/b", ""])
def test_a_page_has_a_name_that_can_be_an_address(name):
    from tutelage.studies.pages import Page

    with pytest.raises(Refused, match="name of a page is its address"):
        Page(name, "Mine", ("convolution",))


def test_a_link_never_imports_anything(tmp_path):
    mark, path = tmp_path / "was-imported", tmp_path / "evil.py"
    path.write_text(f"open({str(mark)!r}, 'w')\nraise SystemExit\n")
    sys.path.insert(0, str(tmp_path))
    try:
        client, before = client_of(tmp_path), set(sys.modules)
        keys = ["import", "imports", "--import", "module", "file", "page", "optimiser.import"]
        names = (path, "evil", "../evil.py", "evil.py")
        queries = [
            *(f"{key}={name}" for key in [*keys, *KINDS] for name in names),
            f"teacher=convolution&import={path}",
            f"teacher.graph={path}",
        ]
        for query in queries:
            described = client.get(f"/api/describe?{query}").json()
            assert described["ok"] is False, query
            (event,) = run(client, query)
            assert event["event"] == "error", query
        for address in ("/?import=evil", f"/{path}", "/evil", "/evil.py", "/page/../evil.py"):
            client.get(address)
        for name in ("evil", "evil/evil", "..%2fevil"):
            assert client.get(f"/api/study/{name}").json()["ok"] is False
        assert not [name for name in set(sys.modules) - before if "evil" in name]
        assert not [name for name in sys.modules if name.startswith(plugins.FILE_MODULE + "evil")]
    finally:
        sys.path.remove(str(tmp_path))
    assert not mark.exists()


# The library's own teachers, written in the language of the page so that it runs without Python.
RUNS_WITHOUT_PYTHON = (
    "in_page.py",
    "page/baked.js",
    "page/exact/problem.js",
    "page/exact/risk.js",
    "page/exact/student.js",
)


def find_names(text: str) -> set[str]:
    """The papers, studies and authors that a text names."""
    known = papers().values()
    words = {name for paper in known for name in (paper.name, paper.title)}
    words |= {f"{paper.name}/{study}" for paper in known for study in paper.studies}
    spoken = [re.escape(word).replace(r"\-", "[-_ ]") for word in sorted(words, key=len)]
    found = set(re.findall(rf"\b(?:{'|'.join(reversed(spoken))})s?\b", text, re.IGNORECASE))
    # People are written with a capital: Li is one, and li an element of a list.
    authors = {author.split()[-1] for paper in known for author in paper.authors.split(",")}
    return found | set(re.findall(rf"\b(?:{'|'.join(map(re.escape, authors))})\b", text))


def files_of_the_explorer(*suffixes: str) -> dict[str, str]:
    return {
        str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*")
        if path.suffix in suffixes and "vendor" not in path.parts
    }


def test_the_explorer_names_no_paper():
    assert find_names("as teacher_models/rates by Zhang") == {"teacher_models/rates", "Zhang"}
    assert find_names("the page of shallow transformers") == {"shallow transformers"}
    files = files_of_the_explorer(".py", ".js", ".html", ".css")
    assert len(files) > 30
    named = {name: find_names(text) for name, text in files.items()}
    for name in RUNS_WITHOUT_PYTHON:  # two papers are named like teachers of the library
        named[name] -= set(registry.registered_names("teacher"))
    assert {name: found for name, found in named.items() if found} == {}
    imports = re.compile(r"tutelage\.papers|from tutelage import papers")
    assert [name for name, text in files.items() if imports.search(text)] == []


def test_the_script_of_the_page_names_no_teacher_and_no_study():
    teachers = [name for name in registry.registered_names("teacher") if name != "products"]
    studies = [f"{paper.name}/{short}" for paper in papers().values() for short in paper.studies]
    own = [r"shallow", r"theorem_3", *map(re.escape, teachers), *map(re.escape, studies)]
    pattern = re.compile(rf"\b(?:{'|'.join(own)})", re.IGNORECASE)
    assert pattern.search('if (teacher === "convolution")')
    found = {
        name: pattern.findall(text)
        for name, text in files_of_the_explorer(".js", ".html").items()
        if name not in RUNS_WITHOUT_PYTHON
    }
    assert {name: words for name, words in found.items() if words} == {}


def test_a_file_with_a_paper_is_imported_without_a_complaint(import_file, caplog, capsys):
    import_file(PAPER.format(pages="()"))
    find_site()
    assert "shifts" in papers()
    assert caplog.text + capsys.readouterr().err == ""
