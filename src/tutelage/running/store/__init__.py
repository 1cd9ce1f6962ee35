"""Runs on disk: found again by what was asked, whole or not at all, in files that other tools
read.
"""

from tutelage.running.store.encoding import Damaged, environment
from tutelage.running.store.store import Entry, Store, load
from tutelage.running.store.tables import table

__all__ = ["Damaged", "Entry", "Store", "environment", "load", "table"]
