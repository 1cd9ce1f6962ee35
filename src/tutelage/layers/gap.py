r"""What no position-only student can explain: the nearest Kronecker product to E[Y⊗X].

For centred Gaussian tokens with E[X_ia X_jb] = Σ_ij R_ab a linear student VXS + const has
E‖Y−VXS‖² = E‖Y−EY‖² − 2⟨C, V⊗S⟩ + ‖V⊗S‖², in whitened coordinates, with C = E[(Y−EY)⊗X]. The best
student of H heads is the best rank-H approximation of C rearranged as in `heads.py`, and leaves
E‖Y−EY‖² − σ₁² − … − σ_H². Weights may be of any sign here, so that a softmax explains no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.inputs.gaussian import Gaussian
from tutelage.layers.heads import rearrange

Tensor = Float[np.ndarray, "M Q d D"]
MOST_HEADS = 4
# Directions in which inputs vary less, relative to the largest, are not fitted: pixels that are
# nearly always black would be given any weight.
NEGLIGIBLE = 1e-2
ROUNDS = 50  # of alternating least squares


@dataclass(frozen=True)
class Gap:
    """Shares of E‖Y−EY‖² that the best linear position-only students leave, by heads."""

    left: tuple[float, ...]  # after one head, two, … as far as it is known
    low: float  # after one head: of a student that is judged on its own inputs
    high: float  # after one head: on fresh inputs, with two standard errors
    linear: float | None  # after any linear map; None where it is not known

    @property
    def one_head(self) -> float:
        return self.left[0]


def gaussian_gap(
    law: Gaussian,
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    slope: Tensor,
) -> Gap:
    """From a sample in two halves: a student is fitted to one and judged on the other.

    `slope` is a mean Jacobian of other inputs. By Stein's lemma C is E[∂f/∂X] in whitened
    coordinates; what the sample says beyond that is added, with less noise than C itself has.
    """
    rows = _root(law.feature_root, tokens.shape[1])
    columns = _root(law.position_root, tokens.shape[2])
    white = np.linalg.pinv(rows) @ tokens @ np.linalg.pinv(columns)
    flat_slope = np.einsum("ia,mqij,jb->mqab", rows, slope, columns)
    linear_part = np.einsum("mqij,nij->nmq", flat_slope, white, optimize=True)
    rest = labels - linear_part
    rest -= rest.mean(0)[None]
    half = len(tokens) // 2
    halves = [
        flat_slope + _moments(rest[part], white[part])
        for part in (slice(0, half), slice(half, 2 * half))
    ]
    # E‖Y − EY‖², of which the square of the linear part is known exactly.
    beyond = np.sum(rest**2 + 2 * rest * linear_part, (1, 2))
    total = float(np.sum(flat_slope**2) + np.mean(beyond))
    if total <= 0:
        return Gap((0.0,), 0.0, 0.0, 0.0)
    first, second = map(rearrange, halves)
    left = 1 - 0.5 * (_gained(first, second) + _gained(second, first)) / total
    V, S = _largest(0.5 * (first + second))
    inside = 1 - float(np.sum(V**2)) / total
    # The error of ⟨V⊗S, C⟩ for the fitted pair, from the spread of its terms over inputs.
    M, _, d, D = flat_slope.shape
    fitted = V.reshape(M, d) @ white @ S.reshape(D, -1)
    spread = np.sum(rest * fitted, (1, 2))
    error = 2 * float(spread.std()) / (len(spread) ** 0.5 * total)
    linear = 1 - float(np.sum(first * second)) / total
    return Gap(
        tuple(_clip(each) for each in np.minimum.accumulate(left)),
        _clip(min(inside, left[0])),
        _clip(left[0] + 2 * error),
        _clip(linear),
    )


def _moments(Y: Float[np.ndarray, "n M Q"], X: Float[np.ndarray, "n d D"]) -> Tensor:
    """The mean of Y⊗X."""
    flat = Y.reshape(len(Y), -1).T @ X.reshape(len(X), -1) / len(X)
    return flat.reshape(*Y.shape[1:], *X.shape[1:])


def _clip(left: float) -> float:
    return float(min(max(left, 0.0), 1.0))


def _root(root: object, size: int) -> Float[np.ndarray, "s s"]:
    return np.eye(size) if root is None else np.asarray(root)


def _gained(
    fitted: Float[np.ndarray, "a b"], judged: Float[np.ndarray, "a b"]
) -> Float[np.ndarray, "heads"]:
    """How much the best student of one head, two, … for one half explains of the other."""
    left, values, right = np.linalg.svd(fitted, full_matrices=False)
    most = min(MOST_HEADS, len(values))
    met = np.einsum("ah,ab,hb->h", left[:, :most], judged, right[:most], optimize=True)
    return np.cumsum(2 * values[:most] * met - values[:most] ** 2)


def _largest(
    matrix: Float[np.ndarray, "a b"],
) -> tuple[Float[np.ndarray, "a"], Float[np.ndarray, "b"]]:
    """The first singular pair; the value is with the left vector."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return values[0] * left[:, 0], right[0]


