"""What a part needs of the teacher or the inputs that it goes with."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tutelage.refuse import Refused

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.teachers.base import Teacher

Kind = TypeVar("Kind")


def require(
    given: Teacher | Inputs, kind: type[Kind], *, part: str, needed: str, reason: str
) -> Kind:
    """`given`, if it is of that kind. `needed` says how a user would ask for it."""
    if not isinstance(given, kind):
        raise Refused(f"The {part} needs {needed}, since {reason}. Got a {type(given).__name__}.")
    return given
