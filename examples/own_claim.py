"""Write a claim and its negative control: the claim must hold, the control must fail."""

import numpy as np

import tutelage as tt

kernels = 4 * np.random.default_rng(2).normal(size=(3, 5))
claim = tt.Rate("excess_risk", exponent=-1)


def judge(support):
    """Pools of `support` of nine tokens. With all nine nothing is left to select."""
    selection = tt.pooling(tokens=9, support=support)
    teacher = tt.BilinearTeacher(kernels, selection, activation="identity")
    start = tt.PositionAttention.zeros(teacher)
    run = tt.train(start, tt.PopulationRisk(teacher), rate=0.2, steps=50_000)
    return tt.check(claim, run).status


print("K = 3:", judge(3).value)
print("K = D, a control:", judge(9).value)
