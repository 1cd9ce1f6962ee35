"""The folder in which an attack happens, and what is written outside of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

WRITES = {
    "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod",
    "os.truncate", "os.utime", "shutil.rmtree",
}  # fmt: skip
FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SENTINEL = "untouched"  # what a file beside the folder says before and after
MEMORY = "/dev/shm"  # a disk in memory, where there is one: a case makes and removes some files


class Yard:
    """`inside` is emptied before every case and is where it may write. Files beside it must stay.

    Every file that Python opens for writing, and every change to a folder, is looked at. What
    libraries of C++ write is seen where it changes the files beside.
    """

    def __init__(self) -> None:
        place = MEMORY if os.access(MEMORY, os.W_OK) else None
        self.root = Path(tempfile.mkdtemp(prefix="hardening-", dir=place)).resolve()
        self.inside, self.kept = self.root / "beside" / "inside", self.root / "kept"
        self.kept.mkdir()  # what a target prepares once
        self.inside.mkdir(parents=True)
        for folder in (self.root, self.inside.parent):
            (folder / SENTINEL).write_text(SENTINEL)
        self.outside: list[str] = []
        self.watching = False
        os.chdir(self.inside)
        sys.addaudithook(self._see)

    def clear(self) -> None:
        """Empties `inside`, whatever a case left there."""
        self.watching = False
        if not self.inside.is_dir() or os.listdir(self.inside):
            os.chdir(self.inside.parent)
            try:
                shutil.rmtree(self.inside)
            except OSError:
                self._force()
            self.inside.mkdir(exist_ok=True)
        os.chdir(self.inside)
        self.outside.clear()
        self.watching = True

    def _force(self) -> None:
        """Removes also what was made unreadable."""
        for path in self.inside.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(self.inside, ignore_errors=True)

    def written_outside(self) -> list[str]:
        """What the case wrote elsewhere, or changed beside."""
        self.watching = False
        beside = [
            str(folder)
            for folder, names in (
                (self.root, {"beside", "kept", SENTINEL}),
                (self.inside.parent, {"inside", SENTINEL}),
            )
            if {*os.listdir(folder)} != names or (folder / SENTINEL).read_text() != SENTINEL
        ]
        return [*self.outside, *beside]

    def remove(self) -> None:
        self.watching = False
        os.chdir("/")
        shutil.rmtree(self.root, ignore_errors=True)

    def _see(self, event: str, given: tuple[object, ...]) -> None:
        if not self.watching:
            return
        if event == "open":
            flags = given[2]
            if not isinstance(flags, int) or not flags & FLAGS:
                return
        elif event not in WRITES:
            return
        for path in given[:2] if event in ("os.rename", "os.link", "os.symlink") else given[:1]:
            if isinstance(path, str | bytes | os.PathLike):
                self._look(os.fsdecode(path), event)

    def _look(self, path: str, event: str) -> None:
        place = os.path.realpath(os.path.join(os.getcwd(), path))
        if not f"{place}/".startswith((f"{self.inside}/", f"{self.kept}/", "/dev/")):
            self.outside.append(f"{event} {place}")
