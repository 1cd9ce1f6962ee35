"""Train one layer of attention on a convolution, and judge a theorem on the run."""

import numpy as np

import tutelage as tt

kernels = 5 * np.random.default_rng(0).normal(size=(4, 6))
teacher = tt.BilinearTeacher(kernels, tt.pooling(tokens=12, support=4), activation="relu")
risk = tt.PopulationRisk(teacher)
run = tt.train(tt.PositionAttention.zeros(teacher), risk, rate=0.2, steps=100_000)

for claim in (
    tt.Rate("excess_risk", exponent=-1),
    tt.Constant("excess_risk", exponent=-1, value=12 * 4 * (12 - 4) / 4),
):
    verdict = tt.check(claim, run)
    print(verdict.status.value, verdict.sentence)
