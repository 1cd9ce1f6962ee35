"""What is claimed of angles in pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from tutelage.claims import Measured, Number, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_CODE,
    FROM_MEMORY,
    start_of,
)
from tutelage.papers.in_context_autoregression.theory.conservation import (
    paired_level,
    paired_level_from_zero,
)
from tutelage.papers.in_context_autoregression.theory.minima import spurious_losses
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Setting

REACHED = 1e-2  # loss of a prefix below which a run counts as one that predicts the next token
AT_REST = 1e-6  # change of the loss of a prefix in the second half of the steps
STORED_LEVEL = -1.28945  # c of the arrays that the authors stored, as our notes read them


def last(run: Run, curve: str) -> float:
    return float(run.curves[curve][-1])


def reached_runs(runs: Sequence[Run]) -> list[Run]:
    """Those that predict the next token at the end."""
    found = [run for run in runs if last(run, "prefix_loss") < REACHED]
    if not found:
        raise NotYet("No run has come to a loss near zero.")
    return found


def worst_partner(runs: Sequence[Run]) -> list[float]:
    """The largest |C_{iī}/C_ii − 1| of a run that predicts."""
    ends = [run.curves["partner_ratios"][-1] for run in reached_runs(runs)]
    return [float(np.abs(np.array(ends) - 1).max())]


def worst_lag(runs: Sequence[Run]) -> list[float]:
    """The largest |p_ℓ/p_n + ½| of a run that predicts."""
    ends = [run.curves["lag_ratios"][-1] for run in reached_runs(runs)]
    return [float(np.abs(np.array(ends) + 0.5).max())]


def worst_level(runs: Sequence[Run], predict: Callable[[Setting], float]) -> list[float]:
    """The largest departure of |c| from a prediction, of runs that predict."""
    found = []
    for run in reached_runs(runs):
        assert run.setting is not None
        found.append(abs(abs(last(run, "level")) / predict(run.setting) - 1))
    return [max(found)]


def predict_level_from_zero(setting: Setting) -> float:
    start = start_of(setting)
    return paired_level_from_zero(start.teacher.dim, start.rows)


def predict_paired_level(setting: Setting) -> float:
    start = start_of(setting)
    return paired_level(start.conserved, start.rows)


def worst_level_from_zero(runs: Sequence[Run]) -> list[float]:
    return worst_level(runs, predict_level_from_zero)


def worst_paired_level(runs: Sequence[Run]) -> list[float]:
    return worst_level(runs, predict_paired_level)


def share_reached(runs: Sequence[Run]) -> list[float]:
    """The share of runs that predict the next token.

    One number over these very starts: replicates of 0 and 1 are no normal numbers, for which the
    intervals of means are made.
    """
    return [float(np.mean([last(run, "prefix_loss") < REACHED for run in runs]))]


def share_spurious(runs: Sequence[Run]) -> list[float]:
    """The share of runs that have settled and do not predict."""
    stuck = [is_settled(run) and last(run, "prefix_loss") >= REACHED for run in runs]
    return [float(np.mean(stuck))]


def share_turned(runs: Sequence[Run]) -> list[float]:
    """The share of turned blocks over runs that have settled: C_{iī} = −C_ii nearly."""
    ends = [run.curves["partner_ratios"][-1] for run in settled_runs(runs)]
    return [float((np.array(ends) < 0).mean())]


def is_settled(run: Run) -> bool:
    """Whether the loss has not changed in the second half of the steps."""
    loss = run.curves["prefix_loss"]
    half = np.abs(run.steps - run.steps[-1] // 2).argmin()
    return bool(abs(loss[-1] - loss[half]) < AT_REST)


def settled_runs(runs: Sequence[Run]) -> list[Run]:
    found = [run for run in runs if is_settled(run)]
    if not found:
        raise NotYet("No run has settled.")
    return found


def share_unsettled(runs: Sequence[Run]) -> list[float]:
    return [float(np.mean([not is_settled(run) for run in runs]))]


def worst_rung(runs: Sequence[Run]) -> list[float]:
    """The largest distance of an end from the nearest of the predicted losses."""
    found = []
    for run in settled_runs(runs):
        assert run.setting is not None
        teacher = start_of(run.setting).teacher
        levels = spurious_losses(teacher.dim, teacher.tokens)
        found.append(float(np.abs(levels - last(run, "prefix_loss")).min()))
    return [max(found)]


def least_curvature(runs: Sequence[Run]) -> list[float]:
    """The smallest eigenvalue of the Hessian at the end, over its largest, of runs that do not
    predict; the lowest of them.
    """
    return least_curvature_anywhere(settled_runs(runs))


def least_curvature_anywhere(runs: Sequence[Run]) -> list[float]:
    """The same of all runs, settled or not."""
    stuck = [run for run in runs if last(run, "prefix_loss") >= REACHED]
    if not stuck:
        raise NotYet("No run has ended away from zero.")
    return [min(_least_curvature(run) for run in stuck)]


def _least_curvature(run: Run) -> float:
    assert run.setting is not None
    objective = build(run.setting).objective
    moving, rest = eqx.partition(run.student, eqx.is_inexact_array)
    flat, unflatten = ravel_pytree(moving)
    hessian = jax.hessian(lambda x: objective(eqx.combine(unflatten(x), rest)))(flat)
    sizes = np.linalg.eigvalsh(np.asarray(hessian))
    return float(sizes[0] / sizes[-1])


def signed_levels(runs: Sequence[Run]) -> list[float]:
    return [last(run, "level") for run in runs]


def enumerated_over_formula(run: Run) -> float:
    return last(run, "enumerated") / last(run, "formula")


def enumerated_over_independent(run: Run) -> float:
    return last(run, "enumerated") / last(run, "independent_formula")


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the statements about pairs of angles assume."""
    start = start_of(setting)
    dim, process = start.teacher.dim, start.teacher.process
    between = dim / 2 <= start.heads < dim
    heads = f"H = {start.heads}, d = {dim}"
    return (
        Hypothesis("angles come in pairs ±θ", process == "orthogonal", f"the process is {process}"),
        Hypothesis("d/2 ≤ H < d", between, heads),
        Hypothesis("the run ends at a global minimum", None, "not every run does"),
    )


