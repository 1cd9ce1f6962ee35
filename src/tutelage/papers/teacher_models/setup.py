"""What the studies of this paper share: its six runs, its claims about one run, and its sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tutelage.claims import Claim, Constant, Hypothesis, Rate, Recovery
from tutelage.claims.contraction import DELTA
from tutelage.claims.labels import ClaimedBy
from tutelage.papers.teacher_models import paper, theory
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Plan

LETTERS = paper.letters
THEOREM = "Zhang et al. 2026, Theorem 3.1"
Hypotheses = Callable[[Setting], Sequence[Hypothesis]]
SHARP = f"derived here (docs/derivations.md); the rate is {THEOREM}"

CNN = Part("convolution", tokens=36, support=4, outputs=8, dim=10, norm=50.0, activation="relu")
GCN = Part(
    "graph_convolution", tokens=20, outputs=8, dim=10, norm=30.0, graph="cycle", activation="relu"
)
LEAKY = "leaky_relu(0.1)"


@dataclass(frozen=True)
class PaperRun:
    """One of the six runs of the paper's figures."""

    label: str
    teacher: Part
    rate: float


# The largest stable rates are 0.44, 0.44, 0.6, 0.6, 0.4 and 0.1.
RUNS = {
    "cnn-relu": PaperRun("CNN, ReLU", CNN, 0.2),
    "cnn-leaky": PaperRun("CNN, leaky ReLU", CNN.change(activation=LEAKY), 0.2),
    "gcn-relu": PaperRun("GCN, ReLU", GCN, 0.2),
    "gcn-leaky": PaperRun("GCN, leaky ReLU", GCN.change(activation=LEAKY), 0.2),
    "token-selection": PaperRun(
        "token selection", Part("token_selection", tokens=20, support=4, dim=10, scale=5.0), 0.2
    ),
    "group-sparse": PaperRun(
        "group-sparse", Part("group_sparse", tokens=20, dim=10, norm=15.0), 0.04
    ),
}


def cosine_claim(
    source: str = THEOREM, hypotheses: Hypotheses = theory.theorem_3_1, *, stated: bool = False
) -> Recovery:
    """W_V = C₁V* exactly, which rests on the zero start and on iid tokens, on nothing of S*. What
    is left is the rounding of some 10⁵ steps, far below 1e-9. `stated` says that the paper states
    it at such settings.
    """
    return Recovery(
        "cosine",
        1.0,
        1e-9,
        from_step=1,
        id="cosine",
        statement="cos(W_V, V*) = 1 from the first step",
        source=source,
        claimed_by=ClaimedBy.PAPER if stated else ClaimedBy.BEYOND,
        derived=True,
        hypotheses=hypotheses,
    )


def claims_of_theorem() -> dict[str, Claim]:
    """The claims of Theorem 3.1 about one run, by their ids."""
    claims: list[Claim] = []
    for law in theory.LAWS:
        claims.append(
            Rate(
                law.curve,
                law.exponent,
                plateau=theory.plateau,
                approach=theory.APPROACH,
                id=f"{law.name}-rate",
                statement=law.rate_text,
                source=THEOREM,
                claimed_by=ClaimedBy.PAPER,
                hypotheses=theory.theorem_3_1,
            )
        )
        claims.append(
            Constant(
                law.curve,
                law.exponent,
                value=law.constant,
                plateau=theory.plateau,
                approach=theory.APPROACH,
                id=f"{law.name}-constant",
                statement=law.constant_text,
                source=SHARP,
                claimed_by=ClaimedBy.SHARPER,
                hypotheses=theory.theorem_3_1,
            )
        )
    claims.append(cosine_claim(stated=True))
    return {claim.id: claim for claim in claims}


# The noise floor of this teacher is reached soon: few tokens, strong noise. Both Hessians, 4 and
# 3.1, are well inside 2/η for η = 0.1.
SMALL = Part(
    "convolution",
    tokens=8,
    support=2,
    outputs=2,
    dim=3,
    norm=10.0,
    noise=10.0,
    activation="identity",
)


def claims_of_mixed_supports(
    *,
    plateau: Callable[[Setting], float],
    rate_source: str,
    hypotheses: Callable[[Setting], Sequence[Hypothesis]],
    in_class: bool = False,
) -> tuple[dict[str, Rate], dict[str, Constant]]:
    """The rates and the constants of the three laws by the laws' names, whatever the sizes and
    the weights of the supports.

    They are the paper's and sharper than its own where the teacher is `in_class`; elsewhere the
    paper says nothing, and both are ours.
    """
    rates = {
        law.name: Rate(
            law.curve,
            law.exponent,
            plateau=plateau,
            approach=theory.APPROACH if in_class else DELTA,
            id=f"{law.name}-rate",
            statement=law.rate_text,
            source=rate_source,
            claimed_by=ClaimedBy.PAPER if in_class else ClaimedBy.BEYOND,
            hypotheses=hypotheses,
        )
        for law in theory.LAWS
    }
    constants = {
        law.name: Constant(
            law.curve,
            law.exponent,
            law.constant,
            plateau=plateau,
            approach=theory.APPROACH if in_class else DELTA,
            id=f"{law.name}-constant",
            statement=law.mixed_text,
            source=SHARP,
            claimed_by=ClaimedBy.SHARPER if in_class else ClaimedBy.BEYOND,
            hypotheses=hypotheses,
        )
        for law in theory.LAWS
    }
    return rates, constants


def set_horizon(setting: Setting, plan: Plan, plateaus: int) -> Setting:
    """The setting for so many of its own plateaus, or for the steps that the plan gives."""
    return replace(setting, steps=plan.steps or math.ceil(plateaus * theory.plateau(setting)))


def change_setting(
    base: Setting, plan: Plan, plateaus: int, letters: Mapping[str, str] = LETTERS
) -> Setting:
    """The base with the plan's changes; as long as `set_horizon` says, unless its steps are
    among the changes.
    """
    setting = changed(base, plan.changes, letters)
    return set_horizon(setting, plan, plateaus) if setting.steps == base.steps else setting
