"""The mean squared error over a fixed sample with one label an input: full batch, or one sample a step."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.refuse import Refused


class SquaredLoss(eqx.Module):
    """(1/n)Σ_j (f(X_j) − y_j)², without the ½, as in Arda et al. 2026; `teacher` is who made the labels.

    `errors` are the standard errors that the teacher's pool leaves in the labels, zero where they are exact. Labels carry no noise,
    so that the loss is its own excess. A validation sample, where there is one, is never trained on.
    """

    teacher: Any
    tokens: Float[Array, "n d T"]
    labels: Float[Array, "n"]
    errors: Float[Array, "n"]
    validation_tokens: Float[Array, "k d T"] | None = None
    validation_labels: Float[Array, "k"] | None = None

    fills_a_core = True  # a step goes over the whole sample: runs beside one another in one batch would only crowd the cache

    def __check_init__(self) -> None:
        if self.tokens.ndim != 3 or self.labels.shape != self.tokens.shape[:1] or not len(self.labels):
            raise Refused(
                "A sample needs inputs of shape (n, d, T) with one label each, at least one, since the loss is a mean over them. "
                f"Got shapes {self.tokens.shape} and {self.labels.shape}."
            )

    def __call__(self, student: Any) -> Float[Array, ""]:
        return mean_square(student, self.tokens, self.labels)

    def excess(self, student: Any) -> Float[Array, ""]:
        return self(student)

    def validation(self, student: Any) -> Float[Array, ""]:
        """The same mean over the inputs that are held out."""
        if self.validation_tokens is None or self.validation_labels is None:
            raise Refused("There is no validation sample here. Give the objective `validation`, the number of inputs to hold out.")
        return mean_square(student, self.validation_tokens, self.validation_labels)

    def power(self) -> Float[Array, ""]:
        """(1/n)Σ y_j²: the loss of the zero function, by which losses are divided to be compared."""
        return jnp.mean(self.labels**2)


class SingleSampleLoss(SquaredLoss):
    """The same, where each step descends on the squared error of one sample, drawn with replacement."""

    per_decade = 24  # a measurement goes over the whole sample and costs as much as n steps

    def draw(self, student: Any, *, key: Key[Array, ""]) -> Float[Array, ""]:
        chosen = jax.random.randint(key, (), 0, len(self.labels))
        return (student(self.tokens[chosen]) - self.labels[chosen]) ** 2


def mean_square(student: Any, tokens: Float[Array, "n d T"], labels: Float[Array, "n"]) -> Float[Array, ""]:
    """(1/n)Σ_j (f(X_j) − y_j)²."""
    return jnp.mean((jax.vmap(student)(tokens) - labels) ** 2)
