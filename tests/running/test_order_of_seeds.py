"""A run depends on its setting alone: not on which others are asked for, nor in which order."""

import numpy as np

import tutelage as tt

BASE = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
    rate=0.1,
    steps=20,
    objective=tt.Part("online", batch=3),
    measures=("excess_risk",),
)


def test_seeds_in_any_order_give_the_same_runs():
    settings = [BASE.change(seed=seed) for seed in (3, 0, 7, 1)]
    found = {}
    for order in (settings, settings[::-1], settings[1:3]):
        for run in tt.execute(order, threads=1):
            curve = run.curves["excess_risk"]
            # Another place in a batch: the same sums, perhaps in other vectors of the processor.
            np.testing.assert_allclose(
                curve, found.setdefault(run.setting, curve), rtol=1e-13, atol=0
            )
    assert len({curve[-1] for curve in found.values()}) == len(settings)
