"""Curves that are read off runs beside the laws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from tutelage.papers.group_sparse.theory.laws import miss_constant, risk_constant
from tutelage.run import Run
from tutelage.settings import Setting

Curves = Mapping[str, Float[np.ndarray, "points"]]


def setting_of(run: Run) -> Setting:
    assert run.setting is not None
    return run.setting


def read_flow(run: Run) -> Curves:
    """`risk_level`, L·t^(1/3) over c₀/a; `missed_level`, (1 − s)·t^(2/3) over (D−1)/b."""
    setting, times = setting_of(run), run.steps.astype(float)
    return {
        "risk_level": run.curves["risk"] * times ** (1 / 3) / risk_constant(setting),
        "missed_level": run.curves["missed"] * times ** (2 / 3) / miss_constant(setting),
    }


def read_mean_error(run: Run) -> Curves:
    """`mean_error_over_log2`: the mean error over n samples, over log²n (over 1 where n < e)."""
    logs = np.log(np.maximum(run.steps, np.e))
    return {"mean_error_over_log2": run.curves["mean_error"] / logs**2}


def number_of(run: Run, name: str) -> float:
    """The single number of that name that a calculation found."""
    return float(run.curves[name][-1])
