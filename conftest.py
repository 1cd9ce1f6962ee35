"""Shared by all tests. Importing tutelage first switches on double precision before JAX makes its
first array.
"""

from __future__ import annotations

import os
from importlib import metadata

# Tests compile thousands of programs and run most for a moment, so that what they cost is
# compilation. None is cut into parts that are compiled side by side, LLVM optimises nothing, and
# loops are emitted in the older and quicker way: a third of the time for the same arithmetic. Give
# XLA_FLAGS, if only "", to test the code of a plain run.
os.environ["XLA_FLAGS"] = os.environ.get(
    "XLA_FLAGS",
    "--xla_cpu_parallel_codegen_split_count=1 --xla_backend_optimization_level=0"
    # Later versions do not know this one, and abort.
    + (
        " --xla_cpu_use_fusion_emitters=false"
        if metadata.version("jax").startswith("0.10.")
        else ""
    ),
)
# One test process per core: threads of OpenBLAS would only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["TUTELAGE_PROGRAMS"] = "off"  # tests leave nothing behind, and find nothing ready

import tutelage  # isort: skip

import jaxtyping
import shapes

# What is imported from here on has the shapes of its arrays checked. TUTELAGE_SHAPES=off does
# without, to tell whether a check is in the way.
if os.environ.get("TUTELAGE_SHAPES", "on") != "off":
    shapes.install("tutelage")

import gc
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import jax
import pytest
from jax._src.interpreters import mlir  # private: see `_keep_mlir_contexts`

from tutelage import plugins, settings
from tutelage.figures import look
from tutelage.numerics import compiling, heads_gradient
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.problem import registry
from tutelage.students.base import Student
from tutelage.training import literal, programs

# No sum of arrays may change its type unasked: a float32 that slips in is an error here, not a loss
# of eight digits.
jax.config.update("jax_numpy_dtype_promotion", "strict")
# Nor may a vector meet a matrix whose axis it is not said to run along.
jax.config.update("jax_numpy_rank_promotion", "raise")

pytest_plugins = ["pytester"]  # a test suite inside a test, for the fixture `holds`

assert tutelage.__version__

# Thousands of compiled programs are kept, and every collection of garbage walks over all of them.
gc.freeze()
gc.set_threshold(100_000, 50, 100)
# Tests of other files need the same programs again.
programs.PROGRAMS = literal.PROGRAMS = programs.Programs(most=100_000)
FORKING = ("test_killed.py", "test_replacing.py")
look._RC["savefig.dpi"] = 50  # no test looks at pixels
look.FORMATS = ("png",)  # and one draws all of them (tests/figures/test_figures.py)

# Unoptimised, a step takes five times as long: loops of many steps, or of large ones, are optimised
# a little. Students with heads take few here, and their programs are the longest.
MANY_STEPS = 2000
MANY_DRAWN = 100  # a step that draws its batch works on all of its inputs
LEVEL = "xla_backend_optimization_level"


def _options_by_length(
    self: Objective, student: Student, steps: int, backend: str
) -> CompilerOptions:
    return {} if steps > (MANY_DRAWN if self.stochastic else MANY_STEPS) else {LEVEL: 0}


if f"{LEVEL}=0" in os.environ["XLA_FLAGS"]:
    Objective.compiler_options = _options_by_length  # type: ignore[method-assign]
    literal.COMPILER["cpu"][LEVEL] = 1
    for brief in (compiling.SOON, heads_gradient.COMPILER["cpu"], heads_gradient.BRIEF["cpu"]):
        brief[LEVEL] = 0


def _keep_mlir_contexts() -> None:
    """One context of MLIR per thread. JAX makes one for every program that it compiles, which
    takes a quarter of the time of a small one.
    """
    make, kept = mlir.make_ir_context, threading.local()

    def keep() -> object:
        if "context" not in kept.__dict__:
            kept.context = make()
        return kept.context

    mlir.make_ir_context = keep


if "make_ir_context" in vars(mlir):
    _keep_mlir_contexts()


def _leave_to_depth(items: list[pytest.Item]) -> None:
    """Of a table of like cases marked `brief(n)`, n spread evenly stay; the others are `depth`."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("brief") and not item.get_closest_marker("depth"):
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for table in tables.values():
        (most,) = table[0].get_closest_marker("brief").args
        stay = {number * len(table) // most for number in range(most)}
        for number, item in enumerate(table):
            if number not in stay:
                item.add_marker("depth")


@pytest.hookimpl(tryfirst=True)  # before `-m` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that fork come first: a process that has compiled for minutes takes ten times as long
    to fork. Then those of papers, which run whole studies, so that no long file is left for the
    end, and then those of many tests.
    """
    _leave_to_depth(items)
    sizes = Counter(item.path for item in items)

    def place(item: pytest.Item) -> tuple[bool, bool, int, str]:
        path = item.path
        return path.name not in FORKING, "papers" not in path.parts, -sizes[path], str(path)

    items.sort(key=place)


@pytest.fixture(scope="module")
def adam_allowed() -> Iterator[None]:
    """Standard promotion, in every thread: optax's Adam counts steps in int32 and raises floats to
    that power.
    """
    jax.config.update("jax_numpy_dtype_promotion", "standard")
    yield
    jax.config.update("jax_numpy_dtype_promotion", "strict")


@pytest.fixture
def shapes_unchecked() -> Iterator[None]:
    """Arrays of wrong shapes reach the refusals, as they do where users run."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def _double_precision() -> None:
    assert jax.config.jax_enable_x64, (
        "tutelage works in double precision; something switched it off"
    )


@pytest.fixture
def shaded(monkeypatch):
    """From where to where each window of the figures is drawn, in their order."""
    found, draw = [], look.window

    def window(axis, first, last, *words, **more):
        found.append((first, last))
        draw(axis, first, last, *words, **more)

    monkeypatch.setattr(look, "window", window)
    return found


@contextmanager
def _restored_registrations() -> Iterator[None]:
    plugins.import_parts()  # those of the papers stay: they are imported once per process
    parts = {kind: dict(names) for kind, names in registry._REGISTERED.items()}
    files, origins = dict(plugins._FILES), dict(settings.ORIGINS)
    modules = dict(plugins._MODULES)
    yield
    for kind, names in registry._REGISTERED.items():
        names.clear()
        names.update(parts[kind])
    for now, before in (
        (plugins._FILES, files),
        (plugins._MODULES, modules),
        (settings.ORIGINS, origins),
    ):
        now.clear()
        now.update(before)


@pytest.fixture(autouse=True, scope="module")
def _nothing_registered_stays() -> Iterator[None]:
    """Parts and papers that the tests of one file register or import are gone for the next file."""
    with _restored_registrations():
        yield


@pytest.fixture
def own_registrations() -> Iterator[None]:
    """What one test registers or imports is gone for the next."""
    with _restored_registrations():
        yield
