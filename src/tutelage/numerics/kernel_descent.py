"""Kernel regression, and gradient descent on a network that is linear in its parameters: both in
closed form, with nothing fitted.

Such a network, started at f = 0 and trained on (1/n)Σ(f − y)² by steps of size η, has the outputs
f_t = y − (I − 2ηK/n)^t y on its n inputs, where K is the Gram matrix of its gradients. With K =
UΛUᵀ every t costs one product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from tutelage.refuse import Refused, positive


@dataclass(frozen=True)
class KernelDescent:
    """f_t = y − (I − 2ηK/n)^t y on the sample and k(x, X)·α_t elsewhere, α_t = (2η/n)Σ_{s<t}(y −
    f_s).
    """

    kernel: Float[np.ndarray, "n n"]
    labels: Float[np.ndarray, "n"]
    rate: float

    def __post_init__(self) -> None:
        n = len(self.labels)
        if self.kernel.shape != (n, n) or not np.allclose(
            self.kernel, self.kernel.T, rtol=0, atol=1e-10 * np.abs(self.kernel).max()
        ):
            raise Refused(
                f"`kernel` must be symmetric with a row for each of the {n} labels. Got shape "
                f"{self.kernel.shape}."
            )
        positive("rate", self.rate, reason="a step of gradient descent moves against the gradient")

    @cached_property
    def _spectrum(self) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n n"]]:
        values, basis = np.linalg.eigh((self.kernel + self.kernel.T) / 2)
        return values, basis

    @property
    def eigenvalues(self) -> Float[np.ndarray, "n"]:
        """Of K, ascending."""
        return self._spectrum[0]

    @property
    def basis(self) -> Float[np.ndarray, "n n"]:
        """U, a column an eigenvector."""
        return self._spectrum[1]

    @property
    def largest_rate(self) -> float:
        """n/λ_max: above it the residual along the first eigenvector grows."""
        return len(self.labels) / float(self.eigenvalues[-1])

    def left(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times n"]:
        """(1 − 2ηλ/n)^t, the share of the label left along each eigenvector."""
        # By whole powers and not by logarithms: 1 − 2ηλ/n is negative where the step is large.
        base = 1 - 2 * self.rate * self.eigenvalues / len(self.labels)
        return np.power(base[None], np.asarray(steps, float)[:, None])

    def residual(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times n"]:
        """y − f_t."""
        return (self.left(steps) * (self.basis.T @ self.labels)) @ self.basis.T

    def outputs(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times n"]:
        """f_t on the sample."""
        return self.labels - self.residual(steps)

    def loss(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times"]:
        """(1/n)Σ(f_t − y)²."""
        return np.mean((self.left(steps) * (self.basis.T @ self.labels)) ** 2, axis=1)

    def predict(
        self, cross: Float[np.ndarray, "k n"], steps: Int[np.ndarray, "times"]
    ) -> Float[np.ndarray, "times k"]:
        """f_t on other inputs, of which `cross` holds k(x, X_j)."""
        return self._dual(steps) @ cross.T

    def averaged_loss(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times"]:
        """The loss of the averaged iterate (1/t)Σ_{s<t} θ_s, t ≥ 1: f is linear in θ, so that its
        residual is the mean of theirs.
        """
        share = self._summed(steps) / np.asarray(steps, float)[:, None]
        return np.mean((share * (self.basis.T @ self.labels)) ** 2, axis=1)

    def at(self, rate: float) -> KernelDescent:
        """The same with another step size, without another eigen-decomposition."""
        other = replace(self, rate=rate)
        other.__dict__["_spectrum"] = self._spectrum
        return other

    def _dual(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times n"]:
        """α_t = (2η/n)·Σ_{s<t}(y − f_s)."""
        return (
            2 * self.rate / len(self.labels) * self._summed(steps) * (self.basis.T @ self.labels)
        ) @ self.basis.T

    def _summed(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times n"]:
        """Σ_{s<t} z^s along each eigenvector, z = 1 − 2ηλ/n, which is t where λ vanishes."""
        part = 2 * self.rate * self.eigenvalues / len(self.labels)  # 1 − z
        times = np.asarray(steps, float)[:, None]
        # There 1 − z^t is taken from logarithms, lest it cancel; beyond, z may be negative and has
        # none.
        near = part < 0.5
        safe = np.where(near & (part != 0), part, 0.25)
        summed = np.where(
            near,
            -np.expm1(times * np.log1p(-safe)) / safe,
            (1 - np.power(1 - part, times)) / np.where(near, 1.0, part),
        )
        return np.where(part == 0, times, summed)

    def response(self, step: int) -> Float[np.ndarray, "n n"]:
        """B with UᵀδU weighed by it and summed over j: how −f_t moves along u_i when K moves by δ.

        For r = g(K)y with g(λ) = (1 − 2ηλ/n)^t the derivative along δ is U(Γ∘UᵀδU)Uᵀy, where Γ_ij =
        (g_i − g_j)/(λ_i − λ_j) and g′(λ_i) on the diagonal (Daleckii and Krein); B_ij =
        Γ_ij·(Uᵀy)_j. The quotient is summed as −(2η/n)Σ_s z_i^s z_j^(t−1−s), in closed form where
        the two differ enough to divide.
        """
        n = len(self.labels)
        z = 1 - 2 * self.rate * self.eigenvalues / n
        gap = z[:, None] - z[None, :]
        middle = (z[:, None] + z[None, :]) / 2
        power = np.power(z, step)
        near = np.abs(gap) < 1e-6
        # Where they nearly agree the mean-value point is the middle, up to the square of the gap.
        quotient = np.where(
            near,
            step * np.power(middle, step - 1),
            (power[:, None] - power[None, :]) / np.where(near, 1.0, gap),
        )
        return -2 * self.rate / n * quotient * (self.basis.T @ self.labels)


def ridge(
    kernel: Float[np.ndarray, "n n"],
    labels: Float[np.ndarray, "n"],
    cross: Float[np.ndarray, "k n"],
    penalty: float = 0.0,
) -> Float[np.ndarray, "k"]:
    """k(x, X)(K + nρI)^(−1) y: what minimises (1/n)Σ(f − y)² + ρ‖f‖²; at ρ = 0 the limit t → ∞ of
    descent, by the pseudo-inverse.
    """
    penalty = positive("penalty", penalty, reason="a negative one would reward size", zero=True)
    values, basis = np.linalg.eigh((kernel + kernel.T) / 2)
    shifted = values + len(labels) * penalty
    # Eigenvalues below rounding are zeros, along which a kernel has no functions.
    kept = shifted > len(labels) * np.finfo(float).eps * values[-1]
    return np.asarray(
        cross
        @ (basis @ (np.where(kept, 1 / np.where(kept, shifted, 1.0), 0.0) * (basis.T @ labels)))
    )
