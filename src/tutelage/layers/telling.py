"""The answer about a layer, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tutelage.claims.verdict import Status

if TYPE_CHECKING:
    from tutelage.layers.found import Found


def tell(found: Found) -> str:
    """What it is, how sure that is, and what follows."""
    return " ".join(
        said
        for said in (
            _tell_answer(found),
            _tell_mass(found),
            found.residual_connection,
            _tell_gap(found),
            _tell_explained(found),
            *found.notes,
        )
        if said
    )


def _tell_answer(found: Found) -> str:
    failing = next((fact for fact in found.facts if fact.status not in (Status.HOLDS, None)), None)
    sigma = found.activation.name if found.activation is not None else "an unknown function"
    if failing is not None and failing.interval is not None:
        low, high = failing.interval
        head = (
            f"It has {found.heads} heads, and the best one leaves {found.left_by_heads[0]:.2g}. "
            if found.heads and found.heads > 1
            else ""
        )
        return (
            f"Not in the class σ(VXS): {failing.name} leaves {failing.residual:.2g} "
            f"[{low:.2g}, {high:.2g}]. {head}{found.kind.value}"
        )
    worst = max((f.residual or 0.0 for f in found.facts), default=0.0)
    form = f"It is {sigma}(VXS)" + (" up to a bias" if found.biased else "")
    said = f"{form}, to a squared residual of {worst:.1g}."
    if found.selection is not None and (found.selection < 0).any():
        least = found.selection.min()
        return f"{said} But S has weights down to {least:.2g}, and those of a softmax are not."
    if found.column_sums is not None and not found.equal_sums:
        low, high = found.column_sums
        return (
            f"{said} But the columns of S sum to {low:.2f}–{high:.2f}, and those of a softmax to "
            "1: no student of the class is it."
        )
    return said


def _tell_mass(found: Found) -> str:
    if found.mass is None:
        return ""
    if found.differing:
        return (
            f"The form differs from the layer on {found.differing} of {found.fresh:,} fresh inputs "
            f"(at most {found.mass:.1%} of the input law)."
        )
    return (
        f"It agrees with the layer on {found.fresh:,} fresh inputs, so that at most "
        f"{found.mass:.2%} of the input law can differ (95%)."
    )


def _tell_gap(found: Found) -> str:
    gap = found.gap
    if not np.isfinite(gap.one_head):
        return ""
    return (
        f"The best linear position-only head leaves {gap.one_head:.2g} of the outputs' variance "
        f"[{gap.low:.2g}, {gap.high:.2g}]."
    )


def _tell_explained(found: Found) -> str:
    if found.explained is None:
        return ""
    low, high = found.explained.interval
    steps = int(found.explained.run.steps[-1])
    where = "on the exact risk" if found.explained.exact else "on samples"
    return (
        f"A position-attention student, trained {where} for {steps:,} steps, explains "
        f"{found.explained.share:.4g} of it [{low:.4g}, {high:.4g}]."
    )
