"""Descent at infinite width against NumPy: the kernel head by head, the losses by the recursion
itself.
"""

import linearisation_twin
import numpy as np
import pytest

from tutelage.claims.claim import NoPrediction
from tutelage.numerics.heads import draw_heads
from tutelage.numerics.streams import stream
from tutelage.papers.shallow_transformers.setup import setting_at
from tutelage.papers.shallow_transformers.theory import infinite_width
from tutelage.problem.build import build


@pytest.mark.depth
def test_descent_at_infinite_width_is_the_recursion_on_the_kernel(monkeypatch):
    """The kernel by NumPy, head by head, and the recursion itself, 30 steps of it: both losses at
    1e-12.
    """
    setting = setting_at(
        heads=8, samples=6, steps=30, measures=(), dim=2, tokens=3, pool=16
    ).change(rate=0.4)
    objective = build(setting).objective
    X, y = np.asarray(objective.tokens), np.asarray(objective.labels)
    monkeypatch.setattr(infinite_width, "HEADS", 3)
    K = np.zeros((6, 6))
    for W, U, _ in zip(
        *linearisation_twin.plain(draw_heads(3, 2, key=stream(0, "infinite width"))), strict=True
    ):
        seen = [
            np.concatenate([np.ravel(part) for part in linearisation_twin.features(W, U, x)])
            for x in X
        ]
        K += np.array([[a @ b for a in seen] for b in seen]) / 3
    f, total = np.zeros(6), np.zeros(6)
    for _ in range(30):
        total += f
        f = f - 0.4 * 2 / 6 * K @ (f - y)
    want = [np.sum((g - y) ** 2) / np.sum(y**2) for g in (f, total / 30)]
    np.testing.assert_allclose(infinite_width.losses(setting), want, rtol=1e-12)
    with pytest.raises(NoPrediction, match="unstable"):
        infinite_width.losses(setting.change(rate=1e3))
