"""Sweeps: settings along axes, with seeds and claims, from a small TOML file or a Python call.

study = "teacher-models/rates"      # whose cases are varied; or a table [setting] with a setting of
one's own case = ["cnn-relu"]                 # of the study, all of them by default seeds = 5
# 0 … 4, or a list steps = 1e5 import = ["my_parts.py"]            # modules or files that register
parts of one's own

[axes]                              # every combination of these
D = [16, 32, 64]
rate = { from = 1e-3, to = 1e-1, count = 5 }    # spaced evenly on a log scale

[[zip]]                             # these go together, as one more axis
K = [2, 4, 8]
V = [10.0, 20.0, 40.0]

[[claims]]                          # beside the study's own
kind = "exponent"
measure = "excess_risk"             # its value at the end of a run
along = "D"
exponent = 2.0
tolerance = 0.1
"""

from __future__ import annotations

import itertools
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Bound, Claim, Exponent, Number, Rate, Recovery
from tutelage.plugins import import_all
from tutelage.refuse import Refused, one_of, whole
from tutelage.run import Run
from tutelage.settings import KINDS, Part, Setting
from tutelage.studies.study import Case, Plan, Study, changed, plan_cases

FIELDS: dict[str, tuple[Any, str]] = {  # of a file: its type, and what it is
    "study": (str, "the name of a study"),
    "preset": (str, "quick or full"),
    "case": (str | list, "the name of a case, or a list of them"),
    "setting": (dict, "a table"),
    "set": (dict, "a table"),
    "seeds": (int | list, "how many seeds, or a list of them"),
    "steps": (int | float, "a number"),
    "import": (list, "a list of modules and files"),
    "axes": (dict, "a table"),
    "zip": (list, "a list of tables, [[zip]]"),
    "claims": (list, "a list of tables, [[claims]]"),
}
Point = tuple[tuple[str, Any], ...]  # what the axes say at one place: (("D", 16), ("K", 2))


