"""The form that plain data from a file must have, checked before anything else reads it.

A form is a function of a value and its path. It says what is wrong, and "" where nothing is.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeGuard, Union

from tutelage.refuse import Newer
from tutelage.version import __version__

Json: TypeAlias = Union[bool, int, float, str, "list[Json]", "dict[str, Json]", None]
Form: TypeAlias = Callable[[Json, str], str]

# All but the tab and the end of a line.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Where JSON may hold one: escaped, or as it is.
CONTROLS_WRITTEN = re.compile(rb"\\u00[0189]|\\u007[fF]|\\[bfr]|\x7f|\xc2[\x80-\x9f]")
LARGEST = 2**63  # that a number may be: every reader takes it as an integer or a double


def read_json(data: bytes) -> Json:
    """What JSON says; a ValueError with the reason where it is none that can be shown."""
    try:
        found: Json = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if b"\\ud" in data.lower():  # half of a pair, which no terminal and no file takes
        json.dumps(found, ensure_ascii=False).encode()
    return _replace_controls(found) if CONTROLS_WRITTEN.search(data) else found


def _replace_controls(value: Json) -> Json:
    """The same without the characters by which a text could command a terminal."""
    if isinstance(value, str):
        return CONTROLS.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_replace_controls(item) for item in value]
    if isinstance(value, dict):
        return {
            CONTROLS.sub("\N{REPLACEMENT CHARACTER}", key): _replace_controls(item)
            for key, item in value.items()
        }
    return value


def refuse_newer(document: Json, what: str, known: int) -> None:
    """Refuses what has a `format` above the one that is known here."""
    found = document.get("format") if isinstance(document, dict) else None
    if _is_integer(found) and found > known:
        raise Newer(
            f"{what} has format {found}, and this tutelage ({__version__}) reads formats up to "
            f"{known}: {_name_writer(document)} wrote it, and reads it."
        )


def refuse_newer_bytes(data: bytes, what: str, known: int) -> None:
    """The same of a file; one that is no JSON is damaged, and not newer."""
    try:
        document = read_json(data)
    except ValueError:
        return
    refuse_newer(document, what, known)


def _name_writer(document: Json) -> str:
    """Which version wrote a document, where it says so under `made`."""
    made = document.get("made") if isinstance(document, dict) else None
    last = made[-1] if isinstance(made, list) and made else made
    version = last.get("tutelage") if isinstance(last, dict) else None
    return f"tutelage {version}" if isinstance(version, str) else "a newer tutelage"


def text(value: Json, path: str) -> str:
    return "" if isinstance(value, str) else _complain("a text", value, path)


def number(value: Json, path: str) -> str:
    if isinstance(value, float) or (_is_integer(value) and abs(value) <= LARGEST):
        return ""
    return _complain("a number", value, path)


def count(value: Json, path: str) -> str:
    """A whole number from 0 on."""
    if _is_integer(value) and 0 <= value <= LARGEST:
        return ""
    return _complain("a whole number from 0 on", value, path)


def anything(value: Json, path: str) -> str:
    return ""


def simple(value: Json, path: str) -> str:
    """Anything but a list or a table."""
    wrong = isinstance(value, list | dict)
    return _complain("a number, a word, true, false or null", value, path) if wrong else ""


def truth(value: Json, path: str) -> str:
    return "" if isinstance(value, bool) else _complain("true or false", value, path)


def one_of(*known: str) -> Form:
    def form(value: Json, path: str) -> str:
        right = isinstance(value, str) and value in known
        return "" if right else _complain(f"one of {', '.join(known)}", value, path)

    return form


def optional(inner: Form) -> Form:
    """The same, or null."""
    return lambda value, path: "" if value is None else inner(value, path)


def list_of(inner: Form, least: int = 0) -> Form:
    """A list, or the tuple that it was before it was written."""

    def form(value: Json, path: str) -> str:
        if not isinstance(value, list | tuple) or len(value) < least:
            return _complain("a list that is not empty" if least else "a list", value, path)
        said = (inner(item, f"{path}[{place}]") for place, item in enumerate(value))
        return next(filter(None, said), "")

    return form


def table_of(inner: Form) -> Form:
    """A table of whatever keys."""

    def form(value: Json, path: str) -> str:
        if not isinstance(value, dict):
            return _complain("a table", value, path)
        return next(filter(None, (inner(item, f"{path}.{key}") for key, item in value.items())), "")

    return form


def table(
    needs: Mapping[str, Form],
    may_have: Mapping[str, Form] | None = None,
    others: Form | None = anything,
) -> Form:
    """A table with these keys; `others` is the form of all others, None where there are none."""

    known = {**needs, **(may_have or {})}

    def form(value: Json, path: str) -> str:
        if not isinstance(value, dict):
            return _complain("a table", value, path)
        inside = f"{path}." if path else ""
        if not needs.keys() <= value.keys():
            missing = next(key for key in needs if key not in value)
            return f"`{inside}{missing}` is missing"
        for key, item in value.items():
            check = known.get(key, others)
            if check is None:
                return f"`{inside}{reprlib.repr(key)}` is not known"
            if check is not anything and (said := check(item, inside + key)):
                return said
        return ""

    return form


def _is_integer(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _complain(rule: str, value: Json, path: str) -> str:
    where = f"`{path}`" if path else "it"
    return f"{where} must be {rule}, and is {reprlib.repr(value)}"
