"""Theorem 3.1 is about plain descent. What other optimisers do: momentum, decaying steps,
normalised and sign descent, Adam, optax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutelage.claims import Claim, Exponent
from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.optimisers import claims, figures, readings
from tutelage.papers.teacher_models.optimisers.runs import ABOVE, BELOW, RUNS
from tutelage.papers.teacher_models.setup import GCN, LETTERS, THEOREM, cosine_claim
from tutelage.papers.teacher_models.theory import optimisers as predictions
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting, over_seeds

# D and K are the graph's, η each optimiser's.
OPEN = {letter: LETTERS[letter] for letter in ("d", "M", "V", "tau", "T")}
MEASURES = ("excess_risk", "value_error", "attention_error", "cosine", "two_value_distance")
SLOW_RATE = 0.002  # of normalised descent, before its edge
FLOW_RATES, FLOW_TIME = (0.2, 0.05, 0.0125), 100.0  # step sizes, and the time ηT of all of them
ROTATED = Part("position_attention", key_codes="orthonormal")
EDGES = {"plain": "2/h", "heavy-ball": "2(1+β)/h", "nesterov": "(2+2β)/((1+2β)h)"}


@dataclass(frozen=True, kw_only=True)
class OptimisersPreset(Preset):
    longer: int  # times the steps of each run


def cases(plan: Plan, preset: OptimisersPreset) -> list[Case]:
    """Every optimiser; and, unless something was changed, edges, the flow, rotated codes and the
    controls.
    """
    main = [optimiser_case(name, plan, preset) for name in RUNS]
    if plan.changes:
        return main
    return [
        *main,
        *edge_cases(plan, preset),
        before_edge_case(plan, preset),
        flow_case(plan, preset),
        *rotated_cases(plan, preset),
        *controls(plan, preset),
    ]


def settings_of(
    name: str, plan: Plan, preset: OptimisersPreset, rates: Sequence[float] = ()
) -> tuple[Setting, ...]:
    """Every seed at each of the optimiser's own step sizes, or at those given."""
    run = RUNS[name]
    steps = plan.steps or run.steps * preset.longer
    base = changed(
        Setting(GCN, 1.0, steps=steps, optimiser=run.optimiser, measures=MEASURES),
        plan.changes,
        OPEN,
    )
    return tuple(
        setting
        for rate in rates or run.rates
        for setting in over_seeds(replace(base, rate=rate), plan.seeds or preset.seeds)
    )


def optimiser_case(name: str, plan: Plan, preset: OptimisersPreset) -> Case:
    label = RUNS[name].label
    try:
        settings = settings_of(name, plan, preset)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    by_time = readings.by_time if name.startswith("decaying") else None
    return Case(name, label, settings, tuple(claims.CLAIMS[name]), derived=by_time)


def case_at(setting: Setting) -> Case:
    """The laws of the setting's optimiser; any momentum and any decay of plain steps."""
    decaying = setting.optimiser.name == "gradient_descent" and _power(setting) > 0
    return at_setting(
        setting,
        claims_about(setting),
        measures=MEASURES,
        derived=readings.by_time if decaying else None,
    )


def claims_about(setting: Setting) -> list[Claim]:
    optimiser = setting.optimiser
    if optimiser.name == "gradient_descent" and _power(setting) > 0:
        return [*claims.decaying_claims(_power(setting)), *claims.ALIGNED]
    if optimiser.name in (RUNS["plain"].optimiser.name, RUNS["heavy-ball"].optimiser.name):
        return claims.CLAIMS["plain"]
    for name, run in RUNS.items():
        if run.optimiser == optimiser:  # its exponent in η takes several settings
            return [claim for claim in claims.CLAIMS[name] if claim.id != "hover-exponent"]
    known = ", ".join(dict.fromkeys(run.optimiser.name for run in RUNS.values()))
    raise NoPrediction(
        f"Of an optimiser this study knows {known}, with the options that it runs them with. Got "
        f"{optimiser.name!r} with {dict(optimiser.options)}."
    )


def _power(setting: Setting) -> float:
    return float(setting.optimiser.options.get("power", 0.0))


def edge_cases(plan: Plan, preset: OptimisersPreset) -> list[Case]:
    """Each largest stable step between a run below it, whose rate holds, and one above, whose rate
    must not.
    """
    found = []
    for name, formula in EDGES.items():
        edge = predictions.edge(settings_of(name, plan, preset)[0])
        for factor, word in ((BELOW, "below"), (ABOVE, "above")):
            said = f"excess risk = Θ(1/T) at η = {factor:g} × {formula}"
            breaks = f"stability: η is {factor:g} times its largest stable value"
            found.append(
                Case(
                    f"{name}-{word}",
                    f"{RUNS[name].label}, {factor:g} × edge",
                    settings_of(name, plan, preset, (factor * edge,)),
                    (claims.excess_rate(-1.0, said, predictions.plateau),),
                    control=breaks if factor > 1 else "",
                )
            )
    return found


def before_edge_case(plan: Plan, preset: OptimisersPreset) -> Case:
    return Case(
        "normalised-slow",
        f"normalised, η = {SLOW_RATE:g}",
        settings_of("normalised", plan, preset, (SLOW_RATE,)),
        (claims.fall_claim(), *claims.ALIGNED),
    )


