"""What `run.json` and `failed.json` may say: sealed by their own hash, and of a known form.

Whoever knows how to seal can write anything into them. So the form of every entry is checked before
it is used, and what is not of that form is damage with a reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tutelage.forms import (
    Json,
    count,
    list_of,
    number,
    one_of,
    optional,
    read_json,
    refuse_newer,
    simple,
    table,
    table_of,
    text,
)
from tutelage.run import Outcome
from tutelage.settings import KINDS

FORMAT = 2
ABOUT = "run.json"
FAILED = "failed.json"
CURVES = "curves.parquet"
END = "end.safetensors"
GIVEN = "given.safetensors"
VERDICTS = "verdicts.json"  # which the run served: not part of it, and not hashed with it
_SEAL, _AFTER = b'{"seal": "', b'", '


class Damaged(Exception):
    """Why a folder is not a whole run."""


def sealed(about: Mapping[str, Any]) -> bytes:
    """JSON whose first entry is the hash of all that follows it."""
    rest = json.dumps(about, ensure_ascii=False).encode()[1:]
    return _SEAL + _hash(rest) + _AFTER + rest


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def opened(data: bytes, name: str = ABOUT) -> dict[str, Any]:
    """What was sealed, if it is whole, of this format and of the right form.

    A newer format is told also where the file is sealed in another way, as a newer version may.
    """
    head = len(_SEAL) + 64 + len(_AFTER)
    own = data[: len(_SEAL)] == _SEAL and data[head - len(_AFTER) : head] == _AFTER
    changed = f"{name} is cut short or was changed"
    if own and data[len(_SEAL) : head - len(_AFTER)] != _hash(data[head:]):
        raise Damaged(changed)
    try:
        about = read_json(data)
    except ValueError as error:
        raise Damaged(f"{name} is not JSON: {error}" if own else changed) from None
    refuse_newer(about, f"its {name}", FORMAT)
    if not own or not isinstance(about, dict):
        raise Damaged(changed)
    del about["seal"]
    if about.get("format") != FORMAT:
        raise Damaged(
            f"it has format {about.get('format')!r} of stored runs, and this version reads format "
            f"{FORMAT}"
        )
    if said := _find_fault(about):
        raise Damaged(f"in {name} {said}")
    return about


def _find_fault(about: Mapping[str, Any]) -> str:
    """What is wrong in the form of a sealed file; "" where nothing is."""
    tried = about.get("outcome") == Outcome.FAILED.name
    if said := (_FAILURE if tried else _RUN)(dict(about), ""):
        return said
    if tried:
        return "`files` has no place in a failure" if "files" in about else ""
    calculated = about["outcome"] == Outcome.CALCULATED.name
    if calculated != ("calculation" in about["setting"]):
        return f"the outcome is {about['outcome']}, which the setting cannot have"
    needed = (CURVES,) if calculated else (CURVES, END)
    return next((f"`files` names no {file}" for file in needed if file not in about["files"]), "")


def _option(value: Json, path: str) -> str:
    return (table({"array": text}, others=None) if isinstance(value, dict) else simple)(value, path)


_part = table({"name": text}, others=_option)
_parts = dict.fromkeys(KINDS, _part)
_setting = table(
    {**_parts, "rate": number, "steps": count, "seed": number, "measures": list_of(text)},
    {"calculation": _part},
    others=None,
)
# Of a setting that could not be run, since any of these may be what was wrong with it.
_tried = table(
    {**_parts, "rate": simple, "steps": simple, "seed": simple, "measures": list_of(text)},
    {"calculation": _part},
    others=None,
)
_made = list_of(
    table({}, {"to": count, "precision": text, "origins": table_of(text)}, others=simple), least=1
)
_FAILURE = table(
    {
        "identity": text,
        "setting": _tried,
        "outcome": one_of(Outcome.FAILED.name),
        "note": text,
        "made": _made,
    },
)
_RUN = table(
    {
        "identity": text,
        "setting": _setting,
        "outcome": one_of(*(outcome.name for outcome in Outcome if outcome is not Outcome.FAILED)),
        "note": text,
        "taken": count,
        "first": optional(number),
        "last": table_of(optional(number)),
        "made": _made,
        "files": table_of(table({"bytes": count, "sha256": text})),
    },
    {
        "continued": optional(
            table(
                {"literal": count, "solver": number, "stepping": number, "variation": number},
                others=None,
            )
        )
    },
)
