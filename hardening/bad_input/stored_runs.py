"""Stored runs: files of a sound store cut, changed, swapped, forged, or replaced by odd entries."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np

from hardening.bad_input.odd import change_bytes, change_json, odd_word
from hardening.bad_input.target import Partial, Target, call
from hardening.bad_input.yard import Yard

STEPS = (3, 4)


class StoredRuns(Target):
    """A store in which something was changed: what is still found must be what was saved."""

    name: ClassVar[str] = "stored runs"
    share: ClassVar[int] = 8

    def __init__(self, yard: Yard) -> None:
        import tutelage as tt

        super().__init__(yard)
        teacher = tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2)
        few = ("excess_risk", "support_mass")
        self.settings = [tt.Setting(teacher, 0.1, steps, measures=few) for steps in STEPS]
        self.settings.append(self.settings[0].change(seed=1))
        self.sound = yard.kept / "out"
        store = tt.Store(self.sound / "runs")
        self.runs = list(tt.execute(self.settings, store=store))
        store.save_failure(self.settings[0].change(seed=2), ValueError("no such thing"))
        every = sorted(path for path in self.sound.rglob("*"))
        self.folders = [path.relative_to(self.sound) for path in every if path.is_dir()]
        self.files = {p.relative_to(self.sound): p.read_bytes() for p in every if p.is_file()}

    def attack(self, draw: Random) -> bool:
        import tutelage as tt

        out = Path("out")
        out.mkdir()
        for folder in self.folders:
            (out / folder).mkdir()
        for file, data in self.files.items():
            (out / file).write_bytes(data)
        for _ in range(draw.choice((1, 1, 2))):
            self._harm(draw, out / "runs")
        store = tt.Store(out / "runs")
        found = 0
        for run in self.runs:
            assert run.setting is not None
            again = store.find(run.setting)
            store.holds(run.setting)
            if again is not None:
                found += 1
                _compare(run, again)
        identity = self.settings[0].identity()
        command = draw.choice(
            (
                ["list"],
                ["list", "--json"],
                ["list", "--csv", f"--where={draw.choice(('steps', 'outcome'))}={odd_word(draw)}"],
                ["show", identity],
                ["show", identity[:3], odd_word(draw)],
                ["compare", identity, f"{identity}/3"],
                ["check"],
                ["remove", identity, "--yes"],
                ["remove", "--where=steps>0", "--yes", "--newer"],
            )
        )
        call(["runs", *command, "--out=out"])
        return found == len(self.runs)

    def _harm(self, draw: Random, runs: Path) -> None:
        """One change to the files of a store."""
        every = [path for path in runs.rglob("*") if not path.name.startswith(".")]
        files = [path for path in every if path.is_file() and not path.is_symlink()]
        if not files:
            return
        file = draw.choice(files)
        match draw.randrange(10):
            case 0 | 1 | 2:
                file.write_bytes(change_bytes(draw, file.read_bytes()))
            case 3 | 4 | 5:
                abouts = [path for path in files if path.suffix == ".json"] or [file]
                about = draw.choice(abouts)
                about.write_bytes(_forge(draw, about.read_bytes()))
            case 6:
                file.write_bytes(draw.choice(files).read_bytes())
            case 7:
                file.unlink()
            case 8:
                place = draw.choice(every)
                with suppress(OSError):  # where there is a folder of that name
                    place.rename(place.with_name(draw.choice(("3", "²", "x", "0" * 30, "4"))))
            case _:
                _replace_by_odd(draw, file)


def _forge(draw: Random, data: bytes) -> bytes:
    """Other words in JSON, under the seal that they would have."""
    from tutelage.running.store.about import sealed

    try:
        found = json.loads(data)
    except ValueError:
        return data
    changed = change_json(draw, found)
    try:
        if isinstance(changed, dict) and draw.random() < 0.7:
            changed.pop("seal", None)
            return sealed(changed)
        return json.dumps(changed).encode()
    except (ValueError, TypeError, RecursionError, AttributeError):
        return data


def _replace_by_odd(draw: Random, file: Path) -> None:
    file.unlink()
    match draw.randrange(5):
        case 0:
            file.symlink_to(draw.choice((file.name, "/dev/zero", "nowhere", "..")))
        case 1:
            file.mkdir()
        case 2:
            os.mkfifo(file)
        case 3:
            file.touch(0o000)
        case _:
            file.write_bytes(b"")


def _compare(saved: Any, found: Any) -> None:
    """To the bit: a run that is found is the one that was saved, and whole."""
    same = np.array_equal(saved.steps, found.steps) and set(saved.curves) == set(found.curves)
    same = same and all(
        np.array_equal(curve, found.curves[name], equal_nan=True)
        for name, curve in saved.curves.items()
    )
    if not same or saved.outcome is not found.outcome:
        raise Partial(f"found {found!r} where {saved!r} was saved")
