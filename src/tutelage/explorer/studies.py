"""The studies of a paper: what each asks, the verdicts that are committed with it, and what the
output folder holds of it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tutelage.explorer.reading import Event, Json
from tutelage.refuse import Refused
from tutelage.studies import outputs
from tutelage.studies.paper import Paper
from tutelage.studies.record import read_record

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
                "committed": _count_committed(paper, name),
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


class Asked(NamedTuple):
    """A study and its case that ran something; `control` is the hypothesis that the case breaks."""

    study: str
    case: str
    control: str


def find_askers(out: str) -> dict[str, list[Asked]]:
    """For the identity of each run in OUT, the studies and cases that ran it."""
    askers: dict[str, list[Asked]] = {}
    for path in outputs.find_outputs(Path(out)):
        try:
            study = read_record(path)
        except (OSError, ValueError):  # damaged, or of a newer version
            continue
        for case in study["cases"]:
            asked = Asked(study["name"], case["label"] or case["name"], case["control"])
            for run in case["runs"]:
                askers.setdefault(run["identity"], []).append(asked)
    return askers


def _describe_run(out: str, study: str) -> Json:
    """What OUT holds of a study; None where it was not run."""
    finished = _find_finished(out, study)
    if finished is None:
        return None
    return {
        "counts": Counter(v.status.value for v in finished.verdicts if not v.control),
        "controls": sum(bool(verdict.control) for verdict in finished.verdicts),
        "figures": [figure.name for figure in finished.figures],
    }


def _find_finished(out: str, study: str) -> FinishedStudy | None:
    from tutelage.report import gather_studies

    folder = outputs.locate_study(out, study)
    if not (folder / outputs.STUDY).is_file():
        return None
    try:
        return gather_studies([folder])[0]
    except Refused:  # half of it is there
        return None


def _count_committed(paper: Paper, name: str) -> Json:
    """How many claims in the paper's folder have each status; controls are not counted."""
    try:
        verdicts = outputs.read_verdicts(paper.folder / "results" / f"{name}.json")
    except (OSError, ValueError):
        return {}
    return Counter(verdict["status"] for verdict in verdicts if not verdict["control"])
