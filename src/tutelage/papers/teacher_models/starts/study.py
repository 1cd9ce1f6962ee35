"""Starts and patterns beyond the theorem's: D = K, K = D−1, unequal weights and supports, S*
without zeros, random starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.claims import Claim
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.setup import LETTERS, THEOREM, cosine_claim
from tutelage.papers.teacher_models.starts import claims, figures
from tutelage.papers.teacher_models.starts.patterns import (
    DECAYS,
    LOST,
    POWER_LAWS,
    RANDOM,
    SHARES,
    SLOW_LEAK,
    STARTS,
    UNIFORM,
    Pattern,
)
from tutelage.papers.teacher_models.starts.readings import shares
from tutelage.papers.teacher_models.theory.mean_support import AT_MEAN_SUPPORT
from tutelage.papers.teacher_models.theory.unequal_weights import effective_counting_law
from tutelage.settings import Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting

# D and K are the pattern's.
OPEN = {letter: LETTERS[letter] for letter in ("d", "M", "V", "tau", "eta", "T")}
LARGEST_START = 10.0  # the scale of entries up to which a law is claimed
EARLY = 40_000  # steps: a leak of 1% leaves the power law, and has not yet left it behind
ZEROS = "zeros in S*: without them the softmax reaches S* at finite scores"


@dataclass(frozen=True, kw_only=True)
class StartsPreset(Preset):
    start_seeds: int  # of random starts of every scale


def cases(plan: Plan, preset: StartsPreset) -> list[Case]:
    """Every pattern and every start; and, unless something was changed, the controls."""
    main = [
        pattern_case(name, pattern, plan, preset)
        for name, pattern in (UNIFORM | POWER_LAWS | DECAYS | STARTS).items()
    ]
    return main if plan.changes else [*main, *controls(plan, preset)]


def pattern_case(name: str, pattern: Pattern, plan: Plan, preset: StartsPreset) -> Case:
    try:
        settings = seeded(pattern, plan, preset)
    except NoSuchOption as reason:
        return Case(name, pattern.label, (), (), left_out=str(reason))
    derived = shares if pattern.measures == SHARES else None
    return Case(name, pattern.label, settings, claims_of(name, pattern), derived=derived)


def seeded(
    pattern: Pattern, plan: Plan, preset: StartsPreset, steps: int | None = None
) -> tuple[Setting, ...]:
    """One setting per seed, each with its own teacher."""
    usual = preset.start_seeds if pattern.many_seeds else 1 if pattern.one_run else preset.seeds
    seeds = plan.seeds or usual
    length = plan.steps or steps or pattern.steps
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


def claims_of(name: str, pattern: Pattern) -> tuple[Claim, ...]:
    """What is claimed and measured of a case, by the kind of its pattern."""
    if name in UNIFORM:
        return claims.uniform_claims()
    if name in STARTS:
        laws = () if name == LOST else claims.law_claims()
        return (*laws, *claims.start_measures())
    aligned = () if pattern.student is RANDOM else (cosine_claim(),)
    if name in DECAYS:
        tied = (claims.least_weight_claim(),) if name == "leak-random" else ()
        return (claims.decay_claim(), *tied, *aligned, claims.least_weight_measure(pattern.one_run))
    more: tuple[Claim, ...] = ()
    if pattern.measures == SHARES:
        # The constant of the shares is known for the identity.
        sharp = () if name == "random-weights" else (claims.share_constant(),)
        more = (*claims.share_claims(), *sharp)
    if name == "one-zero":
        more = (claims.recursion_claim(),)
    return (*claims.law_claims(), *aligned, *more, claims.settled_measure(pattern.one_run))


def case_at(setting: Setting) -> Case:
    """The power law where S* has a zero, the exponential one where it has none."""
    facts = theory.facts(setting)
    aligned = (cosine_claim(),) if facts.zero_start else ()
    if facts.on.all():
        if facts.uniform and facts.zero_start:
            return at_setting(setting, claims.uniform_claims(), measures=("value_matrix",))
        return at_setting(
            setting, (claims.decay_claim(), *aligned, claims.least_weight_measure(facts.zero_start))
        )
    if not facts.zero_start:
        # From farther away most weights of S* are missing in the end.
        far = float(setting.student.options.get("start", 0.0)) > LARGEST_START
        laws = () if far else claims.law_claims()
        return at_setting(
            setting, (*laws, *claims.start_measures()), measures=("attention_matrix",)
        )
    laws = (*claims.law_claims(), *aligned, claims.settled_measure(facts.zero_start))
    if facts.uniform or len(set(facts.supports.tolist())) > 1:
        return at_setting(setting, laws)
    # The constant of the shares is known for the identity.
    sharp = (claims.share_constant(),) if facts.slope == 1 else ()
    return at_setting(
        setting, (*laws, *claims.share_claims(), *sharp), measures=SHARES, derived=shares
    )


def controls(plan: Plan, preset: StartsPreset) -> list[Case]:
    """What must not hold: the rate without zeros, early and late; laws of wrong supports or lost
    ones; alignment without a zero start.
    """

    def control(
        name: str,
        label: str,
        pattern: Pattern,
        held: tuple[Claim, ...],
        breaks: str,
        steps: int | None = None,
    ) -> Case:
        return Case(name, label, seeded(pattern, plan, preset, steps), held, breaks)

    as_if_zeros, _ = claims.rates_and_constants(theory.plateau)
    rate = (as_if_zeros["excess"],)
    rates, constants = claims.rates_and_constants()
    effective = replace(
        constants["excess"],
        value=effective_counting_law,
        statement="excess·ηT → that of 1/‖s*_i‖² in the place of K_i",
    )
    one_support = tuple(
        replace(
            constants[law.name],
            value=AT_MEAN_SUPPORT[law.name],
            statement=f"{law.mixed_text.split(' → ')[0]} → that of one K, the mean",
        )
        for law in theory.LAWS
    )
    return [
        control("all-tokens-rate", "D = K", UNIFORM["all-tokens"], rate, "K < D"),
        control("no-zeros-rate", "no zeros", DECAYS["no-zeros-geometric"], rate, ZEROS),
        control("leak-early", "1% leaked, no zeros", SLOW_LEAK, rate, ZEROS, EARLY),
        control("leak-late", "1% leaked, no zeros", SLOW_LEAK, rate, ZEROS),
        control(
            "least-weight",
            "half leaked, from zero",
            DECAYS["leak"],
            (claims.least_weight_claim(),),
            "a start that excites every mode: from zero tied weights stay tied",
        ),
        control(
            "effective-support",
            "1/‖s*‖² for K",
            POWER_LAWS["steep"],
            (effective,),
            "K_i counts tokens, however little they weigh",
        ),
        control(
            "one-support",
            "mixed, one K",
            POWER_LAWS["mixed"],
            one_support,
            "equal supports: K_i from 1 to 11, taken as their mean",
        ),
        control(
            "lost-tokens",
            "N(0, 30²)",
            STARTS[LOST],
            (rates["excess"], constants["excess"]),
            "supports that are found: here most weights are still missing",
        ),
        *(
            control(
                name.replace("start", "aligned"),
                pattern.label,
                pattern,
                (cosine_claim(),),
                "a zero start",
            )
            for name, pattern in STARTS.items()
        ),
    ]


study = Study(
    source=f"asked of {THEOREM}; derived here (docs/derivations.md, sections 2 and 13)",
    statement=(
        "Theorem 3.1 has K equal weights in every column of S*, K < D, and starts at zero. The "
        "counting law must not depend on the weights of a support, on equal supports, nor on the "
        "start, once the supports are found. Without zeros in S* the excess is exponential: its "
        "rate is the least curvature at the teacher among the modes that the start excites. From "
        "zero those with the symmetry of S*, from a random start all."
    ),
    equation=(
        "zeros in S*: excess·ηT → Σ_i K_i(D−K_i)/4;   none: −½ d ln(excess)/d(ηT) → μ = min h,  "
        "h of ½λ‖αS* + ‖V*‖Jz/√D‖²;   D = K from zero: (1 − λη)² a step"
    ),
    choices=(
        "D = 12, M = 4, d = 6, ReLU, ‖V*‖ = 30 where nothing else is said. Step sizes from a "
        "tenth to nine tenths of the largest stable.",
        "Unequal weights on K = 4 tokens of D = 12, drawn anew in every column and seed: "
        "Dirichlet(5, 5, 5, 5), 8:4:2:1 and 64:16:4:1 (identity for the last two, for which the "
        "shares on the support have a constant).",
        "Mixed supports: K = 1, 1, 2, 4, 6, 11, 11 for D = 12 and 7 queries; K from 1 to 8 for "
        "D = 8 and 16 queries.",
        "No zeros: three random columns of five weights (‖V*‖ = 12); weights 1.5^−j in random "
        "order; average pooling of which half is spread evenly.",
        "Random starts: all entries of W_V and W_KQ N(0, s²), s from 0.001 to 30, average "
        "pooling of 4 out of 12, four seeds each; 10⁸ steps, 10¹⁵ for s = 10, and 800,000 for "
        "s = 30, where the step size is 0.02. The law is not claimed of s = 30.",
        "From zero, with S* given, seeds differ in V* alone, of which nothing depends on more "
        "than its norm: there one run is made, and the time goes into 10⁸ steps.",
    ),
    presets={
        "quick": StartsPreset(seconds=90.0, seeds=3, start_seeds=4),
        "full": StartsPreset(seconds=300.0, seeds=5, start_seeds=20),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/theory/decay.py",
    letters=OPEN,
)
