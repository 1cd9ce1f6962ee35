"""The ledger of a paper: claims written down before their evidence exists.

`results/ledger.jsonl` in a paper's folder has one line per registered claim, and only grows: each
line holds the hash of the line before it, so that a changed or removed line breaks the chain. A
claim counts as registered where its plain form and the settings of its case equal those of a line,
and every run that answers it was made after that line was written. A later line that only adds
seeds continues an earlier one: intervals hold at every number of replicates, so that this is no
other claim.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FunctionType
from typing import TypedDict, cast

from tutelage.claims import Constant, Number, Ratio
from tutelage.claims.claim import Claim, NoPrediction
from tutelage.claims.verdict import RULE
from tutelage.forms import Json, list_of, number, read_json, simple, table, text
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Case

FILE = "ledger.jsonl"
DIGITS = 10  # of predicted numbers, which other machines round differently after that
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[\w<>]+)+")  # a function by its module and name
_LINE = table(
    {
        **dict.fromkeys(("id", "date", "fingerprint", "before"), text),
        "claim": table({}, others=lambda value, path: ""),
        "predicted": list_of(simple),
        "settings": list_of(text),
        "steps": list_of(number),
        "seeds": list_of(number),
        "rule": number,
    },
    others=None,
)


class PlainLine(TypedDict):
    """A line as JSON-ready data."""

    id: str
    claim: dict[str, Json]
    predicted: list[float | None]
    settings: list[str]
    steps: list[int]
    seeds: list[int]
    rule: int
    date: str
    fingerprint: str
    before: str


@dataclass(frozen=True)
class Line:
    """One registered claim: what is claimed, of which settings, and when it was written down."""

    id: str  # paper/study/case/claim
    claim: Mapping[str, Json]  # kind, statement, curve, tolerance and whatever else it holds
    predicted: tuple[float | None, ...]  # at each setting; None where it needs a whole sweep
    settings: tuple[str, ...]  # their identities: everything but the horizon
    steps: tuple[int, ...]
    seeds: tuple[int, ...]
    rule: int  # that will judge it
    date: str = ""  # UTC
    before: str = ""  # the hash of the line before it; "" in the first

    @property
    def fingerprint(self) -> str:
        """What must be equal for a claim to be this one: all but the date, the rule and the
        chain.
        """
        return _fingerprint(self, self.claim)

    @property
    def meaning(self) -> str:
        """The same where functions are told by their names alone: they may move to another
        module.
        """
        return _fingerprint(self, _without_modules(dict(self.claim)))

    def write(self) -> str:
        """The line as it stands in the file."""
        return _write(
            {
                "date": self.date,
                "id": self.id,
                "claim": dict(self.claim),
                "predicted": self.predicted,
                "settings": self.settings,
                "steps": self.steps,
                "seeds": self.seeds,
                "rule": self.rule,
                "fingerprint": self.fingerprint,
                "before": self.before,
            }
        )


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
    return _without_modules(earlier) == _without_modules(now)


def _formula(value: Json) -> str:
    """The name of a function, alone or with arguments, without its module; "" of anything else."""
    named = value[0] if isinstance(value, list) and value else value
    is_function = isinstance(named, str) and _FUNCTION.fullmatch(named)
    return str(_without_modules(named)) if is_function else ""


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
        line = _read_line(written, f"{FILE}, line {place}")
        if line.before != before:
            raise Refused(
                "A ledger only grows, so each line holds the hash of the line before it. In "
                f"{path} the line before line {place} was changed or removed."
            )
        before = _hash(written)
        lines.append(line)
    return Ledger(tuple(lines))


def register(folder: Path, name: str, cases: Iterable[Case]) -> list[Line]:
    """Appends a line for each claim of the cases that does not stand there yet. `name` is
    paper/study.

    Measurements claim nothing, exact identities cannot turn out otherwise and controls are no
    claims: they get no line.
    """
    ledger, path = read_ledger(folder), folder / "results" / FILE
    before = _hash(ledger.lines[-1].write()) if ledger.lines else ""
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
                before = _hash(line.write())
    if added:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line.write()}\n" for line in added)
    return added


def make_line(
    name: str, claim: Claim, settings: Sequence[Setting], *, date: str = "", before: str = ""
) -> Line:
    """A claim about settings as a line. A setting that goes on from another's end counts as it is
    given.
    """
    return Line(
        id=name,
        claim=plain_claim(claim),
        predicted=tuple(_predict(claim, setting) for setting in settings),
        settings=tuple(setting.identity() for setting in settings),
        steps=tuple(setting.steps for setting in settings),
        seeds=tuple(setting.seed for setting in settings),
        rule=RULE,
        date=date,
        before=before,
    )


def plain_claim(claim: Claim) -> dict[str, Json]:
    """A claim as JSON-ready data: numbers and words as they are, functions by their names.

    What has its default is left out, but for the tolerance, so that a field added later changes no
    claim that stands in a ledger.
    """
    held = {
        one.name: _plain(vars(claim)[one.name])
        for one in fields(claim)
        if one.name == "tolerance" or vars(claim)[one.name] != one.default
    }
    return {"kind": type(claim).__name__, **held}


def _predict(claim: Claim, setting: Setting) -> float | None:
    """What theory says at a setting, where the kind of claim has one number per setting."""
    value = claim.value if isinstance(claim, Constant | Number | Ratio) else None
    if callable(value):
        try:
            value = float(value(setting))
        except NoPrediction:
            return None
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _plain(value: object) -> Json:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, functools.partial):
        named = {key: _plain(one) for key, one in value.keywords.items()}
        return [_plain(value.func), *map(_plain, value.args), named]
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    return type(value).__name__


def _fingerprint(line: Line, claim: object) -> str:
    told = (line.id, claim, line.predicted, line.settings, line.steps, line.seeds)
    return hashlib.sha256(_write(told).encode()).hexdigest()[:16]


def _without_modules(value: Json) -> Json:
    if isinstance(value, str):
        return value.rpartition(".")[2] if _FUNCTION.fullmatch(value) else value
    if isinstance(value, list):
        return [_without_modules(one) for one in value]
    if isinstance(value, dict):
        return {key: _without_modules(one) for key, one in value.items()}
    return value


def _made_after(run: Run, date: str) -> bool:
    """Whether all of a run was made after a moment. One that was just made has no pieces yet; one
    that was stored without a date may be older.
    """
    return all(str(piece.get("when", "")) >= date for piece in run.made)


def _read_line(written: str, where: str) -> Line:
    try:
        data = read_json(written.encode())
    except ValueError as error:
        raise Refused(f"A ledger has one JSON table per line. In {where}: {error}.") from None
    if said := _LINE(data, ""):
        raise Refused(f"A ledger's lines are those that `register` writes. In {where}: {said}.")
    plain = cast("PlainLine", data)
    line = Line(
        id=plain["id"],
        claim=plain["claim"],
        predicted=tuple(plain["predicted"]),
        settings=tuple(plain["settings"]),
        steps=tuple(plain["steps"]),
        seeds=tuple(plain["seeds"]),
        rule=plain["rule"],
        date=plain["date"],
        before=plain["before"],
    )
    if line.fingerprint != plain["fingerprint"]:
        raise Refused(
            f"A line of a ledger holds the hash of what it claims. {where} was changed: it has "
            f"{plain['fingerprint']} and its contents give {line.fingerprint}."
        )
    return line


def _write(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _hash(written: str) -> str:
    return hashlib.sha256(written.encode()).hexdigest()
