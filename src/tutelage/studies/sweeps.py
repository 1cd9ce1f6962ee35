"""Sweeps: settings along axes, with seeds and claims. `read_sweep` makes one from a TOML file.

A setting is run once, however many cases it serves. A study may be swept, and then its claims are
answered at every point; or your own setting, trained or calculated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tutelage.problem.options import Value
from tutelage.refuse import (
    OWN_ERRORS,
    Refused,
    is_finite,
    one_of,
    reason,
    show,
    whole,
    whole_seed,
)
from tutelage.settings import Setting, check_steps
from tutelage.studies.changes import changed
from tutelage.studies.study import AnyStudy, Case, Plan
from tutelage.studies.sweep_claims import ClaimTable, check_claim, make_claim

MOST_SETTINGS = 1_000_000  # of a sweep: planning them takes minutes, and each is a run
Point = tuple[tuple[str, Value], ...]  # what the axes say at one place: (("D", 16), ("K", 2))


@dataclass(frozen=True)
class RefusedPoint:
    """A point of a sweep at which no setting can be made, and why."""

    point: Point
    reason: str


@dataclass(frozen=True)
class Sweep:
    """What to vary, over what, and what is claimed of it."""

    name: str
    base: Setting | AnyStudy
    axes: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    zips: Sequence[Mapping[str, Sequence[Value]]] = ()
    seeds: Sequence[int] | None = None  # the study's own where it is None
    steps: int | None = None
    changes: Mapping[str, Value] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    at_least: int | None = None  # steps: settings that ask for fewer are extended
    preset: str = "quick"
    claims: Sequence[ClaimTable] = ()
    imports: Sequence[str] = ()

    @property
    def letters(self) -> Mapping[str, str]:
        """The letters that its axes may be named by."""
        return {} if isinstance(self.base, Setting) else self.base.letters

    @property
    def varied(self) -> list[str]:
        """The keys of all axes, in their order."""
        return [*self.axes, *(key for together in self.zips for key in together)]

    def points(self) -> Iterator[Point]:
        """Every combination of the axes and of the rows of each zip."""
        choices: list[list[Point]] = [
            [((key, value),) for value in values] for key, values in self.axes.items()
        ]
        for together in self.zips:
            rows = zip(*together.values(), strict=True)
            choices.append([tuple(zip(together, row, strict=True)) for row in rows])
        for chosen in itertools.product(*choices):
            yield tuple(itertools.chain.from_iterable(chosen))

    def cases(self) -> list[Case]:
        """A case for each point (and each case of a study), over the seeds; and one for each claim
        along an axis. Points at which no setting can be made are left out.
        """
        return self.plan()[0]

    def plan(self) -> tuple[list[Case], list[RefusedPoint]]:
        """The cases, and the points that have none; refused where every point is one of these."""
        self._check()
        made: list[tuple[Point, str, Case]] = []
        refused: list[RefusedPoint] = []
        for point in self.points():
            try:
                made += [(point, origin, case) for origin, case in self._at(point)]
            except OWN_ERRORS as error:  # also of a study's own code, from a value it cannot take
                refused.append(RefusedPoint(point, reason(error)))
        if refused and not made:
            raise Refused(refused[0].reason)
        return [case for _, _, case in made] + list(self._over_axes(made)), refused

    def settings(self) -> list[Setting]:
        """All settings, in the order of the points, each once."""
        return list(dict.fromkeys(setting for case in self.cases() for setting in case.settings))

    def _at(self, point: Point) -> Iterator[tuple[str, Case]]:
        """The cases at one point, each with the name that it has without one."""
        where = " ".join(f"{key}={_shorten(value)}" for key, value in point)
        planned = self._planned(point)
        for setting in (setting for case in planned for setting in case.settings):
            check_steps(setting)
            whole_seed(setting.seed)
            setting.identity()  # which raises where a value cannot be written down
        for case in self._longer(planned):
            if not case.control:
                self._check_measures(case)
            own = [make_claim(table) for table in self.claims if "along" not in table]
            yield (
                case.name,
                replace(
                    case,
                    name=f"{case.name} {where}".strip() or self.name,
                    label=f"{case.label} {where}".strip(),
                    claims=case.claims if case.control else (*case.claims, *own),
                ),
            )

    def _planned(self, point: Point) -> list[Case]:
        changes = {**self.changes, **dict(point)}
        if isinstance(self.base, Setting):
            setting = changed(self.base, changes, {})
            if self.steps is not None:
                setting = setting.change(steps=self.steps)
            numbers = self.seeds if self.seeds is not None else (setting.seed,)
            return [Case("", "", tuple(setting.change(seed=seed) for seed in numbers), ())]
        if self.seeds is not None and tuple(self.seeds) != tuple(range(len(self.seeds))):
            raise Refused(
                "A study numbers its seeds from 0, so that `seeds` is how many. Got "
                f"{list(self.seeds)}."
            )
        seeds = None if self.seeds is None else len(self.seeds)
        cases, _ = self.base.plan(Plan(self.preset, seeds, self.steps, changes, self.only))
        return cases

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
                case, settings=tuple(_extend(setting, self.at_least) for setting in case.settings)
            )

    def _over_axes(self, made: Sequence[tuple[Point, str, Case]]) -> Iterator[Case]:
        """For each claim along an axis and each choice of everything else, the case of all runs
        along it.
        """
        for table in self.claims:
            if "along" not in table:
                continue
            axis = str(table["along"])
            together = self._zipped_with(axis)
            groups: dict[tuple[str, Point], dict[Setting, float]] = {}
            for point, origin, case in made:
                if case.control:
                    continue
                at = dict(point)[axis]
                if not isinstance(at, int | float):  # a word has no place along the axis
                    continue
                others = tuple((key, value) for key, value in point if key not in together)
                group = groups.setdefault((origin, others), {})
                group.update(dict.fromkeys(case.settings, float(at)))
            for (origin, others), along in groups.items():
                beside = (f"{key}={_shorten(value)}" for key, value in others)
                where = " ".join([origin, f"along {axis}", *beside]).strip()
                yield Case(where, where, tuple(along), (make_claim(table, along),))

    def _zipped_with(self, axis: str) -> frozenset[str]:
        """An axis with those that vary together with it."""
        return next(
            (frozenset(together) for together in self.zips if axis in together), frozenset([axis])
        )

    def _check(self) -> None:
        for key in (*self.varied, *self.changes):
            for name, given in (("steps", self.steps), ("seed", self.seeds)):
                if self.letters.get(key, key) == name and given is not None:
                    where = "the axis" if key in self.varied else "a change of"
                    raise Refused(
                        f"`{name}` is given once: as an axis, or for all. Got {where} {key!r} "
                        f"and `{'seeds' if name == 'seed' else name}`."
                    )
        for key in self.varied:
            if self.varied.count(key) > 1:
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
                    "Zipped lists must be equally long, since their values go together. Got "
                    f"{lengths}."
                )
        self._check_size()
        self._check_setting()
        values_of = dict(self.axes)
        for together in self.zips:
            values_of |= together
        for table in self.claims:
            check_claim(table, values_of)

    def _check_size(self) -> None:
        """Refuses more settings than anyone runs, before they are counted one by one."""
        counts = {key: len(values) for key, values in self.axes.items()}
        for together in self.zips:
            counts |= {"/".join(together): len(values) for values in together.values()}
        if self.seeds is not None:
            counts["seeds"] = len(self.seeds)
        if math.prod(counts.values()) > MOST_SETTINGS:
            said = " × ".join(f"{count:,} of {key}" for key, count in counts.items())
            raise Refused(
                f"A sweep has at most {MOST_SETTINGS:,} settings, since each is a run. Got {said}."
            )

    def _check_measures(self, case: Case) -> None:
        """Refuses a claim of the sweep's own about what some run does not record, before any work.
        What a calculation gives is known only afterwards.
        """
        for setting in case.settings:
            if setting.calculation is None:
                for table in self.claims:
                    what = "measure of the setting to claim something of"
                    one_of(what, str(table["measure"]), setting.measures)

    def _check_setting(self) -> None:
        """A calculation has no horizon to choose."""
        if isinstance(self.base, Setting) and self.base.calculation is not None:
            asked = self.steps if self.steps is not None else self.at_least
            paths = [self.letters.get(key, key) for key in (*self.varied, *self.changes)]
            wrong = next((path for path in paths if path in ("steps", "rate")), None)
            if asked is not None or wrong is not None:
                raise Refused(
                    "A calculation takes no steps, so that it has neither `steps` nor `rate`. Got "
                    f"{wrong or f'steps={asked}'} for {self.base.calculation.name!r}."
                )


def number_seeds(count: object) -> tuple[int, ...]:
    """The seeds from 0 on, as many as asked for."""
    most = whole(
        "seeds",
        count,
        least=1,
        reason="at least one run is needed",
        most=MOST_SETTINGS,
        beyond="each is a run",
    )
    return tuple(range(most))


def log_range(key: str, first: float, last: float, count: int) -> list[Value]:
    """`count` values from `first` to `last`, evenly on a log scale; whole numbers where both ends
    are.
    """
    count = whole(f"count of {key}", count, least=2, reason="a range has two ends")
    if count > MOST_SETTINGS:
        raise Refused(
            f"A log range has at most {MOST_SETTINGS:,} values, since each is a run. Got "
            f"{show(count)} for {key}."
        )
    ends = (first, last)
    if not all(isinstance(end, int | float) and is_finite(end) for end in ends) or not (
        0 < first < last
    ):
        raise Refused(
            "A log range goes from a positive number to a larger one. Got "
            f"{key} from {show(first)} to {show(last)}."
        )
    spaced = np.geomspace(first, last, count)
    if isinstance(first, int) and isinstance(last, int):
        return [int(value) for value in np.unique(np.rint(spaced))]
    # Twelve digits: the same text, and so the same run, whatever the rounding.
    return [float(f"{value:.12g}") for value in spaced]


def _extend(setting: Setting, at_least: int) -> Setting:
    if setting.calculation is not None:
        return setting
    return setting.change(steps=max(at_least, setting.steps))


def _shorten(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
