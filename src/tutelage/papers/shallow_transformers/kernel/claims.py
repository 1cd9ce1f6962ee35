"""What the study of the tangent kernel claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tutelage.claims import Claim, Exponent, Number, Ratio
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.labels import ClaimedBy
from tutelage.papers.shallow_transformers.kernel.readings import (
    at_widest,
    by_label_size,
    farthest_in_radii,
    over_prediction,
    points,
    read_most,
    share_of_attention,
)
from tutelage.papers.shallow_transformers.readings import NOT_STOPPED, read_last, read_start
from tutelage.papers.shallow_transformers.theory import kernel as theory
from tutelage.papers.shallow_transformers.theory.approximation import (
    SOURCE,
    hypotheses,
    start_hypotheses,
)

HERE = "derived here (docs/kernel.md)"
# What these exponents are to be told from is a half away or more (−½ from −1 and 0, 2 from 1): a
# tenth does. The distance to descent in K rests on a few directions of chance, the same for all
# widths of a seed, and is second order at m = 16: there two tenths.
EXPONENT_TOLERANCE, CHANCE_TOLERANCE = 0.1, 0.2
# Heads from which 1/m is asked of the drift: its next order, 1/m², is a fifth of it at m = 16.
WIDE = 64.0
LEAST_SHARE = 0.01  # of K_w: what counts as not zero


def no_projection_claim() -> Claim:
    """Descent in a kernel knows no balls, so that the comparison is one only while no head reaches
    its own.
    """
    return Number(
        values=farthest_in_radii,
        value=NOT_STOPPED,
        of="the farthest that any head goes, over its radius,",
        tolerance=0.0,
        side="at most",
        certain=True,
        id="no-projection",
        statement="no head reaches the edge of its ball",
        source=HERE,
        hypotheses=hypotheses,
    )


SAME = "at the last step is what descent in its start's own kernel K_m gives, (I−2ηK_m/n)^τ y"


def own_loss_claim() -> Claim:
    return Ratio(
        read=read_last("loss", "own_loss"),
        value=1.0,
        tolerance=0.01,
        of="the network's training loss over that of descent in K_m",
        id="own-loss",
        statement=f"the training loss {SAME}",
        source=HERE,
        hypotheses=hypotheses,
    )


def own_validation_claim() -> Claim:
    return Ratio(
        read=read_last("validation_loss", "own_validation"),
        value=1.0,
        tolerance=0.01,
        of="the network's validation loss over that of descent in K_m",
        id="own-validation",
        statement=f"the validation loss {SAME}",
        source=HERE,
        hypotheses=hypotheses,
    )


def lazy_claims() -> tuple[Claim, ...]:
    """The network is descent in the kernel of its own start: final losses on both samples, every
    run.
    """
    return own_loss_claim(), own_validation_claim()


def attention_claim() -> Claim:
    return Number(
        values=lambda runs: list(map(share_of_attention, runs)),
        value=LEAST_SHARE,
        of="the share of K_w in the trace of K_m",
        tolerance=0.0,
        side="at least",
        scale="linear",
        id="attention-share",
        statement="K_w ≠ 0: a hundredth of the trace of the kernel, or more, comes from W",
        source=f"{SOURCE}, Remark 8: K_w ≠ 0; the hundredth is asked here",
        claimed_by=ClaimedBy.SHARPER,
        hypotheses=start_hypotheses,
    )


def ridgeless_claim() -> Claim:
    return Ratio(
        read=read_last("validation_loss", "own_ridgeless"),
        value=1.0,
        tolerance=0.05,
        of="the network's validation loss over that of ridgeless regression in K_m",
        id="ridgeless",
        statement=(
            "after long training the validation loss is that of ridgeless regression in K_m"
        ),
        source=HERE,
        hypotheses=hypotheses,
    )


def scale_claim(heads: int) -> Claim:
    return Exponent(
        points=by_label_size,
        exponent=2.0,
        of="the largest distance to descent in K_m, in the size of the labels,",
        tolerance=EXPONENT_TOLERANCE,
        id="own-exponent",
        statement=(
            f"sup_t ‖f_t − f_t^lin‖/‖y‖ ∝ ‖y‖² at m = {heads}: the first power cancels in mirror "
            "images"
        ),
        source=HERE,
        hypotheses=hypotheses,
    )


def width_claims(limit_heads: int) -> tuple[Claim, ...]:
    """How the kernel, the network and the kernel's motion depend on m."""
    return (
        *start_claims(limit_heads),
        *motion_claims(),
        *limit_claims(limit_heads),
        no_projection_claim(),
        *lazy_claims(),
        Number(
            values=at_widest(read_last("validation_loss", "limit_validation")),
            value=1.0,
            of="validation loss over that of descent in K",
            tolerance=0.2,
            id="limit-validation",
            statement=(
                "the validation loss of the widest network is that of descent in the limit kernel K"
            ),
            source=HERE,
            hypotheses=hypotheses,
        ),
    )


