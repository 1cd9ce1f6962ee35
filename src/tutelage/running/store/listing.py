"""What lies in a place, read run by run without JAX; nothing here writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tutelage.refuse import Newer
from tutelage.run import Outcome
from tutelage.running.store.about import ABOUT, FAILED, Damaged, opened
from tutelage.running.store.entry import (
    HORIZON,
    Entry,
    horizons,
    odd_horizons,
)
from tutelage.running.store.places import Place, say_why


def list_entries(place: Place, identities: Sequence[str]) -> Iterator[Entry]:
    """Every run of these identities, whole or not, by `run.json` and sizes alone; what cannot be
    read is an entry with its trouble.
    """
    for identity in identities:
        try:
            names = place.names(identity)
        except OSError as error:
            yield Entry(identity, {}, f"its folder cannot be read: {say_why(error)}")
            continue
        for steps in (*odd_horizons(names), *reversed(horizons(names))):
            yield read_entry(place, f"{identity}/{steps}")
        if FAILED in names:
            yield read_entry(place, f"{identity}/{FAILED}")


def read_entry(place: Place, name: str) -> Entry:
    """One run, or the note of one that could not be run."""
    identity, _, steps = name.partition("/")
    if steps != FAILED and not HORIZON.fullmatch(steps):
        return Entry(name, {}, "its name is not a number of steps")
    folder, file = (identity, FAILED) if steps == FAILED else (name, ABOUT)
    try:
        data = read_piece(place, folder, file)
        if data is None:
            return Entry(name, {}, f"{file} is missing: it was never finished")
        about = opened(data, file)
        sizes = place.sizes(name) if "files" in about else {}
    except Newer as newer:
        return Entry(name, {}, str(newer), newer=True)
    except Damaged as damage:
        return Entry(name, {}, str(damage))
    except OSError as error:
        return Entry(name, {}, f"its folder cannot be read: {say_why(error)}")
    if (about["outcome"] == Outcome.FAILED.name) != (steps == FAILED):
        return Entry(name, {}, f"{file} has the outcome {about['outcome']}")
    horizon = about["setting"]["steps"]
    if about["identity"] != identity or (steps != FAILED and horizon != int(steps)):
        own = f"{about['identity']}/{horizon}"
        return Entry(name, about, f"it is the run {own}, moved or copied to this name")
    said = about.get("files", {})
    wrong = [file for file in said if sizes.get(file) != said[file]["bytes"]]
    return Entry(name, about, f"{wrong[0]} is cut short, changed or missing" if wrong else "")


def read_pieces(place: Place, name: str) -> dict[str, bytes]:
    """The bytes of a run, as far as they are there: of all that its `run.json` names."""
    if (data := read_piece(place, name, ABOUT)) is None:
        return {}
    found = {file: read_piece(place, name, file) for file in opened(data).get("files", ())}
    return {file: piece for file, piece in found.items() if piece is not None} | {ABOUT: data}


def read_piece(place: Place, name: str, file: str) -> bytes | None:
    """The bytes of one file of a folder; None where it is not there."""
    try:
        return place.read(f"{name}/{file}" if name else file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(f"{file} cannot be read: {say_why(error)}") from None
