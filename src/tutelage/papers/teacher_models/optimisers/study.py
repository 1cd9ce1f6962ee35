"""Theorem 3.1 is about plain descent. What other optimisers do: momentum, decaying steps,
normalised and sign descent, Adam, optax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tutelage.claims import (
    Claim,
    Constant,
    Exponent,
    Hypothesis,
    Level,
    Measured,
    Rate,
    Ratio,
    Recovery,
    Slope,
)
from tutelage.papers.teacher_models.optimisers import readings as reading
from tutelage.papers.teacher_models.rates.study import GCN, LETTERS, PAPER
from tutelage.papers.teacher_models.rates.study import hypotheses as theorem
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/optimisers"
SOURCE = "derived here (docs/derivations.md, section 12)"
OPEN = {
    letter: LETTERS[letter] for letter in ("d", "M", "V", "tau", "T")
}  # D and K are the graph's, η each optimiser's
SEEDS = {"quick": 3, "full": 5}
LONGER = 10  # times as many steps in the full preset
MEASURES = ("excess_risk", "value_error", "attention_error", "cosine", "two_value_distance")

HEAVY, NESTEROV = Part("momentum", decay=0.9), Part("momentum", decay=0.5, nesterov=True)
BELOW, ABOVE = 0.95, 1.05  # times the largest stable step

# name -> label, optimiser, step sizes, steps of the quick preset.
RUNS: dict[str, tuple[str, Part, tuple[float, ...], int]] = {
    "plain": ("plain descent", Part("gradient_descent"), (0.2,), 60_000),
    "heavy-ball": ("heavy ball, β = 0.9", HEAVY, (0.04,), 60_000),
    "nesterov": ("Nesterov, β = 0.5", NESTEROV, (0.1,), 60_000),
    "decaying-quarter": (
        "steps ∝ T^-¼",
        Part("gradient_descent", power=0.25, onset=10.0),
        (0.4,),
        100_000,
    ),
    "decaying-one": (
        "steps ∝ 1/T",
        Part("gradient_descent", power=1.0, onset=1000.0),
        (0.4,),
        100_000,
    ),
    "normalised": ("normalised", Part("normalised"), (0.7, 1.0, 1.4), 100_000),
    "normalised-decaying": ("normalised, ∝ T^-¾", Part("normalised", power=0.75), (1.0,), 100_000),
    "sign": ("sign", Part("sign"), (0.003, 0.01, 0.03), 50_000),
    "sign-decaying": ("sign, ∝ T^-½", Part("sign", power=0.5), (0.03,), 100_000),
    "adam": ("Adam", Part("adam"), (0.1, 0.2, 0.4), 50_000),
    "adam-decaying": ("Adam, ∝ T^-½", Part("adam", power=0.5), (0.1,), 50_000),
    "lion": ("Lion (optax)", Part("optax", transformation="lion"), (0.003,), 50_000),
    "adagrad": ("Adagrad (optax)", Part("optax", transformation="adagrad"), (0.3,), 100_000),
}
SLOW = 0.002  # the step of normalised descent before its edge
FLOW = (0.2, 0.05, 0.0125)  # step sizes, and the time ηT of all of them
FLOW_TIME = 100.0
ROTATED = Part("position_attention", key_codes="orthonormal")


def predicted(function: str) -> Callable[[Setting], float]:
    """A prediction of `optimisers_theory.py` by name; it loads JAX only when it is asked."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models.theory import optimisers as optimisers_theory

        return float(getattr(optimisers_theory, function)(setting))

    return at


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    return theorem(setting)


def about(case: str, name: str, statement: str, source: str = SOURCE) -> dict[str, Any]:
    return {
        "id": f"{NAME}/{case}/{name}",
        "statement": statement,
        "source": source,
        "hypotheses": hypotheses,
    }


def rate(case: str, exponent: float, statement: str, plateau: Any = None) -> Claim:
    return Rate("excess_risk", exponent, plateau=plateau, **about(case, "excess-rate", statement))


def cosine(case: str) -> Claim:
    return Recovery(
        "cosine",
        1.0,
        1e-9,
        1,
        **about(case, "cosine", "cos(W_V, V*) = 1 from the first step", PAPER),
    )


def two_values(case: str) -> Claim:
    # Roundings of 10⁵ steps, each of a weight of at most ⅓; what is not exact here is of order 0.1.
    return Recovery(
        "two_value_distance",
        0.0,
        1e-9,
        1,
        **about(case, "two-values", "every column of S has two values", PAPER),
    )


