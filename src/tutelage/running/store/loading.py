"""One stored run by its folder, wherever that came from."""

from __future__ import annotations

from pathlib import Path

from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.running.store.about import Damaged
from tutelage.running.store.encoding import decode
from tutelage.running.store.entry import horizons
from tutelage.running.store.listing import read_pieces
from tutelage.running.store.places import place_of, say_why


def load(path: str | Path) -> Run:
    """A stored run, which measures and checks like a fresh one. Of several horizons below `path`
    the longest.
    """
    place = place_of(path, sync=False)
    try:
        below = horizons(place.names(""))
        return decode(read_pieces(place, str(below[0]) if below else ""))
    except OSError as error:
        trouble = f"it cannot be read: {say_why(error)}"
    except Damaged as damage:
        trouble = str(damage)
    trouble = trouble if place.exists("") else "there is no such folder"
    raise Refused(f"A stored run is a folder with a whole run in it. Got {path}: {trouble}.")
