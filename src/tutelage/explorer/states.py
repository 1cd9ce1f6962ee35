"""A state of the page as a readable query string, and back:
`teacher=convolution&teacher.tokens=36&rate=0.2&steps=1e5`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, quote

import numpy as np

from tutelage.explorer.catalogue import hint_of
from tutelage.explorer.measuring import measures_of
from tutelage.explorer.shown import BEGIN, BEGIN_WITH, EXACT, FIELDS, GOES_WITH, PARTS
from tutelage.papers.shallow_transformers.setup import LETTERS as SHALLOW
from tutelage.papers.teacher_models.rates.study import LETTERS as MAIN
from tutelage.problem.registry import options_of, resolve
from tutelage.refuse import Refused, one_of
from tutelage.settings import KINDS, Part, Setting

VIEW = (
    "also",
    "show",
    "present",
    "theme",
    "visitor",
    "step",
    "saved",
)  # keys that are the page's own, and no part of a run
EDGES = re.compile(r"edges:((\d+-\d+)(,\d+-\d+)*)?")


def setting_of(query: str | Iterable[tuple[str, str]]) -> Setting:
    """The setting of a query; what it leaves out is as the page begins with it."""
    pairs = parse_qsl(query, keep_blank_values=True) if isinstance(query, str) else list(query)
    given = {key: text for key, text in pairs if key not in VIEW}
    names = _names(given)
    page = PARTS["teacher"][names["teacher"]].page
    parts: dict[str, Any] = {kind: Part(names[kind]) for kind in KINDS}
    bare = Setting(**parts, rate=1.0, steps=1)
    values: dict[str, Any] = {}
    for key, text in given.items():
        if key in KINDS:
            continue
        path = resolve(bare, key, SHALLOW if page == "shallow" else MAIN)
        kind, _, option = path.partition(".")
        if option:
            one_of("part of a setting", kind, KINDS)
            values[path] = _option(kind, names[kind], option, text)
        else:
            values[path] = _number(FIELDS[path].kind, text)
    nodes = values.get("teacher.tokens", PARTS["teacher"][names["teacher"]].begin.get("tokens"))
    if isinstance(graph := values.get("teacher.graph"), str) and graph.startswith("edges:"):
        values["teacher.graph"] = _adjacency(graph, nodes)
    for kind in KINDS:
        begin = {
            f"{kind}.{option}": value for option, value in PARTS[kind][names[kind]].begin.items()
        }
        options = {
            path.partition(".")[2]: value
            for path, value in {**begin, **values}.items()
            if path.startswith(f"{kind}.")
        }
        parts[kind] = Part(names[kind], **_told(kind, names[kind], options))
    fields = {
        **BEGIN[page],
        **BEGIN_WITH.get(names["teacher"], {}),
        **{name: values[name] for name in FIELDS if name in values},
    }
    setting = Setting(**parts, **fields)
    return setting.change(measures=measures_of(setting))


def canonical(setting: Setting) -> Setting:
    """The same setting without options at the registry's default."""
    parts = {kind: getattr(setting, kind) for kind in KINDS}
    return setting.change(
        **{
            kind: Part(part.name, **_told(kind, part.name, dict(part.options)))
            for kind, part in parts.items()
        }
    )


def query_of(setting: Setting) -> str:
    """The query of a setting, with every option that is not the registry's default; `setting_of`
    reads it back.
    """
    pairs: list[tuple[str, str]] = []
    for kind in KINDS:
        part: Part = getattr(setting, kind)
        pairs.append((kind, part.name))
        begin = dict.fromkeys(PARTS[kind][part.name].begin) if part.name in PARTS[kind] else {}
        defaults = {
            name: parameter.default for name, parameter in options_of(kind, part.name).items()
        }
        for option in [
            *options_of(kind, part.name),
            *(o for o in part.options if o not in defaults),
        ]:
            if option in part.options:
                pairs.append((f"{kind}.{option}", _text(option, part.options[option])))
            elif (
                option in begin
            ):  # left to the registry, where the page would begin with another value
                pairs.append((f"{kind}.{option}", _text(option, defaults[option])))
    pairs += [
        ("rate", _text("rate", setting.rate)),
        ("steps", str(setting.steps)),
        ("seed", str(setting.seed)),
    ]
    return "&".join(f"{key}={quote(text, safe=':,[]()-._~')}" for key, text in pairs)


