"""A store of runs: `<root>/<identity of the setting>/<steps>/`, one folder per horizon, so that a
longer run lies beside the shorter one.

A run that was stopped lies there under the steps it has taken, and goes on from them. A setting
that could not be run leaves `<identity>/failed.json` with the reason.
"""

from __future__ import annotations

import copy
import json
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutelage.forms import refuse_newer_bytes
from tutelage.log import LOG
from tutelage.numerics.grids import by_step, log_spaced
from tutelage.refuse import Newer, Refused, reason
from tutelage.run import Outcome, Run
from tutelage.running.store.about import (
    CURVES,
    FAILED,
    FORMAT,
    GIVEN,
    VERDICTS,
    Damaged,
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
from tutelage.running.store.entry import IDENTITY, Entry
from tutelage.running.store.lease import Leases
from tutelage.running.store.listing import list_entries, read_entry, read_piece, read_pieces
from tutelage.running.store.places import Folders, place_of, say_why
from tutelage.settings import Setting
from tutelage.training.method import USUAL, Method

if TYPE_CHECKING:
    import numpy as np

    from tutelage.claims.verdict import Verdict


WHAT_TO_DO = "Make it writable, make room, or give another place (`--out`)"
# One thread at a time: two would only fight for the interpreter, and take longer than one after the
# other.
_SAVING = threading.Lock()


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
        self.unsaved: dict[str, str] = {}  # identities of runs that could not be saved, and why
        self._said: set[str] = set()

    def with_method(self, method: Method) -> Store:
        """The same runs, for work by another method; what is told of them is shared."""
        other = copy.copy(self)
        other.method = method
        return other

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

    def refuse_newer(self, setting: Setting) -> None:
        """Refuses a setting of which a newer version keeps a run here: nothing is written beside
        it.
        """
        identity = setting.identity()
        for entry in self.entries([identity]):
            if entry.newer:
                raise Newer(
                    f"A newer version keeps a run of this setting under {self.root}, and nothing "
                    f"is written beside it. Got {entry.name}: {entry.trouble} Install that "
                    "version, give another `--out`, or remove the run: `tutelage runs remove "
                    f"{identity} --newer`."
                )

    def probe(self) -> None:
        """Refuses a store that cannot be written, before any work is done for it."""
        try:
            self.place.probe()
        except OSError as error:
            raise Refused(
                f"Runs are saved under {self.root}, which cannot be written: {say_why(error)}. "
                f"{WHAT_TO_DO}. Nothing was run."
            ) from None

    def keep(self, run: Run) -> Run:
        """The run, saved. Where it cannot be, its note says why: the results are there, and only
        they are lost with this process.
        """
        assert run.setting is not None
        identity = run.setting.identity()
        with _SAVING:
            try:
                self.save(run)
            except (OSError, Newer) as error:
                why = say_why(error) if isinstance(error, OSError) else str(error).rstrip(".")
                if not self.unsaved:
                    LOG.warning("runs cannot be saved in %s: %s. The work goes on.", self.root, why)
                self.unsaved[identity] = why
                return replace(run, note=f"{run.note} It could not be saved: {why}.".strip())
            self.unsaved.pop(identity, None)
        return run

    @property
    def lost(self) -> str:
        """What could not be saved, why, and what to do; "" where all was."""
        if not self.unsaved:
            return ""
        count, why = len(self.unsaved), next(iter(self.unsaved.values()))
        runs = "1 run" if count == 1 else f"{count:,} runs"
        return (
            f"{runs} could not be saved under {self.root}: {why}. What they gave is printed, and "
            f"not stored. {WHAT_TO_DO}; the same command then runs them again."
        )

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
        self.refuse_newer(setting)
        self.place.put(self.name(setting), encode(run, setting))
        with suppress(OSError):  # the run is there: what it leaves behind does no harm
            self._clear(setting, run.complete)
        return self.path(setting)

    def _clear(self, setting: Setting, complete: bool) -> None:
        """Removes what a run has made needless: what it went on from, and an old failure."""
        identity = setting.identity()
        beside = [name for name in self.place.names(identity) if name != str(setting.steps)]
        for steps, about in self._stored(identity) if beside else ():
            if about["outcome"] == Outcome.STOPPED.name and steps < setting.steps:
                self.place.remove(f"{identity}/{steps}")
        if complete and FAILED in beside:
            self.place.remove(f"{identity}/{FAILED}")

    def save_failure(self, setting: Setting, error: BaseException) -> None:
        """Leaves a note of why a setting could not be run."""
        self.refuse_newer(setting)
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
        """Writes the verdicts that a run served beside it, in the form of a study's file."""
        from tutelage.claims import verdict

        document = verdict.pack_verdicts([each.plain() for each in verdicts])
        text = json.dumps(document, indent=1).encode()
        answers = [
            steps
            for steps, about in self._stored(setting.identity())
            if _answers(setting, steps, about)
        ]
        if answers:
            name = f"{setting.identity()}/{answers[0]}"
            try:
                before = read_piece(self.place, name, VERDICTS)
                refuse_newer_bytes(before or b"", VERDICTS, verdict.FORMAT)
                self.place.write(f"{name}/{VERDICTS}", text)
            except Newer as newer:
                LOG.warning("the verdicts beside the run %s are left alone: %s", name, newer)
            except (Damaged, OSError) as error:
                LOG.warning("the verdicts beside the run %s cannot be written: %s.", name, error)

    def identities(self) -> list[str]:
        """Of the settings that have a folder here; other folders are not ours to list, or to
        remove.
        """
        try:
            names = self.place.names("")
        except OSError as error:
            raise Refused(
                f"The store at {self.root} cannot be read: {say_why(error)}. Make the folder "
                "readable, or give another."
            ) from None
        return [name for name in names if IDENTITY.fullmatch(name)]

    def entries(self, identities: Sequence[str] | None = None) -> Iterator[Entry]:
        """Every run below the root (or of these identities), whole or not, by `run.json` and sizes
        alone; `verify` reads the rest. What cannot be read is an entry with its trouble.
        """
        chosen = self.identities() if identities is None else identities
        return list_entries(self.place, chosen)

    def verify(self, name: str) -> str:
        """What is wrong with a stored run, every byte of it read; "" where nothing is."""
        try:
            if (entry := read_entry(self.place, name)).trouble or name.endswith(FAILED):
                return entry.trouble
            checked(read_pieces(self.place, name))
        except Damaged as damage:
            return str(damage)
        return ""

    def curves(self, entry: Entry) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The steps and curves of a listed run, their bytes checked; no student is built."""
        if entry.trouble or CURVES not in entry.about.get("files", {}):
            raise Damaged(entry.trouble or "it could not be run, and has no curves")
        return read_curves(self._checked_piece(entry, CURVES))

    def setting(self, entry: Entry) -> Setting:
        """The setting of a listed run, with its arrays."""
        if entry.trouble:
            raise Damaged(entry.trouble)
        given = GIVEN in entry.about.get("files", {})
        pieces = {GIVEN: self._checked_piece(entry, GIVEN)} if given else {}
        return setting_of(entry.about, given_arrays(pieces))

    def _checked_piece(self, entry: Entry, file: str) -> bytes:
        return check_piece(entry.about, file, read_piece(self.place, entry.name, file))

    def remove(self, name: str, *, newer: bool = False) -> None:
        """Removes a run for good; one that a newer version wrote only where `newer` says so."""
        if not newer and (entry := read_entry(self.place, name)).newer:
            raise Newer(
                "A run that a newer version wrote is removed only on demand (`--newer`, "
                f"`newer=True`). Got {name}: {entry.trouble}"
            )
        self.place.remove(name)

    def _stored(self, identity: str) -> list[tuple[int, Mapping[str, Any]]]:
        """Horizons stored for a setting, the longest first, with what `run.json` says about each;
        damaged ones are named and left out.
        """
        found = []
        for entry in reversed(list(self.entries([identity]))):
            if entry.horizon == FAILED:
                continue
            if entry.trouble:
                if not entry.newer:  # which `refuse_newer` tells
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
        continued = about.get("continued")
        ended = about["outcome"] in (Outcome.UNSTEADY.name, Outcome.STUCK.name)
        if continued is None and not ended:
            return True
        points = log_spaced(about["setting"]["steps"])
        return (continued["literal"] if continued else about["taken"]) >= points[
            max(0, by_step(points, self.method.literal) - 1)
        ]

    def _whole(self, name: str) -> Run | None:
        try:
            return decode(read_pieces(self.place, name))
        except (Damaged, Refused) as damage:
            self._say(name, str(damage).rstrip("."))
            return None

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
