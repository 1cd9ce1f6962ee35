"""A setting as code: a Python script and a command that make the same run, number for number."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence

import numpy as np

from tutelage.explorer.site import Placed
from tutelage.plugins import FILE_MODULE
from tutelage.problem.options import Value
from tutelage.problem.registry import registered
from tutelage.settings import ORIGINS, Part, Setting

SHORT = 88  # characters, up to which a part stands on one line


def python_of(setting: Setting, placed: Placed) -> str:
    """A script that prints the last value of every curve and the verdicts of the page's claims."""
    parts = "".join(f"    {kind}={_call(part)},\n" for kind, part in setting.parts.items())
    numbers = (
        f"    rate={setting.rate!r},\n    steps={setting.steps!r},\n    seed={setting.seed!r},\n"
    )
    begin, end = python_around(placed, find_imports(setting))
    return f"{begin}{parts}{numbers}    measures={setting.measures!r},\n{end}"


def python_around(placed: Placed, needed: Sequence[str] = ()) -> tuple[str, str]:
    """What stands before and after the setting in a script for a page; `needed` is what it imports
    beside tutelage.
    """
    imports = "from tutelage.plugins import import_all\n" if needed else ""
    judged = _judge(placed)
    if judged:
        imports += "from tutelage.studies.discovery import papers\n"
    import_them = f"import_all({list(needed)!r})\n" if needed else ""
    begin = f"import tutelage as tt\n{imports}\n{import_them}setting = tt.Setting(\n"
    end = (
        ")\n"
        "for run in tt.execute([setting]):\n"
        "    print(run.sentence)\n"
        "    for name, curve in run.curves.items():\n"
        "        print(name, float(curve[-1].mean()))\n"
        f"{judged}"
    )
    return begin, end


def _judge(placed: Placed) -> str:
    """The claims of a paper's page about the run; "" for a page of no paper."""
    if not placed.paper:
        return ""
    pages = f"papers()[{placed.paper!r}].shown_pages()"
    return (
        f"    page = next(page for page in {pages} if page.name == {placed.page.name!r})\n"
        "    for verdict in page.reading(setting).verdicts(run):\n"
        "        print(verdict.status.value, verdict.statement)\n"
        "        print(verdict.sentence)\n"
    )


def command_of(setting: Setting, store: str = "out") -> str:
    """A command that reads the setting from its standard input, and prints a row with the last
    value of every curve.
    """
    parts = "".join(f"{kind} = {_inline(part)}\n" for kind, part in setting.parts.items())
    numbers = f"rate = {setting.rate!r}\nsteps = {setting.steps!r}\nseed = {setting.seed!r}\n"
    begin, end = command_around(store, find_imports(setting))
    return f"{begin}{numbers}measures = {json.dumps(list(setting.measures))}\n{parts}{end}"


def command_around(store: str = "out", needed: Sequence[str] = ()) -> tuple[str, str]:
    """What stands before and after the setting in a command."""
    imports = f"import = {json.dumps(needed, ensure_ascii=False)}\n" if needed else ""
    out = "" if store == "out" else f" --out {shlex.quote(store)}"
    return f"tutelage sweep - --json{out} <<'TOML'\n{imports}[setting]\n", "TOML\n"


def find_imports(setting: Setting) -> list[str]:
    """The files and modules that register parts which did not come with tutelage."""
    own = [(kind, part.name) for kind, part in setting.parts.items()]
    modules = [registered(*named).factory.__module__ for named in own if named in ORIGINS]
    return list(dict.fromkeys(_written(module) for module in modules))


def _written(module: str) -> str:
    """A module as `--import` takes it: by its file where it was imported from one."""
    if not module.startswith(FILE_MODULE) or module not in sys.modules:
        return module
    return sys.modules[module].__file__ or module


def _call(part: Part) -> str:
    given = [
        json.dumps(part.name),
        *(f"{key}={_plain(value)!r}" for key, value in part.options.items()),
    ]
    line = f"tt.Part({', '.join(given)})"
    if len(line) <= SHORT:
        return line
    return "tt.Part(\n" + "".join(f"        {item},\n" for item in given) + "    )"


def _inline(part: Part) -> str:
    """An inline table of TOML; its numbers, words and arrays are written as in JSON."""
    given = {"name": part.name, **{key: _plain(value) for key, value in part.options.items()}}
    items = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items())
    return "{ " + ", ".join(items) + " }"


def _plain(value: Value) -> Value | list[float]:
    return value.tolist() if isinstance(value, np.ndarray) else value
