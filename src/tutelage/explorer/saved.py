"""The store as the page browses it: runs listed, one opened, one of this process kept; and the
studies of a paper.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.explorer.measuring import packed, scalars
from tutelage.explorer.reading import Reading, Silent, events, finite, reading_of
from tutelage.explorer.shown import PARTS
from tutelage.explorer.states import canonical, query_of, setting_of
from tutelage.explorer.stream import frames
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.store import Store
from tutelage.settings import Setting

LISTED = 500  # runs; `where` finds the others
HELD = 32  # finished runs of this process that can be saved
HELD_BYTES = 2**28


class Held:
    """The last finished runs of this process, as far as memory allows."""

    def __init__(self) -> None:
        self.runs: OrderedDict[str, Run] = OrderedDict()

    def add(self, run: Run) -> None:
        assert run.setting is not None
        self.runs[run.setting.identity()] = run
        self.runs.move_to_end(run.setting.identity())
        while len(self.runs) > HELD or (
            len(self.runs) > 1 and sum(map(_bytes, self.runs.values())) > HELD_BYTES
        ):
            self.runs.popitem(last=False)

    def save(self, identity: object, out: str) -> dict[str, Any]:
        run = self.runs.get(identity) if isinstance(identity, str) else None
        if run is None:
            raise Refused(
                f"A run can be saved while it is among the last {HELD} that finished here. Got "
                f"{identity!r}; run it again."
            )
        path = store_of(out).save(run)
        return {"ok": True, "identity": identity, "path": path}


def _bytes(run: Run) -> int:
    return sum(curve.nbytes for curve in run.curves.values())


def store_of(out: str) -> Store:
    """OUT/runs, or OUT itself where the runs lie in it."""
    itself = Store(out)
    return itself if itself.identities() else Store(f"{out.rstrip('/')}/runs")


def listed(out: str, where: str) -> dict[str, Any]:
    """Runs that meet the conditions (`tokens>16, outcome=FINISHED`), a row each."""
    from tutelage.report import words_of
    from tutelage.running.store.choosing import meeting
    from tutelage.running.store.tables import row

    store = store_of(out)
    entries = {
        entry.name: entry for entry in store.entries() if not entry.name.endswith("failed.json")
    }
    rows = meeting(
        [row(entry) for entry in entries.values()],
        [text for text in where.split(",") if text.strip()],
    )
    found = []
    for name in [str(each["run"]) for each in rows[:LISTED]]:
        entry = entries[name]
        identity, _, steps = name.partition("/")
        about = (
            {"summary": words_of(entry.about["setting"]), "note": entry.about["note"]}
            if not entry.trouble
            else {"summary": entry.trouble}
        )
        counts = Counter(verdict["status"] for verdict in _verdicts(store, name))
        found.append(
            {
                "identity": identity,
                "steps": int(steps),
                "outcome": entry.outcome,
                **about,
                "verdicts": counts,
            }
        )
    return {"runs": found, "count": len(rows), "store": store.root}


def opened(out: str, identity: str, steps: str) -> dict[str, Any]:
    """One stored run: its curves, attention where it has it, what theory says of it, and its query
    where the page can make it.
    """
    from tutelage.running.store.choosing import named
    from tutelage.running.store.encoding import Damaged

    store = store_of(out)
    (entry,) = named(store, [f"{identity}/{steps}"])
    try:
        setting = store.setting(entry)
        points, curves = store.curves(entry)
    except Damaged as damage:
        raise Refused(f"The stored run {entry.name} cannot be shown: {damage}.") from None
    about = entry.about
    run = Run(points, curves, None, Outcome[about["outcome"]], about["note"], setting.rate, setting)
    reading = _reading(setting)
    said = {event.pop("event"): event for event in events(reading, run)}
    served = _verdicts(store, entry.name)
    return {
        "ok": True,
        "identity": entry.identity,
        "horizon": setting.steps,
        "outcome": run.outcome.name,
        "sentence": run.sentence,
        "setting": setting.plain(),
        "steps": points.tolist(),
        "curves": scalars(curves),
        "attention": _attention(setting, points, curves),
        "lines": said.get("lines", {}).get("lines", []),
        "phases": said.get("phases", {}).get("phases", []),
        "verdicts": served or said.get("verdicts", {}).get("verdicts", []),
        "why": reading.sentence,
        "query": _query(setting),
    }


def _reading(setting: Setting) -> Reading:
    try:
        return reading_of(setting)
    except Refused as refused:
        return Silent(f"No claims here. {refused}")


def _query(setting: Setting) -> str | None:
    """The query that makes this run again, up to what is measured; None where the page has none."""
    try:
        query = query_of(setting)
        again = setting_of(query)
    except Refused:
        return None
    return query if again.change(measures=setting.measures) == canonical(setting) else None


def _attention(
    setting: Setting, points: np.ndarray, curves: dict[str, np.ndarray]
) -> list[dict[str, Any]]:
    if (
        "attention_matrix" not in curves
        or not len(points)
        or setting.teacher.name not in PARTS["teacher"]
    ):
        return []
    from tutelage.problem.build import build_teacher

    _, _, tokens, queries = build_teacher(setting).shape
    if curves["attention_matrix"].shape[1] != tokens * queries:
        return []
    matrices = curves["attention_matrix"]
    return [
        {"step": int(points[place]), "matrix": packed(matrices[place]), "shape": [tokens, queries]}
        for place in frames(points, setting.steps)
    ]


def _verdicts(store: Store, name: str) -> list[dict[str, Any]]:
    """Those that a study left beside the run."""
    try:
        return finite(json.loads(store.place.read(f"{name}/verdicts.json")))
    except (FileNotFoundError, ValueError):
        return []


def studies(out: str, paper: str) -> dict[str, Any]:
    """What OUT holds of a paper's studies: verdicts counted, figures named."""
    from tutelage.report import gathered

    try:
        found = [told for told in gathered([Path(out)]) if told.name.startswith(f"{paper}/")]
    except Refused:
        found = []
    return {
        "studies": [
            {
                "name": told.name,
                "sentence": told.study.get("sentence", ""),
                "counts": Counter(
                    verdict["status"] for verdict in told.verdicts if not verdict["control"]
                ),
                "controls": len(told.of_kind("control")),
                "figures": [figure.name for figure in told.figures],
            }
            for told in found
        ]
    }