def flow_case(plan: Plan, preset: OptimisersPreset) -> Case:
    base = settings_of("plain", plan, preset)[0]
    settings = tuple(replace(base, rate=rate, steps=round(FLOW_TIME / rate)) for rate in FLOW_RATES)
    claim = Exponent(
        certain=True,  # exact risks: no chance in any point
        points=readings.departures,
        exponent=1.0,
        of="the largest departure of log excess from that of gradient flow, against ηt, in η",
        # The next order of Euler's error is still visible at the largest step, as in
        # teacher-models/rates.
        tolerance=0.1,
        id="order",
        statement="descent tends to gradient flow as η → 0, at first order",
        source=claims.SOURCE,
        hypotheses=theory.theorem_3_1,
    )
    return Case("flow", "gradient flow", settings, (claim,))


def rotated_cases(plan: Plan, preset: OptimisersPreset) -> list[Case]:
    """The same runs where W_KQ is kept in another orthonormal basis: Adam and sign descent act by
    coordinates, and see it.
    """
    found = []
    for name, rate in (("adam", 0.1), ("sign", 0.003)):
        label = f"{RUNS[name].label}, rotated codes"
        settings = tuple(
            replace(s, student=ROTATED) for s in settings_of(name, plan, preset, (rate,))
        )
        found += [
            Case(f"{name}-rotated", label, settings, tuple(claims.rotated_claims())),
            Case(
                f"{name}-rotated-two-values",
                label,
                settings,
                (claims.two_values(),),
                control="W_KQ in the basis of the tokens: by coordinates of another basis the "
                "tokens of a support are not alike",
            ),
        ]
    return found


def controls(plan: Plan, preset: OptimisersPreset) -> list[Case]:
    """What must not hold: laws of plain descent where another optimiser ran."""
    adam = settings_of("adam", plan, preset, RUNS["adam"].rates[:1])
    law = claims.EXCESS
    return [
        Case(
            "momentum-plain-law",
            "heavy ball, plain law",
            settings_of("heavy-ball", plan, preset),
            (claims.excess_constant(law.constant, law.constant_text, predictions.plateau),),
            control="plain descent: momentum has the factor 1−β",
        ),
        Case(
            "adam-plain-law",
            "Adam, plain law",
            adam,
            (claims.excess_constant(law.constant, law.constant_text),),
            control="plain descent: Adam divides by its own gradients",
        ),
        Case(
            "adam-cosine",
            "Adam, alignment",
            adam,
            (cosine_claim(),),
            control="plain descent: Adam acts by coordinates of W_V",
        ),
        Case(
            "decaying-plain-rate",
            "steps ∝ 1/T, plain rate",
            settings_of("decaying-one", plan, preset),
            (claims.excess_rate(law.exponent, law.rate_text, predictions.plateau),),
            control="a constant step: time is Σ η_t ∝ log T",
        ),
    ]


study = Study(
    source=(
        f"asked of {THEOREM}; the predictions are derived here (docs/derivations.md, section 12)"
    ),
    statement=(
        "Theorem 3.1 is about plain gradient descent. Of the others some can be predicted: "
        "momentum multiplies the constant of the excess by 1−β; decaying steps put Σ η_t in the "
        "place of ηT; descent tends to gradient flow; each has a largest stable step; and "
        "normalised descent falls exponentially, comes to its edge of stability and stays there. "
        "Adam, sign descent, Lion and Adagrad are measured."
    ),
    equation=(
        "excess·Σ_t η_t/(1−β) → C = Σ_i K_i(D−K_i)/4;   η < 2/h, 2(1+β)/h, (2+2β)/((1+2β)h), h = "
        "λQ/K;   normalised: d log excess/d(ηT) → −1/√C, then excess → hη²/8"
    ),
    choices=(
        "One teacher for all: the cycle graph of the paper, D = 20, K = 3, d = 10, M = 8, ReLU, "
        "‖V*‖ = 30, from zero.",
        "β = 0.9 (heavy ball) and 0.5 (Nesterov). Step sizes η/(1 + t/t₀)^a with a = ¼ and 1 for "
        "descent, ¾ for normalised descent, ½ for sign descent and Adam.",
        "Adam, Lion and Adagrad with the further options that are optax's own defaults.",
        "Codes are the unit vectors but in adam-rotated and sign-rotated, where P is a random "
        "rotation, another one each seed: plain descent does not see it.",
        "From zero and with the codes of the tokens, seeds differ in V* alone; of V* the "
        "descents see the norm, Adam and sign see all.",
        "The level at which an optimiser hovers is the mean excess over the measured points from "
        "T/3 on.",
    ),
    presets={
        "quick": OptimisersPreset(seconds=50.0, seeds=3, longer=1),
        # What the quick one leaves open, ten times as long.
        "larger": OptimisersPreset(
            seconds=100.0,
            seeds=3,
            longer=10,
            only=(
                "plain",
                "nesterov",
                "decaying-quarter",
                "normalised-decaying",
                "sign-decaying",
                "heavy-ball-below",
            ),
        ),
        # What that one leaves open and steps decide, by its verdicts. One seed: from zero these
        # descents see of V* its norm alone. Rounding, which normalised descent amplifies for some
        # hundred steps, still differs between seeds.
        "longer": OptimisersPreset(
            seconds=240.0, seeds=1, longer=100, only=("normalised-decaying", "heavy-ball-below")
        ),
        "full": OptimisersPreset(seconds=300.0, seeds=5, longer=10),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/theory/optimisers.py",
    letters=OPEN,
)
