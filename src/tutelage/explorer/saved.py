"""The store as the page browses it: runs listed, one opened, one of this process kept."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import cast

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.verdict import VerdictsFile, unpack_verdicts
from tutelage.explorer.limits import Limits
from tutelage.explorer.measuring import MATRIX, scalars
from tutelage.explorer.reading import Event, Json, events, plain_verdict, read_setting
from tutelage.explorer.site import Site
from tutelage.explorer.states import canonical, query_of, setting_of
from tutelage.explorer.stream import frames, matrix_shapes, pack_matrices, tell_about
from tutelage.explorer.studies import Asked, find_askers
from tutelage.forms import read_json
from tutelage.problem.registry import registered
from tutelage.problem.room import check_room
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.store import Store
from tutelage.running.store.entry import HORIZON
from tutelage.running.store.places import say_why
from tutelage.settings import Setting
from tutelage.studies.outputs import VERDICTS, open_store
from tutelage.studies.pages import Reading, Silent

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
            len(self.runs) > 1 and sum(map(_count_bytes, self.runs.values())) > HELD_BYTES
        ):
            self.runs.popitem(last=False)

    def save(self, identity: Json, out: str) -> Event:
        run = self.runs.get(identity) if isinstance(identity, str) else None
        if run is None:
            raise Refused(
                f"A run can be saved while it is among the last {HELD} that finished here. Got "
                f"{identity!r}; run it again."
            )
        store = open_store(out)
        try:
            path = store.save(run)
        except OSError as error:
            raise Refused(
                f"A run is saved under {store.root}, which cannot be written: {say_why(error)}. "
                "Make it writable or make room, and save again."
            ) from None
        return {"ok": True, "identity": identity, "path": path}


def _count_bytes(run: Run) -> int:
    return sum(curve.nbytes for curve in run.curves.values())


def listed(out: str, where: str, site: Site, study: str = "") -> Event:
    """One row per run that meets the conditions (`tokens>16, outcome=FINISHED`); with `study`, of
    those that this study ran.
    """
    from tutelage.running.store.choosing import meeting
    from tutelage.running.store.tables import row
    from tutelage.studies.record import describe_plain_setting

    store, askers = open_store(out), find_askers(out)
    entries = {
        entry.name: entry
        for entry in store.entries()
        if not entry.name.endswith("failed.json")
        and (not study or any(asked.study == study for asked in askers.get(entry.identity, ())))
    }
    rows = meeting(
        [row(entry) for entry in entries.values()],
        [text for text in where.split(",") if text.strip()],
    )
    found: list[Json] = []
    for name in [str(each["run"]) for each in rows[:LISTED]]:
        entry = entries[name]
        about: dict[str, Json] = {"summary": entry.trouble, "address": site.pages[0].address}
        if not entry.trouble:
            setting = entry.about["setting"]
            placed = site.page_of(setting["teacher"]["name"]) or site.pages[0]
            about = {
                "summary": describe_plain_setting(setting),
                "note": entry.about["note"],
                "address": placed.address,
                "seed": setting["seed"],
            }
        found.append(
            {
                "identity": entry.identity,
                "steps": int(entry.horizon) if HORIZON.fullmatch(entry.horizon) else None,
                "outcome": entry.outcome,
                **about,
                "asked": [_plain_asked(asked) for asked in askers.get(entry.identity, ())],
                **_count_verdicts(store, name),
            }
        )
    return {"runs": found, "count": len(rows), "store": store.root}


def _plain_asked(asked: Asked) -> Json:
    """A study and its case that a run belongs to; `control` is the hypothesis that it breaks."""
    return {"study": asked.study, "case": asked.case, "control": asked.control}


def _count_verdicts(store: Store, name: str) -> dict[str, Json]:
    """How many verdicts of each status lie beside a run, claims and controls apart."""
    found = _read_verdicts(store, name)
    claims = Counter(str(each["status"]) for each in found if not each["control"])
    controls = Counter(str(each["status"]) for each in found if each["control"])
    return {"verdicts": claims, "controls": controls}


def opened(out: str, identity: str, steps: str, site: Site, limits: Limits) -> Event:
    """One stored run: its curves, and its query where the page can make it. Where its parts are
    small enough to be built again, its attention and what theory says about it, too.
    """
    from tutelage.running.store.about import Damaged
    from tutelage.running.store.choosing import named

    store = open_store(out)
    (entry,) = named(store, [f"{identity}/{steps}"])
    try:
        setting = store.setting(entry)
        points, curves = store.curves(entry)
    except Damaged as damage:
        raise Refused(f"The stored run {entry.name} cannot be shown: {damage}.") from None
    about = entry.about
    run = Run(points, curves, None, Outcome[about["outcome"]], about["note"], setting.rate, setting)
    reading = _read(site, setting, limits)
    said = {str(event["event"]): event for event in events(reading, run)}
    picture = _find_frames(site, setting, points, curves, limits)
    left = _read_verdicts(store, entry.name)
    return {
        "ok": True,
        "identity": entry.identity,
        "horizon": setting.steps,
        "outcome": run.outcome.name,
        "sentence": run.sentence,
        "setting": setting.plain(),
        "steps": points.tolist(),
        "curves": scalars(curves),
        "about": tell_about(setting, reading, run.errors),
        "frames": picture,
        "lines": said.get("lines", {}).get("lines", []),
        "phases": said.get("phases", {}).get("phases", []),
        "verdicts": left or said.get("verdicts", {}).get("verdicts", []),
        "why": reading.sentence,
        "query": _find_query(site, setting),
    }


def _read(site: Site, setting: Setting, limits: Limits) -> Reading:
    try:
        if setting.calculation is None:
            check_room(setting, limits.room)
        return read_setting(site, setting)
    except Refused as refused:
        return Silent(f"No claims here. {refused}")


def _find_query(site: Site, setting: Setting) -> str | None:
    """The query that makes this run again, up to what is measured; None where the page has none."""
    if setting.calculation is not None:
        return None
    try:
        query = query_of(setting)
        again = setting_of(query, site)
    except Refused:
        return None
    return query if again.change(measures=setting.measures) == canonical(setting) else None


def _find_frames(
    site: Site,
    setting: Setting,
    points: Int[np.ndarray, "points"],
    curves: Mapping[str, Float[np.ndarray, "points ..."]],
    limits: Limits,
) -> list[Json]:
    """The student's matrices in a run, where its parts can be built again soon."""
    from tutelage.problem.build import build

    if not any(name.endswith(MATRIX) for name in curves) or not len(points):
        return []
    placed = site.page_of(setting.teacher.name)
    try:
        if placed is None or registered("teacher", setting.teacher.name).slow:
            return []
        check_room(setting, limits.room)
        shapes = matrix_shapes(placed.page.machine(setting, build(setting)))
    except Refused:  # too large, or a part of a user's own that is not imported now
        return []
    found = [
        (place, pack_matrices(shapes, curves, place)) for place in frames(points, setting.steps)
    ]
    return [
        {"step": int(points[place]), "matrices": matrices} for place, matrices in found if matrices
    ]


def _read_verdicts(store: Store, name: str) -> list[dict[str, Json]]:
    """Those that a study left beside the run."""
    try:
        found = read_json(store.place.read(f"{name}/{VERDICTS}"))
        return [plain_verdict(each) for each in unpack_verdicts(cast("VerdictsFile", found))]
    except (OSError, ValueError):
        return []
