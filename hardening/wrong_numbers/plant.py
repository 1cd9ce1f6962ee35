"""What the tests say with one module of tutelage imported from another source.

Each time is a process of its own, forked from one that has imported what no mutant changes.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import CodeType, ModuleType

import pytest

from hardening.wrong_numbers.modules import QUICK, ROOT

IMPORTED = (  # once for all mutants
    *("jax", "jax.numpy", "jax.scipy.special", "equinox", "optax", "jaxtyping", "hypothesis"),
    *("scipy.optimize", "scipy.special", "scipy.stats", "scipy.linalg", "scipy.integrate"),
    *("matplotlib.pyplot", "mpmath", "networkx", "pyarrow.parquet"),
)
ENVIRONMENT = {
    "JAX_ENABLE_X64": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TUTELAGE_SHAPES": "off",  # whose hook would import the module from its own file
    "PYTHONWARNINGS": "ignore::RuntimeWarning:multiprocessing",  # JAX is imported, not yet used
}
PATIENCE, LEAST_SECONDS = 5.0, 60.0  # processor time of a test: times what it takes, and at least
LONGEST_SILENCE = 3600.0  # seconds without a word, where other work leaves the process little time
QUICK_SECONDS = 1.0
ENDS = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,  # where none has these marks
)
UNREWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"  # of plugins that are imported already


@dataclass
class Said:
    """What the tests said: the first that failed or never ended, and what those before it took."""

    failed: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


def run_tests(
    tests: Sequence[str],
    marks: str = QUICK,
    module: str = "",
    source: str = "",
    known: Mapping[str, float] | None = None,
) -> Said:
    """The tests with these marks, up to the first that fails, with this source of a module.

    `known`: the seconds that tests take. The quickest come first, since most mutants are noticed
    by tests of a moment.
    """
    os.environ.update(ENVIRONMENT)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*IMPORTED, __name__])
    reader, writer = context.Pipe(duplex=False)
    given = (writer, module, source, [*tests], marks, dict(known or {}))
    process = context.Process(target=_test, args=given)
    process.start()
    writer.close()
    said, at = Said(), "before the first test"
    with contextlib.suppress(EOFError):
        while reader.poll(LONGEST_SILENCE):
            what, at, seconds = reader.recv()
            if what == "failed":
                said.failed = said.failed or at
            elif what == "passed":
                said.seconds[at] = said.seconds.get(at, 0.0) + seconds
            elif what == "ended":
                at = ""
                break
    process.kill()
    process.join()
    said.failed = said.failed or at  # where it died or fell silent
    return said


def _test(
    writer: Connection,
    module: str,
    source: str,
    tests: list[str],
    marks: str,
    known: dict[str, float],
) -> None:
    """What a forked process does."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    if module:
        sys.meta_path.insert(0, Planted(module, source))
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", UNREWRITTEN, "-m", marks]
    code = pytest.main([*options, *tests], plugins=[Reporter(writer, known)])
    if code in ENDS:
        writer.send(("ended", "", 0.0))
    os._exit(0)  # XLA may abort where the interpreter is taken down


class Planted(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds one module, and has other code for it; its file stays the real one."""

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
        return compile(self.source, self.path, "exec")


def _shares(item: pytest.Item) -> bool:
    """Whether a test has a fixture that others of its file have, too."""
    assert isinstance(item, pytest.Function)
    found = item._fixtureinfo.name2fixturedefs
    return any(one[-1].scope == "module" for name, one in found.items() if name[0] != "_")


class Reporter:
    """A plugin of pytest that says which test is run and what it took, and has the quickest come
    first. Tests that take long, or share what was set up for their file, come after the others and
    stay together, so that nothing is set up twice. A test that takes far longer than it should ends
    the process.
    """

    def __init__(self, writer: Connection, known: Mapping[str, float]) -> None:
        self.writer, self.known = writer, known

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        def place(item: pytest.Item) -> tuple[bool, str, float]:
            seconds = self.known.get(item.nodeid, 0.0)
            late = seconds > QUICK_SECONDS or _shares(item)
            return late, str(item.path) if late else "", seconds

        items.sort(key=place)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.writer.send(("begun", nodeid, 0.0))
        signal.setitimer(
            signal.ITIMER_PROF, max(LEAST_SECONDS, PATIENCE * self.known.get(nodeid, 0.0))
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.writer.send(("failed" if report.failed else "passed", report.nodeid, report.duration))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.writer.send(("failed", report.nodeid, 0.0))