@dataclass(frozen=True)
class Sweep:
    """What to vary, over what, and what is claimed of it."""

    name: str
    base: Setting | Study
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    zips: Sequence[Mapping[str, Sequence[Any]]] = ()
    seeds: Sequence[int] | None = None  # the study's own where it is None
    steps: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    at_least: int | None = None  # steps: settings that ask for fewer are extended
    preset: str = "quick"
    claims: Sequence[Mapping[str, Any]] = ()
    imports: Sequence[str] = ()

    def points(self) -> Iterator[Point]:
        """Every combination of the axes and of the rows of each zip."""
        choices: list[list[Point]] = [
            [((key, value),) for value in values] for key, values in self.axes.items()
        ]
        for together in self.zips:
            choices.append(
                [
                    tuple(zip(together, row, strict=True))
                    for row in zip(*together.values(), strict=True)
                ]
            )
        for chosen in itertools.product(*choices):
            yield tuple(itertools.chain.from_iterable(chosen))

    def cases(self) -> list[Case]:
        """A case for each point (and each case of a study), over the seeds; and one for each claim
        along an axis.
        """
        self._check()
        made = [
            (point, origin, case) for point in self.points() for origin, case in self._at(point)
        ]
        return [case for _, _, case in made] + list(self._over_axes(made))

    def settings(self) -> list[Setting]:
        """All settings, in the order of the points, each once."""
        return list(dict.fromkeys(setting for case in self.cases() for setting in case.settings))

    def _at(self, point: Point) -> Iterator[tuple[str, Case]]:
        """The cases at one point, each with the name that it has without one."""
        if isinstance(self.base, Setting):
            letters: Mapping[str, str] = {}
            setting = changed(self.base, {**self.changes, **dict(point)}, letters)
            if self.steps is not None:
                setting = setting.change(steps=self.steps)
            numbers = self.seeds if self.seeds is not None else (setting.seed,)
            cases = [Case("", "", tuple(setting.change(seed=seed) for seed in numbers), ())]
        else:
            if self.seeds is not None and tuple(self.seeds) != tuple(range(len(self.seeds))):
                raise Refused(
                    "A study numbers its seeds from 0, so that `seeds` is how many. Got "
                    f"{list(self.seeds)}."
                )
            plan = Plan(
                self.preset,
                None if self.seeds is None else len(self.seeds),
                self.steps,
                {**self.changes, **dict(point)},
                self.only,
            )
            cases, _ = plan_cases(self.base, plan)
        where = " ".join(f"{key}={_short(value)}" for key, value in point)
        for case in self._longer(cases):
            name = f"{case.name} {where}".strip() or self.name
            own = [
                self._claim(claim, name)
                for claim in self.claims
                if "along" not in claim and not case.control
            ]
            yield (
                case.name,
                replace(
                    case,
                    name=name,
                    label=f"{case.label} {where}".strip(),
                    claims=(*case.claims, *own),
                ),
            )

    def _longer(self, cases: Sequence[Case]) -> Iterator[Case]:
        for case in cases:
            if self.at_least is None:
                yield case
                continue
            if case.after:
                raise Refused(
                    f"The case {case.name!r} cannot be extended: its runs go on from where "
                    "others end. Give `steps` instead."
                )
            yield replace(
                case,
                settings=tuple(s.change(steps=max(self.at_least, s.steps)) for s in case.settings),
            )

    def _over_axes(self, made: Sequence[tuple[Point, str, Case]]) -> Iterator[Case]:
        """For each claim along an axis and each choice of everything else, the case of all runs
        along it.
        """
        for claim in self.claims:
            if "along" not in claim:
                continue
            groups: dict[tuple[str, Point], dict[Setting, float]] = {}
            for point, origin, case in made:
                if case.control:
                    continue
                x = dict(point)[claim["along"]]
                beside = self._zipped_with(claim["along"])
                others = tuple((key, value) for key, value in point if key not in beside)
                groups.setdefault((origin, others), {}).update(
                    {setting: float(x) for setting in case.settings}
                )
            for (origin, others), at in groups.items():
                where = " ".join(
                    [
                        origin,
                        f"along {claim['along']}",
                        *(f"{key}={_short(value)}" for key, value in others),
                    ]
                ).strip()
                yield Case(where, where, tuple(at), (self._claim(claim, where, at),))

    def _zipped_with(self, axis: str) -> frozenset[str]:
        """An axis with those that vary together with it."""
        return next(
            (frozenset(together) for together in self.zips if axis in together), frozenset([axis])
        )

    def _claim(
        self, given: Mapping[str, Any], where: str, at: Mapping[Setting, float] | None = None
    ) -> Claim:
        make, _ = CLAIMS[given["kind"]]
        rest = {key: value for key, value in given.items() if key != "kind"}
        return make(
            rest,
            at,
            {
                "id": f"{self.name}/{where}/{given['kind']}-{given['measure']}",
                "source": "the sweep's own claim",
            },
        )

    def _check(self) -> None:
        keys = [*self.axes, *(key for together in self.zips for key in together)]
        letters = {} if isinstance(self.base, Setting) else self.base.letters
        for key in keys:
            for name, given in (("steps", self.steps), ("seed", self.seeds)):
                if letters.get(key, key) == name and given is not None:
                    raise Refused(
                        f"`{name}` is given once: as an axis, or for all. Got the axis {key!r} "
                        "and a value for all."
                    )
            if keys.count(key) > 1:
                raise Refused(
                    f"Each axis is given once, since a setting has one value of it. Got {key!r} "
                    "twice."
                )
        for key, values in self.axes.items():
            if not len(values):
                raise Refused(f"An axis needs at least one value. Got none for {key!r}.")
        for together in self.zips:
            if len({len(values) for values in together.values()}) > 1:
                lengths = ", ".join(f"{key}: {len(values)}" for key, values in together.items())
                raise Refused(
                    "What is zipped must be equally long, since its values go together. Got "
                    f"{lengths}."
                )
        values_of = {
            **self.axes,
            **{key: values for together in self.zips for key, values in together.items()},
        }
        for claim in self.claims:
            _check_claim(claim, values_of)
            if isinstance(self.base, Setting):
                one_of(
                    "measure of the setting to claim something of",
                    claim["measure"],
                    self.base.measures,
                )


