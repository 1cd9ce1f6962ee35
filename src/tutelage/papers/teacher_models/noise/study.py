"""Label noise, exact and online: the rate before its floor, and what averaged iterates and decaying
steps recover of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.claims import Claim
from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.noise import claims, figures, readings
from tutelage.papers.teacher_models.noise.settings import (
    AVERAGED_EXACT,
    BASE,
    FLAT,
    LOUD,
    PLAIN_EXACT,
    POWERS,
    STRONG,
    with_decaying_steps,
)
from tutelage.papers.teacher_models.setup import LETTERS, THEOREM
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting, over_seeds

OPEN = {**LETTERS, "N": "objective.batch"}
NOISES = (5.0, 0.0)  # τ of runs that are compared with and without label noise


@dataclass(frozen=True, kw_only=True)
class NoisePreset(Preset):
    longer: int  # times the steps that a setting names


def cases(plan: Plan, preset: NoisePreset) -> list[Case]:
    """Constant and decaying steps; and, unless something was changed, the exact risk, averages
    alone, their limit, the controls.
    """
    main = [
        online_case("constant", "constant steps", BASE, claims.constant_claims(), plan, preset),
        online_case("decay-0", "constant steps", LOUD, claims.decay_claims(0.0), plan, preset),
        *(
            online_case(
                f"decay-{power:g}",
                f"a = {power:g}",
                with_decaying_steps(LOUD, power),
                claims.decay_claims(power),
                plan,
                preset,
            )
            for power in POWERS
        ),
    ]
    if plan.changes:
        return main
    return [
        *main,
        *exact_cases(plan, preset),
        flat_case(plan, preset),
        bias_case(plan, preset),
        *controls(plan, preset),
    ]


def online_case(
    name: str,
    label: str,
    base: Setting,
    said: tuple[Claim, ...],
    plan: Plan,
    preset: NoisePreset,
) -> Case:
    try:
        setting = changed(base, plan.changes, OPEN)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    return Case(name, label, seeded(setting, plan, preset), said)


def case_at(setting: Setting) -> Case:
    """The floor of online steps, constant ones with their average or decaying ones; or what
    averaging costs on the exact risk.
    """
    averaged = setting.optimiser.name == BASE.optimiser.name
    if setting.objective.name == BASE.objective.name:
        power = float(setting.optimiser.options.get("power", 0.0))
        said = claims.constant_claims() if averaged else claims.decay_claims(power)
    elif averaged:
        said = claims.cost_claims()
    else:
        raise NoPrediction(
            "This study is about batches with label noise and about averaged iterates. Got plain "
            "iterates on the population risk, of which teacher-models/rates has the claims."
        )
    measures = ("excess_risk", "averaged_excess") if averaged else ("excess_risk",)
    return at_setting(setting, said, measures=measures)


def seeded(
    setting: Setting, plan: Plan, preset: NoisePreset, seeds: int | None = None
) -> tuple[Setting, ...]:
    """The seeds of a setting, as many as asked for; else `seeds`, else the preset's."""
    length = plan.steps or setting.steps * preset.longer
    return over_seeds(replace(setting, steps=length), plan.seeds or seeds or preset.seeds)


def exact_cases(plan: Plan, preset: NoisePreset) -> list[Case]:
    """The population risk: with and without noise the same run; and what averaging costs where
    there is none.
    """
    both = with_and_without_noise(PLAIN_EXACT, plan, preset)
    costs = []
    for degree in (0, 3):
        weighted = replace(AVERAGED_EXACT, optimiser=Part("averaged", degree=degree))
        name, label = f"average-{degree}", f"average of weights s^{degree}"
        # From zero seeds differ by rounding, so that two are enough.
        costs.append(Case(name, label, seeded(weighted, plan, preset, 2), claims.cost_claims()))
    return [Case("exact", "the exact risk", both, claims.exact_claims()), *costs]


def with_and_without_noise(base: Setting, plan: Plan, preset: NoisePreset) -> tuple[Setting, ...]:
    return tuple(
        setting
        for tau in NOISES
        for setting in seeded(base.change(**{"teacher.noise": tau}), plan, preset)
    )


def flat_case(plan: Plan, preset: NoisePreset) -> Case:
    """K = D: the exact run converges exponentially, so that noise is all that an average keeps."""
    settings = seeded(FLAT, plan, preset, 2 * preset.seeds)
    return Case("flat", "K = D", settings, (claims.averaged_noise_claim(),))