def start_claims(limit_heads: int) -> tuple[Claim, ...]:
    """The kernel of the start against its limit."""
    first = read_start("kernel_gap")
    return (
        Exponent(
            points=points(first, chance=True),
            exponent=_fluctuation(limit_heads),
            of="‖K_m−K‖/‖K‖",
            tolerance=EXPONENT_TOLERANCE,
            id="kernel-exponent",
            statement="‖K_m − K‖_F/‖K‖_F ∝ m^(−½) at the start",
            source=HERE,
            hypotheses=hypotheses,
        ),
        Number(
            values=over_prediction(first, lambda s: theory.kernel_gap(s, limit_heads)),
            value=1.0,
            of="‖K_m−K‖ over its predicted root mean square",
            tolerance=0.15,
            id="kernel-constant",
            statement="E‖K_m − K‖_F² = (2/m)Σ_ij Var k_ij, k the kernel of one head",
            source=HERE,
            hypotheses=hypotheses,
        ),
        Number(
            values=lambda runs: [min(float(run.curves["least_share"].min()) for run in runs)],
            value=0.0,
            of="the smallest eigenvalue over the largest, the least of all runs and steps,",
            tolerance=1e-12,
            side="at least",
            certain=True,
            id="positive",
            statement="K is positive semidefinite at every width and step",
            source=HERE,
            derived=True,
            hypotheses=hypotheses,
        ),
        Number(
            values=at_widest(read_start("smallest")),
            value=1.0,
            of="λ_min(K_m)/λ_min(K) at the largest width",
            tolerance=0.0,
            side="at most",
            id="smallest-eigenvalue",
            statement="E λ_min(K_m) ≤ λ_min(K), since λ_min is concave",
            source=HERE,
            hypotheses=hypotheses,
        ),
    )


def motion_claims() -> tuple[Claim, ...]:
    """How far the kernel moves, and how far the network leaves descent in the kernel of its
    start.
    """
    return (
        Exponent(
            points=points(read_last("kernel_drift"), least=WIDE),
            exponent=-1.0,
            of="the drift of the kernel",
            tolerance=EXPONENT_TOLERANCE,
            id="drift-exponent",
            statement=(
                "‖K_t − K_0‖_F/‖K_0‖_F ∝ 1/m: the order m^(−½) cancels between mirror images"
            ),
            source=HERE,
            hypotheses=hypotheses,
        ),
        Exponent(
            points=points(read_most("own_gap")),
            exponent=-1.0,
            of="the largest distance to descent in K_m",
            tolerance=EXPONENT_TOLERANCE,
            id="own-exponent",
            statement="sup_t ‖f_t − f_t^lin‖/‖y‖ ∝ 1/m, f^lin descending in K_m",
            source=HERE,
            hypotheses=hypotheses,
        ),
    )


def limit_claims(limit_heads: int) -> tuple[Claim, ...]:
    """How far the network ends from descent in the limit kernel."""
    last = read_last("limit_gap")
    return (
        Exponent(
            points=points(last, chance=True),
            exponent=_fluctuation(limit_heads),
            of="the distance to descent in K",
            tolerance=CHANCE_TOLERANCE,
            id="limit-exponent",
            statement="‖f_τ − f_τ^K‖/‖y‖ ∝ m^(−½), f^K descending in the limit K",
            source=HERE,
            hypotheses=hypotheses,
        ),
        Number(
            values=over_prediction(last, lambda s: theory.output_gap(s, limit_heads)),
            value=1.0,
            of="‖f−f^K‖ over its predicted root mean square",
            tolerance=0.3,
            id="limit-constant",
            statement="E‖f_τ − f_τ^K‖² is that of the first-order response to K_m − K",
            source=HERE,
            hypotheses=hypotheses,
        ),
    )


def _fluctuation(limit_heads: int) -> Callable[[Sequence[float]], float]:
    """The exponent of √(2/m + 1/P) at the widths of a sweep: the P heads of the limit fluctuate as
    well.
    """
    return lambda axis: fitted_exponent([(m, math.sqrt(2 / m + 1 / limit_heads)) for m in axis])
