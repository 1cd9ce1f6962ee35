"""Runs of known curves, made without training."""

import numpy as np

from tutelage.run import Outcome, Run


def made(setting, **curves):
    """A run with these last values, as if they had been measured at the start and at the end."""
    steps = np.array([0, setting.steps])
    return Run(
        steps,
        {name: np.stack([np.asarray(v, float)] * 2) for name, v in curves.items()},
        None,
        Outcome.FINISHED,
        "",
        setting.rate,
        setting,
    )
