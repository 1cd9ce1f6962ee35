"""How the arithmetic of a run is done: recorded with a run, and no part of its setting."""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.refuse import one_of, whole
from tutelage.settings import LITERAL, PRECISIONS


@dataclass(frozen=True)
class Method:
    """Precision, device, and how many steps are taken one by one.

    After `literal` steps plain gradient descent on an exact risk goes on by gradient flow.
    `device` is a platform, or a platform and a number: "gpu", "cuda:1". None leaves it to JAX.
    """

    precision: str = "float64"
    device: str | None = None
    literal: int = LITERAL

    def __post_init__(self) -> None:
        one_of("precision", self.precision, PRECISIONS)
        literal = whole(
            "literal", self.literal, least=1, reason="gradient flow begins after at least one step"
        )
        object.__setattr__(self, "literal", literal)


USUAL = Method()
