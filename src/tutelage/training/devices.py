"""Where and in which precision a run is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import jax
import numpy as np
from jaxtyping import PyTree

from tutelage.refuse import Refused, one_of
from tutelage.training.method import Method

Tree = TypeVar("Tree", bound=PyTree)


def devices_of(wanted: str | None) -> list[jax.Device]:
    """The devices to work on: all of a platform, or the one that is named."""
    if wanted is None:
        return jax.local_devices()
    platform, _, number = wanted.partition(":")
    try:
        found = jax.local_devices(backend=platform)
    except RuntimeError:
        here = ", ".join(f"{device.platform}:{device.id}" for device in jax.local_devices())
        raise Refused(
            f"`--device` must be one that JAX finds here, as these are: {here}. Got {wanted!r}. "
            "An NVIDIA device needs "
            "pip install 'tutelage[cuda12]' (or cuda13), a TPU 'tutelage[tpu]'."
        ) from None
    if not number:
        return found
    names = {str(device.id): device for device in found}
    return [names[one_of(f"number of a {platform} device", number, names)]]


@contextmanager
def working_on(method: Method) -> Iterator[None]:
    """Arrays are made on the method's device in here, where it names one."""
    if method.device is None:
        yield
        return
    with jax.default_device(devices_of(method.device)[0]):
        yield


def in_precision(tree: Tree, method: Method) -> Tree:
    """The tree with its double-precision arrays rounded: the same draws, and so the same start but
    for rounding.
    """
    if method.precision == "float64":
        return tree

    def rounded(leaf: PyTree) -> PyTree:
        if isinstance(leaf, jax.Array | np.ndarray) and leaf.dtype == np.float64:
            return leaf.astype(method.precision)
        return leaf

    return jax.tree.map(rounded, tree)
