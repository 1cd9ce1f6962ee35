"""Programs side by side in the threads of this process, one per core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import jax
from jaxtyping import PyTree

Part = TypeVar("Part")
Result = TypeVar("Result", bound=PyTree)


def in_threads(compute: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """What each part gives, a thread for each.

    A thread waits for its result. JAX runs programs in threads of its own, and two that are begun
    by one thread right after each other are now and then queued behind each other: one call in
    thirty then took twice as long.
    """

    def wait(part: Part) -> Result:
        return jax.block_until_ready(compute(part))

    with ThreadPoolExecutor(len(parts)) as threads:
        return list(threads.map(wait, parts))
