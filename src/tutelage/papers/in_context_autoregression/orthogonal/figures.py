"""The figures of `in-context-autoregression/orthogonal`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.in_context_autoregression.setup import start_of
from tutelage.papers.in_context_autoregression.theory.minima import spurious_losses
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "minima": (
        "Left: the loss of a prefix along runs with H = d/2 heads; dotted, the predicted losses of "
        "0, 1, 2, … turned blocks. Right: the ratio of the weights of the query's token and the "
        "newest in the published run, one line per prefix; black, −½."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its cases are there."""
    named = {a.case.name: a for a in answered}
    if "half" not in named or "published" not in named:
        return []
    return _minima(named["half"], named["published"].runs[0], folder)


def _minima(half: Answered, published: Run, folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        setting = half.runs[0].setting
        assert setting is not None
        teacher = start_of(setting).teacher
        for level in spurious_losses(teacher.dim, teacher.tokens):
            left.axhline(level, color=look.THEORY, lw=0.7, ls=":")
        for k, run in enumerate(half.runs):
            loss = run.curves["prefix_loss"]
            left.plot(run.steps, loss, color=look.COLOURS[k % len(look.COLOURS)], lw=0.6)
            columns |= {f"run {k}: step": run.steps.astype(float), f"run {k}: loss": loss}
        left.set(xscale="log", xlim=(50, None), xlabel="step", ylabel="loss per prefix")
        ratios = published.curves["lag_ratios"]
        late = published.steps >= 100
        right.plot(published.steps[late], ratios[late], color=look.COLOURS[0], lw=0.5)
        right.axhline(-0.5, color=look.THEORY, lw=0.8)
        right.set(xscale="log", xlabel="step", ylabel=r"$p_\ell/p_n$", ylim=(-1.5, 1.0))
        columns |= {"published: step": published.steps.astype(float)}
        columns |= {f"published: prefix {m + 2}": ratios[:, m] for m in range(ratios.shape[1])}
        return look.write(drawn, folder, "minima", columns)
