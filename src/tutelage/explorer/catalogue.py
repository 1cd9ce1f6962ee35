"""What can be chosen on each page, read from the registry and from the papers' pages: parts, their
options, and what goes with what. Imports no JAX.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from urllib.parse import quote

import numpy as np

from tutelage.explorer.fields import FIELDS, default_of
from tutelage.explorer.limits import Limits
from tutelage.explorer.reading import Event, Json
from tutelage.explorer.site import Placed, Site
from tutelage.problem.options import Declared, Value
from tutelage.problem.registry import Registered, registered, registered_names
from tutelage.settings import KINDS
from tutelage.studies.pages import Page, Prepared
from tutelage.studies.paper import Paper
from tutelage.studies.tours import Stop
from tutelage.version import __version__


def catalogue(site: Site, limits: Limits) -> Event:
    """The whole of it, JSON-ready."""
    shown = {kind: [registered(kind, name) for name in site.shown(kind)] for kind in KINDS}
    return {
        "version": __version__,
        "pages": [_plain_page(placed) for placed in site.pages],
        "papers": [_plain_paper(site, paper) for paper in site.bare],
        "saved": "/saved",  # where the stored runs are listed
        "kinds": {kind: [_plain_part(p, limits) for p in parts] for kind, parts in shown.items()},
        "goes_with": site.companions,
        "needs": {
            kind: {p.name: dict(p.goes_with) for p in parts if p.goes_with}
            for kind, parts in shown.items()
            if kind != "teacher"
        },
        "curves": {name: registered("measure", name).label for name in registered_names("measure")},
        "limits": asdict(limits),
    }


def prepared_query(state: Prepared | Stop) -> str:
    """The address of a state, without its page."""
    beside = [f"also={quote(query, safe='')}" for query in state.also]
    shown = [f"show={state.show}"] if state.show else []
    if isinstance(state, Stop):
        shown += [f"axis={state.axis}"] if state.axis != "step" else []
        shown += [f"view={state.view}"] if state.view != "curve" else []
    return "&".join([state.query, *beside, *shown])


def _plain_page(placed: Placed) -> Json:
    page = placed.page
    return {
        "name": page.name,
        "title": page.title,
        "address": placed.address,
        "paper": placed.paper,
        "teachers": page.teachers,
        "fields": [_plain_field(name, page) for name in FIELDS],
        "begin_with": page.begin_with,
        "letters": page.symbols,
        "statement": page.statement,
        "tour": [
            {
                "name": stop.name,
                "sentence": stop.sentence,
                "task": stop.task,
                "query": prepared_query(stop),
            }
            for stop in page.tour
        ],
        "prepared": [
            {"name": state.name, "sentence": state.sentence, "query": prepared_query(state)}
            for state in page.prepared
        ],
    }


def _plain_field(name: str, page: Page) -> Json:
    declared = FIELDS[name]
    return _plain_option(declared, page.begin.get(name, default_of(declared)), None)


def _plain_paper(site: Site, paper: Paper) -> Json:
    """A paper without a page: where its studies are listed."""
    return {
        "name": paper.name,
        "title": paper.title,
        "citation": paper.citation,
        "address": f"/{paper.name}",
        "trouble": site.troubles.get(paper.name, ""),
    }


def _plain_part(part: Registered, limits: Limits) -> Json:
    options = [
        _plain_option(
            declared,
            part.begin.get(name, default_of(declared)),
            limits.largest(name, declared),
        )
        for name, declared in part.options.items()
        if not declared.shown.hidden
    ]
    return {
        "name": part.name,
        "label": part.label,
        "sentence": part.sentence,
        "options": options,
    }


def _plain_option(declared: Declared, default: Value, most: float | None) -> Json:
    shown = declared.shown
    given: dict[str, Json] = {
        "name": declared.name,
        "label": shown.label,
        "kind": shown.widget or declared.kind,
        "default": _plain_value(default),
        "required": declared.required,
        "log": shown.log,
        "shape": shown.shape,
    }
    if shown.letter:
        given["letter"] = shown.letter
    if shown.least is not None:
        given |= {"least": shown.least, "most": shown.most if most is None else most}
    if shown.choices:
        given["choices"] = [_plain_value(choice) for choice in shown.choices]
    if shown.unit:
        given["unit"] = shown.unit
    if shown.at_most:
        given["at_most"] = shown.at_most
    if shown.divides:
        given["divides"] = shown.divides
    if shown.brings:
        given["brings"] = {choice: _plain_values(brings) for choice, brings in shown.brings.items()}
    return given


def _plain_values(values: Mapping[str, Value]) -> dict[str, Json]:
    return {name: _plain_value(value) for name, value in values.items()}


def _plain_value(value: Value) -> Json:
    if isinstance(value, np.ndarray):
        entries: list[Json] = value.tolist()
        return entries
    return value
