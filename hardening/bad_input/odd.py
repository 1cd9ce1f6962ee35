"""Odd words, numbers, texts and bytes, drawn from a seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

Item = TypeVar("Item")

WORDS = (
    "", " ", "\0", "\n", "²", "١٢", "½", "🙂", "é" * 40, "a" * 5000, "..", "../x", "/", "~", "-",
    "--", "---x", "=", "a=b", "a==b", "a.b.c", ".", "teacher.", ".tokens", "*", "%s", "{0}", "[/]",
    "[red]x[/blue]", "\x1b[2J", "null", "None", "nan", "inf", "-inf", "Infinity", "1e400", "1e-400",
    "-0", "0x10", "1_000", "1,000", "true", "True", "no", "yes", "edges:0-1", "edges:0-0", "[",
    "[]", "[[]]", "[1,2", "[1,2]", "[[1,2],[3]]", "[[1,null]]", '{"a":1}', "{}", '"', "'", "$(x)",
    "`x`", "\ud800", "con", "a\tb", "a,b", ",", ";", "#", "\\", "\u202e", "identity", "relu",
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2, 3, 4, 7, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**9, 10**12,
    10**18, 10**30, 10**400, -(10**18), 0.0, -0.0, 0.5, -0.5, 1.5, 1e-300, 5e-324, 1e300, 1.8e308,
    1e9, 1e18, 3.0, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
ELSEWHERE = ("..", "../x", "/", "~")
OTHERS: tuple[Any, ...] = (
    None, True, False, [], {}, [1, 2], [[1.0, 2.0], [3.0, 4.0]], [[1.0], [2.0, 3.0]], ["a"],
    {"a": 1}, {"name": "x"}, {"array": "sha256:0"}, [[]], [None], [float("nan")], [10**400],
)  # fmt: skip


def odd_word(draw: Random) -> str:
    return draw.choice(WORDS)


def odd_name(draw: Random) -> str:
    """A name of a file or folder that leads nowhere outside of the one it is in."""
    return next(word for word in iter(lambda: odd_word(draw), None) if word not in ELSEWHERE)


def odd_number(draw: Random) -> float:
    return draw.choice(NUMBERS)


def odd_value(draw: Random) -> Any:
    """A value of any type that a file, a query or a caller may give."""
    return draw.choice((odd_word, odd_number, odd_number, lambda d: d.choice(OTHERS)))(draw)


def odd_text(draw: Random) -> str:
    """A value as it is typed on a command line."""
    value = odd_value(draw)
    return value if isinstance(value, str) else _write(value)


def _write(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1000:
        return "9" * 400
    try:
        return json.dumps(value)
    except ValueError:  # with an integer that Python does not write
        return "9" * 5000


def change_bytes(draw: Random, data: bytes) -> bytes:
    """The same with a few bytes flipped, cut, doubled, inserted or moved; sometimes with none."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        at = draw.randrange(len(found) + 1)
        end = min(len(found), at + draw.choice((1, 4, 16, 256)))
        match draw.randrange(7):
            case 0 if at < len(found):
                found[at] ^= 1 << draw.randrange(8)
            case 1 if at < len(found):
                found[at] = draw.randrange(256)
            case 2:
                del found[at:]
            case 3:
                del found[at:end]
            case 4:
                found[at:at] = bytes(draw.randrange(256) for _ in range(draw.choice((1, 8, 64))))
            case 5:
                found[at:at] = found[at:end]
            case 6:
                found[at:end] = b"\xff" * (end - at)
    return bytes(found)


def change_text(draw: Random, text: str) -> str:
    """The same with lines dropped, doubled or swapped, a word replaced, or characters changed."""
    lines = text.splitlines(keepends=True)
    match draw.randrange(6):
        case 0 if lines:
            del lines[draw.randrange(len(lines))]
        case 1 if lines:
            lines.insert(draw.randrange(len(lines)), draw.choice(lines))
        case 2 if len(lines) > 1:
            i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        case 3 | 4:
            words = text.split(" ")
            words[draw.randrange(len(words))] = odd_text(draw)
            return " ".join(words)
        case _:
            changed = change_bytes(draw, text.encode("utf-8", "surrogatepass"))
            return changed.decode("utf-8", draw.choice(("replace", "surrogateescape", "ignore")))
    return "".join(lines)


def change_json(draw: Random, value: Any) -> Any:
    """The same with one value or key replaced, dropped or added, however deep."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(list(value))
        changed = dict(value)
        match draw.randrange(8):
            case 0:
                del changed[key]
            case 1:
                changed[odd_word(draw)] = odd_value(draw)
            case 2:
                changed[odd_word(draw)] = changed.pop(key)
            case _:
                changed[key] = change_json(draw, value[key])
        return changed
    if isinstance(value, list) and value and draw.random() < 0.7:
        at = draw.randrange(len(value))
        if draw.random() < 0.2:
            return value[:at]
        return [*value[:at], change_json(draw, value[at]), *value[at + 1 :]]
    return odd_value(draw)


def some(draw: Random, items: Sequence[Item], most: int) -> list[Item]:
    """Up to so many of the items, in any order."""
    return draw.sample(list(items), min(len(items), draw.randrange(most + 1)))
