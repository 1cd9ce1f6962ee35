"""A verdict as a sentence: what is claimed, what was measured, and how near the two are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tutelage.claims.verdict import Status, Verdict

AT_MOST = re.compile(r"against at most|claimed to be at most")
AT_LEAST = re.compile(r"against at least|claimed to be at least")
FAILS_AS_EXPECTED = "fails, as expected"
WORDS = {
    Status.HOLDS: "holds",
    Status.FAILS: "fails",
    Status.UNDECIDED: "undecided",
    Status.MEASURED: "measured",
    Status.OUTSIDE: "outside",
    Status.VACUOUS: "vacuous",
}
MARKS = {
    Status.HOLDS: "✓",
    Status.FAILS: "✗",
    Status.UNDECIDED: "?",
    Status.MEASURED: "•",
    Status.OUTSIDE: "○",
    Status.VACUOUS: "∅",
}


def say_status(verdict: Verdict) -> str:
    """The status in a word; that of a control says whether it passed."""
    if not verdict.control:
        return WORDS[verdict.status]
    if verdict.status is Status.FAILS:
        return FAILS_AS_EXPECTED
    if verdict.status is Status.UNDECIDED:
        return "undecided, a control that has not passed"
    return f"{WORDS[verdict.status]}, a broken control"


def count_status(status: Status, count: int) -> str:
    """ "1 holds", "6 hold", "2 undecided"."""
    word = WORDS[status]
    if status in (Status.HOLDS, Status.FAILS) and count != 1:
        word = word.removesuffix("s")
    return f"{count} {word}"


def say_claim(verdict: Verdict) -> str:
    """The statement, with the number that it predicts where the number says more."""
    if verdict.measurement or verdict.predicted is None or find_side(verdict) != "=":
        return verdict.statement
    number = format_number(verdict.predicted)
    if verdict.predicted == 0 or verdict.statement.endswith(f"= {number}"):
        return verdict.statement
    limit = re.search(r"→ *[^,;:]*$", verdict.statement)
    return f"{verdict.statement} = {number}" if limit else verdict.statement


def say_outcome(verdict: Verdict) -> str:
    """What was measured, and where that is: "measured 1152.5, within 0.3%"."""
    if verdict.measured is None or not math.isfinite(verdict.measured):
        return "no number could be read"
    if _is_off_by_little(verdict):
        assert verdict.predicted is not None
        off = f"off by {abs(verdict.measured - verdict.predicted):.2g}"
        return f"{off}, allowed {format_number(verdict.tolerance)}"
    seen = f"measured {format_number(verdict.measured)}"
    wide = f"{seen} in {format_interval(verdict)}" if verdict.interval is not None else seen
    if verdict.measurement or verdict.predicted is None:
        return wide
    side = find_side(verdict)
    if side != "=":
        return _say_bound(verdict, side, seen, wide)
    if verdict.status is Status.HOLDS and verdict.predicted:
        return f"{seen}, within {_say_departure(verdict)}"
    if verdict.status is Status.HOLDS and verdict.tolerance is not None:
        if _may_be_negative(verdict):
            return f"{seen}, within {format_number(verdict.tolerance)} of 0"
        return f"{seen} ≤ {format_number(verdict.tolerance)}"
    if verdict.predicted == 0 and verdict.tolerance is not None:
        return f"{wide}, allowed {format_number(verdict.tolerance)}"
    return f"{wide}, predicted {format_number(verdict.predicted)}"


def _may_be_negative(verdict: Verdict) -> bool:
    """Whether it is a number of either sign, such as an exponent, and not a distance."""
    ends = (verdict.measured, *(verdict.interval or ()))
    return any(end is not None and end < 0 for end in ends)


def find_side(verdict: Verdict) -> str:
    """What is claimed of the number: "≤", "≥" or "=", as the verdict's sentence says it."""
    if AT_MOST.search(verdict.sentence):
        return "≤"
    return "≥" if AT_LEAST.search(verdict.sentence) else "="


def list_unmet(verdict: Verdict) -> list[str]:
    """The hypotheses that are not met, or only up to a constant that the paper does not state;
    those that a control breaks on purpose are left out.
    """
    if verdict.control:
        return []
    return [
        f"{h.text} ({h.word}{f': {h.detail}' if h.detail else ''})"
        for h in verdict.hypotheses
        if h.met is not True
    ]


