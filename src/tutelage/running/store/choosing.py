"""Which stored runs are meant: by the beginning of an identity, or by conditions on what was asked
and what was measured.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tutelage.refuse import Refused, one_of
from tutelage.running.store.entry import Entry
from tutelage.running.store.store import Store
from tutelage.settings import Value

Row = Mapping[str, Any]
Written = Value | list[Any] | dict[str, Any]  # what the text of a condition may stand for
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
LONGEST_CONDITION = 1000  # characters; no column and no value is near that
MOST_CONDITIONS = 100


@dataclass(frozen=True)
class Condition:
    """`tokens>16`, `teacher=convolution`, `excess_risk<1e-6`: a run that has no such column does
    not meet it.
    """

    key: str
    sign: str
    value: Any

    @classmethod
    def read(cls, text: str) -> Condition:
        if len(text) > LONGEST_CONDITION:
            raise Refused(
                f"A condition has at most {LONGEST_CONDITION:,} characters, since no column and no "
                f"value is longer. Got {len(text):,} that begin with {text[:40]!r}."
            )
        key, sign, written = _split(text)
        value: Written = written
        with suppress(ValueError, RecursionError):  # it is a word then
            value = json.loads(written)
        if sign[0] in "<>" and not _is_number(value):
            raise Refused(
                f"Only numbers have an order, so that {sign} needs one on its right. Got {text!r}."
            )
        return cls(key, sign, value)

    def met(self, row: Row, column: str) -> bool:
        have, want = row.get(column), self.value
        if have is None:
            return False
        if _is_number(have) and _is_number(want):
            return SIGNS[self.sign](have, want)
        if self.sign[0] in "<>":
            return False
        # Finished will do for FINISHED, true for True.
        same = str(have).lower() == str(want).lower()
        return same is (self.sign != "!=")


def _split(text: str) -> tuple[str, str, str]:
    """Key, sign and value of a condition, found in one pass over the text."""
    first = next((place for place, letter in enumerate(text) if letter in "=!<>"), len(text))
    sign = next((sign for sign in SIGNS if text.startswith(sign, first)), "")
    key, value = text[:first].strip(), text[first + len(sign) :].strip()
    if not sign or not value or len(key.split()) != 1:
        raise Refused(
            "A condition is KEY, one of = != < <= > >=, and VALUE, such as tokens>16. Got "
            f"{text!r}."
        )
    return key, sign, value


def meeting(rows: Sequence[Row], conditions: Sequence[str]) -> list[Row]:
    """The rows that meet all conditions."""
    if len(conditions) > MOST_CONDITIONS:
        raise Refused(
            f"At most {MOST_CONDITIONS} conditions are asked at once, since every run is compared "
            f"with each. Got {len(conditions):,}."
        )
    columns = [dict.fromkeys(column for row in rows for column in row)]
    wanted = [
        (condition := Condition.read(text), column_of(condition.key, columns))
        for text in conditions
    ]
    return [row for row in rows if all(condition.met(row, column) for condition, column in wanted)]


def column_of(key: str, rows: Iterable[Row]) -> str:
    """The column that is meant: by its name, or by an option's alone where one part has it
    (`tokens` for `teacher.tokens`).
    """
    known = dict.fromkeys(column for row in rows for column in row)
    if key in known or not known:
        return key
    short = [column for column in known if column.rpartition(".")[2] == key]
    if len(short) > 1:
        raise Refused(
            f"More than one part has an option `{key}`. Got {key!r}; say {' or '.join(short)}."
        )
    return short[0] if short else one_of("column", key, known)


def named(store: Store, names: Iterable[str]) -> list[Entry]:
    """The runs of these identities, all horizons of each; the beginning of an identity is enough,
    and `…/1000` means one horizon.
    """
    identities = store.identities()
    found: dict[str, Entry] = {}
    for name in names:
        beginning, _, horizon = name.partition("/")
        fitting = [
            identity for identity in identities if beginning and identity.startswith(beginning)
        ]
        if not fitting:
            raise Refused(
                f"There is no run whose identity begins with {beginning!r} under {store.root}. "
                "`tutelage runs` lists them."
            )
        if len(fitting) > 1:
            some = ", ".join(fitting[:3]) + (", …" if len(fitting) > 3 else "")
            raise Refused(
                f"{beginning!r} begins the identities of {len(fitting)} runs: {some}. Give more "
                "of it."
            )
        entries = [
            entry
            for entry in store.entries(fitting)
            if not horizon or entry.name.endswith(f"/{horizon}")
        ]
        if not entries:
            there = (
                ", ".join(entry.name.partition("/")[2] for entry in store.entries(fitting))
                or "none"
            )
            raise Refused(f"The run {fitting[0]} has these horizons: {there}. Got {horizon!r}.")
        found |= {entry.name: entry for entry in entries}
    return list(found.values())


def asked(rows: Iterable[Row]) -> list[str]:
    """The columns that settings made: those of `tables.row` between the run's name and its
    outcome.
    """
    found: dict[str, None] = {}
    for row in rows:
        columns = list(row)
        found |= dict.fromkeys(columns[1 : columns.index("outcome")])
    return list(found)


def differing(rows: Sequence[Row], among: Iterable[str]) -> list[str]:
    """Those of the columns in which the rows are not all alike."""
    return [
        column for column in among if any(row.get(column) != rows[0].get(column) for row in rows)
    ]


def _is_number(value: Written) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
