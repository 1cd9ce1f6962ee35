"""The assumptions, by sampling: that inputs have the stated law, and that the risk is that of the
functions as they are called.

Monte Carlo is a weak oracle for a formula and a good one for an assumption. Every test is a z-score
with a fixed seed; |z| < 4.5 leaves one chance in 150,000 for each number, and every size of sample
sees a relative error of a few per cent.
"""

from __future__ import annotations

import pytest
import twins


def test_sampled_inputs_have_the_stated_moments() -> None:
    twins.check_sampled_moments()


@pytest.mark.brief(2)
@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.1)", "erf", "tanh"])
def test_the_sampled_risk_is_the_risk(activation: str) -> None:
    twins.check_sampled_risk(activation)


def test_the_noise_adds_half_its_variance_for_each_output() -> None:
    twins.check_noise_floor()
