"""The teachers and starts of `teacher-models/starts`, and how each is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.papers.teacher_models.starts import selections
from tutelage.settings import MEASURES, Part

POOLING = Part("convolution", tokens=12, support=4, outputs=4, dim=6, norm=30.0, activation="relu")
SCALES = (0.001, 0.01, 0.1, 1.0, 3.0, 10.0, 30.0)  # of the entries of a random start
ZERO, RANDOM = Part("position_attention"), Part("position_attention", start=0.1)
LONG = 10**8  # steps, most of them by gradient flow
SHARES = (*MEASURES, "attention_matrix", "value_scale")  # what `readings.shares` reads


@dataclass(frozen=True)
class Pattern:
    """One teacher per seed, and how it is trained: step sizes are a tenth to nine tenths of the
    largest stable one.
    """

    label: str
    teacher: Callable[[int], Part]
    rate: float
    steps: int
    student: Part = ZERO
    measures: tuple[str, ...] = MEASURES
    many_seeds: bool = False  # a start that is read for how much seeds differ
    # From zero with S* given nothing depends on more of V* than its norm: seeds are one run.
    one_run: bool = False


def make_teacher(
    selection: Float[np.ndarray, "D Q"], activation: str = "relu", norm: float = 30.0
) -> Part:
    return Part("bilinear", selection=selection, outputs=4, dim=6, norm=norm, activation=activation)


def fixed(
    selection: Float[np.ndarray, "D Q"], activation: str = "relu", norm: float = 30.0
) -> Callable[[int], Part]:
    """The same S* for every seed."""
    return lambda seed: make_teacher(selection, activation, norm)


def drawn(
    draw: Callable[[int], Float[np.ndarray, "D Q"]], activation: str = "relu", norm: float = 30.0
) -> Callable[[int], Part]:
    """An S* of its own for every seed."""
    return lambda seed: make_teacher(draw(seed), activation, norm)


def pooling(seed: int) -> Part:
    """Average pooling, whatever the seed."""
    return POOLING


ALL_TOKENS = selections.even(12, 12)
UNIFORM = {
    "all-tokens": Pattern(
        "D = K, ReLU",
        fixed(ALL_TOKENS),
        0.2,
        4_000,
        measures=(*MEASURES, "value_matrix"),
        one_run=True,
    ),
    "all-tokens-identity": Pattern(
        "D = K, identity",
        fixed(ALL_TOKENS, "identity"),
        0.2,
        4_000,
        measures=(*MEASURES, "value_matrix"),
        one_run=True,
    ),
}
POWER_LAWS = {
    # As many steps as are taken one by one: its whole curve is compared to rounding.
    "one-zero": Pattern("K = D−1", fixed(selections.even(12, 11)), 0.2, 400_000, one_run=True),
    "random-weights": Pattern(
        "K = 4, random weights",
        drawn(lambda seed: selections.dirichlet(5.0, 4, seed)),
        0.2,
        LONG,
        measures=SHARES,
    ),
    "geometric": Pattern(
        "K = 4, weights 8:4:2:1",
        drawn(lambda seed: selections.geometric(2.0, 4, seed), "identity"),
        0.1,
        LONG,
        measures=SHARES,
    ),
    "steep": Pattern(
        "K = 4, weights 64:16:4:1",
        drawn(lambda seed: selections.geometric(4.0, 4, seed), "identity"),
        0.1,
        10 * LONG,
        measures=SHARES,
    ),
    "mixed": Pattern(
        "K from 1 to D−1, Q = 7", fixed(selections.mixed("mixed")), 0.1, LONG, one_run=True
    ),
    "mixed-wide": Pattern(
        "K from 1 to D, Q = 2D",
        fixed(selections.mixed("mixed-wide"), norm=20.0),
        0.1,
        LONG,
        one_run=True,
    ),
}
DECAYS = {
    "all-tokens-random": Pattern(
        "D = K, random start", fixed(ALL_TOKENS, norm=20.0), 0.2, 80_000, RANDOM
    ),
    "no-zeros": Pattern(
        "no zeros, random columns", drawn(selections.without_zeros, norm=12.0), 0.2, 120_000
    ),
    "no-zeros-geometric": Pattern(
        "no zeros, weights 1.5⁻ʲ",
        drawn(lambda seed: selections.geometric(1.5, 12, seed)),
        0.2,
        1_200_000,
    ),
    "leak": Pattern(
        "pooling, half of it leaked", fixed(selections.leaking(0.5)), 0.2, 40_000, one_run=True
    ),
    "leak-random": Pattern(
        "the same, random start", fixed(selections.leaking(0.5)), 0.2, 40_000, RANDOM
    ),
}
SLOW_LEAK = Pattern(
    "pooling, 1% of it leaked", fixed(selections.leaking(0.01)), 0.2, 1_200_000, one_run=True
)
# From 30 the first steps need a small rate: ‖W_V‖ starts five times ‖V*‖, and the curvature of the
# scores grows with its square.
STARTS = {
    f"start-{scale:g}": Pattern(
        f"N(0, {scale:g}²)",
        pooling,
        0.02 if scale > 10 else 0.2,
        {10.0: 10**15, 30.0: 800_000}.get(scale, LONG),
        Part("position_attention", start=scale),
        (*MEASURES, "attention_matrix"),
        many_seeds=True,
    )
    for scale in SCALES
}
LOST = "start-30"  # more than half of the weights are missing in the end: no law is claimed of it
