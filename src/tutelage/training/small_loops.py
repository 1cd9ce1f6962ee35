"""Loops so small that XLA makes one function of them.

On the CPU a loop that touches fewer than 1,024 bytes in a step is emitted as one function, which
takes a third of the time. XLA 0.10 cannot emit an optimization barrier there, and refuses to
compile a program such as attention over a single token (`training/literal.py` says what the
barriers are for). So a small program with barriers is compiled without that pass, and all others
as before.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr
from jaxtyping import PyTree

BYTES = 4096  # four times XLA's limit, since a step may leave some of a student's arrays alone


def is_small(students: PyTree) -> bool:
    """Whether a step on these may touch fewer bytes than XLA's limit."""
    leaves = jax.tree.leaves(students)
    return sum(leaf.nbytes for leaf in leaves if isinstance(leaf, jax.Array)) < BYTES


def has_barrier(jaxpr: Jaxpr) -> bool:
    """Whether a program, or one inside of it, has an optimization barrier."""
    return any(
        equation.primitive.name == "optimization_barrier"
        or any(has_barrier(inner) for inner in _find_inner(equation.params))
        for equation in jaxpr.eqns
    )


def _find_inner(params: dict[str, object]) -> Iterator[Jaxpr]:
    """Programs that an operation calls: a loop's body, the branches of a choice."""
    for given in params.values():
        for one in given if isinstance(given, tuple) else (given,):
            if isinstance(one, ClosedJaxpr):
                yield one.jaxpr
            elif isinstance(one, Jaxpr):
                yield one
