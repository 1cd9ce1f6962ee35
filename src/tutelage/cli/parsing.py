"""What people write on the command line, as values: steps, changes, axes, shards."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeVar

from tutelage.problem.options import Value
from tutelage.refuse import Refused, show, whole

Item = TypeVar("Item")


def parse_steps(text: str, option: str = "steps") -> int:
    """A number of steps such as 100000, 1e5 or 100_000."""
    try:
        number = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise Refused(
            f"`--{option}` must be a whole number such as 100000 or 1e5. Got {show(text)}."
        ) from None
    exact = int(number) if number == number and number.is_integer() else number
    return whole(option, exact, least=1, reason="a run takes at least one step")


def parse_value(text: str) -> Value:
    """A number, true, false, null or a list as JSON has them; any other text is a word."""
    try:
        value: Value = json.loads(text)
    except ValueError:
        return text
    except RecursionError:
        raise Refused(
            f"A value is a number, a word or a list of rows. Got {show(text)}, whose brackets are "
            "nested too deeply to read."
        ) from None
    return value


def parse_change(item: str) -> tuple[str, Value]:
    """KEY=VALUE of `--set`."""
    key, equals, text = item.partition("=")
    if not equals or not key:
        raise Refused(f"`--set` takes KEY=VALUE. Got {item!r}.")
    return key, parse_value(text)


def parse_changes(items: Sequence[str]) -> dict[str, Value]:
    return dict(parse_change(item) for item in items)


def parse_axis(item: str) -> tuple[str, list[Value]]:
    """KEY=V1,V2,… or KEY=FROM..TO/COUNT of `--axis`."""
    from tutelage.studies.sweeps import log_range

    key, equals, text = item.partition("=")
    if not equals or not key or not text:
        raise Refused(f"`--axis` takes KEY=V1,V2,… or KEY=FROM..TO/COUNT. Got {item!r}.")
    if ".." in text:
        first, _, rest = text.partition("..")
        last, _, count = rest.partition("/")
        try:
            return key, log_range(key, json.loads(first), json.loads(last), json.loads(count))
        except (ValueError, RecursionError) as error:
            if isinstance(error, Refused):
                raise
            raise Refused(
                f"A log range is FROM..TO/COUNT, such as 1e-3..1e-1/5. Got {show(item)}."
            ) from None
    return key, [parse_value(value) for value in text.split(",")]


def select_shard(items: list[Item], shard: str | None) -> list[Item]:
    """Every N-th item from the I-th on, for `--shard I/N`: long and short ones spread evenly."""
    if shard is None:
        return items
    found = re.fullmatch(r"([0-9]{1,18})/([0-9]{1,18})", shard)
    part, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= part <= parts:
        raise Refused(f"`--shard` is I/N with I from 1 to N, such as 3/8. Got {show(shard)}.")
    return items[part - 1 :: parts]
