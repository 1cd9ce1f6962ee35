"""What a process does for a study: all of it, some of its cases, or the files at its end.

Orders and answers are plain data. Runs are handed on through the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypedDict, cast

import numpy as np

from tutelage.claims.verdict import PlainVerdict, Verdict
from tutelage.forms import Json
from tutelage.inputs import images
from tutelage.plugins import import_all
from tutelage.problem.options import Value
from tutelage.problem.room import allow_any_size
from tutelage.refuse import Refused
from tutelage.running.engines import Threads
from tutelage.running.engines.child import Tell
from tutelage.running.store import Store
from tutelage.studies.answering import read_evidence, run_settings
from tutelage.studies.planning import PlannedStudy, plan_studies
from tutelage.studies.reproduced import Reproduced, answer_cases, run_planned, try_to_write
from tutelage.studies.standing import Standing
from tutelage.studies.study import Answered, Plan
from tutelage.training.method import Method

ARRAY = "array"  # under which a change that is an array is sent


@dataclass(frozen=True)
class Order:
    """What to do for a study, and how: JSON-ready."""

    study: str
    plan: dict[str, Json]
    cases: list[str]  # of those of the plan
    out: str | None
    root: str  # of the store
    sync: bool
    rerun_foreign: bool
    method: dict[str, Json]
    imports: list[str]  # as the user gave them
    papers: list[str]  # all files and modules that bring papers
    folders: list[str]  # of images that the plan may name
    any_size: bool
    threads: int
    verdicts: dict[str, list[PlainVerdict]] = field(default_factory=dict)  # of each case, if any

    def plain(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Json]) -> Order:
        return cls(**plain)  # type: ignore[arg-type]  # what `plain` gave

    def make_method(self) -> Method:
        return Method(**self.method)  # type: ignore[arg-type]  # likewise

    def plan_study(self) -> PlannedStudy:
        """The study with its cases, in a process that knows nothing yet."""
        import_all(self.papers)
        allow_any_size(self.any_size)
        for folder in self.folders:
            with suppress(Refused):  # it is gone; a plan that names it is refused for that
                images.folder(folder)
        (planned,), _ = plan_studies([self.study], unpack_plan(self.plan))
        mine = tuple(case for case in planned.cases if case.name in self.cases)
        return replace(planned, cases=mine)

    def open_store(self) -> Store:
        return Store(
            self.root,
            sync=self.sync,
            rerun_foreign=self.rerun_foreign,
            method=self.make_method(),
        )


class Answer(TypedDict):
    """What came of an order."""

    verdicts: dict[str, list[PlainVerdict]]  # of each case
    folder: str | None
    figures: list[str]
    unsaved: dict[str, str]  # as `Store` has them
    foreign: list[str]


def run_study(given: Mapping[str, Json], tell: Tell) -> Json:
    """All of a study."""
    order = Order.from_plain(given)
    planned, store = order.plan_study(), order.open_store()
    found = run_planned(
        planned,
        out=order.out,
        store=store,
        imports=order.imports,
        tell=lambda standing: tell(asdict(standing)),
        engine=Threads(order.threads),
        method=order.make_method(),
    )
    return _pack(found, store)


def run_part(given: Mapping[str, Json], tell: Tell) -> Json:
    """Some cases of a study: their runs are stored and their claims checked."""
    order = Order.from_plain(given)
    planned, store = order.plan_study(), order.open_store()
    answered = answer_cases(
        planned,
        store=store,
        tell=lambda standing: tell(asdict(standing)),
        engine=Threads(order.threads),
        method=order.make_method(),
    )
    return _pack(Reproduced(planned.study, planned.plan, answered), store)


def write_parts(given: Mapping[str, Json], tell: Tell) -> Json:
    """The files of a study whose cases were answered in parts."""
    order = Order.from_plain(given)
    planned, store = order.plan_study(), order.open_store()
    assert order.out is not None
    tell(asdict(Standing(0.0, "drawing figures")))
    answered = join_parts(planned, order.verdicts, store, order.make_method())
    found = Reproduced(planned.study, planned.plan, answered)
    return _pack(try_to_write(found, order.out, order.imports), store)


def join_parts(
    planned: PlannedStudy,
    verdicts: Mapping[str, list[PlainVerdict]],
    store: Store,
    method: Method,
) -> tuple[Answered, ...]:
    """The cases of a study with verdicts that another process gave, and with their stored runs."""
    method = planned.choose_method(method)
    store = store.with_method(method)
    runs = run_settings(planned.cases, store=store, engine=Threads(1), method=method)
    return tuple(
        Answered(case, read_evidence(case, runs), read_verdicts(verdicts[case.name]))
        for case in planned.cases
    )


def read_verdicts(plain: list[PlainVerdict]) -> tuple[Verdict, ...]:
    return tuple(map(Verdict.from_plain, plain))


def pack_plan(plan: Plan) -> dict[str, Json]:
    """A plan as plain data."""
    changes: dict[str, Json] = {
        key: {ARRAY: value.tolist()} if isinstance(value, np.ndarray) else value
        for key, value in plan.changes.items()
    }
    return {**asdict(replace(plan, changes={})), "changes": changes}


def unpack_plan(plain: Mapping[str, Json]) -> Plan:
    """The inverse of `pack_plan`."""
    changes: dict[str, Value] = {
        key: np.asarray(value[ARRAY]) if isinstance(value, dict) else cast(Value, value)
        for key, value in cast(dict[str, Json], plain["changes"]).items()
    }
    given = {**plain, "changes": changes, "only": tuple(cast(list[str], plain["only"]))}
    return Plan(**given)  # type: ignore[arg-type]  # what `pack_plan` gave


def _pack(found: Reproduced, store: Store) -> Json:
    answer: Answer = {
        "verdicts": {
            one.case.name: [verdict.plain() for verdict in one.verdicts] for one in found.answered
        },
        "folder": None if found.folder is None else str(found.folder),
        "figures": [str(Path(path)) for path in found.figures],
        "unsaved": store.unsaved,
        "foreign": sorted(store.foreign),
    }
    return cast(Json, answer)
