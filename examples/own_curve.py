"""Judge your own curves: from arrays, and from a DataFrame with one column per quantity."""

import numpy as np
import pandas as pd

import tutelage as tt

steps = tt.log_spaced(10**6)[1:]
losses = 3 / (steps + 50)

print(tt.check(tt.Rate("loss", exponent=-1), tt.curve(steps, losses)).sentence)
print(tt.check(tt.Order("loss", exponent=-1), tt.curve(steps, losses)).sentence)

frame = pd.DataFrame({"step": steps, "loss": losses + 1e-3})
print(tt.check(tt.Rate("loss", exponent=-1), frame).sentence)
print("excluded:", ", ".join(tt.compare_forms((steps, np.asarray(losses))).excluded))
