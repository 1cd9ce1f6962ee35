"""What a verdict on a curve from elsewhere rests on, said beside it: class, plateau, noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tutelage.claims.verdict import Verdict
from tutelage.evidence.binning import Binned, noise
from tutelage.evidence.claiming import Asked
from tutelage.evidence.comparing import find_begin
from tutelage.run import Run


def assumed(
    runs: Sequence[Run], curve: str, asked: Asked, verdicts: Sequence[Verdict]
) -> dict[str, str]:
    """What was assumed, by what it is about."""
    return {
        "class": _class(asked, verdicts),
        "plateau": _plateau(runs, curve, asked.plateau),
        "noise": _noise(runs, curve, asked.noise),
    }


def _class(asked: Asked, verdicts: Sequence[Verdict]) -> str:
    begins = [verdict.begins for verdict in verdicts if verdict.begins is not None]
    since = f"from step {min(begins):,.0f} on, " if begins else ""
    stands = [verdict.contraction for verdict in verdicts if verdict.contraction is not None]
    said = (
        f"{since}the distance to the limit falls at least like t^-{asked.approach:g} (--approach)"
    )
    if not stands or min(stands) >= asked.approach:
        return said
    if min(stands) == 0:
        return f"{said}; the answer stands wherever it falls at all"
    return f"{said}; the answer stands for t^-{min(stands):.2g} too"


def _plateau(runs: Sequence[Run], curve: str, plateau: float | None) -> str:
    if plateau is not None:
        return "over where you said"
    if not all(_halves(run, curve) for run in runs):
        return "not over: the curve never falls to half its first value"
    halved = [find_begin(run, curve) for run in runs]
    first, last = min(halved), max(halved)
    where = f"{first:,g}" if first == last else f"{first:,g} to {last:,g}"
    return f"over after step {where}, where the curve has halved (--plateau says otherwise)"


def _noise(runs: Sequence[Run], curve: str, declared: str) -> str:
    sizes = []
    for run in runs:
        late = run.steps >= find_begin(run, curve)
        sizes.append(noise(Binned(np.log(run.steps[late]), np.log(run.curves[curve][late]))))
    size = f"neighbouring points scatter by {np.sqrt(np.mean(np.square(sizes))):.2g} of the value"
    if declared:
        return f"{size}; their errors are assumed {declared}, as given"
    if len(runs) > 1:
        return f"{size}; chance is judged from the {len(runs)} runs, which are independent"
    return f"{size}; one run does not show the random spread (--noise independent declares it)"


def _halves(run: Run, curve: str) -> bool:
    values = run.curves[curve]
    return bool((values[run.steps > 0] <= 0.5 * values[0]).any())
