"""Runs on disk: each under a hash of its setting, written atomically, in files that other tools
read.
"""

from tutelage.running.store.about import Damaged
from tutelage.running.store.encoding import environment
from tutelage.running.store.entry import Entry
from tutelage.running.store.loading import load
from tutelage.running.store.store import Store
from tutelage.running.store.tables import table

__all__ = ["Damaged", "Entry", "Store", "environment", "load", "table"]
