"""Curve files for `tutelage check`: every format, changed as text, as bytes or number by number."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np

from hardening.bad_input.odd import change_bytes, change_json, change_text, odd_text, odd_value
from hardening.bad_input.target import Partial, Target, call

STEPS = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987]
VALUES = [1.0 / (1.0 + step) for step in STEPS]
WHOLE = (".npz", ".parquet")  # formats in which a file that was cut can be told from a shorter one
OPTIONS = (
    "--slope", "--order", "--bound", "--constant", "--floor", "--x", "--y", "--by", "--rate",
    "--plateau", "--tolerance", "--approach", "--noise", "--from",
)  # fmt: skip
NUMBERS = ("-1", "-0.5", "0", "1", "0.25", "2", "step", "value", "independent", "estimated")


class CurveFiles(Target):
    """A sound log in one of its formats, with something wrong in it or in the question."""

    name: ClassVar[str] = "curve files"
    share: ClassVar[int] = 14

    def attack(self, draw: Random) -> bool:
        ending = draw.choice(list(WRITERS))
        columns = {"step": list(STEPS), "value": list(VALUES)}
        if draw.random() < 0.6:
            columns = _change_columns(draw, columns)
        try:
            data = WRITERS[ending](columns)
        except Exception:  # what a format cannot hold is no file of it
            data = WRITERS[ending]({"step": list(STEPS), "value": list(VALUES)})
        cut = False
        match draw.randrange(4):
            case 0:
                data, cut = data[: draw.randrange(max(1, len(data)))], True
            case 1:
                data = change_bytes(draw, data)
            case 2 if ending not in WHOLE:
                text = change_text(draw, data.decode("utf-8", "surrogateescape"))
                data = text.encode("utf-8", "replace")
        path = Path(f"log{ending}")
        path.write_bytes(data)
        asked = []
        for _ in range(draw.choice((0, 1, 1, 2))):
            value = draw.choice(NUMBERS) if draw.random() < 0.7 else odd_text(draw)
            asked.append(f"{draw.choice(OPTIONS)}={value}")
        code, said = call(["check", str(path), *asked, *draw.choice(([], ["--json"]))])
        if cut and code == 0 and ending in WHOLE:
            raise Partial(f"{ending} was cut at {len(data)} bytes and judged: {said[:200]}")
        return code == 0


def _change_columns(draw: Random, columns: dict[str, list]) -> dict[str, list]:
    name = draw.choice(list(columns))
    match draw.randrange(5):
        case 0:
            for _ in range(draw.choice((1, 3))):
                columns[name][draw.randrange(len(columns[name]))] = odd_value(draw)
        case 1:
            columns[name] = [odd_value(draw)] * len(columns[name])
        case 2:
            columns[name] = columns[name][: draw.randrange(len(columns[name]))]
        case 3:
            draw.shuffle(columns[name])
        case _:
            columns = change_json(draw, columns)
    return columns if isinstance(columns, dict) else {"step": [columns]}


def _rows(columns: dict[str, list]) -> list[dict[str, object]]:
    longest = max((len(c) for c in columns.values() if isinstance(c, list)), default=0)
    return [
        {k: c[row] for k, c in columns.items() if isinstance(c, list) and row < len(c)}
        for row in range(longest)
    ]


def _csv(columns: dict[str, list]) -> bytes:
    lines = [",".join(columns)]
    lines += [",".join(str(row.get(name, "")) for name in columns) for row in _rows(columns)]
    return "\n".join(lines).encode("utf-8", "replace")


def _json_lines(columns: dict[str, list]) -> bytes:
    return "\n".join(json.dumps(row) for row in _rows(columns)).encode()


def _npz(columns: dict[str, list]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{name: np.asarray(column) for name, column in columns.items()})
    return file.getvalue()


def _parquet(columns: dict[str, list]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


def _events(columns: dict[str, list]) -> bytes:
    from tutelage.evidence.event_files import write_beginning, write_scalars

    rows = _rows(columns)
    return write_beginning(0.0) + b"".join(
        write_scalars(0.0, int(row["step"]), {"value": float(row["value"])})  # type: ignore[call-overload, arg-type]
        for row in rows
    )


WRITERS: dict[str, Callable[[dict[str, list]], bytes]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _json_lines,
    ".json": lambda columns: json.dumps(columns).encode(),
    ".npz": _npz,
    ".parquet": _parquet,
    ".tfevents.1": _events,
    ".db": _csv,
}
