"""A plugin of pytest that has one module of tutelage imported from another source.

`HARDENING_MODULE` names the module and `HARDENING_SOURCE` the file with the mutant. The seconds
that each test took are kept in `HARDENING_TIMES`, and the quickest tests come first.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

import pytest


class Planted(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds one module, and reads its code from elsewhere; its file stays the real one."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source
        self.name = module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        real = importlib.machinery.PathFinder.find_spec(fullname, path)
        if real is None or real.origin is None:
            return None
        self.path = real.origin
        return importlib.util.spec_from_file_location(fullname, real.origin, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        with open(self.source, encoding="utf-8") as file:
            return compile(file.read(), self.path, "exec")


if "HARDENING_MODULE" in os.environ:
    sys.meta_path.insert(0, Planted(os.environ["HARDENING_MODULE"], os.environ["HARDENING_SOURCE"]))


QUICK_SECONDS = 1.0


def _shares(item: pytest.Item) -> bool:
    """Whether a test has a fixture that others of its file have, too."""
    assert isinstance(item, pytest.Function)
    found = item._fixtureinfo.name2fixturedefs
    return any(one[-1].scope == "module" for one in found.values())


class QuickestFirst:
    """Keeps what each test of a run that passes took, and sorts by that. Tests that take long, or
    share what was set up for their file, come after the others and stay together, so that nothing
    is set up twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, float] = (
            json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        )
        self.seen: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        def place(item: pytest.Item) -> tuple[bool, str, float]:
            seconds = self.known.get(item.nodeid, 0.0)
            late = seconds > QUICK_SECONDS or _shares(item)
            return late, str(item.path) if late else "", seconds

        items.sort(key=place)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seen[report.nodeid] += report.duration

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus == 0:
            self.path.write_text(json.dumps({**self.known, **self.seen}), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if times := os.environ.get("HARDENING_TIMES"):
        config.pluginmanager.register(QuickestFirst(Path(times)))
