"""What a verdict on a curve from elsewhere rests on, said beside it: class, plateau, noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tutelage.claims.verdict import Verdict
from tutelage.evidence.binning import bin_curve, noise
from tutelage.evidence.comparing import find_begin
from tutelage.run import Run

CLASS = (
    "the curve tends to a power of t whose corrections shrink as t grows; what it does beyond the "
    "last step is extrapolated"
)


def assumed(
    runs: Sequence[Run], curve: str, plateau: float | None, verdicts: Sequence[Verdict]
) -> dict[str, str]:
    """What was assumed, by what it is about."""
    found = {"class": _class(verdicts), "plateau": _plateau(runs, curve, plateau)}
    sizes = [
        noise(bin_curve(run.steps.astype(float), run.curves[curve], find_begin(run, curve)))
        for run in runs
    ]
    size = float(np.sqrt(np.mean(np.square(sizes))))
    found["noise"] = (
        f"{size:.2g} of the value from point to point, independent between points; a log that was "
        "smoothed breaks this"
    )
    if len(runs) > 1:
        found["runs"] = f"the {len(runs)} runs are independent repetitions of one experiment"
    return found


def _class(verdicts: Sequence[Verdict]) -> str:
    begins = [verdict.begins for verdict in verdicts if verdict.begins is not None]
    return f"{CLASS}, from step {min(begins):,.0f} on" if begins else CLASS


def _plateau(runs: Sequence[Run], curve: str, plateau: float | None) -> str:
    if plateau is not None:
        return f"over after step {plateau:,g}, as given"
    halved = [find_begin(run, curve) for run in runs]
    if not all(_halves(run, curve) for run in runs):
        return "not over: the curve never halves"
    where = f"{min(halved):,g}" if min(halved) == max(halved) else (
        f"{min(halved):,g} to {max(halved):,g}"
    )  # fmt: skip
    return f"over after step {where}, where the curve has halved (give --plateau to say otherwise)"


def _halves(run: Run, curve: str) -> bool:
    values = run.curves[curve]
    return bool((values[run.steps > 0] <= 0.5 * values[0]).any())
