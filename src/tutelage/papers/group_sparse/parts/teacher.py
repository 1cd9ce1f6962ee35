"""The teacher: a sign that depends on one of D groups of features."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.papers.group_sparse.theory.laws import CODES, code_square
from tutelage.refuse import one_of, whole
from tutelage.teachers.base import Shape, Teacher


class GroupSigns(Teacher):
    """y = sign⟨v*, x_{j*}⟩ of tokens X (d×D), one column per group. Here j* is the first group
    and v* the first unit vector: by symmetry that is no restriction.
    """

    direction: Float[Array, "d"]  # v*
    groups: int = eqx.field(static=True)
    code_square: float = eqx.field(static=True)  # β², of the codes that mark the groups

    def __init__(self, groups: int, dim: int, codes: str) -> None:
        groups = whole("groups", groups, least=2, reason="attention must have a choice")
        dim = whole("dim", dim, least=1, reason="a group has at least one feature")
        one_of("codes", codes, CODES)
        self.direction = jnp.zeros(dim).at[0].set(1.0)
        self.groups, self.code_square = groups, code_square(codes, groups)

    @property
    def shape(self) -> Shape:
        return Shape(1, len(self.direction), self.groups, 1)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, ""]:
        return jnp.where(self.direction @ tokens[:, 0] >= 0, 1.0, -1.0)
