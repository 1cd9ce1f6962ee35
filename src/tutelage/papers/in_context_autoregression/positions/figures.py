"""The figure of `in-context-autoregression/positions`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.studies.study import Answered

CAPTIONS = {
    "weights": (
        "Left: the weights of the longest prefix when the loss is 10⁻³. Right: the loss. The "
        "slower the rotation, the fewer modes are learned and the smoother the weights."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its case is there."""
    named = {a.case.name: a for a in answered}
    return _weights(named["slow"], folder) if "slow" in named else []


def _weights(a: Answered, folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.4, ncols=2) as (drawn, (left, right)):
        for k, run in enumerate(a.runs):
            assert run.setting is not None
            name = f"μ = {run.setting.teacher.options['slowness']:g}"
            style = {"color": look.COLOURS[k], "ls": look.STYLES[k], "lw": 1.0, "label": name}
            weights, loss = run.curves["position_weights"][-1, -1], run.curves["excess_risk"]
            left.plot(np.arange(len(weights)), weights, **style)
            right.plot(run.steps[1:], loss[1:], **style)
            columns |= {f"{name}: weight": weights, f"{name}: step": run.steps.astype(float)}
            columns |= {f"{name}: loss": loss}
        left.set(xlabel="token $t$", ylabel="weight $p_t$")
        right.set(xscale="log", yscale="log", xlabel="step", ylabel="loss")
        left.legend()
        return look.write(drawn, folder, "weights", columns)
