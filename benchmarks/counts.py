"""How many operations and bytes a workload cannot do without, from its formulas; over the measured
rates they give its limit.

An operation is one lane of one vector instruction: a multiply-add, a comparison or a selection each
count one; a division or a square root as many as the slots it takes, SLOW. What is constant during
a run (‖v‖², ‖s*‖²) is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# Four double divisions take about 6.5 cycles on Zen 3, in which two units could begin 13 other
# vector operations
SLOW = 13
# E^x = 2^n(1 + r + …): 11 multiply-adds; x/ln 2 rounded; r; 2^n; its product and the cut-off.
EXPONENTIAL = 11 + 2 + 2 + 2 + 2
SINGLE_EXPONENTIAL = 6 + 2 + 2 + 2 + 1  # the same to seven digits
TANH = 12 + SLOW  # a rational function of degree 13 over 6 in single precision


class Limit(NamedTuple):
    """The least seconds, and what they are spent on."""

    seconds: float
    by: str


def exact_parts(D: int, Q: int, M: int, d: int) -> dict[str, int]:
    """Operations of ∇L and one step of plain descent on the exact ReLU risk, by the parts of
    `profile.exact`.
    """
    # The smaller and the larger side, whether the angle is above π/8, two sums and two selections,
    # a division, the square, 11 multiply-adds, a product, and three times a sum and a selection.
    angle = 2 + 1 + 4 + SLOW + 1 + 11 + 1 + 6
    # Of each pair: A, C (2); area² as a sum of two products (3) and its root; 2∂_A and ∂_C (3); the
    # gradient's four parts on their directions (5 + 5 + 1 + 1 with shared factors) and their four
    # sums.
    slopes = 2 + 3 + SLOW + 3 + 12 + 4
    return {
        "softmax": D
        * Q
        * (
            3 + EXPONENTIAL + 2
        ),  # scaled, its column's largest, less that; e^z; sum; times the reciprocal
        "geometry": (D * Q + M * d) * 4,  # s − s*, ⟨s − s*, s*⟩, s⊥, ‖s⊥‖², and the same of W_V
        "angle": M * Q * angle,
        "slopes and their sums": M * Q * slopes,
        "gradient and step": D * Q * 4
        + M * d * 3,  # xs* + ys⊥ − mean, times s, and the step; W_V has no softmax
    }


def exact_step(D: int, Q: int, M: int, d: int) -> int:
    return sum(exact_parts(D, Q, M, d).values())


def heads_step(n: int, m: int, T: int, d: int) -> tuple[int, int]:
    """Multiply-adds of products, and other operations, of the loss and gradient of m heads on n
    samples of T tokens.
    """
    # x_tᵀ(W_iq), x_tᵀU_i, Σ α x_t and Σ α(u − ū)x_t for each token; W_iq and φ_w qᵀ once a sample.
    products = n * m * T * 4 * d + n * m * 2 * d * d
    # Largest, less that, exponential, sum; αu summed; α(u − ū) in two. Once a sample: tanh and
    # slope, φ scaled, residual.
    others = n * m * T * (3 + SINGLE_EXPONENTIAL + 1 + 2) + n * m * (TANH + 2 + 4 * d)
    return products, others


def gram(n: int, m: int, T: int, d: int) -> tuple[int, int]:
    """The same of the tangent kernel: features of every sample and head, and half of the n × n
    products of 2d + 1 numbers a head.
    """
    products, others = heads_step(n, m, T, d)
    return products + n * (n + 1) // 2 * m * (2 * d + 1), others


def online_step(D: int, M: int, d: int, batch: int) -> int:
    """Multiply-adds of the products of one sampled step: labels and outputs, and back to S and W_V.
    Drawing the batch is not counted.
    """
    # Through V* and W_V and back to W_V; through S* and S, and back to S and to W_V X.
    return batch * (3 * M * d * D + 4 * M * D * D)


def wide_bytes(D: int) -> int:
    """Bytes that one exact step must move where matrices do not fit a cache: W_KQ and S* read, W_KQ
    written.

    A column needs nothing of the others but W_V's gradient, so that its scores could be updated
    while they are in the cache.
    """
    return 3 * 8 * D * D


def elementwise(rates: Mapping[str, float], operations: float, kind: str, threads: int) -> Limit:
    # Of the two ways to measure multiply-adds the faster: the units are the same.
    rate = max(rates[f"elementwise {kind}, {threads}"], rates[f"product {kind}, {threads}"])
    return Limit(
        operations / rate / 1e9,
        f"{operations:.3g} operations, {rate:.0f}·10⁹ a second on {_threads(threads)}",
    )


def moved(rates: Mapping[str, float], size: float, threads: int) -> Limit:
    rate = rates[f"bytes DRAM, {threads}"]
    return Limit(
        size / rate / 1e9, f"{size:.3g} bytes, {rate:.0f}·10⁹ a second on {_threads(threads)}"
    )


def _threads(count: int) -> str:
    return "one thread" if count == 1 else f"{count} threads"
