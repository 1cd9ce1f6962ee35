"""Register your own teacher, and run it by its name, as sweeps and the explorer do."""

import numpy as np

import tutelage as tt


@tt.register("teacher", "next-token")
def next_token(seed, *, tokens, dim):
    """Every query reads the token behind it; the last reads itself."""
    selection = np.eye(tokens, k=-1)
    selection[-1, -1] = 1.0
    return tt.BilinearTeacher(np.eye(dim), selection, activation="identity")


setting = tt.Setting(tt.Part("next-token", tokens=8, dim=4), rate=0.1, steps=100_000)
(run,) = tt.execute([setting])
law = 8 * 1 * (8 - 1) / 4  # the counting law: the sum of K(D-K)/4 over eight queries, with K = 1
verdict = tt.check(tt.Constant("excess_risk", exponent=-1, value=law), run)
print(verdict.status.value, verdict.sentence)
