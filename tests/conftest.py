"""Shared by all tests. Importing tutelage first switches on double precision before JAX makes its first array."""

from __future__ import annotations

import os

# Tests compile thousands of small programs, one a core: cutting each into parts that are compiled side by side only costs time.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_parallel_codegen_split_count=1".strip()

import tutelage  # isort: skip

import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

# `twins` and `tiny_images` for every test, whichever file is run alone.
sys.path[:0] = [str(Path(__file__).parent / "objectives"), str(Path(__file__).parent)]

# No sum of arrays may change its type unasked: a float32 that slips in is an error here, not a loss of eight digits.
jax.config.update("jax_numpy_dtype_promotion", "strict")

assert tutelage.__version__


@pytest.fixture(scope="module")
def adam_allowed() -> Iterator[None]:
    """Standard promotion, in every thread: optax's Adam counts steps in int32 and raises floats to that power."""
    jax.config.update("jax_numpy_dtype_promotion", "standard")
    yield
    jax.config.update("jax_numpy_dtype_promotion", "strict")


@pytest.fixture(autouse=True)
def _double_precision() -> None:
    assert jax.config.jax_enable_x64, "tutelage works in double precision; something switched it off"
