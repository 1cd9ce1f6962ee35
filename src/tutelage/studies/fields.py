"""The types that values of a paper must have: a plugin is written by hand, and checked when it is
made, so that a slip is one sentence and no error somewhere below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tutelage.refuse import Refused, is_finite, show

NAME = re.compile(r"\w[\w.-]*")  # it names folders, and is typed
Kind = type | tuple[type, ...]
WORDS: Mapping[Kind, str] = {
    str: "a text",
    int: "a whole number",
    (int, float): "a finite number",
    Mapping: "a table by name",
    tuple: "a tuple",
}
NUMBER = (int, float)


def check_fields(owner: object, kinds: Mapping[str, Kind]) -> None:
    """Refuses a value some of whose fields have another type than declared."""
    fields = vars(owner)
    for name, kind in kinds.items():
        value = fields[name]
        right = isinstance(value, kind) and not isinstance(value, bool)
        if right and kind == NUMBER:
            right = is_finite(value)
        if not right:
            raise Refused(
                f"`{name}` of a {type(owner).__name__} must be {WORDS[kind]}, since it is declared "
                f"so. Got {name}={show(value)}."
            )


def check_functions(owner: object, names: Sequence[str]) -> None:
    """Refuses a value some of whose fields cannot be called."""
    for name in names:
        if not callable(vars(owner)[name]):
            raise Refused(
                f"`{name}` of a {type(owner).__name__} must be a function, since it is called. Got "
                f"{name}={show(vars(owner)[name])}."
            )


def check_members(owner: object, field: str, kind: type) -> None:
    """Refuses a field whose members, or whose values by name, are of another type."""
    members = vars(owner)[field]
    for member in members.values() if isinstance(members, Mapping) else members:
        if not isinstance(member, kind):
            raise Refused(
                f"`{field}` of a {type(owner).__name__} holds values of the type {kind.__name__}. "
                f"Got {show(member)}."
            )


def check_name(what: str, name: object) -> None:
    """Refuses a name by which no folder could be named and no study asked for."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise Refused(
            f"The name of a {what} must be of letters, digits, hyphens, dots and underscores, and "
            "begin with a letter or a digit, since it is typed and names a folder. Got "
            f"{show(name)}."
        )
