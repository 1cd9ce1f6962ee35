"""A state of the page as a readable query string, and back:
`teacher=convolution&teacher.tokens=36&rate=0.2&steps=1e5`.

A query names registered parts and plain values. Nothing in it is ever imported or opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qsl, quote

import numpy as np
from jaxtyping import Float

from tutelage.explorer.fields import FIELDS, default_of
from tutelage.explorer.site import Placed, Site, find_site
from tutelage.problem.options import Declared, Value
from tutelage.problem.registry import (
    find_unused,
    options_of,
    registered,
    registered_names,
    resolve,
)
from tutelage.refuse import Refused, is_finite, one_of
from tutelage.settings import KINDS, Part, Setting

LOOKS = ("show", "axis", "view", "stop", "step", "present", "theme")  # how a run is looked at
VIEW = (*LOOKS, "also", "saved", "visitor", "page")  # keys that are no part of a run
EDGES = re.compile(r"edges:((\d{1,9}-\d{1,9})(,\d{1,9}-\d{1,9})*)?")
MOST_NODES = 4096  # of a user's own graph
Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Given: TypeAlias = Value | list[Json]  # a part makes an array of a list, or refuses it


@dataclass(frozen=True)
class State:
    """A setting, and the page that it is looked at on."""

    placed: Placed
    setting: Setting


def setting_of(query: str | Iterable[tuple[str, str]], site: Site | None = None) -> Setting:
    """The setting of a query. Options that it omits have the page's defaults."""
    return read_state(query, site or find_site()).setting


def read_state(query: str | Iterable[tuple[str, str]], site: Site) -> State:
    """The setting of a query and the page that it is for: `page=` names one, else the first that
    lists the teacher.
    """
    pairs = parse_qsl(query, keep_blank_values=True) if isinstance(query, str) else list(query)
    given = {key: text for key, text in pairs if key not in VIEW}
    asked = dict(pairs).get("page", "")
    first = site.find_page(asked) if asked else site.pages[0]
    names = site.choose_parts(_read_names(given, site), first.page.teachers[0])
    placed = site.page_of(names["teacher"], asked) or first
    bare = Setting(Part(names["teacher"]), rate=1.0, steps=1).change(**names)
    values: dict[str, Given] = {}
    for key, text in given.items():
        if key in KINDS:
            continue
        path = resolve(bare, key, placed.page.letters)
        kind, _, option = path.partition(".")
        if option:
            one_of("part of a setting", kind, KINDS)
            values[path] = _read_option(options_of(kind, names[kind]).get(option), text)
        else:
            field = FIELDS[one_of("field of a setting", path, FIELDS)]
            values[path] = read_value(field.kind, text)
    parts = {kind: _read_part(kind, name, values) for kind, name in names.items()}
    page = placed.page
    fields = {
        "seed": 0,
        **page.begin,
        **page.begin_with.get(names["teacher"], {}),
        **{name: values[name] for name in FIELDS if name in values},
    }
    setting = bare.change(**parts, **fields)
    return State(placed, setting.change(measures=page.measures(setting)))


def canonical(setting: Setting) -> Setting:
    """The same setting without options at the registry's default, or that change nothing."""
    return setting.change(
        **{
            kind: Part(part.name, **_drop_defaults(kind, part.name, part.options))
            for kind, part in setting.parts.items()
        }
    )


def query_of(setting: Setting) -> str:
    """The query of a setting, with every option that is not the registry's default; `setting_of`
    reads it back.
    """
    pairs: list[tuple[str, str]] = []
    for kind, part in setting.parts.items():
        pairs.append((kind, part.name))
        begin, declared = registered(kind, part.name).begin, options_of(kind, part.name)
        for option in [*declared, *(o for o in part.options if o not in declared)]:
            if option in part.options:
                pairs.append((f"{kind}.{option}", _write(option, part.options[option])))
            elif option in begin and not declared[option].required:
                # Left to the registry, where the page would begin with another value.
                pairs.append((f"{kind}.{option}", _write(option, default_of(declared[option]))))
    pairs += [
        ("rate", _write("rate", setting.rate)),
        ("steps", str(setting.steps)),
        ("seed", str(setting.seed)),
    ]
    return "&".join(f"{key}={quote(text, safe=':,[]()-._~')}" for key, text in pairs)