def _check_claim(claim: Mapping[str, Any], axes: Mapping[str, Sequence[Any]]) -> None:
    kind = one_of("kind of claim", claim.get("kind", ""), CLAIMS)
    _, (needed, optional) = CLAIMS[kind]
    for key in claim:
        one_of(f"entry of a claim of kind {kind!r}", key, ("kind", *needed, *optional))
    if missing := [key for key in needed if key not in claim]:
        raise Refused(
            f"A claim of kind {kind!r} needs {', '.join(needed)}. Got none for "
            f"{', '.join(missing)}."
        )
    for key, value in claim.items():
        if key not in ("kind", "measure", "along", "side") and (
            isinstance(value, bool) or not isinstance(value, int | float)
        ):
            raise Refused(f"`{key}` of a claim must be a number. Got {value!r}.")
        if key in ("tolerance", "within") and not value > 0:
            raise Refused(
                f"`{key}` of a claim must be positive, since nothing is measured exactly. Got "
                f"{value!r}."
            )
    if "along" in claim:
        values = axes[one_of("axis of the sweep to claim something along", claim["along"], axes)]
        numbers = {value for value in values if isinstance(value, int | float) and value > 0}
        if len(numbers) < 3 or len(numbers) < len(set(values)):
            raise Refused(
                "An exponent along an axis needs at least three positive numbers on it. Got "
                f"{claim['along']} = {list(values)}."
            )


def _last(run: Run, measure: str) -> float:
    from tutelage.claims.claim import curve_of

    return float(np.mean(curve_of(run, measure)[-1]))


def _rate(
    given: dict[str, Any], at: Any, about: dict[str, Any], kind: Any = Rate, sign: str = "∝"
) -> Claim:
    curve = given.pop("measure")
    return kind(curve, **given, **about, statement=f"{curve} {sign} T^{given['exponent']:g}")


def _bound(given: dict[str, Any], at: Any, about: dict[str, Any]) -> Claim:
    return _rate(given, at, about, Bound, "falls at least like")


def _recovery(given: dict[str, Any], at: Any, about: dict[str, Any]) -> Claim:
    curve = given.pop("measure")
    return Recovery(
        curve,
        **given,
        **about,
        statement=f"{curve} → {given['target']:g} within {given['within']:g}",
    )


def _number(given: dict[str, Any], at: Any, about: dict[str, Any]) -> Claim:
    measure = given.pop("measure")
    given = dict[str, Any]({"tolerance": 0.0, "side": "equal"}, **given)
    said = (
        f"{measure} at the end {'=' if given['side'] == 'equal' else given['side']} "
        f"{given['value']:g}"
    )
    return Number(
        lambda runs: [_last(run, measure) for run in runs],
        of=f"{measure} at the end",
        **given,
        **about,
        statement=said,
    )


def _exponent(given: dict[str, Any], at: Mapping[Setting, float], about: dict[str, Any]) -> Claim:
    measure, along = given.pop("measure"), given.pop("along")

    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return [
            (at[run.setting], _last(run, measure), run.setting.seed)
            for run in runs
            if run.setting is not None
        ]

    return Exponent(
        points,
        **given,
        of=f"{measure} at the end",
        **about,
        statement=f"{measure} at the end ∝ {along}^{given['exponent']:g}",
    )


