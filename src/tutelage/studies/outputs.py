"""Where things lie under a folder OUT: the runs, and the files of each study.

This is the one place that decides it. Runs are in `OUT/runs`, a study's files in `OUT/paper/study`.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from tutelage.forms import read_json, refuse_newer_bytes
from tutelage.refuse import Newer, Refused
from tutelage.running.store import Store
from tutelage.running.store.entry import IDENTITY
from tutelage.running.store.places import TAKEN
from tutelage.training.method import Method

if TYPE_CHECKING:
    from tutelage.claims.verdict import PlainVerdict

RUNS = "runs"
VERDICTS = "verdicts.json"
STUDY = "study.json"
FIGURES = "figures"
OUTPUTS = (VERDICTS, STUDY, FIGURES)  # of a study
ASIDE = ".writing-"  # how the name of a file or folder begins that is not whole yet
NEW, OLD = ".new.", ".old."  # what follows there, before the name of the study's folder
LEFT_BEHIND_SECONDS = 3600.0  # after which such a folder was left by a process that died


class StoreOptions(TypedDict, total=False):
    """What a store may be told, as `Store` takes it."""

    sync: bool
    rerun_foreign: bool
    method: Method


def open_store(out: str | Path, **options: Unpack[StoreOptions]) -> Store:
    """The store of a folder (or address) OUT: `OUT/runs`; or OUT itself, where runs lie in it and
    it has no `runs`.
    """
    root = str(out).rstrip("/") or "/"
    inside = Store(f"{root.rstrip('/')}/{RUNS}", **options)
    if not inside.place.exists("") and (itself := Store(root, **options)).identities():
        return itself
    return inside


def open_existing_store(out: str | Path) -> Store:
    """The same, refused where there is none. A command takes it by `--store`."""
    store = open_store(out)
    if store.place.exists(""):
        return store
    why = "has no `runs` in it, nor runs" if Store(out).place.exists("") else "is not there"
    raise Refused(
        "`--store` must be a folder of runs, or one with a folder `runs` in it, as `tutelage "
        f"run` makes (try `tutelage run scaling`). Got {str(out).rstrip('/') or '/'}, which {why}."
    )


def locate_study(out: str | Path, name: str) -> Path:
    """The folder of a study's verdicts and figures under OUT."""
    return Path(out) / name


def refuse_newer_outputs(folder: Path) -> None:
    """Refuses a folder whose verdicts or `study.json` a newer version wrote."""
    from tutelage.claims import verdict
    from tutelage.studies import record

    for name, known in ((STUDY, record.FORMAT), (VERDICTS, verdict.FORMAT)):
        try:
            refuse_newer_bytes((folder / name).read_bytes(), str(folder / name), known)
        except OSError:  # not there, or not to be read
            continue
        except Newer as newer:
            raise Newer(
                f"Files of a newer version are never overwritten. {newer} Install that version, "
                "or give another `--out`."
            ) from None


