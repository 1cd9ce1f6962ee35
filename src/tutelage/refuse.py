"""How tutelage refuses bad input: the rule, the reason, and what was received.

Nothing here imports JAX or NumPy until an array is looked at, so that a wrong word on the command
line is answered at once.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class Refused(ValueError):
    """Input that breaks a rule; the message is a sentence meant for the person who gave it."""


class Newer(Refused):
    """Something stored that a newer version wrote: not read here, and never written over."""


def reason(error: BaseException) -> str:
    """One line that says why."""
    if isinstance(error, Refused):
        return str(error)
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def one_of(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is a known one; otherwise an error that suggests the nearest."""
    known = list(known)
    if name in known:
        return name
    known.sort()
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    raise Refused(f"There is no {kind} named {name!r}.{hint} Known: {', '.join(known)}.")


def whole(name: str, value: object, *, least: int, reason: str) -> int:
    """`value` as an integer that is at least `least`; 1e5 will do for 100000."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise Refused(
            f"`{name}` must be a whole number of at least {least}, since {reason}. Got "
            f"{name}={value!r}."
        )
    return int(value)


def positive(name: str, value: object, *, reason: str, zero: bool = False) -> float:
    """`value` as a finite float that is positive (or zero where `zero` allows it)."""
    rule = "zero or a positive" if zero else "a positive"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Refused(f"`{name}` must be {rule} number, since {reason}. Got {name}={value!r}.")
    if not _is_finite(value) or value < 0 or (value == 0 and not zero):
        raise Refused(
            f"`{name}` must be {rule} finite number, since {reason}. Got {name}={value!r}."
        )
    return float(value)


def _is_finite(value: Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float holds
        return False


def matrix(name: str, value: object, *, reason: str) -> np.ndarray:
    """`value` as a finite two-dimensional float64 array."""
    import numpy as np

    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiub":  # complex numbers, words and objects are not meant
            raise TypeError
        array = given.astype(np.float64)
    except (TypeError, ValueError):
        raise Refused(
            f"`{name}` must be a matrix of numbers, since {reason}. Got {value!r}."
        ) from None
    if array.ndim != 2 or array.size == 0:
        raise Refused(
            f"`{name}` must be a matrix (two dimensions, not empty), since {reason}. Got shape "
            f"{array.shape}."
        )
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise Refused(f"`{name}` must be finite, since {reason}. Got {array[where]} at {where}.")
    return array


def yes_or_no(name: str, given: object, *, reason: str) -> bool:
    """True or False itself; "no" is not taken for either."""
    if not isinstance(given, bool):
        raise Refused(f"`{name}` must be true or false, since {reason}. Got {name}={given!r}.")
    return given