def _names(given: dict[str, str]) -> dict[str, str]:
    """The part of each kind: the one that is asked for, or the first that goes with the teacher."""
    names: dict[str, str] = {}
    for kind in KINDS:
        if kind in given:
            names[kind] = one_of(kind, given[kind], known(kind))
            if names[kind] not in PARTS[kind]:
                raise Refused(
                    f"The explorer does not show the {kind} {names[kind]!r}, which takes minutes "
                    "to prepare; the command line runs it."
                )
        elif kind == "teacher":
            names[kind] = "convolution"
        else:
            fitting = GOES_WITH[names["teacher"]][kind]
            exact = all(names[other] in EXACT[other] for other in EXACT if other in names)
            names[kind] = fitting[0] if exact or fitting[0] != "population" else "empirical"
    return names


def _told(kind: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that are not at the registry's default: one setting is then one identity, however
    it was asked for.
    """
    defaults = {option: parameter.default for option, parameter in options_of(kind, name).items()}
    return {
        option: value
        for option, value in options.items()
        if not _same(value, defaults.get(option, inspect.Parameter.empty))
    }


def _same(value: Any, default: Any) -> bool:
    if (
        value is None
        or default is None
        or isinstance(value, list | np.ndarray)
        or isinstance(value, bool) != isinstance(default, bool)
    ):
        return value is default
    return bool(value == default)


def _option(kind: str, name: str, option: str, text: str) -> Any:
    return _number(hint_of(kind, name, option).kind, text)


def _number(kind: str, text: str) -> Any:
    """A value as the command line reads it (JSON, or else a word), whole numbers as such."""
    if text == "":
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict):
        return text
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if kind == "float":
        return float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _adjacency(graph: str, nodes: Any) -> np.ndarray:
    """The matrix of `edges:0-1,1-2,…`: undirected, without loops, each edge once or more."""
    if EDGES.fullmatch(graph) is None:
        raise Refused(
            "A graph of one's own is edges:0-1,1-2,… with nodes numbered from 0. Got "
            f"{graph[:80]!r}."
        )
    ends = [
        tuple(int(end) for end in edge.split("-"))
        for edge in graph.removeprefix("edges:").split(",")
        if edge
    ]
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        raise Refused(
            f"`tokens` must be the number of nodes, since each token is one. Got tokens={nodes!r}."
        )
    for one, other in ends:
        if one == other:
            raise Refused(
                "A graph of one's own has no edge from a node to itself, since each node counts "
                f"itself already. Got {one}-{other}."
            )
        if max(one, other) >= nodes:
            raise Refused(
                "`tokens` must be the number of nodes, since each token is one. Got "
                f"tokens={nodes}, an edge {one}-{other}."
            )
    if nodes > 4096:
        raise Refused(f"A graph of one's own has at most 4,096 nodes. Got tokens={nodes}.")
    adjacency = np.zeros((nodes, nodes))
    for one, other in ends:
        adjacency[one, other] = adjacency[other, one] = 1.0
    return adjacency


def _text(option: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        if (
            option == "graph"
            and value.ndim == 2
            and value.shape[0] == value.shape[1]
            and (value == value.T).all()
            and not value.trace()
        ):
            return "edges:" + ",".join(
                f"{i}-{j}" for i, j in zip(*np.nonzero(np.triu(value)), strict=True)
            )
        return json.dumps(value.tolist(), separators=(",", ":"))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value)