BLOCKS = Number(
    worst_partner,
    0.0,
    "the largest |C_iī/C_ii − 1| of a run that predicts the next token",
    0.01,
    "at most",
    certain=True,
    id="blocks",
    statement="BᵀA has blocks c[[1,1],[1,1]], within 1%, in runs that predict the next token",
    source=f"the theorem on orthogonal processes, {FROM_MEMORY}; d/2 ≤ H < d: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
LAG = Number(
    worst_lag,
    0.0,
    "the largest |p_ℓ/p_n + ½| of a run that predicts the next token",
    0.005,
    "at most",
    certain=True,
    id="lag",
    statement="the query's token has −½ of the weight of the newest: s_{t+1} = 2cosθ s_t − s_{t−1}",
    source=f"the theorem on orthogonal processes, {FROM_MEMORY}; d/2 ≤ H < d: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
LIMIT = Number(
    worst_level_from_zero,
    0.0,
    "the largest departure of |c| from (5R/4d)^(1/3)",
    0.003,
    "at most",
    certain=True,
    id="limit",
    statement="|c| = (5R/4d)^(1/3) from a small start, within 0.3%, in runs that predict",
    source=DERIVED,
    hypotheses=hypotheses,
)
LEVEL = Number(
    worst_paired_level,
    0.0,
    "the largest departure of |c| from the conservation law",
    0.003,
    "at most",
    certain=True,
    id="level",
    statement="H = d/2: |c| is what the conservation law gives, within 0.3%, in runs that predict",
    source=DERIVED,
    hypotheses=hypotheses,
)
STORED = Number(
    signed_levels,
    STORED_LEVEL,
    "c",
    5e-4,
    certain=True,
    id="stored",
    statement="the published script gives c = −1.2895, as the arrays that its authors stored",
    source=f"the stored arrays, as our notes have them; {FROM_CODE}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
LADDER = Number(
    worst_rung,
    0.0,
    "the largest distance of an end from the nearest predicted loss",
    1e-6,
    "at most",
    certain=True,
    id="ladder",
    statement="H = d/2: every run that settles is at the loss of 0, 1, …, or d/2 turned blocks",
    source=DERIVED,
    hypotheses=hypotheses,
)
MINIMA = Number(
    least_curvature,
    0.0,
    "the smallest eigenvalue of the Hessian over its largest, at ends with a loss",
    1e-6,
    "at least",
    certain=True,
    id="minima",
    statement="settled ends with a loss have no direction of negative curvature",
    source=DERIVED,
    hypotheses=hypotheses,
)
REACH = Measured(
    share_reached,
    of="the share of runs that predict the next token",
    certain=True,
    id="reach",
    statement="the share of runs that come to a loss near zero",
    source=DERIVED,
)
SPURIOUS = Measured(
    share_spurious,
    of="the share of runs that end in a minimum that is not global",
    certain=True,
    id="spurious",
    statement="the share of runs that end in a minimum that is not global",
    source=DERIVED,
)
TURNED = Measured(
    share_turned,
    of="the share of blocks [[1,−1],[−1,1]]",
    certain=True,
    id="turned",
    statement="the share of turned blocks over all runs",
    source=DERIVED,
)
UNSETTLED = Measured(
    share_unsettled,
    of="the share of runs whose loss still changes in the second half",
    certain=True,
    id="unsettled",
    statement="the share of runs whose loss still changes in the second half of the steps",
    source=DERIVED,
)
FORMULA = Ratio(
    enumerated_over_formula,
    1.0,
    1e-12,
    of="the enumerated loss over the formula",
    certain=True,
    id="formula",
    statement="the formula of the loss is its expectation over all pairs of angles",
    source=DERIVED,
    derived=True,
)
