"""A store of runs: `<root>/<identity of the setting>/<steps>/`, one folder a horizon, so that a longer run lies beside the shorter one.

A run that was stopped lies there under the steps it has taken, and goes on from them. A setting that could not be run leaves
`<identity>/failed.json` with the reason.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.settings import Setting
from tutelage.store.encoding import ABOUT, FORMAT, Damaged, decode, encode, environment, opened, sealed, setting_of
from tutelage.store.lease import Leases
from tutelage.store.places import Folders, place_of

if TYPE_CHECKING:
    from tutelage.claims.verdict import Verdict

FAILED = "failed.json"
VERSIONS = ("tutelage", "jax", "jaxlib")  # with another of these a run counts as another version's


@dataclass(frozen=True)
class Entry:
    """What a listing knows of one folder: what its `run.json` says, or the trouble with it."""

    name: str  # <identity>/<steps>, or <identity>/failed.json
    about: Mapping[str, Any]
    trouble: str = ""

    @property
    def identity(self) -> str:
        return self.name.partition("/")[0]

    @property
    def outcome(self) -> str:
        return "DAMAGED" if self.trouble else self.about["outcome"]

    @property
    def foreign(self) -> str:
        """Which versions made it, where they are not those at work now; "" where they are."""
        made = self.about.get("made", [{}])[-1]
        other = [f"{name} {made[name]}" for name in VERSIONS if name in made and made[name] != environment()[name]]
        return ", ".join(other)


class Store:
    """Runs below one folder or address, each found by the identity of its setting and its horizon.

    With `sync` every write is on the disk before the next begins, so that loss of power loses nothing that was said to be saved.
    With `rerun_foreign` runs that other versions made are not used.
    """

    def __init__(self, root: str | Path, *, sync: bool = False, rerun_foreign: bool = False) -> None:
        self.root, self.sync, self.rerun_foreign = str(root), sync, rerun_foreign
        self.place = place_of(root, sync)
        # An object store has no file that only one can make: there two clients may compute one setting twice, to the same end.
        self.leases = Leases(self.place.root) if isinstance(self.place, Folders) else None
        self.foreign: set[str] = set()  # runs of other versions that were used
        self._said: set[str] = set()

    def name(self, setting: Setting) -> str:
        return f"{setting.identity()}/{setting.steps}"

    def path(self, setting: Setting) -> str:
        return f"{self.root}/{self.name(setting)}"

    def find(self, setting: Setting) -> Run | None:
        """The stored run of this setting with this horizon, or None. One that ended of itself answers every longer horizon too."""
        answers = (f"{setting.identity()}/{steps}" for steps, about in self._stored(setting.identity()) if _answers(setting, steps, about))
        run = next((run for name in answers if (run := self._whole(name)) is not None), None)
        return None if run is None else replace(run, setting=setting)

    def holds(self, setting: Setting) -> bool:
        """Whether `find` will find it, by `run.json` and sizes alone."""
        return any(_answers(setting, steps, about) for steps, about in self._stored(setting.identity()))

    def begun(self, setting: Setting) -> Run | None:
        """The longest stored run of this setting that is shorter than its horizon and can go on, or None."""
        shorter = (
            f"{setting.identity()}/{steps}"
            for steps, about in self._stored(setting.identity())
            if about["first"] is not None and 0 < about["taken"] <= steps < setting.steps
        )
        return next((run for name in shorter if (run := self._whole(name)) is not None), None)

    def save(self, run: Run) -> str:
        """Writes a run under its horizon (the steps taken, where it was stopped), and says where."""
        if run.setting is None:
            raise Refused("Only a run made from a setting can be stored, since the setting is what repeats it. Got one without.")
        setting, identity = run.setting, run.setting.identity()
        if run.outcome is Outcome.STOPPED:
            assert run.rest is not None
            setting = setting.change(steps=run.rest.taken)
        self.place.put(self.name(setting), encode(run, setting))
        if run.complete:  # what it went on from has served, and an old failure is mended
            for steps, about in self._stored(identity):
                if about["outcome"] == Outcome.STOPPED.name and steps < setting.steps:
                    self.place.remove(f"{identity}/{steps}")
            if FAILED in self.place.names(identity):
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
            "made": [dict(environment())],
        }
        self.place.write(f"{setting.identity()}/{FAILED}", sealed(about))

    def attach(self, runs: Sequence[Run], verdicts: Sequence[Verdict]) -> None:
        """Writes beside each run the verdicts that it served."""
        import json

        text = json.dumps([verdict.plain() for verdict in verdicts], indent=1).encode()
        for run in runs:
            assert run.setting is not None
            if self.place.names(self.name(run.setting)):
                self.place.write(f"{self.name(run.setting)}/verdicts.json", text)

    def entries(self) -> Iterator[Entry]:
        """Every folder below the root, whole or not, by `run.json` and sizes alone; `verify` reads the rest."""
        for identity in self.place.names(""):
            for name in self.place.names(identity):
                if name == FAILED or name.isdigit():
                    yield self._entry(f"{identity}/{name}")

    def verify(self, name: str) -> str:
        """What is wrong with a stored run, every byte of it read; "" where nothing is."""
        try:
            self._read(name)
        except Damaged as damage:
            return str(damage)
        return ""

    def remove(self, name: str) -> None:
        self.place.remove(name)

    def _entry(self, name: str) -> Entry:
        try:
            about = opened(self.place.read(name if name.endswith(FAILED) else f"{name}/{ABOUT}"))
            if not name.endswith(FAILED):
                sizes = self.place.sizes(name)
                for file, said in about["files"].items():
                    if sizes.get(file) != said["bytes"]:
                        return Entry(name, about, f"{file} is cut short, changed or missing")
            return Entry(name, about)
        except FileNotFoundError:
            return Entry(name, {}, f"{ABOUT} is missing: it was never finished")
        except Damaged as damage:
            return Entry(name, {}, str(damage))
        except Refused as refused:
            return Entry(name, {}, str(refused))

    def _stored(self, identity: str) -> list[tuple[int, Mapping[str, Any]]]:
        """Horizons stored for a setting, the longest first, with what `run.json` says of each; damaged ones are named and left out."""
        found = []
        for steps in sorted((int(name) for name in self.place.names(identity) if name.isdigit()), reverse=True):
            entry = self._entry(f"{identity}/{steps}")
            if entry.trouble:
                self._say(entry.name, entry.trouble)
            elif not (entry.foreign and self.rerun_foreign):
                if entry.foreign:
                    self.foreign.add(entry.name)
                found.append((steps, entry.about))
        return found

    def _whole(self, name: str) -> Run | None:
        try:
            return self._read(name)
        except Damaged as damage:
            self._say(name, str(damage))
            return None

    def _read(self, name: str) -> Run:
        pieces = {}
        for file in self.place.names(name):
            with suppress(FileNotFoundError):  # removed meanwhile
                pieces[file] = self.place.read(f"{name}/{file}")
        if ABOUT not in pieces:
            raise Damaged(f"{ABOUT} is missing: it was never finished")
        return decode(pieces)

    def _say(self, name: str, trouble: str) -> None:
        if name not in self._said:
            self._said.add(name)
            print(f"tutelage: the stored run {name} is not used, and is run again: {trouble}.", file=sys.stderr)


def _answers(setting: Setting, steps: int, about: Mapping[str, Any]) -> bool:
    """Whether a stored run is what the setting asks for: it has its horizon, or came to an end of its own before a shorter one."""
    if about["outcome"] == Outcome.STOPPED.name or steps > setting.steps:
        return False
    return steps == setting.steps or (about["outcome"] != Outcome.FINISHED.name and about["taken"] < steps)


def reason(error: BaseException) -> str:
    """One line that says why."""
    return str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def load(path: str | Path) -> Run:
    """A stored run, which measures and checks like a fresh one. Of several horizons below `path` the longest."""
    root, _, name = str(path).rstrip("/").rpartition("/")
    store = Store(root or ".")
    if horizons := [int(steps) for steps in store.place.names(name) if steps.isdigit()]:
        name = f"{name}/{max(horizons)}"
    try:
        return store._read(name)
    except Damaged as damage:
        raise Refused(f"A stored run is a folder with a whole run in it. Got {path}, where {damage}.") from None


def setting_from(store: Store, entry: Entry) -> Setting:
    """The setting of a listed run, with its arrays."""
    given: Mapping[str, Any] = {}
    if "given.safetensors" in entry.about.get("files", {}):
        from safetensors.numpy import load as arrays_of

        given = arrays_of(store.place.read(f"{entry.name}/given.safetensors"))
    return setting_of(entry.about, given)
