"""Findings: sentences that are written only where verdicts carry them.

A finding is a sentence with the claims that carry it and the status that it needs of them. Its
numbers are places in the sentence that are filled in from the verdicts. Every verdict that it cites
must have that status, or the sentence says how many do, at its place {carried}. A sentence cannot
outlive what it rests on.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Status, Verdict
from tutelage.refuse import Refused

KINDS = {
    "holds": "Where the paper holds",
    "correction": "Where it needs a correction or is not sharp",
    "silent": "Beyond the paper",
    "open": "What is not decided",
}
# Whose claims may carry a finding of a kind; any where it is not named.
WHOSE = {
    "holds": {ClaimedBy.PAPER},
    "silent": {ClaimedBy.SHARPER, ClaimedBy.BEYOND},
}
# What a finding needs of verdicts -> the status that each must have; controls must FAIL.
NEEDS = {
    "HOLDS": Status.HOLDS,
    "FAILS": Status.FAILS,
    "UNDECIDED": Status.UNDECIDED,
    "MEASURED": Status.MEASURED,
    "OUTSIDE": Status.OUTSIDE,
    "VACUOUS": Status.VACUOUS,
    "CONTROL": Status.FAILS,
}
STATED = "{carried}"  # the place of a sentence that says how many of its verdicts carry it
PLACE = re.compile(r"\{(measured|predicted|interval|count):([^:}]*):([^}]+)\}")


class Drifted(Refused):
    """A finding that its verdicts do not carry."""


@dataclass(frozen=True)
class Finding:
    """A sentence, and the patterns of claims that carry it, by the status that it needs of them."""

    kind: str
    text: str
    carried: Mapping[str, Sequence[str]]
    short: str = ""  # in one line, where it is among the first that a reader sees


def write_finding(finding: Finding, verdicts: Mapping[str, Verdict]) -> str:
    """The sentence with its numbers; refused where the verdicts (by id) do not carry it."""
    for need, patterns in finding.carried.items():
        for pattern in patterns:
            match_carriers(finding, need, pattern, verdicts)
    return fill_numbers(state_count(finding, verdicts), verdicts)


def match_verdicts(
    pattern: str,
    verdicts: Mapping[str, Verdict],
    about: str,
    *,
    control: bool = False,
    need: str = "",
) -> list[Verdict]:
    """The verdicts of that name that are controls, or that are none; where something else than a
    measurement is needed, no measurements.
    """
    matches = re.compile(fnmatch.translate(pattern)).match  # of some thousand names
    found = [
        verdict
        for name, verdict in verdicts.items()
        if matches(name)
        and bool(verdict.control) is control
        and not (verdict.measurement and need not in ("", "MEASURED", "UNDECIDED"))
    ]
    if not found:
        kind = "control" if control else "claim or measurement"
        raise Drifted(f"No {kind} is named {pattern!r}, on which the finding {about!r} rests.")
    return found


def fill_numbers(text: str, verdicts: Mapping[str, Verdict]) -> str:
    """The sentence with its numbers: one, or the least and the largest of all that match."""

    def write_number(place: re.Match[str]) -> str:
        key, form, pattern = place.groups()
        # A number may be a control's, where no claim has that name.
        claimed = any(
            fnmatch.fnmatchcase(name, pattern) and not verdict.control
            for name, verdict in verdicts.items()
        )
        found = match_verdicts(pattern, verdicts, text, control=not claimed)
        if key == "count":
            return str(len(found))
        if key == "interval":
            ends = [verdict.interval for verdict in found if verdict.interval is not None]
            _refuse_unread(ends, pattern, text)
            low, high = min(low for low, _ in ends), max(high for _, high in ends)
            return f"[{low:{form}}, {high:{form}}]"
        read = (v.measured if key == "measured" else v.predicted for v in found)
        values = sorted(value for value in read if value is not None)
        _refuse_unread(values, pattern, text)
        least, most = f"{values[0]:{form}}", f"{values[-1]:{form}}"
        return least if least == most else f"{least} to {most}"

    return PLACE.sub(write_number, text)


def match_carriers(
    finding: Finding, need: str, pattern: str, verdicts: Mapping[str, Verdict]
) -> list[Verdict]:
    """The verdicts of a pattern; refused where they do not carry the finding.

    All must have the status that it needs. Where its sentence states how many do, at least one of
    the pattern must, and more than half of all that it cites (`state_count`); an open control is
    counted there, too.
    """
    found = match_verdicts(pattern, verdicts, finding.text, control=need == "CONTROL", need=need)
    carrying = [verdict for verdict in found if verdict.status is NEEDS[need]]
    stated = STATED in finding.text
    enough = bool(carrying or need == "CONTROL") if stated else len(carrying) == len(found)
    if not enough:
        got = ", ".join(f"{v.id} {v.status.value}" for v in found if v not in carrying)
        raise Drifted(
            f"The finding {finding.text!r} needs {need} of every {pattern!r}, or {STATED} in its "
            f"sentence and one that has it. Got {got}."
        )
    strangers = [
        verdict.id
        for verdict in found
        if need != "CONTROL"
        and not verdict.measurement
        and verdict.claimed_by not in WHOSE.get(finding.kind, set(ClaimedBy))
    ]
    if strangers:
        allowed = ", ".join(sorted(whose.value for whose in WHOSE[finding.kind]))
        raise Drifted(
            f"A finding under {KINDS[finding.kind]!r} rests on claims of kind {allowed} alone. "
            f"{finding.text!r} rests on {', '.join(strangers)}."
        )
    return found


def state_count(finding: Finding, verdicts: Mapping[str, Verdict]) -> str:
    """The sentence with its count: how many of the verdicts that it cites carry it."""
    if STATED not in finding.text:
        return finding.text
    cited = [
        (verdict, NEEDS[need])
        for need, patterns in finding.carried.items()
        for pattern in patterns
        for verdict in match_carriers(finding, need, pattern, verdicts)
    ]
    carrying = sum(verdict.status is needed for verdict, needed in cited)
    if 2 * carrying <= len(cited):
        raise Drifted(
            f"The finding {finding.text!r} is carried by {carrying} of {len(cited)} verdicts. A "
            "sentence needs more than half of what it cites."
        )
    return finding.text.replace(STATED, f"({carrying} of {len(cited)} verdicts carry this)")


def _refuse_unread(values: Sequence[object], pattern: str, text: str) -> None:
    if not values:
        raise Drifted(f"No number was read at {pattern!r}, which the finding {text!r} is to say.")
