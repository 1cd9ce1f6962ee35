"""One client a setting: a file that says who works on it, kept young while they live, taken over
when they have died.

The clock is the file system's own (the time it gives to a file just touched), so that machines
whose clocks differ agree. Of many clients that find one lease stale one takes it over. A client
that was only asleep may wake up then; one setting is computed twice, which costs time and changes
nothing, since a run is renamed into place whole.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from pathlib import Path

LASTS = 60.0  # seconds without a sign of life after which a lease is stale
FOLDER = ".leases"


class Leases:
    """The leases that this process holds below one folder."""

    def __init__(self, root: Path, lasts: float = LASTS) -> None:
        self.folder, self.lasts = root / FOLDER, lasts
        self.held: set[str] = set()
        self.me = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"
        self._lock = threading.Lock()
        self._pulse: threading.Thread | None = None

    def take(self, identity: str) -> bool:
        """Whether this process may work on it now."""
        if not self._create(self.folder / identity) and not self._take_over(identity):
            return False
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
            (self.folder / identity).unlink(missing_ok=True)

    def owner(self, identity: str) -> str | None:
        """Who holds it: host, process and a random word."""
        try:
            return (self.folder / identity).read_text()
        except FileNotFoundError:
            return None

    def _create(self, path: Path) -> bool:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        except FileNotFoundError:  # the first lease in this store
            self.folder.mkdir(parents=True, exist_ok=True)
            return self._create(path)
        os.write(handle, self.me.encode())
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
        if old is None or not self._stale(lease):
            return False  # one released this moment will be found free at the next look
        if not self._create(mine):
            if self._stale(mine):  # who made it died before it was used
                mine.unlink(missing_ok=True)
            return False
        if self.owner(identity) != old:
            mine.unlink(missing_ok=True)
            return False
        with contextlib.suppress(
            FileNotFoundError
        ):  # where this process slept so long that its own file was found stale
            os.replace(mine, lease)
        return self.owner(identity) == self.me

    def _stale(self, path: Path) -> bool:
        now = self.folder / f".clock-{uuid.uuid4().hex}"
        now.touch()
        try:
            return now.stat().st_mtime - path.stat().st_mtime > self.lasts
        except FileNotFoundError:
            return False
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
