"""Label noise, exact and online: the rate before its floor, and what averaged iterates and decaying
steps recover of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tutelage.claims import Claim, Number, Rate
from tutelage.papers.teacher_models.noise.claims import (
    NAME,
    averaged_noise_ratio,
    bias_ratio,
    constant_claims,
    cost_claims,
    decay_claims,
    each,
    exact_claims,
    named,
    over_floor,
    slope_in,
)
from tutelage.papers.teacher_models.online.study import EXACT, SMALL
from tutelage.papers.teacher_models.rates.study import LETTERS, PAPER, predicted
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

OPEN = {**LETTERS, "N": "objective.batch"}
SEEDS = {"quick": 5, "full": 20}
LONGER = {"quick": 1, "full": 5}
AVERAGED = Part("averaged", degree=3.0)
POWERS = (0.25, 0.5, 0.75)
ONSET = 100.0  # t₀, steps

# The teacher of teacher-models/online's floor; smaller batches, since their label noise counts by
# τ²/N alone and drawing them is the work.
BASE = Setting(
    SMALL.change(noise=0.5),
    rate=0.1,
    steps=48_000,
    objective=Part("online", batch=25),
    optimiser=AVERAGED,
    measures=("excess_risk", "averaged_excess"),
)
LOUD = BASE.change(
    **{"teacher.noise": 5.0, "steps": 16_000}
)  # the floor is passed early: what recovers it is seen for long
FLAT = BASE.change(
    **{"teacher.tokens": 5, "teacher.support": 5, "teacher.noise": 1.0, "steps": 6_000}
)
STRONG = LOUD.change(**{"teacher.noise": 10.0})


def decaying(setting: Setting, power: float) -> Setting:
    """The same descent with steps η/(1 + s/t₀)^a."""
    return replace(
        setting,
        optimiser=Part("gradient_descent", power=power, onset=ONSET),
        measures=("excess_risk",),
    )


@dataclass(frozen=True)
class Noise:
    """The study `teacher-models/noise`."""

    name: str = NAME
    sentence: str = (
        "label noise, exact and online: the rate before its floor, and what "
        "averaging and decaying steps recover"
    )
    statement: str = (
        "The theorem allows label noise and speaks of the population risk, whose gradient does "
        "not know it. Online the noise keeps up a "
        "floor. Before it the excess falls like 1/T; constant steps stay at it. The averaged "
        "iterate goes on like 1/T, at a price in the "
        "constant, down to a bias of second order in ητ²/N. Steps that decay like T^-a lower the "
        "floor and slow the path: "
        "T^-min(a, 1−a), best at a = ½."
    )
    equation: str = (
        "exact: L = excess + ½MQτ².  Online: excess ≈ exact(Ση_s) + floor(η_T), leaving the "
        "exact run at ηT ≈ C/floor.  "
        "Averaged, weights s^k: excess·ηT → C[e^(1/(k+1)) + ((D−K)/K)(A−B)²] + "
        "η(k+1)²/(2k+1)·τ²p/(2N),  p = Md + Q(K−1)"
    )
    source: str = f"asked of {PAPER}; derived here (docs/derivations.md, sections 6 and 17)"
    choices: tuple[str, ...] = (
        "The small teacher of the floor in teacher-models/online (D = 8, K = 2, M = 2, d = 3, "
        "‖V*‖ = 10, identity), η = 0.1, batches of "
        "25: only τ²/N counts for label noise.",
        "τ = 0.5 where the rate before the floor is asked for (the crossing comes after 16,000 "
        "steps), τ = 5 for what recovers the floor.",
        "Averages weigh the s-th iterate by about s³: a plain mean (also run, on the exact risk) "
        "remembers the start too long.",
        "Steps decay like η/(1 + s/100)^a, a = ¼, ½, ¾.",
        "Tolerances are those of teacher-models/online: 10% for levels (the floor's formula is "
        "the limit of late times and of small "
        "fluctuations), 0.05 for slopes; 1e-12 where the claim is an identity.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 45.0, "full": 900.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/noise.py"

    def cases(self, plan: Plan) -> list[Case]:
        """Constant and decaying steps; and, unless something was changed, the exact risk, averages
        alone, their limit, the controls.
        """
        cases = [
            _case("constant", "constant steps", BASE, constant_claims("constant"), plan),
            _case("decay-0", "constant steps", LOUD, decay_claims("decay-0", 0.0), plan),
            *(
                _case(
                    f"decay-{a:g}",
                    f"a = {a:g}",
                    decaying(LOUD, a),
                    decay_claims(f"decay-{a:g}", a),
                    plan,
                )
                for a in POWERS
            ),
        ]
        return (
            cases
            if plan.changes
            else [*cases, *_exact(plan), _flat(plan), _bias(plan), *_controls(plan)]
        )

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.noise import figures as noise_figures

        return noise_figures.draw(answered, folder)


def _seeded(setting: Setting, plan: Plan, seeds: int | None = None) -> tuple[Setting, ...]:
    count = plan.seeds or seeds or SEEDS[plan.preset]
    length = plan.steps or setting.steps * LONGER[plan.preset]
    return tuple(replace(setting, steps=length, seed=setting.seed + i) for i in range(count))


def _case(
    name: str, label: str, base: Setting, claims: tuple[Claim, ...], plan: Plan, control: str = ""
) -> Case:
    try:
        setting = changed(base, plan.changes, OPEN)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    return Case(name, label, _seeded(setting, plan), claims, control)


def _exact(plan: Plan) -> list[Case]:
    """The population risk: with and without noise the same run; and what averaging costs where
    there is none.
    """
    plain = replace(
        BASE,
        objective=EXACT,
        optimiser=Part("gradient_descent"),
        measures=("excess_risk",),
        steps=5_000,
    )
    noises = [plain.change(**{"teacher.noise": tau}) for tau in (5.0, 0.0)]
    both = tuple(setting for noise in noises for setting in _seeded(noise, plan))
    quiet = replace(BASE, objective=EXACT, steps=100_000)
    costs = []
    for k in (0, 3):
        settings = _seeded(
            replace(quiet, optimiser=Part("averaged", degree=k)), plan, 2
        )  # from zero seeds differ by rounding
        costs.append(
            Case(f"average-{k}", f"average of weights s^{k}", settings, cost_claims(f"average-{k}"))
        )
    return [Case("exact", "the exact risk", both, exact_claims("exact")), *costs]


def _flat(plan: Plan) -> Case:
    """K = D: the exact run converges exponentially, so that noise is all that an average keeps."""
    claim = named(
        "flat", "averaged-noise", Number, each(averaged_noise_ratio), 1.0, "averaged excess·T over "
"its prediction", 0.1,
        statement="noise leaves (k+1)²/(2k+1)·τ²p/(2NT) in the average, whatever η and the "
"curvatures",
    )  # fmt: skip
    return Case("flat", "K = D", _seeded(FLAT, plan, 2 * SEEDS[plan.preset]), (claim,))


def _bias(plan: Plan) -> Case:
    """Noise so strong that the average reaches its own limit."""
    claim = named(
        "strong", "averaged-bias", Number, each(bias_ratio), 1.0, "averaged excess over "
"½‖V*‖²Q[Kχ² "
"+ (D−K)q²] + noise", 0.25,
        statement="the averaged iterate ends at a bias of second order in ητ²/N",
    )  # fmt: skip
    return Case("strong", "strong noise", _seeded(STRONG, plan), (claim,))


def _control(
    name: str,
    base: Setting,
    claim: str,
    kind: Callable[..., Claim],
    *given: object,
    statement: str,
    broken: str,
    plan: Plan,
) -> Case:
    more: dict[str, Any] = {"plateau": predicted("plateau")} if kind is Rate else {}
    return Case(
        name,
        "control",
        _seeded(base, plan),
        (named(name, claim, kind, *given, statement=statement, **more),),
        broken,
    )


def _controls(plan: Plan) -> list[Case]:
    """What must not hold: drawn noise on the path of none, constant steps below their floor, 1/T
    after the crossing or without end.
    """
    drawn = tuple(
        s
        for tau in (5.0, 0.0)
        for s in _seeded(BASE.change(**{"teacher.noise": tau, "steps": 2000}), plan)
    )
    same = replace(
        exact_claims("drawn")[0],
        statement="online, too, a run with label noise is the run without it",
    )
    return [
        Case("drawn", "noise drawn", drawn, (same,), "the population risk: here the "
"noise is drawn"),
        _control(
            "below-floor", LOUD, "at-most-half", Number, each(over_floor), 0.5, "the mean excess after "
"the crossing, "
"over the floor", 0.0,
            "at most", statement="constant steps without averaging end below half the floor",
            broken="averaging, or steps that decay", plan=plan,
        ),
        _control(
            "beyond-crossing", LOUD, "rate-after", Number, each(slope_in("after")), -1.0, "the slope after the crossing", 0.1,
            statement="after the crossing the excess "
"still falls like 1/T", broken="T before the crossing", plan=plan,
        ),
        _control(
            "decaying-rate", decaying(LOUD, 0.5), "rate", Rate, "excess_risk", -1.0, 0.1,
            statement="steps that decay, a = ½: "
"excess = Θ(1/T)", broken="constant steps: the time Ση_s "
"grows like √T", plan=plan,
        ),
        _control(
            "strong-rate", STRONG, "averaged-rate", Rate, "averaged_excess", -1.0, 0.05,
            statement="averaged excess = Θ(1/T) "
"without end", broken="small fluctuations: the average "
"has reached its bias", plan=plan,
        ),
    ]  # fmt: skip


NOISE = Noise()
