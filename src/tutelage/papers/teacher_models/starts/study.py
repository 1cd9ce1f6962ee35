"""Starts and patterns beyond the theorem's: D = K, K = D−1, unequal weights and supports, S*
without zeros, random starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Constant
from tutelage.papers.teacher_models.graphs.study import CURVES, equal_supports
from tutelage.papers.teacher_models.rates.study import LETTERS, PAPER, predicted
from tutelage.papers.teacher_models.starts import claims, patterns
from tutelage.papers.teacher_models.starts.readings import shares
from tutelage.settings import MEASURES, Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = claims.NAME
OPEN = {
    letter: LETTERS[letter] for letter in ("d", "M", "V", "tau", "eta", "T")
}  # D and K are the pattern's
SEEDS = {"quick": 3, "full": 5}
MORE = {"quick": 8, "full": 20}  # of random starts
LONGER = 10  # times as many steps in the full preset
POOLING = Part("convolution", tokens=12, support=4, outputs=4, dim=6, norm=30.0, activation="relu")
SCALES = (0.001, 0.01, 0.1, 1.0, 3.0, 10.0, 30.0)
EARLY = 10_000  # steps after which a leak of 1% still looks like a power law
ZERO, RANDOM = Part("position_attention"), Part("position_attention", start=0.1)
SHARES = (*MEASURES, "attention_matrix", "value_scale")


@dataclass(frozen=True)
class Pattern:
    """A teacher a seed, and how it is trained: step sizes are a tenth to nine tenths of the largest
    stable one.
    """

    label: str
    teacher: Callable[[int], Part]
    rate: float
    steps: int
    student: Part = ZERO
    measures: tuple[str, ...] = MEASURES


def _fixed(
    selection: np.ndarray, activation: str = "relu", norm: float = 30.0
) -> Callable[[int], Part]:
    return lambda seed: patterns.teacher(selection, activation, norm)


def _drawn(
    draw: Callable[[int], np.ndarray], activation: str = "relu", norm: float = 30.0
) -> Callable[[int], Part]:
    return lambda seed: patterns.teacher(draw(seed), activation, norm)


ALL = patterns.even(12, 12)
UNIFORM = {
    "all-tokens": Pattern(
        "D = K, ReLU", _fixed(ALL), 0.2, 1_000, measures=(*MEASURES, "value_matrix")
    ),
    "all-tokens-identity": Pattern(
        "D = K, identity", _fixed(ALL, "identity"), 0.2, 1_000, measures=(*MEASURES, "value_matrix")
    ),
}
LAWS = {
    "one-zero": Pattern("K = D−1", _fixed(patterns.even(12, 11)), 0.2, 100_000),
    "random-weights": Pattern(
        "K = 4, random weights",
        _drawn(lambda s: patterns.dirichlet(5.0, 4, s)),
        0.2,
        200_000,
        measures=SHARES,
    ),
    "geometric": Pattern(
        "K = 4, weights 8:4:2:1",
        _drawn(lambda s: patterns.geometric(2.0, 4, s), "identity"),
        0.1,
        100_000,
        measures=SHARES,
    ),
    "steep": Pattern(
        "K = 4, weights 64:16:4:1",
        _drawn(lambda s: patterns.geometric(4.0, 4, s), "identity"),
        0.1,
        300_000,
        measures=SHARES,
    ),
    "mixed": Pattern("K from 1 to D−1, Q = 7", _fixed(patterns.mixed("mixed")), 0.1, 100_000),
    "mixed-wide": Pattern(
        "K from 1 to D, Q = 2D", _fixed(patterns.mixed("mixed-wide"), norm=20.0), 0.1, 100_000
    ),
}
DECAYS = {
    "all-tokens-random": Pattern(
        "D = K, random start", _fixed(ALL, norm=20.0), 0.2, 20_000, RANDOM
    ),
    "no-zeros": Pattern(
        "no zeros, random columns", _drawn(patterns.without_zeros, norm=12.0), 0.2, 30_000
    ),
    "no-zeros-geometric": Pattern(
        "no zeros, weights 1.5⁻ʲ", _drawn(lambda s: patterns.geometric(1.5, 12, s)), 0.2, 300_000
    ),
    "leak": Pattern("pooling, half of it leaked", _fixed(patterns.leaking(0.5)), 0.2, 10_000),
    "leak-random": Pattern(
        "the same, random start", _fixed(patterns.leaking(0.5)), 0.2, 10_000, RANDOM
    ),
}
SLOW_LEAK = Pattern("pooling, 1% of it leaked", _fixed(patterns.leaking(0.01)), 0.2, 300_000)
# From 30 the first steps need a small rate: ‖W_V‖ starts five times ‖V*‖, and the curvature of the
# scores grows with its square.
STARTS = {
    f"start-{scale:g}": Pattern(
        f"N(0, {scale:g}²)",
        lambda seed: POOLING,
        0.02 if scale > 10 else 0.2,
        {10.0: 300_000, 30.0: 200_000}.get(scale, 100_000),
        Part("position_attention", start=scale),
        (*MEASURES, "attention_matrix"),
    )
    for scale in SCALES
}
# more than half of the weights are missing in the end: the law's condition is not met
LOST = "start-30"


@dataclass(frozen=True)
class Starts:
    """The study `teacher-models/starts`."""

    name: str = NAME
    sentence: str = (
        "starts and patterns: D = K, K = D−1, unequal weights and supports, S* "
        "without zeros, random starts of every scale"
    )
    statement: str = (
        "Theorem 3.1 has K equal weights in every column of S*, K < D, and starts at zero. The "
        "counting law must not depend on the weights "
        "of a support, on equal supports, nor on the start, once the supports are found. Without "
        "zeros in S* the excess is exponential: "
        "its rate is the least curvature at the teacher among the modes that the start excites. "
        "From zero those with the symmetry of S*, "
        "from a random start all."
    )
    equation: str = (
        "zeros in S*: excess·ηT → Σ_i K_i(D−K_i)/4;   none: −½ d ln(excess)/d(ηT) → μ = min h,  "
        "h of ½λ‖αS* + ‖V*‖Jz/√D‖²;   "
        "D = K from zero: (1 − λη)² a step"
    )
    source: str = f"asked of {PAPER}; derived here (docs/derivations.md, sections 2 and 13)"
    choices: tuple[str, ...] = (
        "D = 12, M = 4, d = 6, ReLU, ‖V*‖ = 30 where nothing else is said. Step sizes from a "
        "tenth to nine tenths of the largest stable.",
        "Unequal weights on K = 4 tokens of D = 12, drawn anew in every column and seed: "
        "Dirichlet(5, 5, 5, 5), 8:4:2:1 and 64:16:4:1 "
        "(identity for the last two, for which the shares on the support have a constant).",
        "Mixed supports: K = 1, 1, 2, 4, 6, 11, 11 for D = 12 and 7 queries; K from 1 to 8 for D "
        "= 8 and 16 queries.",
        "No zeros: three random columns of five weights (‖V*‖ = 12); weights 1.5^−j in random "
        "order; average pooling of which half "
        "is spread evenly.",
        "Random starts: all entries of W_V and W_KQ N(0, s²), s from 0.001 to 30, average "
        "pooling of 4 out of 12, eight seeds each; "
        "ηT to 20,000, 60,000 for s = 10, and 4,000 for s = 30, where the step size is 0.02. The "
        "law is not claimed of s = 30.",
        "From zero, with S* given, seeds differ in V* alone, of which nothing depends on more "
        "than its norm: their spread is rounding.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 40.0, "full": 900.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/decay.py"

    def cases(self, plan: Plan) -> list[Case]:
        """Every pattern and every start; and, unless something was changed, the controls."""
        cases = [
            _case(name, pattern, plan)
            for name, pattern in (UNIFORM | LAWS | DECAYS | STARTS).items()
        ]
        return cases if plan.changes else [*cases, *_controls(plan)]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.starts import figures as starts_figures

        return starts_figures.draw(answered, folder)


def _settings(pattern: Pattern, plan: Plan, steps: int | None = None) -> tuple[Setting, ...]:
    seeds = plan.seeds or (MORE if pattern in STARTS.values() else SEEDS)[plan.preset]
    length = plan.steps or steps or pattern.steps * (LONGER if plan.preset == "full" else 1)
    made = []
    for seed in range(seeds):
        base = Setting(
            pattern.teacher(seed),
            pattern.rate,
            steps=length,
            student=pattern.student,
            measures=pattern.measures,
        )
        base = changed(base, plan.changes, OPEN)
        made.append(replace(base, seed=base.seed + seed))
    return tuple(made)


def _case(name: str, pattern: Pattern, plan: Plan) -> Case:
    try:
        settings = _settings(pattern, plan)
    except NoSuchOption as reason:
        return Case(name, pattern.label, (), (), left_out=str(reason))
    return Case(
        name,
        pattern.label,
        settings,
        _claims(name, pattern),
        derived=shares if pattern.measures is SHARES else None,
    )


def _claims(name: str, pattern: Pattern) -> tuple[Claim, ...]:
    if name in UNIFORM:
        return claims.uniform_claims(name)
    if name in STARTS:
        found = () if name == LOST else tuple(claims.law_claims(name).values())
        return (*found, *claims.start_measures(name))
    aligned = (claims.cosine_claim(name),) if pattern.student is not RANDOM else ()
    if name in DECAYS:
        exact = (
            (claims.decay_claim(name, value="least_weight_decay", statement=TIED),)
            if name == "leak-random"
            else ()
        )
        return (claims.decay_claim(name), *exact, *aligned, claims.least_weight_measure(name))
    parts = (
        claims.share_claims(name, sharp=name != "random-weights")
        if pattern.measures is SHARES
        else ()
    )
    whole = (claims.recursion_claim(name),) if name == "one-zero" else ()
    return (
        *claims.law_claims(name).values(),
        *aligned,
        *parts,
        *whole,
        claims.settled_measure(name),
    )


TIED = "the decay is λ‖V*‖²s²/D exactly, s a least weight that two tokens of a column share"


def _controls(plan: Plan) -> list[Case]:
    """What must not hold: the rate without zeros, early and late; laws of wrong supports or lost
    ones; alignment without a zero start.
    """

    def rate(name: str) -> tuple[Claim, ...]:
        return (
            claims.law_claims(name, predicted("plateau"))["excess-rate"],
        )  # as if the zeros were there

    def wrong(name: str, value: Callable[[Setting], float], words: str) -> Claim:
        claim = claims.law_claims(name)["excess-constant"]
        assert isinstance(claim, Constant)
        return replace(claim, value=value, statement=f"excess·ηT → that of {words}")

    def case(
        name: str, label: str, pattern: Pattern, held: tuple[Claim, ...], breaks: str, **how: Any
    ) -> Case:
        return Case(name, label, _settings(pattern, plan, **how), held, breaks)

    lost = tuple(
        claims.law_claims("lost-tokens")[name] for name in ("excess-rate", "excess-constant")
    )
    zeros = "zeros in S*: without them the softmax reaches S* at finite scores"
    one_k = tuple(
        replace(
            claim,
            value=equal_supports(constant),
            statement=f"{claim.statement.split(' → ')[0]} → that of one K, the mean",
        )
        for name, _, _, constant, _, _ in CURVES
        if isinstance(claim := claims.law_claims("one-support")[f"{name}-constant"], Constant)
    )
    return [
        case("all-tokens-rate", "D = K", UNIFORM["all-tokens"], rate("all-tokens-rate"), "K < D"),
        case(
            "no-zeros-rate", "no zeros", DECAYS["no-zeros-geometric"], rate("no-zeros-rate"), zeros
        ),
        case(
            "leak-early", "1% leaked, no zeros", SLOW_LEAK, rate("leak-early"), zeros, steps=EARLY
        ),
        case("leak-late", "1% leaked, no zeros", SLOW_LEAK, rate("leak-late"), zeros),
        case(
            "least-weight",
            "half leaked, from zero",
            DECAYS["leak"],
            (claims.decay_claim("least-weight", value="least_weight_decay", statement=TIED),),
            "a start that excites every mode: from zero tied weights stay tied",
        ),
        case(
            "effective-support",
            "1/‖s*‖² for K",
            LAWS["steep"],
            (wrong("effective-support", claims.effective_law, "1/‖s*_i‖² in the place of K_i"),),
            "K_i counts tokens, however little they weigh",
        ),
        case(
            "one-support",
            "mixed, one K",
            LAWS["mixed"],
            one_k,
            "equal supports: K_i from 1 to 11, taken as their mean",
        ),
        case(
            "lost-tokens",
            "N(0, 30²)",
            STARTS[LOST],
            lost,
            "supports that are found: here most weights are still missing",
        ),
        *(
            case(name, pattern.label, pattern, (claims.cosine_claim(name),), "a zero start")
            for name, pattern in (
                (name.replace("start", "aligned"), pattern) for name, pattern in STARTS.items()
            )
        ),
    ]


STUDY = Starts()
