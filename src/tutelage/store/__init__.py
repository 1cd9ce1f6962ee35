"""Runs on disk: found again by what was asked, whole or not at all, in files that other tools read."""

from tutelage.store.encoding import Damaged, environment
from tutelage.store.store import Entry, Store, load
from tutelage.store.tables import table

__all__ = ["Damaged", "Entry", "Store", "environment", "load", "table"]
