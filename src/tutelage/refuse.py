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

SEEDS = 2**63  # below which seeds are
MOST_BITS_SHOWN = 256  # of a whole number; Python itself refuses to write one of 15,000
MOST_LISTED = 20  # names such as `paper/study`; of more, only the papers
MOST_SHOWN = 160  # characters of what was received


class Refused(ValueError):
    """Input that breaks a rule; the message is a sentence meant for the person who gave it."""


class Newer(Refused):
    """Something stored that a newer version wrote: not read here, and never written over."""


# What a user's own code may raise without ending the work on everything else: a part that calls
# `sys.exit` has failed like any other.
OWN_ERRORS = (Exception, SystemExit)


def reason(error: BaseException) -> str:
    """One line that says why."""
    if isinstance(error, Refused):
        return str(error)
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def is_whole(text: str) -> bool:
    """Whether a text is a whole number in plain digits, which `str.isdigit` also says of "²"; more
    than 18 of them count nothing that there is.
    """
    return text.isascii() and text.isdigit() and len(text) <= 18


def one_of(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is a known one; otherwise an error that suggests the nearest."""
    known = list(known)
    if name in known:
        return name
    known.sort()
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    listed = ", ".join(_shorten(known))
    raise Refused(f"There is no {kind} named {name!r}.{hint} Known: {listed}.")


def _shorten(names: list[str]) -> list[str]:
    """The same names, or `paper/…` for all of a paper where they are many."""
    if len(names) <= MOST_LISTED:
        return names
    groups = sorted({each.partition("/")[0] + "/…" * ("/" in each) for each in names})
    return [each for each in groups if f"{each}/…" not in groups]


def one_of_paths(kind: str, name: str, known: Iterable[str]) -> str:
    """The same of names such as `paper/study`, whose last word is enough where only one has it."""
    known = sorted(known)
    if name in known or "/" in name:
        return one_of(kind, name, known)
    ends = {each: each.rpartition("/")[2] for each in known}
    same = [each for each in known if ends[each] == name]
    if len(same) == 1:
        return same[0]
    if same:
        raise Refused(
            f"A {kind} needs its full name where several end in the same word. Got {name!r}, "
            f"which may be {' or '.join(same)}."
        )
    near = difflib.get_close_matches(name, sorted({*ends.values()} - {*known}), n=3, cutoff=0.7)
    meant = [each for each in known if ends[each] in near]
    if meant:
        raise Refused(f"There is no {kind} named {name!r}. Did you mean {' or '.join(meant)}?")
    return one_of(kind, name, known)


def whole(
    name: str, value: object, *, least: int, reason: str, most: int | None = None, beyond: str = ""
) -> int:
    """`value` as an integer from `least` to `most`; 1e5 will do for 100000. `reason` says why it
    has a least value, and `beyond` why a largest.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise Refused(
            f"`{name}` must be a whole number of at least {least}, since {reason}. Got "
            f"{name}={show(value)}."
        )
    if most is not None and int(value) > most:
        raise Refused(
            f"`{name}` must be at most {most:,}, since {beyond}. Got {name}={show(value)}."
        )
    return int(value)


def whole_seed(value: object, name: str = "seed") -> int:
    """`value` as a seed of random streams."""
    number = whole(name, value, least=0, reason="it seeds the random streams")
    if number >= SEEDS:
        raise Refused(
            f"`{name}` must be below 2^63, since random streams are told apart by 64 bits and "
            f"larger seeds would repeat them. Got {name}={show(number)}."
        )
    return number


def share(name: str, value: object, *, reason: str) -> float:
    """`value` as a float in [0, 1)."""
    if isinstance(value, Real) and not isinstance(value, bool) and is_finite(value):
        number = float(value)
        if 0 <= number < 1:
            return number
    raise Refused(f"`{name}` must be in [0, 1), since {reason}. Got {name}={show(value)}.")


def positive(name: str, value: object, *, reason: str, zero: bool = False) -> float:
    """`value` as a finite float that is positive (or zero where `zero` allows it)."""
    rule = "zero or a positive" if zero else "a positive"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Refused(f"`{name}` must be {rule} number, since {reason}. Got {name}={show(value)}.")
    if not is_finite(value) or value < 0 or (value == 0 and not zero):
        raise Refused(
            f"`{name}` must be {rule} finite number, since {reason}. Got {name}={show(value)}."
        )
    return float(value)


def finite(name: str, value: object, *, reason: str) -> float:
    """`value` as a finite float of either sign."""
    if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
        raise Refused(
            f"`{name}` must be a finite number, since {reason}. Got {name}={show(value)}."
        )
    return float(value)


def is_finite(value: Real | float) -> bool:
    """Whether a float can hold it."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float holds
        return False


def show(value: object) -> str:
    """What was received, in at most a line or two."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS_SHOWN:
        return f"a number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}… ({len(text):,} characters)"


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
