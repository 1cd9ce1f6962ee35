"""Finds finished studies under folders, and reads what `run` wrote there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tutelage.claims.verdict import Verdict
from tutelage.log import LOG
from tutelage.refuse import Newer, Refused
from tutelage.studies import outputs
from tutelage.studies.counts import Counts
from tutelage.studies.discovery import study_names
from tutelage.studies.record import StudyRecord, read_record


@dataclass(frozen=True)
class FinishedStudy:
    """One study as it was run: `study.json`, its verdicts, and its figures."""

    study: StudyRecord
    verdicts: list[Verdict]
    figures: list[Path]  # without their endings: PNG, SVG, PDF and CSV lie side by side

    @property
    def name(self) -> str:
        return self.study["name"]

    @property
    def counts(self) -> Counts:
        return Counts.of(self.verdicts)


class Unread(NamedTuple):
    """Why a study cannot be read: DAMAGED or NEWER, and a sentence."""

    word: str
    sentence: str


def gather_studies(folders: Sequence[Path]) -> list[FinishedStudy]:
    """The studies under these folders, in the order of `tutelage list`.

    Each is a folder that `run` wrote to (`--out`), or one study's folder inside of it. A study that
    is damaged is named and left out.
    """
    return gather_all(folders)[0]


def gather_all(folders: Sequence[Path]) -> tuple[list[FinishedStudy], dict[Path, Unread]]:
    """The whole studies under these folders, and why others cannot be read, by their folder.

    Those others are named, and refused where there is no whole one.
    """
    found: dict[str, tuple[Path, FinishedStudy]] = {}
    unread: dict[Path, Unread] = {}
    for folder in folders:
        if not os.path.isdir(folder):
            outputs.restore_outputs(folder.parent)
        if not os.path.isdir(folder):
            raise Refused(
                "A report is made of folders that `tutelage run` wrote to. There is no folder "
                f"{folder}. `tutelage list` lists studies, and `tutelage run scaling` runs one."
            )
        paths = outputs.find_outputs(folder)
        if not paths:
            raise Refused(
                f"A report is made of folders that `tutelage run` wrote to. Under {folder} there "
                "is no finished study. `tutelage list` lists studies, and `tutelage run scaling` "
                "runs one."
            )
        for path in paths:
            try:
                finished = _read_study(path)
            except Refused as refused:
                word = "NEWER" if isinstance(refused, Newer) else "DAMAGED"
                unread[path.parent] = Unread(word, str(refused))
                continue
            if finished.name in found and found[finished.name][0] != path:
                raise Refused(
                    f"A report has each study once. Got {finished.name} in "
                    f"{found[finished.name][0].parent} and in {path.parent}."
                )
            found[finished.name] = path, finished
    if not found:
        raise Refused(next(iter(unread.values())).sentence)
    for trouble in unread.values():
        LOG.warning("a study is left out of the report. %s", trouble.sentence)
    order = {name: place for place, name in enumerate(study_names())}
    known = sorted(found, key=lambda name: (order.get(name, len(order)), name))
    return [found[name][1] for name in known], unread


def split_id(verdict: Verdict) -> tuple[str, str]:
    """The case and the claim that a verdict's id names."""
    names = verdict.id.split("/")
    if len(names) < 2:
        raise Refused(f"The id of a verdict ends in case/claim. Got {verdict.id!r}.")
    return names[-2], names[-1]


def _read_study(path: Path) -> FinishedStudy:
    folder = path.parent
    try:
        study = read_record(path)
        plain = outputs.read_verdicts(folder / outputs.VERDICTS)
        verdicts = [Verdict.from_plain(verdict) for verdict in plain]
        for verdict in verdicts:
            split_id(verdict)  # refuses an id that names no case
        return FinishedStudy(study, verdicts, _order_figures(study, folder / outputs.FIGURES))
    except Newer:
        raise
    except (OSError, ValueError) as error:
        raise Refused(
            f"{folder} does not hold a whole study ({error}); run it again to replace it."
        ) from None


def _order_figures(study: StudyRecord, folder: Path) -> list[Path]:
    """Figures in the order of the study's argument, which is that of its captions."""
    order = {name: place for place, name in enumerate(study.get("captions", {}))}
    found = [path.with_suffix("") for path in folder.glob("*.svg")]
    return sorted(found, key=lambda path: (order.get(path.name, len(order)), path.name))
