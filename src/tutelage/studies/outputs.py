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
from tutelage.training.method import Method

if TYPE_CHECKING:
    from tutelage.claims.verdict import PlainVerdict

RUNS = "runs"
VERDICTS = "verdicts.json"
STUDY = "study.json"
FIGURES = "figures"
OUTPUTS = (VERDICTS, STUDY, FIGURES)  # of a study
ASIDE = ".writing-"  # how the name of a folder begins whose files are not all there yet
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


def open_existing_store(out: str | Path, option: str = "--out") -> Store:
    """The same, refused where there is none. `option` is what the user gave OUT by."""
    store = open_store(out)
    if store.place.exists(""):
        return store
    why = "has no `runs` in it, nor runs" if Store(out).place.exists("") else "is not there"
    raise Refused(
        f"`{option}` must be a folder of runs, or one with a folder `runs` in it, as `tutelage "
        f"run` makes. Got {str(out).rstrip('/') or '/'}, which {why}."
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
                f"What a newer version wrote is never written over. {newer} Install that version, "
                "or give another `--out`."
            ) from None


@contextmanager
def replace_outputs(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder`, whose files take the place of a study's when the block ends
    without an error.

    Readers see the old files or the new ones, and never some of each. Files in `folder` that are
    not of a study stay there.
    """
    refuse_newer_outputs(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _tidy(folder.parent)
    built, old = (folder.parent / f"{ASIDE}{uuid.uuid4().hex}" for _ in range(2))
    built.mkdir()
    try:
        yield built
        if folder.exists():
            os.rename(folder, old)
        os.rename(built, folder)
        for path in list(old.iterdir()) if old.exists() else []:
            if path.name not in OUTPUTS:
                os.rename(path, folder / path.name)
    finally:
        _discard(built)
        _discard(old)


def find_outputs(folder: Path) -> list[Path]:
    """The `study.json` of every finished study at or below a folder."""
    found = sorted(path for path in folder.rglob(STUDY) if path.is_file() or path.is_symlink())
    return [path for path in found if not any(part.startswith(ASIDE) for part in path.parts)]


def _tidy(folder: Path) -> None:
    """Removes what processes that died left behind."""
    for path in folder.glob(f"{ASIDE}*"):
        with suppress(FileNotFoundError):  # another process tidied it
            if time.time() - path.stat().st_mtime > LEFT_BEHIND_SECONDS:
                _discard(path)


def _discard(folder: Path) -> None:
    """Removes a folder of a study's files; other files in it stay, and the folder with them."""
    shutil.rmtree(folder / FIGURES, ignore_errors=True)
    for name in (VERDICTS, STUDY):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # where it is gone, or something else is in it
        folder.rmdir()


def write_json(path: Path, document: Mapping[str, object]) -> None:
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")


def write_verdicts(path: Path, verdicts: Sequence[PlainVerdict]) -> None:
    """A file of verdicts, with the version of its form."""
    from tutelage.claims.verdict import pack_verdicts

    refuse_newer_outputs(path.parent)
    write_json(path, pack_verdicts(verdicts))


def read_verdicts(path: Path) -> list[PlainVerdict]:
    """The verdicts of a file, as plain data; `Verdict.from_plain` makes each a `Verdict`."""
    from tutelage.claims.verdict import VerdictsFile, unpack_verdicts

    return unpack_verdicts(cast("VerdictsFile", read_json(path.read_bytes())))
