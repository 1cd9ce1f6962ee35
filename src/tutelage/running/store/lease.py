"""One client per setting: a file that says who works on it, kept young while they live, taken over
when they have died.

The clock is the file system's own (the time it gives to a file just touched), so that machines
whose clocks differ agree. A lease that is dated in the future has an unknown age: it is watched by
this process's own clock, and taken over once it showed no sign of life for as long as a lease
lasts. One whose process is gone from this machine is taken over at once. Of many clients that find
one lease stale one takes it over. A client that was only asleep may wake up then; one setting is
computed twice, which costs time and changes nothing, since a run is renamed into place whole.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from tutelage.log import LOG
from tutelage.running.store.owner import Owner

LASTS = 60.0  # seconds without a sign of life after which a lease is stale
FOLDER = ".leases"
LONGEST = 1000  # bytes of a lease that are read

# What each lease was when this process first saw it like that: owner, time of the last sign of
# life, and this process's clock. Kept between stores, since a worker opens one per batch.
_SEEN: dict[Path, tuple[str, int, float]] = {}


class Leases:
    """The leases that this process holds below one folder."""

    def __init__(
        self, root: Path, lasts: float = LASTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder, self.lasts, self.clock = root / FOLDER, lasts, clock
        self.held: set[str] = set()
        self.me = str(Owner.of_this_process(uuid.uuid4().hex))
        self._lock = threading.Lock()
        self._pulse: threading.Thread | None = None
        self._unwritable = False

    def take(self, identity: str) -> bool:
        """Whether this process may work on it now. Where no lease can be written it may: the worst
        that comes of it is that another computes the same.
        """
        try:
            if not self._create(self.folder / identity) and not self._take_over(identity):
                return False
        except OSError as error:
            if not self._unwritable:
                self._unwritable = True
                LOG.warning(
                    "no lease can be written in %s (%s): another client may compute the same.",
                    self.folder,
                    error.strerror or error,
                )
            return True
        with self._lock:
            self.held.add(identity)
            if self._pulse is None:
                self._pulse = threading.Thread(target=self._beat, daemon=True)
                self._pulse.start()
        return True

    def release(self, identity: str) -> None:
        with self._lock:
            self.held.discard(identity)
        if self.owner(identity) == self.me:
            with contextlib.suppress(OSError):  # a store that cannot be written any more
                (self.folder / identity).unlink(missing_ok=True)

    def owner(self, identity: str) -> str | None:
        """Who holds it, as the file says; None where no one does, "" where it cannot be read."""
        return _read(self.folder / identity)

    def describe(self, identity: str) -> str:
        """Who holds a lease, and until when it is waited for."""
        who = Owner.read(self.owner(identity) or "").sentence
        try:
            ahead = os.lstat(self.folder / identity).st_mtime - self._now()
        except OSError:
            return who
        if ahead <= 0:
            return who
        return (
            f"{who}, whose lease is dated {ahead:,.0f} s in the future, so that its age is not "
            f"known; without a sign of life it is taken over in at most {self.lasts:g} s"
        )

    def _create(self, path: Path) -> bool:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        except FileNotFoundError:  # the first lease in this store
            self.folder.mkdir(parents=True, exist_ok=True)
            return self._create(path)
        try:
            os.write(handle, self.me.encode())
        except OSError:  # a full disk: a lease without a name would be waited for
            path.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        return True

    def _take_over(self, identity: str) -> bool:
        """Whether the lease was stale and is this process's now.

        Its file is replaced by another that only one client can make, and that only while the owner
        is still the one who was found dead: the owner is read first, then its age, then the owner
        again. At no moment is there no lease.
        """
        old, lease, mine = (
            self.owner(identity),
            self.folder / identity,
            self.folder / f".taking-{identity}",
        )
        if old is None or not self._stale(lease, old):
            return False  # one released this moment will be found free at the next look
        if not self._create(mine):
            if self._stale(mine, _read(mine) or ""):  # who made it died before it was used
                mine.unlink(missing_ok=True)
            return False
        if self.owner(identity) != old:
            mine.unlink(missing_ok=True)
            return False
        try:
            os.replace(mine, lease)
        except FileNotFoundError:
            pass  # where this process slept so long that its own file was found stale
        except OSError:  # such as a folder in the lease's place
            mine.unlink(missing_ok=True)
            raise
        return self.owner(identity) == self.me

    def _stale(self, path: Path, owner: str) -> bool:
        """Whether a lease's owner is gone from this machine, or gave no sign of life for too long:
        by the file system's clock, or by this process's own since it first looked.
        """
        if Owner.read(owner).is_gone:
            return True
        try:
            sign = os.lstat(path)
        except FileNotFoundError:
            return False
        if self._now() - sign.st_mtime > self.lasts:
            return True
        before = _SEEN.get(path)
        if before is None or before[:2] != (owner, sign.st_mtime_ns):
            _SEEN[path] = owner, sign.st_mtime_ns, self.clock()
            return False
        if self.clock() - before[2] <= self.lasts:
            return False
        _SEEN.pop(path, None)
        return True

    def _now(self) -> float:
        """The file system's time."""
        now = self.folder / f".clock-{uuid.uuid4().hex}"
        now.touch()
        try:
            return now.stat().st_mtime
        finally:
            now.unlink()

    def _beat(self) -> None:
        while True:
            time.sleep(self.lasts / 4)
            with self._lock:
                if not self.held:
                    self._pulse = None
                    return
                held = list(self.held)
            for identity in held:
                with contextlib.suppress(
                    OSError
                ):  # released, taken over while this process slept, or a server away for a moment
                    os.utime(self.folder / identity)


def _read(path: Path) -> str | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for ever
            return ""
        with open(path, "rb") as file:
            return file.read(LONGEST).decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError:
        return ""