def sampled_gap(tokens: Float[np.ndarray, "n d D"], labels: Float[np.ndarray, "n M Q"]) -> Gap:
    """For any inputs: V and S by turns of least squares, from the Van Loan start, on one half of
    the sample; judged on the other half.
    """
    half = len(tokens) // 2
    parts = (slice(0, half), slice(half, len(tokens)))
    found = []
    for fit, judge in (parts, parts[::-1]):
        mean_x, mean_y = tokens[fit].mean(0), labels[fit].mean(0)
        X, Y = tokens[fit] - mean_x, labels[fit] - mean_y
        V, S = _alternate(X, Y)
        inside = _left(X, Y, V, S)
        errors = np.sum((labels[judge] - mean_y - V @ (tokens[judge] - mean_x) @ S) ** 2, (1, 2))
        spread = float(np.mean(np.sum((labels[judge] - labels[judge].mean(0)) ** 2, (1, 2))))
        found.append((inside, errors / spread if spread > 0 else 0 * errors))
    outside = np.concatenate([errors for _, errors in found])
    left = float(outside.mean())
    error = float(outside.std()) / len(outside) ** 0.5
    low = min(float(np.mean([inside for inside, _ in found])), left)
    return Gap((_clip(left),), _clip(low), _clip(left + 2 * error), None)


def _left(
    X: Float[np.ndarray, "n d D"],
    Y: Float[np.ndarray, "n M Q"],
    V: Float[np.ndarray, "M d"],
    S: Float[np.ndarray, "D Q"],
) -> float:
    total = float(np.sum(Y**2))
    return float(np.sum((Y - V @ X @ S) ** 2)) / total if total > 0 else 0.0


def _alternate(
    X: Float[np.ndarray, "n d D"], Y: Float[np.ndarray, "n M Q"]
) -> tuple[Float[np.ndarray, "M d"], Float[np.ndarray, "D Q"]]:
    M, d, D, Q = Y.shape[1], X.shape[1], X.shape[2], Y.shape[2]
    S = _largest(rearrange(_moments(Y, X)))[1].reshape(D, Q)
    V = np.zeros((M, d))
    before = np.inf
    for _ in range(ROUNDS):
        pooled = (X @ S).transpose(0, 2, 1).reshape(-1, d)
        V = np.linalg.lstsq(pooled, Y.transpose(0, 2, 1).reshape(-1, M), rcond=NEGLIGIBLE)[0].T
        mixed = (V @ X).reshape(-1, D)
        S = np.linalg.lstsq(mixed, Y.reshape(-1, Q), rcond=NEGLIGIBLE)[0]
        left = _left(X, Y, V, S)
        if left >= before * (1 - 1e-6):
            break
        before = left
    return V, S
