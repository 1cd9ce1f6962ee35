"""A setting as code: a Python script and a command that make the same run, number for number."""

from __future__ import annotations

import json
import shlex
from typing import Any

import numpy as np

from tutelage.settings import KINDS, Part, Setting

SHORT = 88  # characters, up to which a part stands on one line


def python_of(setting: Setting) -> str:
    """A script that prints the last value of every curve."""
    parts = "".join(f"    {kind}={_call(getattr(setting, kind))},\n" for kind in KINDS)
    numbers = (
        f"    rate={setting.rate!r},\n    steps={setting.steps!r},\n    seed={setting.seed!r},\n"
    )
    return (
        "import tutelage as tt\n\n"
        f"setting = tt.Setting(\n{parts}{numbers}    measures={setting.measures!r},\n)\n"
        "for run in tt.execute([setting]):\n"
        "    print(run.sentence)\n"
        "    for name, curve in run.curves.items():\n"
        "        print(name, float(curve[-1].mean()))\n"
    )


def command_of(setting: Setting, store: str = "out") -> str:
    """A command that reads the setting from its standard input, and prints a row with the last
    value of every curve.
    """
    parts = "".join(f"{kind} = {_inline(getattr(setting, kind))}\n" for kind in KINDS)
    numbers = f"rate = {setting.rate!r}\nsteps = {setting.steps!r}\nseed = {setting.seed!r}\n"
    text = f"[setting]\n{numbers}measures = {json.dumps(list(setting.measures))}\n{parts}"
    return (
        f"tutelage sweep - --json{'' if store == 'out' else f' --out {shlex.quote(store)}'} "
        f"<<'TOML'\n{text}TOML\n"
    )


def _call(part: Part) -> str:
    given = [
        json.dumps(part.name),
        *(f"{key}={_python(value)}" for key, value in part.options.items()),
    ]
    line = f"tt.Part({', '.join(given)})"
    return (
        line
        if len(line) <= SHORT
        else "tt.Part(\n" + "".join(f"        {item},\n" for item in given) + "    )"
    )


def _python(value: Any) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _inline(part: Part) -> str:
    """An inline table of TOML; its numbers, words and arrays are written as in JSON."""
    given = {
        "name": part.name,
        **{
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in part.options.items()
        },
    }
    return (
        "{ "
        + ", ".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()
        )
        + " }"
    )