def _read_names(given: Mapping[str, str], site: Site) -> dict[str, str]:
    """The parts that a query names, all of which are shown."""
    if "calculation" in given:
        name = one_of("calculation", given["calculation"], registered_names("calculation"))
        raise Refused(
            f"The explorer does not show the calculation {name!r}, since nothing is trained there; "
            "the command line runs it."
        )
    names = {kind: given[kind] for kind in KINDS if kind in given}
    for kind, name in names.items():
        one_of(kind, name, registered_names(kind))
        if name not in site.shown(kind):
            slow = registered(kind, name).slow
            alone = (
                "no page lists it"
                if kind == "teacher"
                else "no teacher on these pages goes with it"
            )
            reason = "preparing it takes minutes" if slow else alone
            raise Refused(
                f"The explorer does not show the {kind} {name!r}, since {reason}; the command line "
                "runs it."
            )
    return names


def _read_part(kind: str, name: str, values: Mapping[str, Given]) -> Part:
    """A part with the options of a query, and the page's own values for those left out."""
    given = {
        path.partition(".")[2]: value
        for path, value in values.items()
        if path.startswith(f"{kind}.")
    }
    options = {**registered(kind, name).begin, **given}
    declared = options_of(kind, name)
    for option, value in options.items():
        drawn = option in declared and declared[option].shown.widget == "graph"
        if drawn and isinstance(value, str) and value.startswith("edges:"):
            options[option] = _read_graph(value, options.get("tokens"))
    return Part(name, **_drop_defaults(kind, name, options))


def _drop_defaults(kind: str, name: str, options: Mapping[str, Given]) -> dict[str, Given]:
    """The options that are not at the registry's default, and change something beside the others:
    one setting is then one identity, however it was asked for.
    """
    declared = options_of(kind, name)
    kept = {
        option: value
        for option, value in options.items()
        if option not in declared or not _is_default(value, declared[option])
    }
    unused = find_unused(declared, kept)
    return {option: value for option, value in kept.items() if option not in unused}


def _is_default(value: Given, declared: Declared) -> bool:
    default = declared.default
    if (
        value is None
        or default is None
        or isinstance(value, list | np.ndarray)
        or isinstance(value, bool) != isinstance(default, bool)
    ):
        return value is default
    return bool(value == default)


def _read_option(declared: Declared | None, text: str) -> Given:
    """An option that there is not is refused when the setting is built."""
    return read_value("str" if declared is None else declared.kind, text)


def read_value(kind: str, text: str) -> Given:
    """A value as the command line reads it (JSON, or else a word), whole numbers as such."""
    if text == "":
        return None
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict):
        return text
    if value is None or isinstance(value, bool | str | list):
        return value
    if kind == "float" and is_finite(value):  # any other is refused as it stands
        return float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_graph(graph: str, nodes: Given) -> Float[np.ndarray, "nodes nodes"]:
    """The matrix of `edges:0-1,1-2,…`: undirected, without loops, each edge once or more."""
    if EDGES.fullmatch(graph) is None:
        raise Refused(
            f"Your own graph is edges:0-1,1-2,… with nodes numbered from 0. Got {graph[:80]!r}."
        )
    edges = [edge.split("-") for edge in graph.removeprefix("edges:").split(",") if edge]
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        raise Refused(
            f"`tokens` must be the number of nodes, since each token is one. Got tokens={nodes!r}."
        )
    if nodes > MOST_NODES:
        raise Refused(f"Your own graph has at most {MOST_NODES:,} nodes. Got tokens={nodes}.")
    adjacency = np.zeros((nodes, nodes))
    for one, other in ((int(a), int(b)) for a, b in edges):
        if one == other:
            raise Refused(
                "Your own graph has no edge from a node to itself, since each node counts "
                f"itself already. Got {one}-{other}."
            )
        if max(one, other) >= nodes:
            raise Refused(
                "`tokens` must be the number of nodes, since each token is one. Got "
                f"tokens={nodes}, an edge {one}-{other}."
            )
        adjacency[one, other] = adjacency[other, one] = 1.0
    return adjacency


def _write(option: str, value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        if option == "graph" and _is_graph(value):
            ends = zip(*np.nonzero(np.triu(value)), strict=True)
            return "edges:" + ",".join(f"{i}-{j}" for i, j in ends)
        return json.dumps(value.tolist(), separators=(",", ":"))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value)


def _is_graph(matrix: Float[np.ndarray, "..."]) -> bool:
    """Whether a matrix is symmetric, of 0 and 1, without loops."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.trace():
        return False
    return bool((matrix == matrix.T).all())
