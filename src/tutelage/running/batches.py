"""Which settings train together: those of one shape and horizon, as many as the cache of a core or
the memory of a device holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tutelage.problem.build import Problem
from tutelage.settings import Setting

LARGEST_BATCH = 64
CACHE = 2**19  # bytes: a batch on a CPU should stay in a core's own cache
ARRAYS = 10  # of the student's size, that one step reads and writes
NUMBER = 1e-8  # seconds that a step takes for each number of a student, roughly
SHORT = 0.02  # seconds: a batch that trains no longer than this is built and stored more slowly
MANY = 8  # batches a shape, from which on its compilation does not count
SHARE = 0.5  # of an accelerator's memory, for a batch with its objectives


@dataclass(frozen=True)
class Load:
    """What planning needs to know of a built problem, so that the problem itself need not be
    kept.
    """

    shape: Any  # what two runs must share to train as one batch
    size: int  # numbers in the student
    largest: int  # how many of these to train together
    drawn: bool  # whether every step draws its inputs
    bytes: int  # of all arrays

    @classmethod
    def of(cls, setting: Setting, problem: Problem, devices: Sequence[Any]) -> Load:
        leaves, structure = jax.tree.flatten((problem.student, problem.objective))
        shapes = tuple(jnp.shape(leaf) for leaf in leaves)
        size = sum(leaf.size for leaf in jax.tree.leaves(problem.student))
        weight = 8 * sum(int(np.prod(shape)) for shape in shapes)
        shape = (structure, shapes, problem.optimiser, problem.measures, setting.steps)
        hash(shape)  # raises here, and not for all settings, where a part cannot be told apart
        return cls(
            shape, size, _largest(problem, size, weight, devices), problem.key is not None, weight
        )


def _largest(problem: Problem, size: int, weight: int, devices: Sequence[Any]) -> int:
    if problem.objective.fills_a_core:
        return 1  # a step goes over a whole sample, and spreads that over the devices by itself
    if devices[0].platform != "cpu":
        stats = devices[0].memory_stats() or {}
        room = SHARE * stats["bytes_limit"] if "bytes_limit" in stats else 2**30
        return len(devices) * max(1, min(LARGEST_BATCH, int(room // (8 * ARRAYS * size + weight))))
    if problem.key is not None:
        return len(devices)  # a batch of inputs fills a core's cache by itself
    return len(devices) * max(1, min(LARGEST_BATCH, CACHE // (8 * ARRAYS * size)))


def mostly_python(loads: dict[Setting, Load]) -> bool:
    """Whether building and storing runs takes longer than training and compiling them: threads
    would then fight for the interpreter.
    """
    shapes = {load.shape: load for load in loads.values()}
    short = all(
        NUMBER * load.largest * load.size * setting.steps < SHORT for setting, load in loads.items()
    )
    return (
        short
        and not any(load.drawn for load in loads.values())
        and len(loads) > MANY * sum(load.largest for load in shapes.values())
    )


def batches(loads: dict[Setting, Load], workers: int) -> list[list[Setting]]:
    """Settings of one shape and horizon together, no batch larger than its share, the longest
    first.
    """
    groups: dict[Any, list[Setting]] = {}
    for setting, load in loads.items():
        groups.setdefault(load.shape, []).append(setting)
    found, first = [], set()
    for members in groups.values():
        # A group on its own is split over the workers; beside other groups it stays whole and costs
        # one compilation.
        parts = workers if len(groups) < workers else 1
        size = min(loads[members[0]].largest, -(-len(members) // parts))
        first.add(members[0])
        found += [members[i : i + size] for i in range(0, len(members), size)]

    def order(batch: list[Setting]) -> tuple[bool, bool, int]:
        # Drawn batches of inputs cost far more a step than their student's size says: they go
        # first. Then one batch of every shape, since each compiles its program, and cores that
        # wanted the same one would wait for each other.
        load = loads[batch[0]]
        return not load.drawn, batch[0] not in first, -len(batch) * batch[0].steps * load.size

    return sorted(found, key=order)