def momentum_claims(case: str) -> list[Claim]:
    """Plain descent (β = 0) and momentum: its laws with time η T/(1−β)."""
    plateau = predicted("plateau")
    claims = [rate(case, -1.0, "excess risk = Θ(1/T)", plateau)]
    for name, curve, exponent, value, statement in (
        ("excess-constant", "excess_risk", -1.0, "law", "excess·ηT → (1−β)Σ_i K_i(D−K_i)/4"),
        (
            "value-constant",
            "value_error",
            -0.5,
            "value_law",
            "‖W_V − V*‖√(ηT) → √(1−β)(D−K)√(K/2λ)",
        ),
        (
            "attention-constant",
            "attention_error",
            -0.5,
            "attention_law",
            "‖S − S*‖√(ηT) → √(1−β)√(QD(D−K)/2λ)/‖V*‖",
        ),
    ):
        claims.append(
            Constant(
                curve, exponent, predicted(value), plateau=plateau, **about(case, name, statement)
            )
        )
    return claims


def decaying_claims(case: str) -> list[Claim]:
    """Time is Σ η_t: the law in that time, and the exponent that follows."""
    plateau = predicted("plateau")
    claims: list[Claim] = [
        Constant(
            "excess_by_time",
            0.0,
            predicted("law"),
            plateau=plateau,
            **about(case, "law", "excess·Σ_t η_t → Σ_i K_i(D−K_i)/4"),
        )
    ]
    power = RUNS[case][1].options["power"]
    return claims + (
        [rate(case, power - 1, f"excess risk = Θ(T^-{1 - power:g})", plateau)] if power < 1 else []
    )


def measured(case: str, name: str, values: Callable[..., Any], of: str) -> Claim:
    return Measured(values, of, **about(case, name, of, "measured"))


def hovering(case: str) -> list[Claim]:
    """Where constant steps stop the fall, against η."""
    return [
        measured(
            case,
            "hover-exponent",
            reading.hover_exponents,
            "the exponent in η of the excess at the end",
        ),
        measured(case, "hover-level", reading.hover_levels, "the excess at the end over η²"),
        measured(
            case,
            "worst-cosine",
            reading.worst_cosines,
            "the least cosine of W_V and V* from the first step on",
        ),
        # Adam adds 1e-8 to the size of every gradient before it divides by it: here below a
        # millionth of it.
        Ratio(
            reading.first_cosine,
            predicted("sign_cosine"),
            1e-6,
            "the cosine after the first step",
            **about(
                case,
                "first-cosine",
                "the first step of W_V is along the signs of V*: cos = ‖V*‖₁/(√(Md)‖V*‖)",
            ),
        ),
    ]


def claims_of(case: str) -> list[Claim]:
    """All that is asked of one optimiser."""
    shared = [two_values(case)]
    aligned = [*shared, cosine(case)]
    if case in ("plain", "heavy-ball", "nesterov"):
        return [*momentum_claims(case), *aligned]
    if case.startswith("decaying"):
        return [*decaying_claims(case), *aligned]
    if case == "normalised":
        level, of = predicted("normalised_level"), "the mean excess from T/3 on"
        said = "normalised descent ends at an excess of hη²/8 + Ch/(2T)"
        return [
            Ratio(reading.hover, level, 0.03, of, **about(case, "hover", said)),
            *aligned,
        ]
    if case == "normalised-decaying":
        said = "excess·ηT → hη/2·Σ_i K_i(D−K_i)/4: plain descent at the step 2/h"
        constant = Constant(
            "excess_risk", -1.0, predicted("self_tuned_law"), **about(case, "excess-constant", said)
        )
        return [rate(case, -1.0, "excess risk = Θ(1/T)"), constant, *aligned]
    if case == "sign-decaying":
        return [rate(case, -1.0, "excess risk = Θ(η_T²) = Θ(1/T)"), _level(case), *shared]
    if case in ("sign", "adam"):
        return [*hovering(case), *shared]
    if case == "lion":
        return [*hovering(case)[1:], *shared]
    if case == "adam-decaying":
        ends = measured(
            case, "end-excess", reading.end_excesses, "the excess at the end over its start"
        )
        return [
            Slope("excess_risk", **about(case, "slope", "the slope of the excess", "measured")),
            ends,
            *shared,
        ]
    return [
        Slope("excess_risk", **about(case, "slope", "the slope of the excess", "measured")),
        _level(case),
        *shared,
    ]


