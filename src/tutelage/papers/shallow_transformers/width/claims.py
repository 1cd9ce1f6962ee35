"""What the study of width claims of the start and of training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.readings import NOT_STOPPED, read_start
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory import width as width_theory
from tutelage.papers.shallow_transformers.width.readings import (
    SAMPLES,
    averaged_relative,
    least_relative,
    nested,
    over_infinite,
    points,
    reach,
    square_over_predicted,
    steepening,
)
from tutelage.settings import Setting

PAPER = f"{theory.SOURCE}, first experiment"
OURS = "derived here (docs/width.md)"
ASKED = "asked here: the theorem bounds it from above, and no exponent is claimed"
EXPONENT_TOLERANCE = 0.1  # tells −½ from −1, from −⅓ and −⅔, and from 0
LINEARISATION_TOLERANCE = 0.05
HORIZON = 4000  # of the paper's experiment
LOSSES = (
    ("least", least_relative, "the least loss"),
    ("averaged", averaged_relative, "the averaged iterate's loss"),
)


def approximation_claims(pool: int, widths: Sequence[int]) -> tuple[Claim, ...]:
    """The error at the transported point: its exponent by mean and by sup, and its constant."""
    said = "|y − f_lin(X; θ̃)| at the transported parameters"
    expected = width_theory.approximation_exponent(pool)
    return (
        Exponent(
            points=nested(1, widths),
            exponent=expected,
            of="the mean approximation error in m",
            tolerance=EXPONENT_TOLERANCE,
            id="mean-exponent",
            statement=f"mean over inputs of {said} ∝ √(2/m + 1/pool), that is m^-½",
            source=OURS,
            claimed_by=ClaimedBy.SHARPER,
            hypotheses=theory.start_hypotheses,
        ),
        Exponent(
            points=nested(0, widths),
            exponent=expected,
            of="the sup of the approximation error in m",
            tolerance=EXPONENT_TOLERANCE,
            id="sup-exponent",
            statement=f"sup over inputs of {said} ∝ m^-½",
            source=PAPER,
            claimed_by=ClaimedBy.PAPER,
            hypotheses=theory.start_hypotheses,
        ),
        Number(
            values=square_over_predicted(widths),
            value=1.0,
            of="mean square over prediction",
            tolerance=0.25,
            history=(
                "First asked with a tolerance of 0.25, which was undecided; then with 0.4, chosen "
                "after that. Asked as at first again."
            ),
            id="constant",
            statement=(
                "mean square error = Var·(2/m + 1/pool) within 25%: m/2 independent heads, not m; "
                "no fit"
            ),
            source=OURS,
            claimed_by=ClaimedBy.SHARPER,
            hypotheses=theory.start_hypotheses,
        ),
    )


def linearisation_claims() -> tuple[Claim, ...]:
    """At a point chosen for the heads −½, at a random one −1."""
    chosen, random = width_theory.ADVERSARIAL_POINT, width_theory.RANDOM_POINT
    kinds = (
        ("adversarial", chosen, "at a boundary point found by ascent", PAPER, ClaimedBy.PAPER),
        ("random", random, "at a random boundary point", OURS, ClaimedBy.SHARPER),
    )
    return tuple(
        Exponent(
            points=points(read_start(f"{kind}_linearisation", entry)),
            exponent=value,
            of=f"the {which} of |f − f_lin| {words} in m",
            tolerance=LINEARISATION_TOLERANCE,
            id=f"{kind}-{which}",
            statement=f"{which} over inputs of |f − f_lin| ∝ m^{value:g} {words}",
            source=source,
            claimed_by=claimed_by,
            history=(
                "First asked with a tolerance of 0.05, which was undecided; then with 0.1, chosen "
                "after that. Asked as at first again."
            ),
            hypotheses=theory.start_hypotheses,
        )
        for kind, value, words, source, claimed_by in kinds
        for entry, which in enumerate(("sup", "mean"))
    )


def loss_claims(horizons: Sequence[int]) -> tuple[Claim, ...]:
    """The exponent of both losses at each horizon against −½: that of the least loss is the
    paper's, at its horizon and sample.
    """
    claims = []
    for tau in horizons:
        for name, reading, words in LOSSES:
            read = points(reading, tau)
            claims.append(
                Exponent(
                    points=read,
                    exponent=-0.5,
                    of=f"{words} at τ = {tau:,} in m",
                    tolerance=EXPONENT_TOLERANCE,
                    id=f"{name}-{tau}",
                    statement=(
                        f"{words} over (1/n)Σy² ∝ m^-½ at τ = {tau:,} (expected at {HORIZON:,}; "
                        "the theorem adds a term free of m)"
                    ),
                    source=PAPER if name == "least" else ASKED,
                    claimed_by=ClaimedBy.PAPER if name == "least" else ClaimedBy.BEYOND,
                    hypotheses=hypotheses_at(tau),
                )
            )
    return tuple(claims)


def hypotheses_at(tau: int) -> Callable[[Setting], list[Hypothesis]]:
    """The theorem's hypotheses, and the sizes at which the paper's experiment sees the exponent."""
    text = f"the experiment's horizon, τ ≥ {HORIZON:,}"
    long = Hypothesis(text, tau >= HORIZON, f"τ = {tau:,}")

    def evaluate(setting: Setting) -> list[Hypothesis]:
        n = int(setting.objective.options["samples"])
        large = Hypothesis(f"the experiment's sample, n ≥ {SAMPLES:,}", n >= SAMPLES, f"n = {n:,}")
        return [*theory.hypotheses(setting), long, large]

    return evaluate


def horizon_claims(horizons: Sequence[int]) -> tuple[Claim, ...]:
    """How the exponent changes with the horizon, and whether any head ever reaches its radius."""
    shortest, longest = min(horizons), max(horizons)
    steeper = Number(
        values=steepening,
        value=0.0,
        of=f"the exponent of the least loss at τ = {longest:,} less that at τ = {shortest:,}",
        tolerance=0.0,
        side="at most",
        scale="linear",
        id="steepening",
        statement="the exponent of the least loss in m falls with the horizon",
        source=OURS,
        hypotheses=theory.hypotheses,
    )
    free = Number(
        values=lambda runs: [max(map(reach, runs))],
        value=NOT_STOPPED,
        of="the farthest displacement over its radius",
        tolerance=0.0,
        side="at most",
        certain=True,
        id="never-binds",
        statement="no head reaches its radius: the projection never acts",
        source=OURS,
        hypotheses=theory.hypotheses,
    )
    return (*((steeper,) if len(horizons) > 1 else ()), free)


def floor_claims(horizons: Sequence[int], widest: int) -> tuple[Claim, ...]:
    """At a fixed horizon the loss does not go to zero with m, but to that of descent at infinite
    width.

    The longer the horizon, the wider a student must be to be there. At the paper's own horizon the
    claim failed when it was first asked; it stays.
    """
    return tuple(
        Number(
            values=over_infinite(reading, which, tau),
            value=1.0,
            of=f"{words} at m = {widest} over that at infinite width",
            # A kernel of m/2 independent heads is off by about 1/√(m/2) of itself.
            tolerance=round(1 / math.sqrt(widest / 2), 3),
            id=f"floor-{name}-{tau}",
            statement=(
                f"at τ = {tau:,} {words} tends with m to that of descent at infinite width: at m "
                f"= {widest} it is there, no fit"
            ),
            source=OURS,
            history="It failed when first asked, and was withdrawn." if tau >= HORIZON else "",
            hypotheses=theory.hypotheses,
        )
        for tau in horizons
        for which, (name, reading, words) in enumerate(LOSSES)
    )
