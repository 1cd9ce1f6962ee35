"""How many compiled programs a process keeps.

Every shape that trains is a program of some ten megabytes, and JAX keeps all of them. A sweep over
hundreds of shapes would fill the memory, so beyond a number of shapes all programs are released
together; those that are needed again are compiled again.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Hashable

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

MOST_PROGRAMS = 64


class Programs:
    """The shapes that were compiled since programs were last released."""

    def __init__(self, most: int = MOST_PROGRAMS) -> None:
        self._most = most
        self.releases = 0  # how often programs were released
        self._shapes: set[Hashable] = set()
        self._lock = threading.Lock()

    def __contains__(self, shape: Hashable) -> bool:
        return shape in self._shapes

    def __len__(self) -> int:
        return len(self._shapes)

    def add(self, shape: Hashable) -> None:
        """Notes that a shape is about to be compiled, and first makes room for it."""
        with self._lock:
            if shape not in self._shapes and len(self._shapes) >= self._most:
                self._release()
            self._shapes.add(shape)

    def _release(self) -> None:
        """A program that another thread is running stays until it has run."""
        jax.clear_caches()
        self._shapes.clear()
        self.releases += 1
        _return_memory()


def _return_memory() -> None:
    """Gives freed memory back to the system: the allocator of glibc keeps what programs held."""
    try:
        trim = ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):  # another allocator, which has no such call
        return
    trim(0)


def describe_shape(tree: PyTree) -> Hashable:
    """What decides whether a compiled program serves a tree: its structure, and the shape and type
    of its arrays.
    """
    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple((jnp.shape(leaf), jnp.result_type(leaf)) for leaf in leaves)


PROGRAMS = Programs()
