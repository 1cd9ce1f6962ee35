"""Studies in a pool of processes: orders go out, verdicts come back, runs are in the store."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tutelage.claims.verdict import PlainVerdict
from tutelage.forms import Json
from tutelage.inputs import images
from tutelage.plugins import imported
from tutelage.problem.room import is_any_size_allowed
from tutelage.running.engines.processes import Begun, Done, Failed, Processes, Task, Told
from tutelage.running.store import Store
from tutelage.studies import study_tasks
from tutelage.studies.planning import PlannedStudy
from tutelage.studies.reproduced import Reproduced
from tutelage.studies.standing import Standing
from tutelage.studies.study import Answered, Case
from tutelage.studies.study_tasks import Answer, Order, pack_plan, read_verdicts
from tutelage.studies.weights import weigh_cases

if TYPE_CHECKING:
    from tutelage.running.engines.child import Function
    from tutelage.studies.progress import Display


@dataclass(frozen=True)
class Where:
    """Where runs and files go, and which of the user's own files and modules bring papers."""

    out: str | Path | None = None  # for verdicts and figures; None where none are written
    store: Store | None = None
    imports: Sequence[str] = ()


@dataclass(frozen=True)
class Unfinished:
    """A study that erred or whose process died, and what to do, in a sentence."""

    name: str
    sentence: str


@dataclass
class Running:
    """A study in processes: the parts that its cases are cut into, and what came of them."""

    planned: PlannedStudy
    seconds: float  # that it is expected to take
    parts: list[tuple[Case, ...]]
    left: int = 0  # tasks that are not done yet
    weight: dict[str, float] = field(default_factory=dict)  # done by each task
    verdicts: dict[str, list[PlainVerdict]] = field(default_factory=dict)  # of each case
    trouble: str = ""  # of the first task that failed

    @property
    def name(self) -> str:
        return self.planned.study.name

    @property
    def share(self) -> float:
        """Of its runs that is done, from 0 to 1."""
        return min(1.0, sum(self.weight.values()) / weigh_cases(self.planned.cases))


class StudyProcesses:
    """Has a pool do studies, whole or in parts, and puts together what comes back."""

    def __init__(
        self,
        studies: Sequence[Running],
        pool: Processes,
        where: Where,
        store: Store,
        display: Display | None,
    ) -> None:
        self._pool, self._where, self._store, self._display = pool, where, store, display
        self._study_of: dict[str, Running] = {}  # by the name of a task
        for study in studies:
            function = study_tasks.run_part if len(study.parts) > 1 else study_tasks.run_study
            for number, part in enumerate(study.parts, 1):
                order = self._make_order(study, part)
                seconds = study.seconds / len(study.parts)
                self._send(study, f"{study.name}, part {number}", function, order, seconds, part)

    def run(self) -> Iterator[tuple[Running, Reproduced | Unfinished]]:
        """Each study as it is done, and what came of it."""
        for event in self._pool.run():
            study = self._study_of[event.task.name]
            if isinstance(event, Begun):
                if self._display is not None:
                    self._display.start(study.name)
            elif isinstance(event, Told):
                self._show(study, event)
            elif (found := self._take(study, event)) is not None:
                if self._display is not None:
                    self._display.end(study.name, done=isinstance(found, Reproduced))
                yield study, found

    def _take(self, study: Running, event: Done | Failed) -> Reproduced | Unfinished | None:
        """What came of a study with its last task; None while another is under way."""
        study.left -= 1
        if isinstance(event, Failed):
            study.trouble = study.trouble or describe_trouble(
                study.name, event.why, self._where, refused=event.refused, died=event.died
            )
            return None if study.left else Unfinished(study.name, study.trouble)
        answer = cast(Answer, event.result)
        study.verdicts |= answer["verdicts"]
        self._store.unsaved |= answer["unsaved"]
        self._store.foreign |= set(answer["foreign"])
        if study.left:
            return None
        if study.trouble:
            return Unfinished(study.name, study.trouble)
        written = event.task.function != study_tasks.run_part.__name__
        if not written and self._where.out is not None:
            order = replace(self._make_order(study, study.planned.cases), verdicts=study.verdicts)
            # First of all, since nothing else of its study is left.
            self._send(study, f"{study.name}, files", study_tasks.write_parts, order, math.inf)
            return None
        return _read(study, answer)

    def _show(self, study: Running, event: Told) -> None:
        standing = Standing(**cast(dict[str, Json], event.message))  # type: ignore[arg-type]
        before = study.weight.get(event.task.name, 0.0)
        study.weight[event.task.name] = max(before, standing.weight)
        if self._display is not None:
            self._display.show(study.name, study.share, standing)

    def _send(
        self,
        study: Running,
        name: str,
        function: Function,
        order: Order,
        seconds: float,
        cases: Sequence[Case] = (),  # whose runs it makes
    ) -> None:
        task = Task(
            name,
            study_tasks.__name__,
            function.__name__,
            order.plain(),
            seconds,
            study.planned.estimate_bytes(),
            frozenset(setting.identity() for case in cases for setting in case.settings),
        )
        self._study_of[name] = study
        study.left += 1
        self._pool.add([task])

    def _make_order(self, study: Running, cases: Sequence[Case]) -> Order:
        where, store = self._where, self._store
        return Order(
            study=study.name,
            plan=pack_plan(study.planned.plan),
            cases=[case.name for case in cases],
            out=None if where.out is None else str(where.out),
            root=store.root,
            sync=store.sync,
            rerun_foreign=store.rerun_foreign,
            method=asdict(store.method),
            imports=list(where.imports),
            papers=[*imported(), *where.imports],
            folders=images.known_folders(),
            any_size=is_any_size_allowed(),
            threads=self._pool.threads,
        )


def describe_trouble(
    name: str, why: str, where: Where, *, refused: bool = False, died: bool = False
) -> str:
    """Why a study is not finished and what to do, as a sentence."""
    if refused:
        return f"{name} is not finished. {why}"
    again = "run it again"
    if where.store is not None:
        again = "its finished runs are kept, and the same command resumes them"
    if died:
        again += "; with one job (`--jobs 1`) no other study takes memory beside it"
    return f"{name} is not finished, since {why.rstrip('.')}: {again}."


def _read(study: Running, answer: Answer) -> Reproduced:
    """The study as its process left it, but for its runs."""
    answered = tuple(
        Answered(case, (), read_verdicts(study.verdicts[case.name])) for case in study.planned.cases
    )
    folder = None if answer["folder"] is None else Path(answer["folder"])
    figures = tuple(map(Path, answer["figures"]))
    return Reproduced(study.planned.study, study.planned.plan, answered, figures, folder)
