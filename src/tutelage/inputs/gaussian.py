"""Gaussian tokens with any covariance between features and any correlation between positions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Key
from numpy.typing import ArrayLike

from tutelage.inputs.base import Inputs
from tutelage.numerics.draws import normals
from tutelage.refuse import Refused, matrix


class Gaussian(Inputs):
    r"""X = Σ^½ G R^½ with G iid N(0, 1), so that E[X_ia X_jb] = Σ_ij R_ab; Σ and R are the identity
    where not given.

    For any row w and column s the scalar wᵀXs is N(0, wᵀΣw · sᵀRs): all that the closed-form risk
    needs is the pair of symmetric square roots, through which W and S are seen as if the tokens
    were iid.
    """

    feature_root: Float[Array, "d d"] | None
    position_root: Float[Array, "D D"] | None

    def __init__(
        self, covariance: ArrayLike | None = None, correlation: ArrayLike | None = None
    ) -> None:
        self.feature_root = None if covariance is None else _root("covariance", covariance)
        self.position_root = None if correlation is None else _root("correlation", correlation)

    def whiten_rows(self, rows: Float[Array, "M d"]) -> Float[Array, "M d"]:
        """Rows w as they act on iid features: Σ^½ w."""
        return rows if self.feature_root is None else rows @ self.feature_root

    def whiten_columns(self, columns: Float[Array, "D Q"]) -> Float[Array, "D Q"]:
        """Columns s as they act on iid positions: R^½ s."""
        return columns if self.position_root is None else self.position_root @ columns

    def sample(self, tokens: int, dim: int, *, key: Key[Array, ""]) -> Float[Array, "d D"]:
        """One input X, a column a token."""
        self.check_shapes(tokens, dim)
        draw = jax.random.normal(key, (dim, tokens))
        if self.feature_root is not None:
            draw = self.feature_root @ draw.astype(self.feature_root.dtype)
        return (
            draw
            if self.position_root is None
            else draw.astype(self.position_root.dtype) @ self.position_root
        )

    def sample_batch(
        self, count: int, tokens: int, dim: int, dtype: DTypeLike, *, key: Key[Array, ""]
    ) -> Float[Array, "d nD"]:
        """Inputs side by side, from the draws of `numerics/draws.py`."""
        self.check_shapes(tokens, dim)
        draw = normals(key, (dim, count * tokens), dtype)
        if self.feature_root is not None:
            draw = self.feature_root @ draw
        if self.position_root is not None:
            draw = (draw.reshape(-1, tokens) @ self.position_root).reshape(draw.shape)
        return draw

    def check_shapes(self, tokens: int, dim: int) -> None:
        for name, root, size, what in (
            ("covariance", self.feature_root, dim, "features"),
            ("correlation", self.position_root, tokens, "tokens"),
        ):
            if root is not None and root.shape[-1] != size:
                raise Refused(
                    f"`{name}` must be {size}×{size}, since the inputs have {size} {what}. Got "
                    f"shape {root.shape}."
                )


def _root(name: str, given: ArrayLike) -> Float[Array, "n n"]:
    """The symmetric square root of a positive semidefinite matrix."""
    moments = matrix(name, given, reason="it holds second moments")
    if moments.shape[0] != moments.shape[1] or not np.allclose(
        moments, moments.T, rtol=0, atol=1e-12 * np.abs(moments).max()
    ):
        worst = (
            np.abs(moments - moments.T).max() if moments.shape[0] == moments.shape[1] else np.nan
        )
        raise Refused(
            f"`{name}` must be square and symmetric, since it holds second moments. Got shape "
            f"{moments.shape}, entries that differ from "
            f"their mirror image by up to {worst:.3g}."
        )
    values, vectors = np.linalg.eigh((moments + moments.T) / 2)
    # Eigh is accurate to about n·eps of the largest eigenvalue: anything below that is a rounded
    # zero, not a sign.
    if values[0] < -len(values) * np.finfo(float).eps * max(values[-1], 0.0) * 8 or values[-1] <= 0:
        raise Refused(
            f"`{name}` must be positive semidefinite and not zero, since it holds second moments. "
            f"Got eigenvalues from {values[0]:.3g} to {values[-1]:.3g}."
        )
    return jnp.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
