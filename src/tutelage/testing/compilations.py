"""Counting the programs that JAX compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from jax import monitoring

_EVENT = "/jax/core/compile/backend_compile_duration"  # JAX reports one per program
_SEEN: list[float] = []


@cache
def _listen() -> None:
    """Once per process: JAX has no way to stop listening."""

    def see(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if event == _EVENT:
            _SEEN.append(duration_secs)

    monitoring.register_event_duration_secs_listener(see)


@contextmanager
def counting_compilations() -> Iterator[Callable[[], int]]:
    """Gives a function that says how many programs were compiled since."""
    _listen()
    before = len(_SEEN)
    yield lambda: len(_SEEN) - before