@dataclass(frozen=True)
class Group:
    """Verdicts of one study about the same claim, in different cases."""

    verdicts: tuple[Verdict, ...]

    @property
    def first(self) -> Verdict:
        return self.verdicts[0]

    @property
    def statuses(self) -> dict[Status, int]:
        """How many have which status, those that ask for attention first."""
        found = [verdict.status for verdict in self.verdicts]
        return {status: found.count(status) for status in ATTENTION if status in found}

    @property
    def sentence(self) -> str:
        """The claim, then what was measured in its cases."""
        if len(self.verdicts) == 1:
            return f"{say_claim(self.first)}: {say_outcome(self.first)}"
        return f"{self.first.statement}: {self._describe_cases()}"

    def _describe_cases(self) -> str:
        number = len(self.verdicts)
        if self.first.control:
            passed = sum(verdict.status is Status.FAILS for verdict in self.verdicts)
            return f"fails in {passed} of {number} controls"
        if self.first.measurement:
            return f"{_say_range(self.verdicts)} in {number} cases"
        held = sum(verdict.status is Status.HOLDS for verdict in self.verdicts)
        ratios = [
            v.measured / v.predicted
            for v in self.verdicts
            if v.measured is not None and v.predicted and find_side(v) == "="
        ]
        if len(ratios) == number:
            near = f", measured over predicted {_span(ratios)}"
        elif all(find_side(verdict) == "≤" for verdict in self.verdicts):
            near = f", {_say_range(self.verdicts)}"
        else:
            near = ""
        return f"holds in {held} of {number} cases{near}"


ATTENTION = (
    Status.FAILS,
    Status.UNDECIDED,
    Status.OUTSIDE,
    Status.VACUOUS,
    Status.HOLDS,
    Status.MEASURED,
)


def group_verdicts(verdicts: Sequence[Verdict]) -> list[Group]:
    """Verdicts of a study by their claim, in the order of its argument."""
    found: dict[tuple[str, str, bool], list[Verdict]] = {}
    for verdict in verdicts:
        key = (verdict.id.rpartition("/")[2], verdict.statement, bool(verdict.control))
        found.setdefault(key, []).append(verdict)
    return [Group(tuple(same)) for same in found.values()]


def format_number(value: float | None, digits: int = 5) -> str:
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    return "0" if text == "-0" else text.replace("-", "−")


def format_interval(verdict: Verdict, digits: int = 5) -> str:
    if verdict.interval is None:
        return "–"
    low, high = (format_number(end, digits) for end in verdict.interval)
    return f"[{low}, {high}]"


def _is_off_by_little(verdict: Verdict) -> bool:
    """Whether what was measured reads like what was predicted, and yet does not hold."""
    return (
        verdict.status is Status.FAILS
        and verdict.tolerance is not None
        and verdict.predicted != 0
        and format_number(verdict.measured) == format_number(verdict.predicted)
    )


def _say_bound(verdict: Verdict, side: str, seen: str, wide: str) -> str:
    assert verdict.predicted is not None
    slack = verdict.tolerance or 0.0
    limit = verdict.predicted + (slack if side == "≤" else -slack)
    broken = {"≤": ">", "≥": "<"}[side]
    if verdict.status is Status.FAILS:
        return f"{seen} {broken} {format_number(limit)}"
    if verdict.status is Status.UNDECIDED:
        return f"{wide}, claimed {side} {format_number(limit)}"
    return f"{seen} {side} {format_number(limit)}"


def _say_departure(verdict: Verdict) -> str:
    """How far the interval reaches from what is predicted, in percent; rounded up."""
    assert verdict.predicted is not None
    assert verdict.measured is not None
    ends = (verdict.measured, *(verdict.interval or ()))
    apart = max(abs(end - verdict.predicted) for end in ends)
    farthest = 100 * (apart / abs(verdict.predicted)) if verdict.predicted else math.inf
    if not math.isfinite(farthest):  # of numbers that no claim of tutelage's writes
        return "what has no percentage"
    if farthest < 1e-6:
        return "rounding"
    scale = 10.0 ** (math.floor(math.log10(farthest)) - (0 if farthest < 1 else 1))
    return f"{math.ceil(farthest / scale - 1e-9) * scale:.2g}%"


def _say_range(verdicts: Sequence[Verdict]) -> str:
    values = [v.measured for v in verdicts if v.measured is not None]
    return f"measured {_span(values)}" if values else "no number could be read"


def _span(values: Sequence[float]) -> str:
    least, most = format_number(min(values), 4), format_number(max(values), 4)
    return least if least == most else f"{least} to {most}"
