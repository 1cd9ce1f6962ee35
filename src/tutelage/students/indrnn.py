"""A recurrent layer whose units do not talk to one another: the rival of the shallow transformer in
Arda et al. 2026.
"""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation, activation
from tutelage.numerics.compiling import SOON
from tutelage.refuse import Refused, one_of, positive, whole
from tutelage.students.base import Student

SIGNS = ("random", "positive")


class Units(eqx.Module):
    """The parameters of m units, or anything with one entry for each: `reading` is W_in (m×d),
    `recurrence` u (m), `output` c (m).
    """

    reading: Float[Array, "m d"]
    recurrence: Float[Array, "m"]
    output: Float[Array, "m"]


class IndRNN(Student):
    r"""f(X) = m^(−½) Σ_i c_i h_{T,i}, where h_t = σ(W_in x_t + u⊙h_{t−1}) and h_0 = 0; W_in, u and
    c are all trained.

    Unit i sees only its own past, through the one number u_i (Li et al. 2018). The factor m^(−½)
    and the start are those of the shallow transformer, so that the two differ in how they read the
    tokens and in nothing else. `units` are the parameters now and `start` those it began with,
    which training leaves alone.
    """

    units: Units
    start: Units
    activation: Activation = eqx.field(static=True)

    @property
    def fixed(self) -> tuple[str, ...]:
        return ("start",)

    @classmethod
    def symmetric(
        cls,
        heads: int,
        dim: int,
        *,
        recurrent: float,
        key: Key[Array, ""],
        signs: str = "random",
        scale: float = 1.0,
        activation_name: str | Activation = "tanh",
    ) -> IndRNN:
        """W_in ~ N(0, scale²), every |u_i| = `recurrent`, c = ±1 for half of the units; the other
        half copies them with c negated.
        """
        heads = whole(
            "heads", heads, least=2, reason="each unit of the symmetric start has a mirror image"
        )
        if heads % 2:
            raise Refused(
                "`heads` must be even, since each unit of the symmetric start has a mirror "
                f"image. Got heads={heads}."
            )
        recurrent = positive(
            "recurrent",
            recurrent,
            reason="it is the size of every recurrent weight at the start",
            zero=True,
        )
        scale = positive(
            "scale", scale, reason="it is the standard deviation of the input weights at the start"
        )
        one_of("kind of signs", signs, SIGNS)
        reading, sign, output = (np.asarray(leaf) for leaf in _drawn(key, heads // 2, dim))
        recurrence = recurrent * (sign if signs == "random" else np.ones_like(sign))
        halves = ((scale * reading,) * 2, (recurrence,) * 2, (output, -output))
        first = Units(*(jnp.asarray(np.concatenate(two)) for two in halves))
        return cls(first, first, activation(activation_name))

    def advance(self, hidden: Float[Array, "m"], token: Float[Array, "d"]) -> Float[Array, "m"]:
        """h_t from h_{t−1} and x_t: all that must be kept between two tokens is h."""
        return self.activation(self.units.reading @ token + self.units.recurrence * hidden)

    def read(self, hidden: Float[Array, "m"]) -> Float[Array, ""]:
        """m^(−½) Σ_i c_i h_i."""
        return self.units.output @ hidden / jnp.sqrt(float(len(self.units.output)))

    def hidden(self, tokens: Float[Array, "d T"]) -> Float[Array, "m"]:
        """h_T."""
        last, _ = jax.lax.scan(
            lambda h, x: (self.advance(h, x), None), jnp.zeros(len(self.units.output)), tokens.T
        )
        return last

    def states(
        self, tokens: Float[Array, "d T"]
    ) -> tuple[Float[Array, "T m"], Float[Array, "T m"]]:
        """h_t and σ′ at every token."""

        def step(h: Float[Array, "m"], x: Float[Array, "d"]) -> tuple[Array, tuple[Array, Array]]:
            z = self.units.reading @ x + self.units.recurrence * h
            new, slope = jax.jvp(self.activation, (z,), (jnp.ones_like(z),))
            return new, (new, slope)

        return jax.lax.scan(step, jnp.zeros(len(self.units.output)), tokens.T)[1]

    def __call__(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        return self.read(self.hidden(tokens))

    def gradient(self, tokens: Float[Array, "d T"]) -> Units:
        r"""∇f(X) in all parameters, by recursion forwards in time.

        With s = σ′(W_in x_t + u⊙h_{t−1}):  ∂h_t/∂u = s⊙(h_{t−1} + u⊙∂h_{t−1}/∂u),  ∂h_t/∂W_in =
        s⊙(x_t + u⊙∂h_{t−1}/∂W_in). A unit depends on its own row alone, so that this is exact and
        carries m(d+2) numbers whatever T is (real-time recurrent learning).
        """
        W, u = self.units.reading, self.units.recurrence

        def step(
            carry: tuple[Array, Array, Array], x: Float[Array, "d"]
        ) -> tuple[tuple[Array, Array, Array], None]:
            h, in_u, in_w = carry
            z = W @ x + u * h
            new, s = jax.jvp(self.activation, (z,), (jnp.ones_like(z),))
            return (new, s * (h + u * in_u), s[:, None] * (x[None] + u[:, None] * in_w)), None

        (h, in_u, in_w), _ = jax.lax.scan(
            step, (jnp.zeros_like(u), jnp.zeros_like(u), jnp.zeros_like(W)), tokens.T
        )
        root = jnp.sqrt(float(len(u)))
        signed = self.units.output / root
        return Units(signed[:, None] * in_w, signed * in_u, h / root)


@partial(jax.jit, static_argnames=("count", "dim"), compiler_options=SOON)
def _drawn(key: Key[Array, ""], count: int, dim: int) -> tuple[Array, Array, Array]:
    """Standard normal W_in, and two signs a unit. A key a unit: a wider draw begins with the
    narrower one.
    """

    def one(number: Array) -> tuple[Array, Array, Array]:
        first, second, third = jax.random.split(jax.random.fold_in(key, number), 3)
        sign, output = (jax.random.rademacher(which, (), jnp.float64) for which in (second, third))
        return jax.random.normal(first, (dim,)), sign, output

    return jax.vmap(one)(jnp.arange(count))
