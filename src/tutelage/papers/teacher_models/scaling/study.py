"""How the constants of Theorem 3.1 grow with D, K, η and ‖V*‖: the printed theorem against the
sharp one, at the same points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tutelage.claims import Claim, Constant, Exponent
from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.trend import Stretch, levels, stretch
from tutelage.papers.teacher_models.rates.study import LETTERS, hypotheses, predicted
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/scaling"
PAPER = "Zhang et al. 2026, Theorem 3.1, as printed"
SHARP = "derived here (docs/derivations.md)"
OPEN = {letter: LETTERS[letter] for letter in ("d", "M", "tau")}  # the sweeps set the others
HORIZON = {
    "quick": 1000,
    "full": 3000,
}  # plateaus, the same for every point; constants are read from the 100th on
SEEDS = {"quick": 3, "full": 5}


@dataclass(frozen=True)
class Quantity:
    """A curve times a power of ηT, its constant in the sharp theory (by name) and in the printed
    one, up to a factor.
    """

    name: str
    curve: str
    exponent: float
    words: str
    sharp: str
    sharp_words: str
    printed: Callable[[float, float, float], float]  # of D, K, ‖V*‖
    printed_words: str


QUANTITIES = (
    Quantity(
        "excess",
        "excess_risk",
        -1.0,
        "excess·ηT",
        "counting_law",
        "Σ K(D−K)/4",
        lambda D, K, V: K * D**4,
        "K D⁴",
    ),
    Quantity(
        "value",
        "value_error",
        -0.5,
        "‖W_V−V*‖√(ηT)",
        "value_constant",
        "(D−K)√(K/2λ)",
        lambda D, K, V: D**2 * math.sqrt(K),
        "D²√K",
    ),
    Quantity(
        "attention",
        "attention_error",
        -0.5,
        "‖S−S*‖√(ηT)",
        "attention_constant",
        "√(QD(D−K)/2λ)/‖V*‖",
        lambda D, K, V: D**2.5 / V,
        "D^5/2/‖V*‖",
    ),
)


@dataclass(frozen=True)
class Sweep:
    """One axis: where its number stands in a setting, and the settings of its points."""

    name: str
    words: str
    axis: Callable[[Setting], float]
    points: Mapping[
        str, Sequence[tuple[int, int, float, float]]
    ]  # preset -> (D, K, ‖V*‖, rate over the largest stable one)


def _tokens(setting: Setting) -> float:
    return float(setting.teacher.options["tokens"])


SWEEPS = (
    Sweep(
        "D",
        "D at K = 4",
        _tokens,
        {
            "quick": [(D, 4, 40.0, 0.25) for D in (12, 16, 24, 32, 48)],
            "full": [(D, 4, 40.0, 0.25) for D in (12, 16, 24, 32, 48, 64, 96, 128)],
        },
    ),
    Sweep(
        "D-and-K",
        "D at K = D/4",
        _tokens,
        {
            "quick": [(D, D // 4, 40.0, 0.25) for D in (8, 16, 24, 32, 48)],
            "full": [(D, D // 4, 40.0, 0.25) for D in (8, 16, 24, 32, 48, 64, 96, 128)],
        },
    ),
    Sweep(
        "K",
        "K at D = 36",
        lambda setting: float(setting.teacher.options["support"]),
        {
            "quick": [(36, K, 40.0, 0.25) for K in (1, 2, 3, 4, 6, 9)],
            "full": [(36, K, 40.0, 0.25) for K in (1, 2, 3, 4, 6, 9, 12, 18)],
        },
    ),
    Sweep(
        "V",
        "‖V*‖ at D = 16, K = 4",
        lambda setting: float(setting.teacher.options["norm"]),
        {
            "quick": [(16, 4, V, 0.25) for V in (10.0, 20.0, 40.0)],
            "full": [(16, 4, V, 0.25) for V in (5.0, 10.0, 20.0, 40.0)],
        },
    ),
    Sweep(
        "eta",
        "η at D = 16, K = 4",
        lambda setting: float(setting.rate),
        {
            "quick": [(16, 4, 40.0, f) for f in (0.25, 0.125, 0.0625)],
            "full": [(16, 4, 40.0, f) for f in (0.25, 0.125, 0.0625, 0.03125)],
        },
    ),
)


def setting_at(D: int, K: int, V: float, fraction: float) -> Setting:
    """A convolution teacher with ReLU (λ = ½), its rate a fraction of min(2K/(λD), 2DK²/(λ‖V*‖²)),
    the largest stable one.
    """
    teacher = Part("convolution", tokens=D, support=K, outputs=2, dim=4, norm=V, activation="relu")
    return Setting(teacher, rate=fraction * min(4 * K / D, 4 * D * K**2 / V**2), steps=1)


def late(run: Run, quantity: Quantity) -> Stretch:
    """A curve over its power of ηT where its limit is read: after 100 plateaus, as a constant
    is.
    """
    assert run.setting is not None
    begun = run.steps > 0
    scaled = run.curves[quantity.curve][begun] * run.time[begun] ** -quantity.exponent
    part = stretch(
        run.steps[begun].astype(float), scaled, 100 * predicted("plateau")(run.setting), 0.5
    )
    if part is None:
        plateau = predicted("plateau")(run.setting)
        raise NotYet(
            f"Too short to tell: constants are read after 100 plateaus of {plateau:,.0f} steps "
            f"and the curve ends at {run.steps[-1]:,}. "
            f"About {300 * plateau:.1g} steps would decide."
        )
    return part


def limit(run: Run, quantity: Quantity) -> float:
    """The extrapolated limit of a curve over its power of ηT."""
    return levels(late(run, quantity), 0.03).limit


def claims_of(sweep: Sweep, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """For each quantity, the exponent that each of the two theories has through its own values at
    the sweep's points.
    """
    once = {sweep.axis(setting): setting for setting in settings}
    claims: list[Claim] = []
    for quantity in QUANTITIES:

        def measured(
            runs: Sequence[Run], quantity: Quantity = quantity
        ) -> list[tuple[float, float, int]]:
            return [
                (sweep.axis(r.setting), limit(r, quantity), r.setting.seed)
                for r in runs
                if r.setting is not None
            ]

        def sharp(axis: Sequence[float], quantity: Quantity = quantity) -> float:
            return fitted_exponent([(x, predicted(quantity.sharp)(once[x])) for x in axis])

        def printed(axis: Sequence[float], quantity: Quantity = quantity) -> float:
            options = {x: once[x].teacher.options for x in axis}
            return fitted_exponent(
                [
                    (x, quantity.printed(o["tokens"], o["support"], o["norm"]))
                    for x, o in options.items()
                ]
            )

        for theory, exponent, source in (("sharp", sharp, SHARP), ("printed", printed, PAPER)):
            formula = quantity.sharp_words if theory == "sharp" else quantity.printed_words
            claims.append(
                Exponent(
                    points=measured,
                    exponent=exponent,
                    of=f"the limit of {quantity.words} in {sweep.words.split(' at ')[0]}",
                    id=f"{NAME}/{sweep.name}/{quantity.name}-{theory}",
                    statement=f"{quantity.words} ∝ {formula} in {sweep.words} ({theory})",
                    source=source,
                    hypotheses=hypotheses,
                )
            )
    return tuple(claims)


@dataclass(frozen=True)
class Scaling:
    """The study `teacher-models/scaling`."""

    name: str = NAME
    sentence: str = (
        "How the constants of Theorem 3.1 grow with D, K, η and ‖V*‖: as printed (K "
        "D⁴) or sharper (K D²)?"
    )
    statement: str = (
        "Theorem 3.1 prints excess = Θ(K D⁴/(ηT)), ‖W_V−V*‖ = Θ(D²√(K/(ηT))) and ‖S−S*‖ = "
        "Θ(D^5/2/(‖V*‖√(ηT))). The sharp constants "
        "derived here are each smaller by a power of D. Sweeps at the same multiple of each "
        "point's own plateau decide between the "
        "exponents that the two theories have through their own values at the sweep's points."
    )
    equation: str = (
        "printed: K D⁴,  D²√K,  D^5/2/‖V*‖;   sharp: Σ_i K_i(D−K_i)/4,  "
        "(D−K)√(K/2λ),  √(QD(D−K)/2λ)/‖V*‖"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        "Convolution teachers with ReLU, M = 2, d = 4, on the exact risk; step size a quarter of "
        "the largest stable one, and so "
        "different from point to point: the constants are those of ηT.",
        "Every point is run to the same number of its own plateaus and its limit extrapolated; "
        "finite sweeps of K D(D−K) do not fit D² "
        "exactly, which is why the claim is the exponent through the theory's own values.",
        "A sweep to D = 48 (128 in the full preset) tells D² from D⁴; it cannot exclude a factor "
        "that changes more slowly than its "
        "tolerance of 0.02.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 35.0, "full": 4000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/constants.py"

    def cases(self, plan: Plan) -> list[Case]:
        cases = [_sweep_case(sweep, plan) for sweep in SWEEPS]
        return cases if plan.changes else [*cases, _control(plan)]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.scaling import figures as scaling_figures

        return scaling_figures.draw(answered, folder)


def _sweep_case(sweep: Sweep, plan: Plan) -> Case:
    settings = []
    try:
        for point in sweep.points[plan.preset]:
            setting = changed(setting_at(*point), plan.changes, OPEN)
            steps = plan.steps or math.ceil(HORIZON[plan.preset] * predicted("plateau")(setting))
            settings += [
                replace(setting, steps=steps, seed=seed)
                for seed in range(plan.seeds or SEEDS[plan.preset])
            ]
    except NoSuchOption as reason:
        return Case(sweep.name, sweep.words, (), (), left_out=str(reason))
    return Case(sweep.name, sweep.words, tuple(settings), claims_of(sweep, settings))


def _control(plan: Plan) -> Case:
    """Momentum breaks plain descent: it multiplies time by 1/(1−β), so the constant must not be
    that of ηT.
    """
    setting = replace(setting_at(16, 4, 40.0, 0.05), optimiser=Part("momentum", decay=0.5))
    steps = plan.steps or math.ceil(HORIZON[plan.preset] * predicted("plateau")(setting))
    seeds = tuple(
        replace(setting, steps=steps, seed=seed) for seed in range(plan.seeds or SEEDS[plan.preset])
    )
    claim = Constant(
        "excess_risk",
        -1.0,
        predicted("counting_law"),
        plateau=predicted("plateau"),
        id=f"{NAME}/momentum/excess-constant",
        statement="excess·ηT → Σ_i K_i(D−K_i)/4 with momentum ½",
        source=SHARP,
        hypotheses=hypotheses,
    )
    return Case(
        "momentum",
        "momentum ½",
        seeds,
        (claim,),
        "plain gradient descent: momentum β multiplies time by 1/(1−β)",
    )


SCALING = Scaling()