@contextmanager
def replace_outputs(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder`, whose files take the place of a study's when the block ends
    without an error. `study.json` is to be written last: it says that the others are there.

    Readers see the old files or the new ones, and never some of each, also where the process is
    killed. Files in `folder` that are not of a study stay there.
    """
    refuse_newer_outputs(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    restore_outputs(folder.parent)
    _tidy(folder.parent)
    token = uuid.uuid4().hex
    built = folder.parent / f"{ASIDE}{token}{NEW}{folder.name}"
    built.mkdir()
    try:
        yield built
        _swap(built, folder, token)
    finally:
        _discard(built)


def _swap(built: Path, folder: Path, token: str) -> None:
    """Puts what was built in the place of what is there, which is kept aside until that is done."""
    while True:
        old = folder.parent / f"{ASIDE}{token}{OLD}{folder.name}"
        with suppress(FileNotFoundError):  # the first of its kind
            os.rename(folder, old)
        try:
            os.rename(built, folder)
        except OSError as error:
            if not built.exists():  # another process saw it halfway, and has done it
                break
            if error.errno not in TAKEN:
                with suppress(OSError):
                    os.rename(old, folder)
                raise
            token = uuid.uuid4().hex  # another process put its own there meanwhile
            continue
        break
    restore_outputs(folder.parent)


def restore_outputs(parent: Path) -> None:
    """Ends what a process began that died while it replaced the files of a study: the new ones take
    their place, where they are whole, or the old ones take it again.
    """
    for old in parent.glob(f"{ASIDE}*{OLD}*"):
        token, _, name = old.name.removeprefix(ASIDE).partition(OLD)
        folder, built = parent / name, parent / f"{ASIDE}{token}{NEW}{name}"
        with suppress(OSError):  # another process does the same
            if not folder.exists():
                os.rename(built if (built / STUDY).exists() else old, folder)
            if old.exists():
                _take_along(old, folder)


def _take_along(old: Path, folder: Path) -> None:
    """Has the user's own files stay beside a study's, and removes the old ones of the study."""
    for path in old.iterdir():
        if path.name not in OUTPUTS and not os.path.lexists(folder / path.name):
            os.rename(path, folder / path.name)
    _discard(old)


def find_outputs(folder: Path) -> list[Path]:
    """The `study.json` of every finished study at or below a folder."""
    found = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        if any(name.startswith(ASIDE) and OLD in name for name in folders):
            restore_outputs(here)
            folders[:] = [path.name for path in here.iterdir() if path.is_dir()]
        folders[:] = [n for n in folders if not n.startswith(ASIDE) and not IDENTITY.fullmatch(n)]
        study = here / STUDY
        if STUDY in files and (study.is_file() or study.is_symlink()):
            found.append(study)
    return sorted(found)


def _tidy(folder: Path) -> None:
    """Removes what processes that died left behind."""
    for path in folder.glob(f"{ASIDE}*"):
        with suppress(OSError):  # another process tidied it, or this one may not
            if time.time() - path.stat().st_mtime > LEFT_BEHIND_SECONDS:
                _discard(path)


def _discard(path: Path) -> None:
    """Removes a file, or a folder of a study's files; others in it stay, and the folder with
    them.
    """
    if path.is_file():
        path.unlink(missing_ok=True)
        return
    shutil.rmtree(path / FIGURES, ignore_errors=True)
    for name in (VERDICTS, STUDY):
        with suppress(OSError):  # where it is gone
            (path / name).unlink()
    with suppress(OSError):  # where it is gone, or something else is in it
        path.rmdir()


def write_files(files: Mapping[Path, str]) -> None:
    """Writes files, each of which is the old one or the whole new one at every moment.

    All are written aside before the first takes its place, so that a full disk leaves all as they
    were.
    """
    aside: dict[Path, Path] = {}
    try:
        for given, text in files.items():
            path = Path(os.path.realpath(given))  # a link stays one
            _tidy(path.parent)
            aside[path] = path.parent / f"{ASIDE}{uuid.uuid4().hex}"
            aside[path].write_bytes(text.encode())
        for path, built in aside.items():
            os.replace(built, path)
    finally:
        for built in aside.values():
            with suppress(OSError):
                built.unlink(missing_ok=True)


def write_json(path: Path, document: Mapping[str, object]) -> None:
    write_files({path: json.dumps(document, indent=1, ensure_ascii=False)})


def write_verdicts(path: Path, verdicts: Sequence[PlainVerdict]) -> None:
    """A file of verdicts, with the version of its form."""
    from tutelage.claims.verdict import pack_verdicts

    refuse_newer_outputs(path.parent)
    write_json(path, pack_verdicts(verdicts))


def read_verdicts(path: Path) -> list[PlainVerdict]:
    """The verdicts of a file, as plain data; `Verdict.from_plain` makes each a `Verdict`."""
    from tutelage.claims.verdict import VerdictsFile, unpack_verdicts

    return unpack_verdicts(cast("VerdictsFile", read_json(path.read_bytes())))
