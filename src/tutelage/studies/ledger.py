"""The ledger of a paper: claims written down before their evidence exists.

`results/ledger.jsonl` in a paper's folder has one line per registered claim, and only grows: each
line holds the hash of the line before it, so that a changed or removed line breaks the chain. A
claim counts as registered where its plain form and the settings of its case equal those of a line,
and every run that answers it was made after that line was written. A later line that only adds
seeds continues an earlier one: intervals hold at every number of replicates, so that this is no
other claim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tutelage.claims.claim import Claim
from tutelage.forms import Json
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.ledger_lines import (
    FUNCTION,
    Line,
    hash_line,
    make_line,
    read_line,
    without_modules,
)
from tutelage.studies.study import Case

FILE = "ledger.jsonl"


@dataclass(frozen=True)
class Ledger:
    """The lines of a file, from the oldest on."""

    lines: tuple[Line, ...] = ()
    _by_meaning: Mapping[str, Line] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The oldest of equal lines counts.
        first = {line.meaning: line for line in reversed(self.lines)}
        object.__setattr__(self, "_by_meaning", first)

    def find(self, line: Line) -> Line | None:
        """The line that claims the same of the same settings, if there is one."""
        return self._by_meaning.get(line.meaning)

    def is_registered(self, name: str, claim: Claim, runs: Sequence[Run]) -> bool:
        """Whether a claim about its setting stood here before each of the runs was made."""
        settings = [run.setting for run in runs if run.setting is not None]
        if not self.lines or len(settings) < len(runs):
            return False
        found = self.find(make_line(name, claim, settings))
        if found is None:
            return False
        since = self._date_settings(found, settings)
        return all(
            _made_after(run, since[setting.identity()])
            for run, setting in zip(runs, settings, strict=True)
        )

    def _date_settings(self, own: Line, settings: Sequence[Setting]) -> dict[str, str]:
        """When each setting of a line was first written down: in that line, or in an earlier one
        that it continues.
        """
        continued = [
            line
            for line in self.lines[: self.lines.index(own)]
            if line.id == own.id
            and not _find_changes(line, own, moved=False)
            and _count_added(line, own, settings)
        ]
        dates: dict[str, str] = {}
        for line in (*continued, own):
            for setting in line.settings:
                dates.setdefault(setting, line.date)
        return dates

    def history(self, name: str, claim: Claim, settings: Sequence[Setting]) -> str:
        """What a claim of that name said when it was registered, where it says something else now,
        and when it was registered with other seeds or for other settings; "" where none is so.
        """
        others = [line for line in self.lines if line.id == name]
        now = make_line(name, claim, settings) if others else None
        changed, continued, elsewhere = [], [], []
        for line in others:
            if now is None or line.meaning == now.meaning:
                continue
            day = line.date[:10]
            moved = line.settings != now.settings or line.steps != now.steps
            if said := self._tell_continuation(line, now, settings):
                continued.append(said)
            elif different := _find_changes(line, now, moved):
                other = (_tell_value(key, line.claim.get(key)) for key in different)
                changed.append(f"registered on {day} with {', '.join(other)}")
            elif moved:
                elsewhere.append(day)
        told = [f"Changed since: {'; '.join(changed)}."] if changed else []
        told += continued
        if elsewhere:
            days = ", ".join(dict.fromkeys(elsewhere))
            told.append(f"Also registered for other settings, on {days}.")
        return " ".join(told)

    def _tell_continuation(self, line: Line, now: Line, settings: Sequence[Setting]) -> str:
        """How a registered claim about settings and another line of it differ, where the later of
        the two only adds seeds; "" elsewhere.
        """
        own = self.find(now)
        if own is None or _find_changes(line, now, moved=False):
            return ""
        first, later = sorted((line, own), key=self.lines.index)
        if not (added := _count_added(first, later, settings)):
            return ""
        if line is later:
            return f"Continued on {later.date[:10]} with {added} more seeds."
        had = len(set(first.seeds))
        dates = f"Registered on {first.date[:10]} with {had} seeds, continued on {later.date[:10]}"
        return f"{dates} with {added} more, before these were run."


def _count_added(first: Line, later: Line, settings: Sequence[Setting]) -> int:
    """How many seeds a line adds to an earlier one; 0 where it differs in anything else.

    Each point of a sweep must have the seeds of the first line, in their order, and then the same
    further ones as the other points. `settings` are those of one of the lines, since a line has
    only their hashes.
    """
    seeds = {*first.seeds, *later.seeds}
    points = dict.fromkeys(replace(setting, seed=0) for setting in settings)
    places = {
        replace(point, seed=seed).identity(): place
        for place, point in enumerate(points)
        for seed in seeds
    }
    had, has = (_group_seeds(line, places) for line in (first, later))
    if had.keys() != has.keys() or any(
        has[point][: len(had[point])] != had[point] for point in had
    ):
        return 0
    added = {tuple(seed for seed, _ in has[point][len(had[point]) :]) for point in had}
    return len(added.pop()) if len(added) == 1 else 0


def _group_seeds(
    line: Line, places: Mapping[str, int]
) -> dict[tuple[int | None, int], list[tuple[int, float | None]]]:
    """The seeds of each point of a line, and what is predicted there; settings that have no place
    are together.
    """
    found = defaultdict(list)
    parts = zip(line.settings, line.steps, line.seeds, line.predicted, strict=True)
    for setting, steps, seed, predicted in parts:
        found[places.get(setting), steps].append((seed, predicted))
    return found


def _find_changes(line: Line, now: Line, moved: bool) -> list[str]:
    """What a claim has now that is not as a line has it."""
    return [
        key
        for key in now.claim
        if key != "history"  # a note, which changes nothing that is claimed
        and not _same(line.claim.get(key), now.claim[key], moved)
    ]


def _same(earlier: Json, now: Json, moved: bool) -> bool:
    """Whether two values of a claim are one. At other settings the arguments of a formula, such as
    a dimension, are others too.
    """
    if moved and (formula := _formula(earlier)):
        return formula == _formula(now)
    return without_modules(earlier) == without_modules(now)


def _formula(value: Json) -> str:
    """The name of a function, alone or with arguments, without its module; "" of anything else."""
    named = value[0] if isinstance(value, list) and value else value
    is_function = isinstance(named, str) and FUNCTION.fullmatch(named)
    return str(without_modules(named)) if is_function else ""


def _tell_value(key: str, value: Json) -> str:
    """A value that a claim once had; of a formula its name."""
    return f"another {key}, {formula}" if (formula := _formula(value)) else f"{key} {value!r}"


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a paper's folder; refused where its chain is broken. Empty where there is no
    file.
    """
    path = folder / "results" / FILE
    if not path.exists():
        return Ledger()
    lines, before = [], ""
    for place, written in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = read_line(written, f"{FILE}, line {place}")
        if line.before != before:
            raise Refused(
                "A ledger only grows, so each line holds the hash of the line before it. In "
                f"{path} the line before line {place} was changed or removed."
            )
        before = hash_line(written)
        lines.append(line)
    return Ledger(tuple(lines))


def register(folder: Path, name: str, cases: Iterable[Case]) -> list[Line]:
    """Appends a line for each claim of the cases that does not stand there yet. `name` is
    paper/study.

    Measurements claim nothing, exact identities cannot turn out otherwise and controls are no
    claims: they get no line.
    """
    ledger, path = read_ledger(folder), folder / "results" / FILE
    before = hash_line(ledger.lines[-1].write()) if ledger.lines else ""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    added: list[Line] = []
    for case in cases:
        for claim in () if case.control else case.claims:
            if claim.measurement or claim.derived:
                continue
            full = f"{name}/{case.name}/{claim.id}"
            line = make_line(full, claim, case.settings, date=date, before=before)
            if ledger.find(line) is None:
                added.append(line)
                before = hash_line(line.write())
    if added:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line.write()}\n" for line in added)
    return added


def _made_after(run: Run, date: str) -> bool:
    """Whether all of a run was made after a moment. One that was just made has no pieces yet; one
    that was stored without a date may be older.
    """
    return all(str(piece.get("when", "")) >= date for piece in run.made)
