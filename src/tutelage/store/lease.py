"""One client a setting: a file that says who works on it, kept young while they live, taken over when they have died.

The clock is the file system's own (the time it gives to a file just written), so that machines whose clocks differ agree. Between
judging a lease stale and taking it over another client may do the same; then one setting is computed twice, which costs time and
changes nothing, since a run is renamed into place whole.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
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
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._create(identity) and not (self._stale(identity) and self._take_over(identity)):
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

    def _create(self, identity: str) -> bool:
        try:
            handle = os.open(self.folder / identity, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        os.write(handle, self.me.encode())
        os.close(handle)
        return True

    def _stale(self, identity: str) -> bool:
        now = self.folder / f".clock-{uuid.uuid4().hex}"
        now.touch()
        try:
            return now.stat().st_mtime - (self.folder / identity).stat().st_mtime > self.lasts
        except FileNotFoundError:
            return False  # released this moment; the next look will find it free
        finally:
            now.unlink()

    def _take_over(self, identity: str) -> bool:
        """Renames the stale lease away, which only one client can do, and makes a new one."""
        old, away = self.owner(identity), self.folder / f".stale-{uuid.uuid4().hex}"
        try:
            os.rename(self.folder / identity, away)
        except FileNotFoundError:
            return False
        if away.read_text() != old:  # another client had already taken it over: give it back
            with contextlib.suppress(FileExistsError):
                os.link(away, self.folder / identity)
            away.unlink()
            return False
        away.unlink()
        return self._create(identity)

    def _beat(self) -> None:
        pause = threading.Event()
        while not pause.wait(self.lasts / 4):
            with self._lock:
                held = list(self.held)
            for identity in held:
                with contextlib.suppress(FileNotFoundError):  # released, or taken over while this process slept
                    os.utime(self.folder / identity)
