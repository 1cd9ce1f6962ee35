"""A store of runs: `<root>/<identity of the setting>/<steps>/`, one folder a horizon, so that a
longer run lies beside the shorter one.

A run that was stopped lies there under the steps it has taken, and goes on from them. A setting
that could not be run leaves `<identity>/failed.json` with the reason.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutelage.log import LOG
from tutelage.numerics.grids import by_step, log_spaced
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.store.about import (
    ABOUT,
    CURVES,
    FAILED,
    FORMAT,
    GIVEN,
    Damaged,
    opened,
    sealed,
)
from tutelage.running.store.encoding import (
    check_piece,
    checked,
    decode,
    encode,
    given_arrays,
    made_by,
    read_curves,
    setting_of,
)
from tutelage.running.store.entry import (
    HORIZON,
    IDENTITY,
    Entry,
    horizons,
    odd_horizons,
    why_unreadable,
)
from tutelage.running.store.lease import Leases
from tutelage.running.store.places import Folders, place_of
from tutelage.settings import Setting
from tutelage.training.method import USUAL, Method

if TYPE_CHECKING:
    import numpy as np

    from tutelage.claims.verdict import Verdict


class Store:
    """Runs below one folder or address, each found by the identity of its setting and its horizon.

    With `sync` every write is on the disk before the next begins, so that results survive a power
    failure. With `rerun_foreign` runs that other versions made, or another precision than that of
    `method`, are not used. Runs that went on by gradient flow before `method.literal` steps were
    taken one by one are not used either.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        sync: bool = False,
        rerun_foreign: bool = False,
        method: Method = USUAL,
    ) -> None:
        self.root, self.sync, self.rerun_foreign = str(root), sync, rerun_foreign
        self.method = method
        self.place = place_of(root, sync)
        # An object store has no file that only one can make: there two clients may compute one
        # setting twice, to the same end.
        self.leases = Leases(self.place.root) if isinstance(self.place, Folders) else None
        self.foreign: set[str] = set()  # runs of other versions or precisions that were used
        self._said: set[str] = set()

    def name(self, setting: Setting) -> str:
        return f"{setting.identity()}/{setting.steps}"

    def path(self, setting: Setting) -> str:
        return f"{self.root}/{self.name(setting)}"

    def find(self, setting: Setting) -> Run | None:
        """The stored run of this setting with this horizon, or None. One that ended of itself
        answers every longer horizon too.
        """
        answers = (
            f"{setting.identity()}/{steps}"
            for steps, about in self._stored(setting.identity())
            if _answers(setting, steps, about)
        )
        run = next((run for name in answers if (run := self._whole(name)) is not None), None)
        return None if run is None else replace(run, setting=setting)

    def holds(self, setting: Setting) -> bool:
        """Whether `find` will find it, by `run.json` and sizes alone."""
        return any(
            _answers(setting, steps, about) for steps, about in self._stored(setting.identity())
        )

    def begun(self, setting: Setting) -> Run | None:
        """The longest stored run of this setting that is shorter than its horizon and can go on, or
        None.
        """
        shorter = (
            f"{setting.identity()}/{steps}"
            for steps, about in self._stored(setting.identity())
            if about["first"] is not None
            and 0 < about["taken"] <= steps < setting.steps
            and not self._rounded_otherwise(about)
        )
        return next((run for name in shorter if (run := self._whole(name)) is not None), None)

    def save(self, run: Run) -> str:
        """Writes a run under its horizon (the steps taken, where it was stopped), and says
        where.
        """
        if run.setting is None:
            raise Refused(
                "Only a run made from a setting can be stored, since the setting is what repeats "
                "it. Got one without."
            )
        if run.outcome is Outcome.FAILED:
            raise Refused(
                "A setting that could not be run has no run to store. `save_failure` leaves a "
                "note of the reason."
            )
        setting, identity = run.setting, run.setting.identity()
        if any(piece.get("origins", {}) != setting.origins() for piece in run.made):
            raise Refused(
                "A run is stored under the code that made it, so that an edited part never finds "
                "the runs of the old one. Got a run of other code: its setting is run again."
            )
        if run.outcome is Outcome.STOPPED:
            assert run.rest is not None
            setting = setting.change(steps=run.rest.taken)
            if any(
                steps == setting.steps and about["outcome"] != Outcome.STOPPED.name
                for steps, about in self._stored(identity)
            ):
                # A whole run of that horizon is there: a longer one goes on from it just as well.
                return self.path(setting)
        self.place.put(self.name(setting), encode(run, setting))
        beside = [name for name in self.place.names(identity) if name != str(setting.steps)]
        for steps, about in (
            self._stored(identity) if beside else ()
        ):  # what it went on from has served
            if about["outcome"] == Outcome.STOPPED.name and steps < setting.steps:
                self.place.remove(f"{identity}/{steps}")
        if run.complete and FAILED in beside:  # an old failure is mended
            self.place.remove(f"{identity}/{FAILED}")
        return self.path(setting)

    def save_failure(self, setting: Setting, error: BaseException) -> None:
        """Leaves a note of why a setting could not be run."""
        trace = "" if isinstance(error, Refused) else "".join(traceback.format_exception(error))
        about = {
            "format": FORMAT,
            "identity": setting.identity(),
            "setting": setting.plain(),
            "outcome": Outcome.FAILED.name,
            "note": reason(error),
            "trace": trace,
            "made": [made_by(setting)],
        }
        self.place.write(f"{setting.identity()}/{FAILED}", sealed(about))

    def attach(self, setting: Setting, verdicts: Sequence[Verdict]) -> None:
        """Writes beside the run of a setting the verdicts that it served."""
        import json

        text = json.dumps([verdict.plain() for verdict in verdicts], indent=1).encode()
        answers = [
            steps
            for steps, about in self._stored(setting.identity())
            if _answers(setting, steps, about)
        ]
        if answers:
            self.place.write(f"{setting.identity()}/{answers[0]}/verdicts.json", text)

    def identities(self) -> list[str]:
        """Of the settings that have a folder here; other folders are not ours to list, or to
        remove.
        """
        try:
            names = self.place.names("")
        except OSError as error:
            raise Refused(
                f"The store at {self.root} {why_unreadable(error)}. Make the folder readable, or "
                "give another."
            ) from None
        return [name for name in names if IDENTITY.fullmatch(name)]

    def entries(self, identities: Sequence[str] | None = None) -> Iterator[Entry]:
        """Every run below the root (or of these identities), whole or not, by `run.json` and sizes
        alone; `verify` reads the rest. What cannot be read is an entry with its trouble.
        """
        for identity in self.identities() if identities is None else identities:
            try:
                names = self.place.names(identity)
            except OSError as error:
                yield Entry(identity, {}, f"its folder {why_unreadable(error)}")
                continue
            for steps in (*odd_horizons(names), *reversed(horizons(names))):
                yield self._entry(f"{identity}/{steps}")
            if FAILED in names:
                yield self._entry(f"{identity}/{FAILED}")

    def verify(self, name: str) -> str:
        """What is wrong with a stored run, every byte of it read; "" where nothing is."""
        try:
            if (entry := self._entry(name)).trouble or name.endswith(FAILED):
                return entry.trouble
            checked(self._pieces(name))
        except Damaged as damage:
            return str(damage)
        return ""

    def curves(self, entry: Entry) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The steps and curves of a listed run, their bytes checked; no student is built."""
        if entry.trouble or CURVES not in entry.about.get("files", {}):
            raise Damaged(entry.trouble or "it could not be run, and has no curves")
        return read_curves(check_piece(entry.about, CURVES, self._piece(entry.name, CURVES)))

    def setting(self, entry: Entry) -> Setting:
        """The setting of a listed run, with its arrays."""
        if entry.trouble:
            raise Damaged(entry.trouble)
        pieces = {}
        if GIVEN in entry.about.get("files", {}):
            pieces[GIVEN] = check_piece(entry.about, GIVEN, self._piece(entry.name, GIVEN))
        return setting_of(entry.about, given_arrays(pieces))

    def remove(self, name: str) -> None:
        self.place.remove(name)

    def _entry(self, name: str) -> Entry:
        identity, _, steps = name.partition("/")
        if steps != FAILED and not HORIZON.fullmatch(steps):
            return Entry(name, {}, "its name is not a number of steps")
        folder, file = (identity, FAILED) if steps == FAILED else (name, ABOUT)
        try:
            data = self._piece(folder, file)
            if data is None:
                return Entry(name, {}, f"{file} is missing: it was never finished")
            about = opened(data, file)
            sizes = self.place.sizes(name) if "files" in about else {}
        except Damaged as damage:
            return Entry(name, {}, str(damage))
        except OSError as error:
            return Entry(name, {}, f"its folder {why_unreadable(error)}")
        if (about["outcome"] == Outcome.FAILED.name) != (steps == FAILED):
            return Entry(name, {}, f"{file} has the outcome {about['outcome']}")
        if about["identity"] != identity or (
            steps != FAILED and about["setting"]["steps"] != int(steps)
        ):
            return Entry(
                name,
                about,
                f"it is the run {about['identity']}/{about['setting']['steps']}, moved or copied "
                "to this name",
            )
        wrong = [
            file
            for file, said in about.get("files", {}).items()
            if sizes.get(file) != said["bytes"]
        ]
        return Entry(name, about, f"{wrong[0]} is cut short, changed or missing" if wrong else "")

    def _stored(self, identity: str) -> list[tuple[int, Mapping[str, Any]]]:
        """Horizons stored for a setting, the longest first, with what `run.json` says of each;
        damaged ones are named and left out.
        """
        found = []
        for entry in reversed(list(self.entries([identity]))):
            if entry.horizon == FAILED:
                continue
            if entry.trouble:
                self._say(entry.name, entry.trouble)
                continue
            if not self._literal_enough(entry.about):
                continue
            foreign = bool(entry.foreign) or self._rounded_otherwise(entry.about)
            if foreign and self.rerun_foreign:
                continue
            if foreign:
                self.foreign.add(entry.name)
            found.append((int(entry.horizon), entry.about))
        return found

    def _rounded_otherwise(self, about: Mapping[str, Any]) -> bool:
        """Whether a run was made in another precision: it is used, and said to be so, but never
        gone on from.
        """
        return any(
            made.get("precision", self.method.precision) != self.method.precision
            for made in about["made"]
        )

    def _literal_enough(self, about: Mapping[str, Any]) -> bool:
        """Whether all steps that are asked for were taken one by one: those up to the last measured
        one before `literal`.
        """
        continued, unsteady = about.get("continued"), about["outcome"] == Outcome.UNSTEADY.name
        if continued is None and not unsteady:
            return True
        points = log_spaced(about["setting"]["steps"])
        return (continued["literal"] if continued else about["taken"]) >= points[
            max(0, by_step(points, self.method.literal) - 1)
        ]

    def _whole(self, name: str) -> Run | None:
        try:
            return self._read(name)
        except (Damaged, Refused) as damage:
            self._say(name, str(damage).rstrip("."))
            return None

    def _read(self, name: str) -> Run:
        return decode(self._pieces(name))

    def _pieces(self, name: str) -> dict[str, bytes]:
        """The bytes of a run, as far as they are there: of all that its `run.json` names."""
        if (data := self._piece(name, ABOUT)) is None:
            return {}
        found = {file: self._piece(name, file) for file in opened(data).get("files", ())}
        return {file: piece for file, piece in found.items() if piece is not None} | {ABOUT: data}

    def _piece(self, name: str, file: str) -> bytes | None:
        """The bytes of one file of a folder; None where it is not there."""
        try:
            return self.place.read(f"{name}/{file}" if name else file)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Damaged(f"{file} {why_unreadable(error)}") from None

    def _say(self, name: str, trouble: str) -> None:
        if name not in self._said:
            self._said.add(name)
            LOG.warning("the stored run %s is not used, and is run again: %s.", name, trouble)


def _answers(setting: Setting, steps: int, about: Mapping[str, Any]) -> bool:
    """Whether a stored run is what the setting asks for: it has its horizon, or came to an end of
    its own before a shorter one.
    """
    if about["outcome"] == Outcome.STOPPED.name or steps > setting.steps:
        return False
    return steps == setting.steps or (
        about["outcome"] != Outcome.FINISHED.name and about["taken"] < steps
    )


def reason(error: BaseException) -> str:
    """One line that says why."""
    return (
        str(error)
        if isinstance(error, Refused)
        else f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    )


def load(path: str | Path) -> Run:
    """A stored run, which measures and checks like a fresh one. Of several horizons below `path`
    the longest.
    """
    store = Store(path)
    try:
        below = horizons(store.place.names(""))
        return store._read(str(below[0]) if below else "")
    except (Damaged, OSError) as damage:
        trouble = why_unreadable(damage) if isinstance(damage, OSError) else str(damage)
        trouble = trouble if store.place.exists("") else "there is no such folder"
        raise Refused(
            f"A stored run is a folder with a whole run in it. Got {path}: {trouble}."
        ) from None
