"""Every registered part of every kind goes through the same checks.

They are driven by its registration, so that a new part needs no edit here.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest

from tutelage.problem.registry import registered_names
from tutelage.settings import REGISTERED_KINDS
from tutelage.testing import check_part

PARTS = [(kind, name) for kind in REGISTERED_KINDS for name in registered_names(kind)]


@pytest.fixture(autouse=True, scope="module")
def _compiled_quickly() -> Iterator[None]:
    """Every program runs for a moment here, so that nearly all the time is compilation."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.usefixtures("adam_allowed")
@pytest.mark.parametrize(("kind", "name"), PARTS, ids=[f"{kind}-{name}" for kind, name in PARTS])
def test_every_part_behaves(kind: str, name: str) -> None:
    assert check_part(kind, name) == []
