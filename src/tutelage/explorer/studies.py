"""The studies of a paper: what each asks, the verdicts that are committed with it, and what the
output folder holds of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tutelage.explorer.reading import Event, Json, finite_values
from tutelage.refuse import Refused
from tutelage.studies.paper import Paper

if TYPE_CHECKING:
    from tutelage.report import FinishedStudy


def list_studies(paper: Paper, out: str) -> Event:
    """One row per study of a paper: its title, and counts of verdicts, both of those that are
    committed and of those in OUT. No study is loaded.
    """
    return {
        "paper": paper.name,
        "title": paper.title,
        "citation": paper.citation,
        "studies": [
            {
                "name": f"{paper.name}/{name}",
                "title": entry.title,
                "committed": count_statuses(_read_committed(paper, name)),
                "run": _describe_run(out, f"{paper.name}/{name}"),
            }
            for name, entry in paper.studies.items()
        ],
    }


def describe_study(paper: Paper, name: str) -> Event:
    """What a study states, and by what; why it cannot be loaded, where it cannot."""
    try:
        study = paper.study(name)
    except Refused:
        raise
    except Exception as error:
        raise Refused(
            f"The study {paper.name}/{name} could not be loaded. {type(error).__name__}: {error}"
        ) from error
    return {
        "name": study.name,
        "title": study.title,
        "statement": study.statement,
        "equation": study.equation,
        "source": study.source,
        "choices": study.choices,
    }


def runs_of_study(out: str, study: str) -> set[str]:
    """The identities of the runs in OUT that a study made."""
    told = _find_told(out, study)
    cases = [] if told is None else told.study.get("cases", [])
    return {run["identity"] for case in cases for run in case["runs"]}


def unpack_verdicts(text: bytes) -> list[dict[str, Json]]:
    """The verdicts of a file: a list of them, or a table that holds one."""
    found: Json = json.loads(text)
    verdicts = found.get("verdicts") if isinstance(found, Mapping) else found
    if not isinstance(verdicts, list):
        raise ValueError("a file of verdicts holds a list of them")
    return [finite_values(verdict) for verdict in verdicts if isinstance(verdict, dict)]


def count_statuses(verdicts: Iterable[Mapping[str, Json]]) -> dict[str, int]:
    """How many claims have each status; controls are not counted."""
    return Counter(str(v.get("status", "")) for v in verdicts if not v.get("control"))


def _describe_run(out: str, study: str) -> Json:
    """What OUT holds of a study; None where it was not run."""
    told = _find_told(out, study)
    if told is None:
        return None
    return {
        "counts": count_statuses(told.verdicts),
        "controls": len(told.of_kind("control")),
        "figures": [figure.name for figure in told.figures],
    }


def _find_told(out: str, study: str) -> FinishedStudy | None:
    from tutelage.report import gather_studies

    folder = Path(out) / study
    if not (folder / "study.json").is_file():
        return None
    try:
        return gather_studies([folder])[0]
    except Refused:  # half of it is there
        return None


def _read_committed(paper: Paper, name: str) -> list[dict[str, Json]]:
    """The verdicts in the paper's folder; none where there are none."""
    try:
        return unpack_verdicts((paper.folder / "results" / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return []
