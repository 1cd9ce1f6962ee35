"""What `shallow-transformers/width` claims of the start and of training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory import width as width_theory
from tutelage.papers.shallow_transformers.width.readings import (
    at_start,
    least_relative,
    nested,
    over_infinite,
    points,
    reach,
    relative,
    square_over_predicted,
    steepening,
    waiting,
)
from tutelage.settings import Setting

NAME = "shallow-transformers/width"
PAPER = f"{theory.SOURCE}, first experiment"
OURS = "derived here (docs/width.md)"
EXPONENT = 0.1  # tells −½ from −1, from −⅓ and −⅔, and from 0
HORIZON = 4000  # of the paper's experiment


def at_rest(setting: Setting) -> list[Hypothesis]:
    """The hypotheses that a statement about the start rests on: all but the step size."""
    return [h for h in theory.hypotheses(setting) if not h.text.startswith("step size")]


def claim_of(
    kind: Callable[..., Claim],
    case: str,
    name: str,
    statement: str,
    source: str,
    *given: Any,
    **more: Any,
) -> Claim:
    """A claim of this study, with the theorem's hypotheses unless others are given."""
    return kind(
        *given,
        id=f"{NAME}/{case}/{name}",
        statement=statement,
        source=source,
        **{"hypotheses": theory.hypotheses, **more},
    )


def exponent_of(
    case: str,
    name: str,
    statement: str,
    source: str,
    read: Any,
    value: Any,
    of: str,
    tolerance: float,
    **more: Any,
) -> Claim:
    return claim_of(
        Exponent,
        case,
        name,
        statement,
        source,
        points=read,
        exponent=value,
        of=f"{of} in m",
        tolerance=tolerance,
        **more,
    )


def approximation_claims(case: str, pool: int, widths: Sequence[int]) -> tuple[Claim, ...]:
    """The error at the transported point: its exponent by mean and by sup, and its constant."""
    said = "|y − f_lin(X; θ̃)| at the transported parameters"
    expected = width_theory.approximation_exponent(pool)
    return (
        exponent_of(case, "mean-exponent", f"mean over inputs of {said} ∝ √(2/m + 1/pool), that is "
"m^-½", OURS,
                  nested(1, widths), expected, "the mean approximation error", EXPONENT, hypotheses=at_rest),
        exponent_of(case, "sup-exponent", f"sup over inputs of {said} ∝ m^-½", PAPER,
                  nested(0, widths), expected, "the sup of the "
"approximation error", EXPONENT, hypotheses=at_rest),
        # With all m heads independent it would be ½ of this; with a pair's copies adding up
        # otherwise 2: 0.4 tells these from 1.
        claim_of(Number, case, "constant", "mean square error = Var·(2/m + 1/pool) within 40%: m/2 "
"independent heads, not m; no fit", OURS,
               values=square_over_predicted(widths), value=1.0, of="mean square over prediction", tolerance=0.4, hypotheses=at_rest),
    )  # fmt: skip


def linearisation_claims(case: str) -> tuple[Claim, ...]:
    """At a point chosen for the heads −½, at a random one −1."""
    claims = []
    for curve, value, words in (
        ("adversarial", width_theory.ADVERSARIAL_POINT, "at a boundary point found by ascent"),
        ("random", width_theory.RANDOM_POINT, "at a random boundary point"),
    ):
        for entry, which in enumerate(("sup", "mean")):
            source = PAPER if curve == "adversarial" else OURS
            statement = f"{which} over inputs of |f − f_lin| ∝ m^{value:g} {words}"
            read = points(at_start(f"{curve}_linearisation", entry))
            of = f"the {which} of |f − f_lin| {words}"
            claims.append(
                exponent_of(
                    case,
                    f"{curve}-{which}",
                    statement,
                    source,
                    read,
                    value,
                    of,
                    EXPONENT,
                    hypotheses=at_rest,
                )
            )
    return tuple(claims)


LOSSES = (
    ("least", least_relative, "the least loss"),
    ("averaged", relative("averaged_loss"), "the averaged iterate's loss"),
)


def at_horizon_of(tau: int) -> Callable[[Setting], list[Hypothesis]]:
    """The theorem's hypotheses, and the horizon at which the paper's experiment sees the
    exponent.
    """

    def found(setting: Setting) -> list[Hypothesis]:
        return [
            *theory.hypotheses(setting),
            Hypothesis(
                f"the experiment's horizon, τ ≥ {HORIZON:,}", tau >= HORIZON, f"τ = {tau:,}"
            ),
        ]

    return found


def loss_claims(case: str, horizons: Sequence[int], long_enough: bool = True) -> tuple[Claim, ...]:
    """The exponent of both losses at each horizon against −½; where the horizon must be the
    paper's, a shorter one decides nothing.
    """
    claims = []
    for tau in horizons:
        for name, reading, words in LOSSES:
            read = points(reading, tau)
            claims.append(
                exponent_of(
                    case,
                    f"{name}-{tau}",
                    f"{words} over (1/n)Σy² ∝ m^-½ at τ = {tau:,} (expected at {HORIZON:,}; the "
                    "theorem adds a term free of m)",
                    PAPER
                    if name == "least"
                    else "asked here: the theorem bounds it from above, and no exponent is claimed",
                    waiting(read, tau, HORIZON, words) if long_enough else read,
                    -0.5,
                    f"{words} at τ = {tau:,}",
                    EXPONENT,
                    hypotheses=at_horizon_of(tau),
                )
            )
    return tuple(claims)


def horizon_claims(case: str, horizons: Sequence[int]) -> tuple[Claim, ...]:
    """How the exponent changes with the horizon, and whether any head ever reaches its radius."""
    between = (
        f"the exponent of the least loss at τ = {max(horizons):,} less that at τ = "
        f"{min(horizons):,}"
    )
    steeper = claim_of(Number, case, "steepening", "the exponent of the least loss in "
"m falls with the "
"horizon", OURS,
                     values=steepening, value=0.0, of=between, tolerance=0.0, side="at most")  # fmt: skip
    free = claim_of(Number, case, "never-binds", "no head reaches its radius: the "
"projection never acts", OURS,
                  values=lambda runs: [max(map(reach, runs))], value=1 - 1e-9, of="the farthest displacement "
"over its radius",
                  tolerance=0.0, side="at most", certain=True)  # fmt: skip
    return (*((steeper,) if len(horizons) > 1 else ()), free)


def floor_claims(case: str, horizons: Sequence[int], widest: int) -> tuple[Claim, ...]:
    """At a fixed horizon the loss does not go to zero with m, but to that of descent at infinite
    width.

    The longer the horizon, the wider a student must be to be there; at the paper's own nothing is
    claimed of these widths.
    """
    claims = []
    for tau in (tau for tau in horizons if tau < HORIZON):
        for which, (name, reading, words) in enumerate(LOSSES):
            statement = (
                f"at τ = {tau:,} {words} tends with m to that of descent at infinite "
                f"width: at m = {widest} it is there, no fit"
            )
            of = f"{words} at m = {widest} over that at infinite width"
            # A kernel of m/2 independent heads is off by about 1/√(m/2) of itself.
            claims.append(
                claim_of(Number, case, f"floor-{name}-{tau}", statement, OURS, values=over_infinite(reading, which, tau),
                       value=1.0, of=of, tolerance=round(1 / math.sqrt(widest / 2), 3))
            )  # fmt: skip
    return tuple(claims)