# kind -> (how to make it, (what it needs, what it may have))
CLAIMS: dict[str, tuple[Any, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "rate": (_rate, (("measure", "exponent"), ("tolerance",))),
    "bound": (_bound, (("measure", "exponent"), ("tolerance",))),
    "recovery": (_recovery, (("measure", "target", "within"), ("from_step",))),
    "number": (_number, (("measure", "value"), ("side", "tolerance"))),
    "exponent": (_exponent, (("measure", "along", "exponent"), ("tolerance",))),
}


def read_sweep(path: str | Path) -> Sweep:
    """The sweep of a TOML file, or with "-" of what comes by standard input, which is then named
    "sweep".
    """
    piped, path = str(path) == "-", Path("sweep.toml" if str(path) == "-" else path)
    try:
        given = tomllib.loads(sys.stdin.read() if piped else path.read_text())
    except FileNotFoundError:
        raise Refused(
            f"A sweep is a TOML file or the name of a study. Got {path}, which is neither."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"A sweep file must be TOML. Got {path}: {error}.") from None
    except UnicodeDecodeError:
        raise Refused(f"A sweep file must be TOML, which is UTF-8. Got {path}.") from None
    except OSError as error:
        raise Refused(
            f"A sweep is a TOML file or the name of a study. Got {path}: {error}."
        ) from None
    for key, value in given.items():
        kind, what = FIELDS[one_of(f"entry of the sweep file {path.name}", key, FIELDS)]
        if (
            not isinstance(value, kind)
            or isinstance(value, bool)
            or (kind is list and not all(isinstance(v, dict | str) for v in value))
        ):
            raise Refused(f"`{key}` of a sweep file is {what}. Got {value!r} in {path.name}.")
    imports = [
        str(path.parent / name) if name.endswith(".py") else name
        for name in given.get("import", [])
    ]
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
    base = _study(given["study"]) if "study" in given else _setting(given["setting"])
    return Sweep(
        name=path.stem,
        base=base,
        axes={key: _values(key, values) for key, values in given.get("axes", {}).items()},
        zips=tuple(
            {key: _values(key, values) for key, values in together.items()}
            for together in given.get("zip", [])
        ),
        seeds=_seeds(given["seeds"]) if "seeds" in given else None,
        steps=_steps(given["steps"]) if "steps" in given else None,
        changes=given.get("set", {}),
        only=tuple(
            [given["case"]] if isinstance(given.get("case"), str) else given.get("case", ())
        ),
        preset=one_of("preset", given.get("preset", "quick"), ("quick", "full")),
        claims=tuple(given.get("claims", ())),
        imports=tuple(imports),
    )


def _study(name: str) -> Study:
    from tutelage.papers import PAPERS, studies

    if name in PAPERS:
        raise Refused(
            f"A sweep varies one study, such as {studies(name)[0].name}. Got the whole paper "
            f"{name!r}."
        )
    return studies(name)[0]


def _setting(given: Mapping[str, Any]) -> Setting:
    fields: dict[str, Any] = {}
    for key, value in given.items():
        one_of("entry of [setting]", key, Setting.__dataclass_fields__)
        if key in KINDS:
            if isinstance(value, str):
                value = {"name": value}
            if not isinstance(value, dict) or "name" not in value:
                raise Refused(
                    f"A part of a setting has a name, by which it is registered. Got {key} = "
                    f"{value!r}."
                )
            value = Part(**value)
        if key == "measures" and not (
            isinstance(value, list) and all(isinstance(name, str) for name in value)
        ):
            raise Refused(f"`measures` is a list of names. Got {value!r}.")
        if key in ("rate", "seed") and (
            isinstance(value, bool) or not isinstance(value, int | float)
        ):
            raise Refused(f"`{key}` of a setting is a number. Got {value!r}.")
        fields[key] = (
            _steps(value) if key == "steps" else tuple(value) if key == "measures" else value
        )
    if missing := [key for key in ("teacher", "rate", "steps") if key not in fields]:
        raise Refused(
            f"A setting needs teacher, rate and steps. Got none for {', '.join(missing)}."
        )
    return Setting(**fields)


def _values(key: str, given: Any) -> list[Any]:
    if isinstance(given, list) and all(isinstance(value, int | float | str) for value in given):
        return given
    if isinstance(given, dict) and set(given) == {"from", "to", "count"}:
        return log_range(key, given["from"], given["to"], given["count"])
    ways = "a list of numbers or words, or { from = 1e-3, to = 1e-1, count = 5 } on a log scale"
    raise Refused(f"An axis is {ways}. Got {key} = {given!r}.")


def log_range(key: str, first: float, last: float, count: int) -> list[Any]:
    """`count` values from `first` to `last` spaced evenly on a log scale; whole numbers where both
    ends are.
    """
    whole(f"count of {key}", count, least=2, reason="a range has two ends")
    if not (isinstance(first, int | float) and isinstance(last, int | float) and 0 < first < last):
        raise Refused(
            f"A log range goes from a positive number to a larger one. Got {key} from {first!r} "
            f"to {last!r}."
        )
    spaced = np.geomspace(first, last, count)
    if isinstance(first, int) and isinstance(last, int):
        return sorted({int(value) for value in np.rint(spaced)})
    return [
        float(f"{value:.12g}") for value in spaced
    ]  # twelve digits: the same text, and so the same run, whatever the rounding


def _seeds(given: Any) -> tuple[int, ...]:
    if isinstance(given, list):
        return tuple(
            whole("seed", seed, least=0, reason="it seeds the random streams") for seed in given
        )
    return tuple(range(whole("seeds", given, least=1, reason="at least one run is needed")))


def _steps(given: Any) -> int:
    number = int(given) if isinstance(given, float) and given.is_integer() else given
    return whole("steps", number, least=1, reason="a run takes at least one step")


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
