"""What can be chosen on the page, read from the registry: parts, their options, and what goes with
what. Imports no JAX.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from tutelage import __version__
from tutelage.explorer.limits import MOST, Limits
from tutelage.explorer.prepared import prepared
from tutelage.explorer.shown import (
    BEGIN,
    BEGIN_WITH,
    EXACT,
    FIELDS,
    GOES_WITH,
    GRAPHS,
    HIDDEN,
    HINTS,
    LETTERED,
    PARTS,
    Hint,
    Shown,
)
from tutelage.problem.registry import options_of
from tutelage.settings import KINDS


def hint_of(kind: str, name: str, option: str) -> Hint:
    """How an option of a part is shown."""
    return HINTS.get(f"{kind}.{name}.{option}", HINTS.get(option, Hint(option)))


def catalogue(limits: Limits) -> dict[str, Any]:
    """The whole of it, JSON-ready."""
    kinds = {
        kind: [_part(kind, name, shown, limits) for name, shown in PARTS[kind].items()]
        for kind in KINDS
    }
    pages = {
        page: [_plain(name, _field(page, name), begin[name], False) for name in FIELDS]
        for page, begin in BEGIN.items()
    }
    return {
        "version": __version__,
        "prepared": prepared("main"),
        "shallow_prepared": prepared("shallow"),
        "kinds": kinds,
        "fields": pages["main"],
        "shallow_fields": pages["shallow"],
        "goes_with": GOES_WITH,
        "exact": EXACT,
        "limits": {
            "tokens": limits.tokens,
            "steps": limits.steps,
            "seconds": limits.seconds,
            "bytes": limits.bytes,
        },
        "begin_with": BEGIN_WITH,
        "graphs": [{"name": name, "nodes": nodes} for name, nodes in GRAPHS.items()],
    }


def _field(page: str, name: str) -> Hint:
    return replace(FIELDS[name], letter=LETTERED.get(page, {}).get(name, FIELDS[name].letter))


def _part(kind: str, name: str, shown: Shown, limits: Limits) -> dict[str, Any]:
    options = []
    for option, parameter in options_of(kind, name).items():
        if option in HIDDEN:
            continue
        required = parameter.default is inspect.Parameter.empty
        default = shown.begin.get(option, None if required else parameter.default)
        most = limits.tokens if option in ("tokens", "queries") else MOST.get(option)
        options.append(_plain(option, hint_of(kind, name, option), default, required, most))
    return {
        "name": name,
        "label": shown.label,
        "sentence": shown.sentence,
        "page": shown.page,
        "options": options,
    }


def _plain(
    name: str, hint: Hint, default: Any, required: bool, most: float | None = None
) -> dict[str, Any]:
    given: dict[str, Any] = {
        "name": name,
        "label": hint.label,
        "kind": hint.kind,
        "default": default,
        "required": required,
    }
    given |= {"letter": hint.letter} if hint.letter else {}
    given |= (
        {"least": hint.least, "most": most if most is not None else hint.most}
        if hint.least is not None
        else {}
    )
    given |= {"choices": list(hint.choices)} if hint.choices else {}
    return given | {"log": hint.log, "shape": hint.shape}
