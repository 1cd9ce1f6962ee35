"""Finds finished studies under folders, and reads what `run` wrote there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutelage.refuse import Refused

STATUSES = ("HOLDS", "FAILS", "UNDECIDED", "MEASURED")


@dataclass(frozen=True)
class Told:
    """One study as it was run: `study.json`, its verdicts as plain data, and its figures."""

    study: dict[str, Any]
    verdicts: list[dict[str, Any]]
    figures: list[Path]  # without their endings: PNG, SVG, PDF and CSV lie side by side

    @property
    def name(self) -> str:
        return str(self.study["name"])

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Its claims, controls or measurements."""
        return [verdict for verdict in self.verdicts if kind_of(verdict) == kind]


def kind_of(verdict: dict[str, Any]) -> str:
    return "control" if verdict["control"] else "measurement" if verdict["measurement"] else "claim"


def surprising(verdict: dict[str, Any]) -> bool:
    """A claim that fails, or a control that holds."""
    return verdict["status"] == ("HOLDS" if verdict["control"] else "FAILS")


def gathered(folders: Sequence[Path]) -> list[Told]:
    """The studies under these folders; each a folder that `run` wrote to (`--out`), or one study's
    folder inside of it.
    """
    found: dict[str, tuple[Path, Told]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise Refused(
                "A report is made of folders that `tutelage run` wrote to. There is no folder "
                f"{folder}."
            )
        paths = sorted(folder.rglob("study.json"))
        if not paths:
            raise Refused(
                f"A report is made of folders that `tutelage run` wrote to. Under {folder} there "
                "is no finished study."
            )
        for path in paths:
            told = _told(path)
            if told.name in found and found[told.name][0] != path:
                raise Refused(
                    f"A report has each study once. Got {told.name} in "
                    f"{found[told.name][0].parent} and in {path.parent}."
                )
            found[told.name] = path, told
    return [told for _, told in sorted(found.values(), key=lambda pair: _place(pair[1].name))]


def _told(path: Path) -> Told:
    try:
        study = json.loads(path.read_text())
        verdicts = json.loads((path.parent / "verdicts.json").read_text())
        figures = sorted(
            figure.with_suffix("") for figure in (path.parent / "figures").glob("*.svg")
        )
        return Told({"name": study["name"], **study}, verdicts, figures)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused(
            f"{path.parent} does not hold a whole study ({error}); running it again writes it anew."
        ) from None


def _place(name: str) -> tuple[int, str]:
    """Where a study stands in `tutelage list`; those that are not there come last."""
    from tutelage.studies.discovery import study_names

    known = study_names()
    return known.index(name) if name in known else len(known), name
