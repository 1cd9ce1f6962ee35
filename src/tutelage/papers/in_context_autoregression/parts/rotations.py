"""The process: every feature of a token turns by an angle of its own, s_{t+1} = diag(e^{iθ}) s_t,
from s_0 = 1. A token is held as real numbers, first its d real parts and then its d imaginary ones.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Complex, Float, Key

from tutelage.inputs.base import Inputs
from tutelage.refuse import Refused, one_of, whole
from tutelage.teachers.base import Shape, Teacher

PROCESSES = ("unitary", "orthogonal")
MOST_FEATURES = 2**26  # whose pairs are counted exactly by doubles


def join(tokens: Float[Array, "reals m"]) -> Complex[Array, "d m"]:
    """Complex tokens from their real and imaginary parts."""
    half = len(tokens) // 2
    return jax.lax.complex(tokens[:half], tokens[half:])


def split(tokens: Complex[Array, "d ..."]) -> Float[Array, "reals ..."]:
    """The inverse of `join`."""
    return jnp.concatenate([tokens.real, tokens.imag])


def turn(angles: Float[Array, "d"], tokens: int) -> Float[Array, "reals m"]:
    """The tokens s_0, …, s_{m−1} of a process with these angles."""
    turned = jnp.outer(angles, jnp.arange(tokens, dtype=angles.dtype))
    return jnp.concatenate([jnp.cos(turned), jnp.sin(turned)])


class RotatingTokens(Teacher):
    """f*(X) = s_m, the token that follows m of them: with unit features, s_{m−1}² conj(s_{m−2})."""

    dim: int = eqx.field(static=True)
    tokens: int = eqx.field(static=True)
    process: str = eqx.field(static=True)

    def __init__(self, dim: int, tokens: int, process: str) -> None:
        self.dim = whole(
            "dim",
            dim,
            least=1,
            reason="a token has at least one feature",
            most=MOST_FEATURES,
            beyond="pairs of features are counted, exactly up to 2^53",
        )
        self.tokens = whole("tokens", tokens, least=2, reason="two tokens tell an angle")
        self.process = one_of("process", process, PROCESSES)
        if process == "orthogonal" and dim % 2:
            raise Refused(
                "`dim` must be even, since the angles of an orthogonal process come in pairs ±θ. "
                f"Got dim={dim}."
            )

    @property
    def shape(self) -> Shape:
        return Shape(2 * self.dim, 2 * self.dim, self.tokens, 1)

    @property
    def free_angles(self) -> int:
        """How many angles are drawn."""
        return self.dim if self.process == "unitary" else self.dim // 2

    def spread_angles(self, drawn: Float[Array, "free"]) -> Float[Array, "d"]:
        """One angle per feature: those drawn, or each with its negative beside it."""
        if self.process == "unitary":
            return drawn
        return jnp.stack([drawn, -drawn], axis=1).ravel()

    def __call__(self, tokens: Float[Array, "reals m"]) -> Float[Array, "reals"]:
        given = join(tokens)
        return split(given[:, -1] ** 2 * jnp.conj(given[:, -2]))


class Rotations(Inputs):
    """Tokens of a process whose angles are uniform."""

    teacher: RotatingTokens

    def sample(self, tokens: int, dim: int, *, key: Key[Array, ""]) -> Float[Array, "reals m"]:
        drawn = jax.random.uniform(key, (self.teacher.free_angles,), maxval=2 * jnp.pi)
        return turn(self.teacher.spread_angles(drawn), tokens)

    def check_shapes(self, tokens: int, dim: int) -> None:
        if dim != 2 * self.teacher.dim:
            raise Refused(
                "A token must have two numbers per feature, its real and its imaginary part. "
                f"Got {dim} numbers for {self.teacher.dim} features."
            )