def _level(case: str) -> Claim:
    return Level("excess_risk", -1.0, **about(case, "level", "excess·ηT", "measured"))


@dataclass(frozen=True)
class Optimisers:
    """The study `teacher-models/optimisers`."""

    name: str = NAME
    sentence: str = (
        "optimisers other than plain descent: momentum, decaying steps, normalised "
        "and sign descent, Adam, any of optax"
    )
    statement: str = (
        "Theorem 3.1 is about plain gradient descent. Of the others some can be predicted: "
        "momentum multiplies the constant of the excess "
        "by 1−β; decaying steps put Σ η_t in the place of ηT; descent tends to gradient flow; "
        "each has a largest stable step; and "
        "normalised descent falls exponentially, comes to its edge of stability and stays there. "
        "Adam, sign descent, Lion and Adagrad "
        "are measured."
    )
    equation: str = (
        "excess·Σ_t η_t/(1−β) → C = Σ_i K_i(D−K_i)/4;   η < 2/h, 2(1+β)/h, (2+2β)/((1+2β)h), h = "
        "λQ/K;   normalised: "
        "d log excess/d(ηT) → −1/√C, then excess → hη²/8"
    )
    source: str = (
        f"asked of {PAPER}; the predictions are derived here (docs/derivations.md, section 12)"
    )
    choices: tuple[str, ...] = (
        "One teacher for all: the cycle graph of the paper, D = 20, K = 3, d = 10, M = 8, ReLU, "
        "‖V*‖ = 30, from zero.",
        "β = 0.9 (heavy ball) and 0.5 (Nesterov). Step sizes η/(1 + t/t₀)^a with a = ¼ and 1 for "
        "descent, ¾ for normalised descent, "
        "½ for sign descent and Adam.",
        "Adam, Lion and Adagrad with the further options that are optax's own defaults.",
        "Codes are the unit vectors but in adam-rotated and sign-rotated, where P is a random "
        "rotation, another one each seed: plain "
        "descent does not see it.",
        "From zero and with the codes of the tokens, seeds differ in V* alone; of V* the "
        "descents see the norm, Adam and sign see all.",
        "The level at which an optimiser hovers is the mean excess over the measured points from "
        "T/3 on.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 50.0, "full": 300.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/optimisers.py"

    def cases(self, plan: Plan) -> list[Case]:
        """Every optimiser; and, unless something was changed, edges, the flow, rotated codes and
        the controls.
        """
        cases = [_case(name, plan) for name in RUNS]
        return (
            cases
            if plan.changes
            else [
                *cases,
                *_edges(plan),
                _before_edge(plan),
                _flow(plan),
                *_rotated(plan),
                *_controls(plan),
            ]
        )

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.optimisers import figures as optimisers_figures

        return optimisers_figures.draw(answered, folder)


def _settings(name: str, plan: Plan, rates: Sequence[float] = ()) -> tuple[Setting, ...]:
    _, optimiser, own, steps = RUNS[name]
    length = plan.steps or steps * (LONGER if plan.preset == "full" else 1)
    base = changed(
        Setting(GCN, 1.0, steps=length, optimiser=optimiser, measures=MEASURES), plan.changes, OPEN
    )
    seeds = range(plan.seeds or SEEDS[plan.preset])
    return tuple(
        replace(base, rate=rate, seed=base.seed + i) for rate in (rates or own) for i in seeds
    )


def _case(name: str, plan: Plan) -> Case:
    try:
        settings = _settings(name, plan)
    except NoSuchOption as reason:
        return Case(name, RUNS[name][0], (), (), left_out=str(reason))
    return Case(
        name,
        RUNS[name][0],
        settings,
        tuple(claims_of(name)),
        derived=reading.by_time if name.startswith("decaying") else None,
    )


def _edges(plan: Plan) -> list[Case]:
    """Each largest stable step between a run below it, whose rate holds, and one above, whose rate
    must not.
    """
    cases = []
    for name, formula in (
        ("plain", "2/h"),
        ("heavy-ball", "2(1+β)/h"),
        ("nesterov", "(2+2β)/((1+2β)h)"),
    ):
        limit = predicted("edge")(_settings(name, plan)[0])
        for factor, word in ((BELOW, "below"), (ABOVE, "above")):
            case = f"{name}-{word}"
            breaks = (
                f"stability: η is {factor:g} times its largest stable value" if factor > 1 else ""
            )
            claim = rate(
                case,
                -1.0,
                f"excess risk = Θ(1/T) at η = {factor:g} × {formula}",
                predicted("plateau"),
            )
            settings = _settings(name, plan, (factor * limit,))
            cases.append(
                Case(case, f"{RUNS[name][0]}, {factor:g} × edge", settings, (claim,), breaks)
            )
    return cases


def _before_edge(plan: Plan) -> Case:
    claim = Ratio(
        reading.fall,
        predicted("normalised_fall"),
        0.03,
        "d log excess/d(ηT)",
        **about(
            "normalised-slow", "fall", "normalised descent falls like e^(−ηT/√C) before its edge"
        ),
    )
    claims = (claim, two_values("normalised-slow"), cosine("normalised-slow"))
    return Case(
        "normalised-slow",
        f"normalised, η = {SLOW:g}",
        _settings("normalised", plan, (SLOW,)),
        claims,
    )


def _flow(plan: Plan) -> Case:
    base = _settings("plain", plan)[0]
    settings = tuple(replace(base, rate=rate, steps=round(FLOW_TIME / rate)) for rate in FLOW)
    claim = Exponent(
        points=reading.departures,
        exponent=1.0,
        of="the largest departure of log excess from that of gradient flow, against ηt, in η",
        # the next order of Euler's error is still visible at the largest step, as in
        # teacher-models/rates
        tolerance=0.1,
        **about("flow", "order", "descent tends to gradient flow as η → 0, at first order"),
    )
    return Case("flow", "gradient flow", settings, (claim,))


def _rotated(plan: Plan) -> list[Case]:
    """The same runs where W_KQ is kept in another orthonormal basis: Adam and sign descent act by
    coordinates, and see it.
    """
    cases = []
    for name, rate_ in (("adam", 0.1), ("sign", 0.003)):
        case = f"{name}-rotated"
        claims = (
            measured(
                case,
                "two-value-distance",
                reading.worst_distances,
                "the largest distance of a column of S from two values",
            ),
            measured(case, "end-distance", reading.end_distances, "the same at the end of a run"),
            measured(
                case, "end-excess", reading.end_excesses, "the excess at the end over its start"
            ),
        )
        settings = tuple(replace(s, student=ROTATED) for s in _settings(name, plan, (rate_,)))
        cases.append(Case(case, f"{RUNS[name][0]}, rotated codes", settings, claims))
        breaks = (
            "W_KQ in the basis of the tokens: by coordinates of another basis the tokens of "
            "a support are not alike"
        )
        cases.append(
            Case(
                f"{case}-two-values",
                f"{RUNS[name][0]}, rotated codes",
                settings,
                (two_values(f"{case}-two-values"),),
                breaks,
            )
        )
    return cases


def _controls(plan: Plan) -> list[Case]:
    """What must not hold: laws of plain descent where another optimiser ran."""
    heavy, one, adam = (
        _settings("heavy-ball", plan),
        _settings("decaying-one", plan),
        _settings("adam", plan, RUNS["adam"][2][:1]),
    )
    said = "excess·ηT → Σ_i K_i(D−K_i)/4"
    by_plain_law = Constant(
        "excess_risk",
        -1.0,
        predicted("plain_law"),
        plateau=predicted("plateau"),
        **about("momentum-plain-law", "excess-constant", said),
    )
    adam_law = Constant(
        "excess_risk",
        -1.0,
        predicted("plain_law"),
        **about("adam-plain-law", "excess-constant", said),
    )
    as_if_constant = rate("decaying-plain-rate", -1.0, "excess risk = Θ(1/T)", predicted("plateau"))
    return [
        Case(
            "momentum-plain-law",
            "heavy ball, plain law",
            heavy,
            (by_plain_law,),
            "plain descent: momentum has the factor 1−β",
        ),
        Case(
            "adam-plain-law",
            "Adam, plain law",
            adam,
            (adam_law,),
            "plain descent: Adam divides by its own gradients",
        ),
        Case(
            "adam-cosine",
            "Adam, alignment",
            adam,
            (cosine("adam-cosine"),),
            "plain descent: Adam acts by coordinates of W_V",
        ),
        Case(
            "decaying-plain-rate",
            "steps ∝ 1/T, plain rate",
            one,
            (as_if_constant,),
            "a constant step: time is Σ η_t ∝ log T",
        ),
    ]


OPTIMISERS = Optimisers()
