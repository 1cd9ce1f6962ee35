"""Sweeps from a small TOML file.

    study = "teacher-models/rates"   # whose cases are varied; or your own table [setting]
    case = ["cnn-relu"]              # of the study, all of them by default
    seeds = 5                        # 0 … 4, or a list
    steps = 1e5
    import = ["my_parts.py"]         # modules or files that bring a paper or register parts

    [axes]                           # every combination of these
    D = [16, 32, 64]
    rate = { from = 1e-3, to = 1e-1, count = 5 }    # evenly on a log scale

    [[zip]]                          # these go together, as one more axis
    K = [2, 4, 8]
    V = [10.0, 20.0, 40.0]

    [[claims]]                       # beside the study's own
    kind = "exponent"
    measure = "excess_risk"          # its value at the end of a run
    along = "D"
    exponent = 2.0
    tolerance = 0.1

A setting that is calculated and not trained names its calculation, and has neither rate nor steps:

    [setting]
    calculation = { name = "my-bound", width = 64 }
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TypeAlias, Union

from tutelage.plugins import import_all
from tutelage.problem.options import Value
from tutelage.refuse import Refused, one_of, show, whole, whole_seed
from tutelage.settings import KINDS, Part, Setting
from tutelage.studies.discovery import find_study, papers, study_names
from tutelage.studies.study import AnyStudy
from tutelage.studies.sweep_claims import ClaimTable
from tutelage.studies.sweeps import Sweep, log_range, number_seeds

Toml: TypeAlias = Union[bool, int, float, str, "list[Toml]", "dict[str, Toml]"]
Table: TypeAlias = "dict[str, Toml]"


@dataclass(frozen=True)
class Field:
    """An entry of a sweep file: its type, and what it is."""

    type: type | UnionType
    sentence: str


FIELDS = {
    "study": Field(str, "the name of a study"),
    "preset": Field(str, "the name of a preset, quick or full"),
    "case": Field(str | list, "the name of a case, or a list of them"),
    "setting": Field(dict, "a table"),
    "set": Field(dict, "a table"),
    "seeds": Field(int | list, "how many seeds, or a list of them"),
    "steps": Field(int | float, "a number"),
    "import": Field(list, "a list of modules and files"),
    "axes": Field(dict, "a table"),
    "zip": Field(list, "a list of tables, [[zip]]"),
    "claims": Field(list, "a list of tables, [[claims]]"),
}
ITEMS: dict[str, type] = {"import": str, "zip": dict, "claims": dict}  # what a list is made of


def read_sweep(path: str | Path) -> Sweep:
    """The sweep of a TOML file; with "-" of what comes by standard input, named "sweep"."""
    piped, path = str(path) == "-", Path("sweep.toml" if str(path) == "-" else path)
    if path.stem in (".", ".."):
        raise Refused(
            "A sweep file names the folder of its tables by what stands before .toml, so that "
            f"this must be a name. Got {path}."
        )
    given = _read_table(path, piped)
    imports = tuple(
        str(path.parent / name) if name.endswith(".py") else name
        for name in map(str, _as_list(given.get("import", [])))
    )
    import_all(imports)
    if ("study" in given) == ("setting" in given):
        got = "both" if "study" in given else "neither"
        raise Refused(
            f"A sweep file names either a `study` or a `[setting]`. Got {got} in {path.name}."
        )
    if "study" not in given and (wrong := [key for key in ("case", "preset") if key in given]):
        raise Refused(
            f"`{wrong[0]}` belongs to a `study`. Got it beside a `[setting]` in {path.name}."
        )
    only = given.get("case", [])
    return Sweep(
        name=path.stem,
        base=(
            choose_study(str(given["study"]))
            if "study" in given
            else _parse_setting(_as_table(given["setting"]))
        ),
        axes=_parse_axes(_as_table(given.get("axes", {}))),
        zips=tuple(_parse_axes(_as_table(table)) for table in _as_list(given.get("zip", []))),
        seeds=_parse_seeds(given["seeds"]) if "seeds" in given else None,
        steps=_parse_steps(given["steps"]) if "steps" in given else None,
        changes={
            key: _as_value(key, value) for key, value in _as_table(given.get("set", {})).items()
        },
        only=(only,) if isinstance(only, str) else tuple(map(str, _as_list(only))),
        preset=str(given.get("preset", "quick")),
        claims=tuple(_parse_claim(_as_table(table)) for table in _as_list(given.get("claims", []))),
        imports=imports,
    )


def choose_study(name: str) -> AnyStudy:
    """The one study that is swept."""
    if name in papers():
        raise Refused(
            f"A sweep varies one study, such as {study_names(name)[0]}. Got the whole paper "
            f"{name!r}."
        )
    return find_study(name)


def _read_table(path: Path, piped: bool) -> Table:
    """What a file says, every entry known and of its type."""
    try:
        given: Table = tomllib.loads(sys.stdin.read() if piped else path.read_text())
    except FileNotFoundError:
        raise Refused(
            f"A sweep is a TOML file or the name of a study. Got {path}, which is neither."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"A sweep file must be TOML. Got {path}: {error}.") from None
    except UnicodeDecodeError:
        raise Refused(f"A sweep file must be TOML, which is UTF-8. Got {path}.") from None
    except RecursionError:
        raise Refused(
            f"A sweep file is a table of tables and lists. Got {path}, whose brackets are nested "
            "too deeply to read."
        ) from None
    except ValueError:  # of Python's own limit
        raise Refused(
            f"A number in a sweep file has at most 4,300 digits. Got a longer one in {path}."
        ) from None
    except OSError as error:
        raise Refused(
            f"A sweep is a TOML file or the name of a study. Got {path}: {error}."
        ) from None
    for key, value in given.items():
        known = FIELDS[one_of(f"entry of the sweep file {path.name}", key, FIELDS)]
        right = isinstance(value, known.type) and not isinstance(value, bool)
        if right and key in ITEMS:
            right = all(isinstance(item, ITEMS[key]) for item in _as_list(value))
        if not right:
            raise Refused(
                f"`{key}` of a sweep file is {known.sentence}. Got {show(value)} in {path.name}."
            )
    return given


def _parse_setting(given: Table) -> Setting:
    """A setting from its table: trained, or calculated where it names a calculation."""
    parts: dict[str, Part] = {}
    for key, value in given.items():
        one_of("entry of [setting]", key, Setting.__dataclass_fields__)
        if key in (*KINDS, "calculation"):
            parts[key] = _parse_part(key, value)
    seed = whole_seed(given.get("seed", 0))
    if "calculation" in parts:
        if wrong := [key for key in ("rate", "steps", "measures", "optimiser") if key in given]:
            raise Refused(
                f"A calculation takes no steps, so that its setting has no `{wrong[0]}`. Got "
                f"{wrong[0]} = {given[wrong[0]]!r}."
            )
        return Setting.of_calculation(parts.pop("calculation"), seed=seed, **parts)
    if missing := [key for key in ("teacher", "rate", "steps") if key not in given]:
        raise Refused(
            f"A setting needs teacher, rate and steps. Got none for {', '.join(missing)}."
        )
    rate, steps = _as_number("rate", given["rate"]), _parse_steps(given["steps"])
    setting = Setting(parts.pop("teacher"), rate, steps, seed).change(**parts)
    if "measures" not in given:
        return setting
    return setting.change(measures=_parse_measures(given["measures"]))


def _parse_part(kind: str, given: Toml) -> Part:
    if isinstance(given, str):
        return Part(given)
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise Refused(
            f"A part of a setting has a name, by which it is registered. Got {kind} = {given!r}."
        )
    options = {key: value for key, value in given.items() if key != "name"}
    return Part(str(given["name"]), **options)


def _parse_measures(given: Toml) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise Refused(f"`measures` is a list of names. Got {given!r}.")
    return tuple(map(str, given))


def _parse_axes(given: Table) -> dict[str, list[Value]]:
    return {key: _parse_axis(key, values) for key, values in given.items()}


def _parse_axis(key: str, given: Toml) -> list[Value]:
    if isinstance(given, list) and all(isinstance(value, int | float | str) for value in given):
        return [_as_value(key, value) for value in given]
    if isinstance(given, dict) and set(given) == {"from", "to", "count"}:
        first, last, count = (given[end] for end in ("from", "to", "count"))
        if isinstance(first, int | float) and isinstance(last, int | float):
            number = whole(f"count of {key}", count, least=2, reason="a range has two ends")
            return log_range(key, first, last, number)
        raise Refused(
            "A log range goes from a positive number to a larger one. Got "
            f"{key} from {show(first)} to {show(last)}."
        )
    ways = "a list of numbers or words, or { from = 1e-3, to = 1e-1, count = 5 } on a log scale"
    raise Refused(f"An axis is {ways}. Got {key} = {show(given)}.")


def _parse_seeds(given: Toml) -> tuple[int, ...]:
    if isinstance(given, list):
        return tuple(map(whole_seed, given))
    return number_seeds(given)


def _parse_steps(given: Toml) -> int:
    return whole("steps", given, least=1, reason="a run takes at least one step")


def _parse_claim(given: Table) -> ClaimTable:
    for key, value in given.items():
        if not isinstance(value, str | int | float):
            raise Refused(f"`{key}` of a claim must be a number or a word. Got {value!r}.")
    return {key: value for key, value in given.items() if isinstance(value, str | int | float)}


def _as_table(given: Toml) -> Table:
    if not isinstance(given, dict):
        raise Refused(f"This entry of a sweep file is a table. Got {given!r}.")
    return given


def _as_list(given: Toml) -> list[Toml]:
    if not isinstance(given, list):
        raise Refused(f"This entry of a sweep file is a list. Got {given!r}.")
    return given


def _as_value(key: str, given: Toml) -> Value:
    if isinstance(given, dict | list):
        raise Refused(f"`{key}` is a number or a word. Got {given!r}.")
    return given


def _as_number(key: str, given: Toml) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Refused(f"`{key}` of a setting is a number. Got {given!r}.")
    return given
