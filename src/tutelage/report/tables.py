"""Every verdict with all its digits, as CSV; and the words of its labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from tutelage.claims.labels import SourceText
from tutelage.claims.verdict import Verdict
from tutelage.report.gather import FinishedStudy, split_id

CHANGED = "Changed after verdicts had been seen"

COLUMNS = (
    "study",
    "case",
    "claim",
    "kind",
    "claimed_by",
    "evidence",
    "source_text",
    "status",
    "predicted",
    "measured",
    "low",
    "high",
    "tolerance",
    "seeds",
    "varies",
    "errors",
    "looseness",
    "smallest_violation",
    "statement",
    "sentence",
    "history",
)


def format_errors(verdict: Verdict) -> str:
    """The error budget in words, "" where no error is known."""
    return ", ".join(f"{term.name} {term.size:.1g}" for term in verdict.errors)


def format_labels(verdict: Verdict) -> str:
    """How the evidence came about and how much of the source was read, where that is not all."""
    said = [verdict.evidence.value]
    if verdict.source_text is not SourceText.READ:
        said.append(f"text {verdict.source_text.value}")
    return ", ".join(said)


def gather_changes(finished: FinishedStudy) -> dict[str, str]:
    """What was changed after verdicts had been seen, and in which claims; "" for the study's own
    seeds, sizes and horizons.
    """
    found: dict[str, list[str]] = {said: [] for said in finished.study.get("history", [])}
    for verdict in finished.verdicts:
        if verdict.history:
            found.setdefault(verdict.history, []).append("/".join(split_id(verdict)))
    return {said: ", ".join(where) for said, where in found.items()}


def render_csv(studies: Sequence[FinishedStudy]) -> str:
    """One row per verdict, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for finished in studies:
        for v in finished.verdicts:
            case, claim = split_id(v)
            low, high = v.interval or (None, None)
            numbers = (v.predicted, v.measured, low, high, v.tolerance)
            writer.writerow(
                [
                    finished.name,
                    case,
                    claim,
                    v.kind,
                    v.claimed_by.value,
                    v.evidence.value,
                    v.source_text.value,
                    v.status.value,
                    *("" if number is None else number for number in numbers),
                    " ".join(map(str, v.seeds)),
                    v.varies,
                    format_errors(v),
                    *("" if n is None else n for n in (v.looseness, v.smallest_violation)),
                    v.statement,
                    v.sentence,
                    v.history,
                ]
            )
    return text.getvalue()
