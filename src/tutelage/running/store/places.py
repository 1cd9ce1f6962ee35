"""Where runs are stored: folders of a file system that all clients see, or an object store. Both
write a run atomically.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from tutelage.refuse import Refused

ASIDE = ".writing-"  # folders of what is not a run yet, or no longer
TAKEN = (
    errno.ENOTEMPTY,
    errno.EEXIST,
    errno.ENOTDIR,
    errno.EISDIR,
)  # what a rename says where something is
PROBE = bytes(4096)  # a block of most disks
LEFT_BEHIND = 3600.0  # seconds after which one of them was left by a process that died


class Place(Protocol):
    """Names like `<identity>/<steps>`, each with files in it."""

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        """Makes the folder exist with these files, the last of which makes it whole; replaces one
        that is there.
        """

    def write(self, name: str, data: bytes) -> None:
        """Write one file atomically."""

    def read(self, name: str) -> bytes:
        """FileNotFoundError where there is none, another OSError where it cannot be read."""

    def names(self, name: str) -> list[str]:
        """What is in a folder, sorted; empty where there is none, an OSError where it cannot be
        read.
        """

    def exists(self, name: str) -> bool:
        """Whether there is such a folder or file."""

    def sizes(self, name: str) -> dict[str, int]:
        """The bytes of each file of a folder."""

    def remove(self, name: str) -> None:
        """A folder or file with all in it, if it is there."""

    def probe(self) -> None:
        """Writes a small file and removes it: an OSError where that cannot be done."""


class Folders:
    """A POSIX path: a run is built aside and renamed, which every client sees at once or not
    yet.
    """

    def __init__(self, root: Path, sync: bool) -> None:
        self.root, self.sync = root, sync

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        with self._aside() as built:
            built.mkdir()
            for file, data in files.items():
                self._fill(built / file, data)
            self._settle(built)
            self._rename(built, self.root / name)

    def write(self, name: str, data: bytes) -> None:
        with self._aside() as built:
            self._fill(built, data)
            self._rename(built, self.root / name)

    def read(self, name: str) -> bytes:
        path = self._path(name)
        try:
            mode = os.stat(path).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would wait for ever
                raise OSError(errno.EINVAL, "it is not a file")
            with open(path, "rb") as file:
                return file.read()
        except (NotADirectoryError, IsADirectoryError) as error:
            raise FileNotFoundError(str(error)) from None

    def exists(self, name: str) -> bool:
        return os.path.exists(self._path(name))

    def names(self, name: str) -> list[str]:
        try:
            return sorted(
                entry for entry in os.listdir(self._path(name)) if not entry.startswith(".")
            )
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sizes(self, name: str) -> dict[str, int]:
        try:
            with os.scandir(self._path(name)) as entries:
                return dict(_sized(entries))
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def remove(self, name: str) -> None:
        """By a rename first, so that no one sees half of it; and the folder above it, if that is
        empty then.
        """
        place = self.root / name
        if any((self.root / above).is_symlink() for above in Path(name).parents):
            raise OSError(errno.EPERM, "it is reached by a link, and may lie outside of the store")
        if os.path.lexists(place):  # also a link that leads nowhere
            with (
                self._aside() as old,
                suppress(FileNotFoundError),
            ):  # where another client removed it
                os.rename(place, old)
            with suppress(OSError):
                place.parent.rmdir()

    def probe(self) -> None:
        with self._aside() as built:
            self._fill(built, PROBE)

    def tidy(self) -> None:
        """Removes what processes that died left behind, by the file system's own clock. Where that
        cannot be done, `probe` says why.
        """
        if left := list(self.root.glob(f"{ASIDE}*")):
            with suppress(OSError), self._aside() as fresh:
                fresh.mkdir()
                now = fresh.stat().st_mtime
                for path in left:
                    with suppress(FileNotFoundError):  # another client tidied it
                        if now - path.stat().st_mtime > LEFT_BEHIND:
                            _discard(path)

    def _path(self, name: str) -> str:
        # Not by pathlib, which costs a listing of thousands more than their reading
        return f"{self.root}/{name}"

    @contextmanager
    def _aside(self) -> Iterator[Path]:
        """The name of a folder or file that is no run, for what is being built or thrown away;
        nothing is left of it.
        """
        self._make(self.root)
        path = self.root / f"{ASIDE}{uuid.uuid4().hex}"
        try:
            yield path
        finally:
            _discard(path)

    def _rename(self, built: Path, place: Path) -> None:
        """Puts what was built in its place. What was there is kept aside until that is done, for
        good where `sync` asks for it.
        """
        with ExitStack() as kept:
            while True:
                self._make(place.parent)
                try:
                    os.rename(built, place)
                except FileNotFoundError:
                    if not built.exists():
                        raise
                    # Otherwise another client removed the folder above the place, which had been
                    # empty
                except OSError as error:
                    if error.errno not in TAKEN:
                        raise
                    with suppress(FileNotFoundError):  # where another client did the same
                        os.rename(place, kept.enter_context(self._aside()))
                else:
                    return self._settle(place.parent)

    def _make(self, folder: Path) -> None:
        """A folder and all above it, each entered in the one above for good."""
        if not folder.is_dir():
            self._make(folder.parent)
            folder.mkdir(exist_ok=True)
            self._settle(folder.parent)

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
    """An object store by fsspec (s3://, gs://, memory://): no rename there, so that the file
    written last makes a run exist.
    """

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise Refused(
                f"A store at an address needs fsspec: pip install 'tutelage[remote]'. Got {url}."
            ) from None
        try:
            self.system, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise Refused(
                f"A store at an address needs a file system that fsspec knows. Got {url}: {error}"
            ) from None
        self.system.use_listings_cache = False

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        last = list(files)[-1]
        there = self.names(name)
        for file in sorted(
            there, key=lambda file: file != last
        ):  # without the last one first, it is no run from here on
            if file == last or file not in files:
                self.remove(f"{name}/{file}")
        for file, data in files.items():
            self.write(f"{name}/{file}", data)

    def write(self, name: str, data: bytes) -> None:
        with _as_os_error():
            self.system.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)
            self.system.pipe_file(self._path(name), data)

    def probe(self) -> None:
        name = f"{ASIDE}{uuid.uuid4().hex}"
        self.write(name, PROBE)
        self.remove(name)

    def read(self, name: str) -> bytes:
        try:
            with _as_os_error():
                return self.system.cat_file(self._path(name))
        except (NotADirectoryError, IsADirectoryError) as error:
            raise FileNotFoundError(str(error)) from None

    def exists(self, name: str) -> bool:
        return self.system.exists(self._path(name))

    def names(self, name: str) -> list[str]:
        return sorted(self._listed(name))

    def sizes(self, name: str) -> dict[str, int]:
        return {file: entry.get("size") or 0 for file, entry in self._listed(name).items()}

    def remove(self, name: str) -> None:
        # Not there where another client removed it.
        with suppress(FileNotFoundError), _as_os_error():
            if self.system.exists(self._path(name)):
                self.system.rm(self._path(name), recursive=True)

    def tidy(self) -> None:
        """Nothing is built aside here."""

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def _listed(self, name: str) -> dict[str, Any]:
        self.system.invalidate_cache()
        try:
            with _as_os_error():
                entries = self.system.ls(self._path(name), detail=True)
        except FileNotFoundError:
            return {}
        # A file, and in some stores a folder, is listed as being in itself.
        inside = [
            entry for entry in entries if entry["name"].strip("/") != self._path(name).strip("/")
        ]
        return {entry["name"].rstrip("/").rpartition("/")[2]: entry for entry in inside}


@contextmanager
def _as_os_error() -> Iterator[None]:
    """What an object store's own library raises (no network, no right to) as an OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}") from error


def say_why(error: OSError) -> str:
    """Why a place cannot be read or written, in the system's words."""
    return error.strerror or str(error) or type(error).__name__


def _sized(entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[str, int]]:
    """The size of each file; a link that leads nowhere has none."""
    for entry in entries:
        with suppress(OSError):
            yield entry.name, entry.stat().st_size


def _discard(path: Path) -> None:
    """Removes a folder or file, if it is there."""
    try:
        path.unlink()
    except FileNotFoundError:
        pass
    except OSError:  # a folder
        with suppress(OSError):
            path.chmod(0o700)  # one that could not be entered
        shutil.rmtree(path, ignore_errors=True)


def place_of(root: str | Path, sync: bool) -> Folders | Objects:
    if not isinstance(root, str | Path):
        raise Refused(
            "A store is a folder or an address of runs, given as text or as a path. Got an object "
            f"of the type {type(root).__name__}."
        )
    if "://" in str(root):
        return Objects(str(root))
    return Folders(Path(root), sync)
