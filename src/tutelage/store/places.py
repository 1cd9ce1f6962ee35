"""Where runs lie: folders of a file system that all clients see, or an object store. Both keep a run whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from tutelage.refuse import Refused

ASIDE = ".writing-"  # folders that are not runs yet
LEFT_BEHIND = 3600.0  # seconds after which one of them was left by a process that died


class Place(Protocol):
    """Names like `<identity>/<steps>`, each with files in it."""

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        """Makes the folder exist with these files, the last of which makes it whole; replaces one that is there."""

    def write(self, name: str, data: bytes) -> None:
        """One file, whole or not at all."""

    def read(self, name: str) -> bytes:
        """FileNotFoundError where there is none."""

    def names(self, name: str) -> list[str]:
        """What is in a folder, sorted; empty where there is none."""

    def sizes(self, name: str) -> dict[str, int]:
        """The bytes of each file of a folder."""

    def remove(self, name: str) -> None:
        """A folder or file with all in it, if it is there."""


class Folders:
    """A POSIX path: a run is built aside and renamed, which every client sees at once or not yet."""

    def __init__(self, root: Path, sync: bool) -> None:
        self.root, self.sync = root, sync

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=ASIDE, dir=self.root))
        aside.chmod(0o777 & ~_umask())
        for file, data in files.items():
            self._fill(aside / file, data)
        self._settle(aside)
        try:
            os.rename(aside, place)
        except OSError:  # something is there: a damaged run, or the same run from another client
            old = Path(tempfile.mkdtemp(prefix=ASIDE, dir=self.root))
            os.rename(place, old)
            os.rename(aside, place)
            shutil.rmtree(old)
        self._settle(place.parent)
        self._settle(self.root)

    def write(self, name: str, data: bytes) -> None:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(prefix=ASIDE, dir=self.root)
        os.close(handle)
        os.chmod(aside, 0o666 & ~_umask())
        self._fill(Path(aside), data)
        os.replace(aside, place)
        self._settle(place.parent)

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def names(self, name: str) -> list[str]:
        try:
            return sorted(entry for entry in os.listdir(self.root / name) if not entry.startswith("."))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sizes(self, name: str) -> dict[str, int]:
        try:
            with os.scandir(self.root / name) as entries:
                return {entry.name: entry.stat().st_size for entry in entries}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def remove(self, name: str) -> None:
        """By a rename first, so that no one sees half of it."""
        place = self.root / name
        if not place.exists():
            return
        away = Path(tempfile.mkdtemp(prefix=ASIDE, dir=self.root)) / "removed"
        os.rename(place, away)
        shutil.rmtree(away.parent)

    def tidy(self) -> None:
        """Removes what processes that died left behind."""
        if not self.root.exists():
            return
        for path in self.root.glob(f"{ASIDE}*"):
            try:
                if time.time() - path.stat().st_mtime > LEFT_BEHIND:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            except FileNotFoundError:
                pass  # another client tidied it

    def _fill(self, path: Path, data: bytes) -> None:
        with open(path, "wb") as file:
            file.write(data)
            if self.sync:
                file.flush()
                os.fsync(file.fileno())

    def _settle(self, folder: Path) -> None:
        """A folder's own entries on the disk, where loss of power is to be survived."""
        if self.sync:
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


class Objects:
    """An object store by fsspec (s3://, gs://, memory://): no rename there, so that the file written last makes a run exist."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise Refused(f"A store at an address needs fsspec: pip install 'tutelage[remote]'. Got {url}.") from None
        try:
            self.system, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise Refused(f"A store at an address needs a file system that fsspec knows. Got {url}: {error}") from None
        self.system.use_listings_cache = False

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        *rest, last = files
        self.remove(f"{name}/{last}")  # what is overwritten is no run from here on
        for file in (*rest, last):
            self.write(f"{name}/{file}", files[file])

    def write(self, name: str, data: bytes) -> None:
        self.system.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)
        self.system.pipe_file(self._path(name), data)

    def read(self, name: str) -> bytes:
        return self.system.cat_file(self._path(name))

    def names(self, name: str) -> list[str]:
        return sorted(self._listed(name))

    def sizes(self, name: str) -> dict[str, int]:
        return {file: entry.get("size") or 0 for file, entry in self._listed(name).items()}

    def remove(self, name: str) -> None:
        if self.system.exists(self._path(name)):
            self.system.rm(self._path(name), recursive=True)

    def tidy(self) -> None:
        """Nothing is built aside here."""

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def _listed(self, name: str) -> dict[str, Any]:
        self.system.invalidate_cache()
        try:
            entries = self.system.ls(self._path(name), detail=True)
        except FileNotFoundError:
            return {}
        return {entry["name"].rstrip("/").rpartition("/")[2]: entry for entry in entries}


def place_of(root: str | Path, sync: bool) -> Folders | Objects:
    if "://" in str(root):
        return Objects(str(root))
    return Folders(Path(root), sync)


def _umask() -> int:
    return _UMASK


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_UMASK = _read_umask()  # at import: reading it changes it for a moment, which no other thread should see


def walk(place: Folders | Objects) -> Iterator[tuple[str, list[str]]]:
    """Every identity with the horizons stored for it."""
    for identity in place.names(""):
        yield identity, place.names(identity)
