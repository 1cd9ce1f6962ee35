"""What is claimed of independent angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float

from tutelage.claims import Exponent, Measured, Number, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_CODE,
    FROM_MEMORY,
    fitted_slope,
    hypotheses,
    hypotheses_of_process,
    predict_level,
    predict_level_from_zero,
    start_of,
)
from tutelage.papers.in_context_autoregression.theory.minima import (
    contraction_per_step,
    unitary_floor,
)
from tutelage.run import Run
from tutelage.settings import Setting

ROUNDING = 1e-10  # of what must vanish, some orders above what rounding leaves
STORED_LEVEL = -1.201801  # c of the arrays that the authors stored, as our notes read them
# The stretch of losses in which their contraction is read: after the start, before rounding.
HIGHEST_LOSS, LOWEST_LOSS = 1e-6, 1e-20


def read_level(run: Run) -> float:
    """|c| at the end."""
    return abs(float(run.curves["level"][-1]))


def read_contraction(run: Run) -> float:
    """The change of log L in a step, between two losses close to the end."""
    loss = run.curves["prefix_loss"]
    late = (loss < HIGHEST_LOSS) & (loss > LOWEST_LOSS)
    if late.sum() < 4:
        raise NotYet("Too short to tell: the loss has not come close to zero.")
    return fitted_slope(run.steps[late].astype(float), np.log(loss[late]))


def predict_contraction(setting: Setting) -> float:
    """2 log(1 − 2ηdc²), c by the conservation law."""
    dim = start_of(setting).teacher.dim
    return contraction_per_step(dim, predict_level(setting), setting.rate)


def predict_contraction_from_zero(setting: Setting) -> float:
    """The same with c of a vanishing start."""
    dim = start_of(setting).teacher.dim
    return contraction_per_step(dim, predict_level_from_zero(setting), setting.rate)


def departures(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(step size, | |c|/law − 1 |, seed) of every run."""
    found = []
    for run in runs:
        assert run.setting is not None
        departure = abs(read_level(run) / predict_level(run.setting) - 1)
        found.append((run.setting.rate, departure, run.setting.seed))
    return found


def worst_at_end(runs: Sequence[Run], curve: str) -> list[float]:
    """The largest size of a curve at the end of any run."""
    return [max(abs(float(run.curves[curve][-1])) for run in runs)]


def signed_levels(runs: Sequence[Run]) -> list[float]:
    return [float(run.curves["level"][-1]) for run in runs]


def read_floor(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`floor_miss`: the loss of a prefix less d − H."""
    assert run.setting is not None
    start = start_of(run.setting)
    floor = unitary_floor(start.teacher.dim, start.heads)
    return {"floor_miss": run.curves["prefix_loss"] - floor}


def read_formula(run: Run) -> float:
    return float(run.curves["formula"][-1])


def enumerated_over_formula(run: Run) -> float:
    """The loss by enumeration over what the objective says."""
    return float(run.curves["enumerated"][-1]) / read_formula(run)


LEVEL = Ratio(
    read_level,
    predict_level,
    0.003,
    of="|c|",
    certain=True,
    id="level",
    statement="|c| is what the conservation law gives from the start, within 0.3%",
    source=DERIVED,
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
)
LIMIT = replace(
    LEVEL,
    value=predict_level_from_zero,
    id="limit",
    statement="|c| = (R/d)^(1/3) within 0.3%",
)
ORTHOGONAL = Number(
    partial(worst_at_end, curve="head_overlap"),
    0.0,
    "the largest head_overlap at the end",
    ROUNDING,
    "at most",
    certain=True,
    id="heads",
    statement="heads become orthogonal: BᵀA = cI",
    source=f"the theorem on unitary processes, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
NEWEST = Number(
    partial(worst_at_end, curve="newest_miss"),
    0.0,
    "the largest newest_miss at the end",
    ROUNDING,
    "at most",
    certain=True,
    id="newest",
    statement="the newest token has the weight p = 1/c in every prefix",
    source=f"the theorem on unitary processes, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
OLDER = Number(
    partial(worst_at_end, curve="older_weight"),
    0.0,
    "the largest older_weight at the end",
    ROUNDING,
    "at most",
    certain=True,
    id="older",
    statement="all other tokens have the weight 0",
    source=f"the theorem on unitary processes, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
CONTRACTION = Ratio(
    read_contraction,
    predict_contraction,
    0.02,
    of="the change of log L in a step",
    certain=True,
    id="contraction",
    statement="the loss falls exponentially at the end, by 2 log(1 − 2ηdc²) a step, within 2%",
    source=DERIVED,
    hypotheses=hypotheses,
)
LINEAR = Exponent(
    departures,
    1.0,
    of="the departure of |c| from the law",
    tolerance=0.05,
    certain=True,
    id="order",
    statement="what |c| departs from the law by is linear in the step size: flow obeys it exactly",
    source=DERIVED,
    hypotheses=hypotheses,
)
STORED = Number(
    signed_levels,
    STORED_LEVEL,
    "c",
    5e-6,
    certain=True,
    id="stored",
    statement="the published script gives c = −1.201801, as the arrays that its authors stored",
    source=f"the stored arrays, as our notes have them; {FROM_CODE}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
CORRECTED = Measured(
    signed_levels,
    of="c of the published start and step size on the exact loss",
    certain=True,
    id="corrected",
    statement="c of the published start and step size, with every term counted once",
    source=FROM_CODE,
)
FLOOR = Number(
    partial(worst_at_end, curve="floor_miss"),
    0.0,
    "the largest distance of the loss of a prefix from d − H",
    1e-9,
    certain=True,
    id="floor",
    statement="H ≤ d heads leave a loss of d − H per prefix",
    source=f"the paper, on fewer heads: {FROM_MEMORY}; the value: {DERIVED}",
    hypotheses=hypotheses_of_process,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
FORMULA = Ratio(
    enumerated_over_formula,
    1.0,
    1e-12,
    of="the enumerated loss over the formula",
    certain=True,
    id="formula",
    statement="the formula of the loss is its expectation over all angles",
    source=DERIVED,
    derived=True,
)
