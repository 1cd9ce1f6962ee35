"""Sweep files: sound ones with entries, values, lines or bytes changed."""

from __future__ import annotations

import tomllib
from random import Random
from typing import Any, ClassVar

from hardening.bad_input.odd import change_json, change_text, odd_name
from hardening.bad_input.target import Target, call

SOUND = (
    """seeds = 2
[setting]
rate = 0.1
steps = 3
measures = ["excess_risk"]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }
[axes]
rate = [0.1, 0.2]
"teacher.norm" = { from = 1, to = 10, count = 3 }
[[zip]]
tokens = [4, 6]
support = [2, 3]
[[claims]]
kind = "exponent"
measure = "excess_risk"
along = "rate"
exponent = 2.0
tolerance = 0.1
""",
    """[setting]
calculation = { name = "measures_at_start", measures = "excess_risk" }
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }
[axes]
support = [1, 2, 4]
""",
    """steps = 1e2
[set]
rate = 0.2
[setting]
rate = 0.1
steps = 3
seed = 5
teacher = "convolution"
optimiser = { name = "adam", b1 = 0.5 }
objective = { name = "online", batch = 4 }
student = { name = "position_attention", start = 0.1 }
""",
)
NAMES = ("s.toml", "s.TOML", "a b.toml", ".toml", "-", "s", "x/../s.toml", "é.toml")


class SweepFiles(Target):
    """`tutelage sweep FILE --dry-run`, which reads, plans and builds nothing."""

    name: ClassVar[str] = "sweep files"
    share: ClassVar[int] = 18

    def attack(self, draw: Random) -> bool:
        text = draw.choice(SOUND)
        if draw.random() < 0.6:
            text = write_toml(change_json(draw, tomllib.loads(text)))
        for _ in range(draw.choice((0, 1, 1, 3))):
            text = change_text(draw, text)
        name = draw.choice(NAMES) if draw.random() < 0.1 else "s.toml"
        if name != "-":
            try:
                with open(name, "w", encoding="utf-8", errors="surrogatepass") as file:
                    file.write(text)
            except OSError:
                return False  # a name that this system has not
        out = odd_name(draw) if draw.random() < 0.02 else "out"
        code, _ = call(["sweep", name, f"--out={out}", "--dry-run"], typed=text)
        return code == 0


def write_toml(value: Any) -> str:
    """Tables as TOML, odd values included, which may make it none."""
    if not isinstance(value, dict):
        return _inline(value)
    flat = [f"{_key(k)} = {_inline(v)}" for k, v in value.items() if not isinstance(v, dict)]
    tables = [
        f"[{_key(k)}]\n{write_toml(v)}" for k, v in value.items() if isinstance(v, dict) and v
    ]
    return "\n".join([*flat, *tables]) + "\n"


def _key(key: object) -> str:
    return str(key) if str(key).isidentifier() else _quote(str(key))


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int) and value.bit_length() > 1000:
        return "9" * 400
    return str(value)


def _quote(text: str) -> str:
    written = "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or c in '"\\' else c for c in text)
    return f'"{written}"'
