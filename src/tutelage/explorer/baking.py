"""All that an exported page carries: the catalogue, what Python says about prepared states, runs
that the page cannot make itself, the studies, and the stored runs.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tutelage.explorer.catalogue import catalogue
from tutelage.explorer.code import command_around, python_around
from tutelage.explorer.describing import describe
from tutelage.explorer.fields import default_of
from tutelage.explorer.in_page import NEEDS_PYTHON, PYTHON_ONLY, RUNS_IN_PAGE, runs_in_page
from tutelage.explorer.limits import Limits
from tutelage.explorer.reading import Event, Json
from tutelage.explorer.saved import listed, opened
from tutelage.explorer.site import Placed, Site
from tutelage.explorer.states import read_state
from tutelage.explorer.stream import Follower, Known
from tutelage.explorer.studies import describe_study, list_studies
from tutelage.problem.registry import options_of, registered
from tutelage.refuse import Refused
from tutelage.settings import KINDS, Part, Setting
from tutelage.studies.pages import ATTENTION_BYTES, Prepared
from tutelage.studies.tours import Stop

SAVED = "?page=saved"  # the address of the stored runs
SECONDS_PER_STATE = 3600.0  # of a prepared state that is run for the page
DIGITS = 10  # of recorded curves, which are drawn and can be saved as a table
MACHINE_DIGITS = 6  # of the matrices of the machine, which are colours and can be pointed at
FRAME_BYTES = 50_000  # of the pictures of one recorded run; it has fewer where they are large
Tell = Callable[[str], None]


def bake(site: Site, limits: Limits, store: str, tell: Tell) -> Event:
    """JSON-ready. Runs every prepared state, which takes minutes; `tell` is told of each."""
    return {
        "catalogue": bake_catalogue(site, limits),
        "runs_here": dict(RUNS_IN_PAGE),
        "states": {placed.page.name: bake_states(placed, site, tell) for placed in site.pages},
        "papers": {name: list_studies(paper, store) for name, paper in site.papers.items()},
        "statements": dict(_read_statements(site)),
        "saved": bake_saved(store, site),
        "code": {placed.page.name: bake_code(placed) for placed in site.pages},
        "matrix_bytes": ATTENTION_BYTES,
        "graphs": {name: list_edges(name) for name in ("karate", "les-miserables")},
    }


def bake_catalogue(site: Site, limits: Limits) -> Event:
    """The catalogue with the addresses of an exported page, and with what it cannot run marked."""
    given = catalogue(_relocate(site), limits)
    pages = [
        {**_mapping(plain), "paths": dict(placed.page.letters)}
        for plain, placed in zip(_listing(given["pages"]), site.pages, strict=True)
    ]
    papers = [
        {**_mapping(plain), "address": f"?page={paper.name}"}
        for plain, paper in zip(_listing(given["papers"]), site.bare, strict=True)
    ]
    kinds = {
        kind: [_mark(kind, _mapping(part)) for part in _listing(_mapping(given["kinds"])[kind])]
        for kind in KINDS
    }
    return {**given, "pages": pages, "papers": papers, "kinds": kinds, "saved": SAVED}


def prepared_queries(placed: Placed) -> list[str]:
    """Of all states that the page shows in its tour or prepared, each once."""
    states: list[Stop | Prepared] = [*placed.page.tour, *placed.page.prepared]
    return list(dict.fromkeys(query for state in states for query in (state.query, *state.also)))


def bake_states(placed: Placed, site: Site, tell: Tell) -> list[Event]:
    """Those of one page, and how many are done."""
    queries, baked = prepared_queries(placed), []
    for number, query in enumerate(queries, 1):
        tell(f"running state {number} of {len(queries)} of {placed.page.name}")
        baked.append(bake_state(query, placed, site))
    return baked


def bake_state(query: str, placed: Placed, site: Site) -> Event:
    """What Python says about a state; its curves too, where the page cannot compute them."""
    state = read_state(f"{query}&page={placed.page.name}", site)
    live = runs_in_page(state.setting)
    told: list[Event] = []
    limits = Limits(seconds=SECONDS_PER_STATE)
    follower = Follower(state, told.append, threading.Event(), limits, Known())
    follower.looked_at = math.inf  # it judges the finished run alone
    follower()
    by_kind = {str(event["event"]): event for event in told}  # the last of each
    if "error" in by_kind:
        raise Refused(
            "Every prepared state must run before a page is exported, since it is shown there. "
            f"Got {query!r}: {by_kind['error']['sentence']}"
        )
    verdicts = [by_kind[kind] for kind in ("lines", "phases", "verdicts") if kind in by_kind]
    described = describe(state, Known())
    described["machine"] = [_shorten_block(_mapping(b)) for b in _listing(described["machine"])]
    found: Event = {"query": query, "described": described}
    if live:
        return {**found, "end": verdicts}
    return {**found, "events": _record(told, [*verdicts, by_kind["end"]])}


def bake_code(placed: Placed) -> Event:
    """What the page writes around a setting to make code of it, and the measures of every teacher
    and student that it runs. These depend on sizes only in that large matrices are left out, which
    the page does by itself.
    """
    students = RUNS_IN_PAGE["student"]
    return {
        "python": python_around(placed),
        "command": command_around(),
        "measures": {
            teacher: {student: _measure(placed, teacher, student) for student in students}
            for teacher in placed.page.teachers
            if teacher in RUNS_IN_PAGE["teacher"]
        },
    }


def bake_saved(store: str, site: Site) -> Event:
    """The list of stored runs."""
    try:
        found = listed(store, "", site)
    except Refused:  # no store there
        return {"runs": [], "count": 0, "store": ""}
    runs = []
    for plain in _listing(found["runs"]):
        run = _mapping(plain)
        runs.append({**run, "address": _relocate_address(run, site)})
    return {**found, "runs": runs, "store": ""}  # a folder of this machine is nobody's business


def bake_runs(saved: Event, store: str, site: Site, limits: Limits) -> Iterator[tuple[str, Event]]:
    """The stored runs by their names; one that cannot be read is left out."""
    for plain in _listing(saved["runs"]):
        run = _mapping(plain)
        if run["steps"] is None:
            continue
        try:
            found = opened(store, str(run["identity"]), str(run["steps"]), site, limits)
        except Refused:
            continue
        yield f"{run['identity']}/{run['steps']}", {**found, "curves": _shorten(found["curves"])}


def _measure(placed: Placed, teacher: str, student: str) -> tuple[str, ...]:
    """What the page measures of a small run, that of the sizes to begin with."""
    sizes = Part(teacher, **registered("teacher", teacher).begin)
    small = Setting(sizes, rate=1.0, steps=1).change(student=Part(student))
    return placed.page.measures(small)


def _relocate(site: Site) -> Site:
    """The same pages at the addresses that they have in one file."""
    pages = [replace(placed, address=f"?page={placed.page.name}") for placed in site.pages]
    return replace(site, pages=tuple(pages))


def _relocate_address(run: dict[str, Json], site: Site) -> str:
    names = {placed.address: placed.page.name for placed in site.pages}
    return f"?page={names[str(run['address'])]}"


def _mark(kind: str, part: dict[str, Json]) -> Event:
    """A part of the catalogue, with a reason beside what an exported page cannot run."""
    if part["name"] not in RUNS_IN_PAGE[kind]:
        return {**part, "python": NEEDS_PYTHON}
    declared = options_of(kind, str(part["name"]))
    options = []
    for plain in _listing(part["options"]):
        option = _mapping(plain)
        name = str(option["name"])
        usual = default_of(declared[name])  # of the registry, where the page may begin with another
        option["usual"] = None if isinstance(usual, np.ndarray) else usual
        if only := PYTHON_ONLY.get(name):
            option["python"] = dict.fromkeys(only, NEEDS_PYTHON)
        options.append(option)
    return {**part, "options": options}


def _record(told: list[Event], last: list[Event]) -> Event:
    """A run in one piece: what came before its points, all points, the attention, and the end."""
    steps: list[Json] = []
    curves: dict[str, list[Json]] = {}
    for event in told:
        if event["event"] == "points":
            steps += _listing(event["steps"])
            for name, values in _mapping(event["curves"]).items():
                curves.setdefault(name, []).extend(_listing(values))
    frames = [
        {key: value for key, value in event.items() if key != "event"}
        for event in told
        if event["event"] == "frame"
    ]
    firsts = (
        next((event for event in told if event["event"] == kind), None)
        for kind in ("about", "lines")
    )
    return {
        "first": [event for event in firsts if event is not None],
        "points": {"steps": steps, "curves": _shorten(curves)},
        "frames": thin(frames),
        "last": last,
    }


def thin(frames: list[Event]) -> list[Event]:
    """Every n-th picture and the last, so that all of them are small enough to carry."""
    size = sum(len(json.dumps(frame)) for frame in frames)
    every = max(1, math.ceil(size / FRAME_BYTES))
    return [*frames[:-1:every], *frames[-1:]]


def _shorten_block(block: dict[str, Json]) -> dict[str, Json]:
    """A block of the machine with as many digits as are shown."""
    matrices = {key: block[key] for key in ("shared", "teacher", "bend") if block[key] is not None}
    return {
        **block,
        **{
            key: [[_round(value, MACHINE_DIGITS) for value in _listing(row)] for row in _listing(m)]
            for key, m in matrices.items()
        },
    }


def _shorten(curves: Json) -> dict[str, Json]:
    """Curves with as many digits as can be seen."""
    return {
        name: [_round(value, DIGITS) for value in _listing(curve)]
        for name, curve in _mapping(curves).items()
    }


def _round(value: Json, digits: int) -> float | int | None:
    """A number with so many digits; whole numbers without a point, which is shorter."""
    if value is None:
        return None
    assert isinstance(value, int | float)
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e6 else short


def _read_statements(site: Site) -> Iterator[tuple[str, Json]]:
    for paper in site.papers.values():
        for name in paper.studies:
            try:
                yield f"{paper.name}/{name}", describe_study(paper, name)["statement"]
            except Refused as refused:
                yield f"{paper.name}/{name}", str(refused)


def list_edges(name: str) -> Event:
    """A graph that is known by name, as the page reads it."""
    from tutelage.teachers.graph_convolution import real_graph

    adjacency = real_graph(name)
    ends = zip(*np.nonzero(np.triu(adjacency)), strict=True)
    return {"nodes": len(adjacency), "edges": [[int(i), int(j)] for i, j in ends]}


def _mapping(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


def _listing(value: Json) -> list[Json]:
    assert isinstance(value, list | tuple)
    return list(value)