def bias_case(plan: Plan, preset: NoisePreset) -> Case:
    """Noise so strong that the average reaches its own limit."""
    settings = seeded(STRONG, plan, preset)
    return Case("strong", "strong noise", settings, (claims.averaged_bias_claim(),))


def controls(plan: Plan, preset: NoisePreset) -> list[Case]:
    """What must not hold: drawn noise on the path of none, constant steps below their floor, 1/T
    after the crossing or without end.
    """
    drawn = with_and_without_noise(replace(BASE, steps=2000), plan, preset)
    same = claims.same_path("online, too, a run with label noise is the run without it")
    half = claims.number(
        "at-most-half",
        readings.read_over_floor,
        0.5,
        "the mean excess after the crossing, over the floor",
        0.0,
        "constant steps without averaging end below half the floor",
        "at most",
    )
    still = claims.number(
        "rate-after",
        readings.slope_in(readings.after_crossing),
        -1.0,
        "the slope after the crossing",
        0.1,
        "after the crossing the excess still falls like 1/T",
    )
    decaying = claims.rate("rate", "excess_risk", 0.1, "steps that decay, a = ½: excess = Θ(1/T)")
    endless = claims.rate(
        "averaged-rate", "averaged_excess", 0.05, "averaged excess = Θ(1/T) without end"
    )

    def control(name: str, base: Setting, claim: Claim, breaks: str) -> Case:
        return Case(name, "control", seeded(base, plan, preset), (claim,), breaks)

    return [
        Case(
            "drawn", "noise drawn", drawn, (same,), "the population risk: here the noise is drawn"
        ),
        control("below-floor", LOUD, half, "averaging, or steps that decay"),
        control("beyond-crossing", LOUD, still, "T before the crossing"),
        control(
            "decaying-rate",
            with_decaying_steps(LOUD, 0.5),
            decaying,
            "constant steps: the time Ση_s grows like √T",
        ),
        control(
            "strong-rate",
            STRONG,
            endless,
            "small fluctuations: the average has reached its bias",
        ),
    ]


study = Study(
    source=f"asked of {THEOREM}; derived here (docs/derivations.md, sections 6 and 17)",
    statement=(
        "The theorem allows label noise and speaks of the population risk, whose gradient does "
        "not know it. Online the noise keeps up a floor. Before it the excess falls like 1/T; "
        "constant steps stay at it. The averaged iterate goes on like 1/T, at a price in the "
        "constant, down to a bias of second order in ητ²/N. Steps that decay like T^-a lower the "
        "floor and slow the path: T^-min(a, 1−a), best at a = ½."
    ),
    equation=(
        "exact: L = excess + ½MQτ².  Online: excess ≈ exact(Ση_s) + floor(η_T), leaving the "
        "exact run at ηT ≈ C/floor.  Averaged, weights s^k: excess·ηT → C[e^(1/(k+1)) + "
        "((D−K)/K)(A−B)²] + η(k+1)²/(2k+1)·τ²p/(2N),  p = Md + Q(K−1)"
    ),
    choices=(
        "The small teacher of the floor in teacher-models/online (D = 8, K = 2, M = 2, d = 3, "
        "‖V*‖ = 10, identity), η = 0.1, batches of 25: only τ²/N counts for label noise.",
        "τ = 0.5 where the rate before the floor is asked for (the crossing comes after 16,000 "
        "steps), τ = 5 for what recovers the floor.",
        "Averages weigh the s-th iterate by about s³: a plain mean (also run, on the exact risk) "
        "remembers the start too long.",
        "Steps decay like η/(1 + s/100)^a, a = ¼, ½, ¾.",
        "Tolerances are those of teacher-models/online: 10% for levels (the floor's formula is "
        "the limit of late times and of small fluctuations), 0.05 for slopes; 1e-12 where the "
        "claim is an identity.",
    ),
    presets={
        "quick": NoisePreset(seconds=60.0, seeds=10, longer=1),
        # As many seeds and steps as the claims need that the quick one leaves open.
        "larger": NoisePreset(
            seconds=300.0, seeds=64, longer=5, only=("constant", "decay-0", "average-0")
        ),
        # An average forgets its start like 1/t only. Steps on the exact risk are cheap.
        "longest": NoisePreset(seconds=300.0, seeds=2, longer=200, only=("average-0",)),
        "full": NoisePreset(seconds=900.0, seeds=20, longer=5),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/theory/noise.py",
    letters=OPEN,
)
