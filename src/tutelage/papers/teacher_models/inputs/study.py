"""Training on other inputs and activations: what of Theorem 3.1 survives, over the population and
on fixed samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutelage.papers.teacher_models.inputs import claims, figures
from tutelage.papers.teacher_models.inputs.trainings import ALL, WIDER, WIDER_RATE
from tutelage.papers.teacher_models.setup import THEOREM, cosine_claim
from tutelage.papers.teacher_models.theory import slow_weights
from tutelage.settings import MEASURES, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting, over_seeds

OPEN = {
    "V": "teacher.norm",
    "M": "teacher.outputs",
    "tau": "teacher.noise",
    "n": "objective.samples",
    "eta": "rate",
    "T": "steps",
}
CONTROLS = (
    "as-if-standard",
    "parallel",
    "parallel-sample",
    "fresh-law",
    "noisy",
    "two-inputs",
    "unseen",
)
SHARE = 0.4  # of the largest stable step near the teacher, by theory, for each sample its own
LEFT_OUT = {  # claims, by case
    # Pre-activations at the kink: no quadratic form.
    "at-the-kink": ("value-constant", "attention-constant", "fresh-constant"),
    # A row that no input sees is not learned: see the control.
    "silent-row": ("value-constant", "fresh-constant", "cosine"),
}


@dataclass(frozen=True, kw_only=True)
class InputsPreset(Preset):
    longer: int = 1  # times the steps of each run


def cases(plan: Plan, preset: InputsPreset) -> list[Case]:
    """Every law and activation; and, unless something was changed, the controls."""
    # After a change a step size takes a drawn sample, so only what was asked for is planned; a name
    # that is none is refused beside all of them.
    asked = set(plan.only) if set(plan.only) <= {*ALL, *CONTROLS} else set()
    main = [training_case(name, plan, preset) for name in ALL if not asked or name in asked]
    if plan.changes or (asked and not asked & set(CONTROLS)):
        return main
    return [*main, *controls(plan, preset)]


def training_case(name: str, plan: Plan, preset: InputsPreset) -> Case:
    training = ALL[name]
    try:
        settings = seeded(name, plan, preset)
    except NoSuchOption as reason:
        return Case(name, training.label, (), (), left_out=str(reason))
    # Over the population fresh inputs are those that are trained on.
    sampled = training.objective.name == "empirical"
    left = LEFT_OUT.get(name, ()) if sampled else ("fresh-constant",)
    said = tuple(claim for claim in claims.every_claim() if claim.id not in left)
    return Case(name, training.label, settings, said)


def case_at(setting: Setting) -> Case:
    """The laws on any inputs and activation; over the population fresh inputs are those that are
    trained on.
    """
    left = () if setting.objective.name == "empirical" else ("fresh-constant",)
    said = (claim for claim in claims.every_claim() if claim.id not in left)
    return at_setting(setting, said, measures=("training_risk",))


def seeded(name: str, plan: Plan, preset: InputsPreset) -> tuple[Setting, ...]:
    """The seeds of a training; where something was changed each at a step size of its own, unless
    that is given.
    """
    training = ALL[name]
    base = Setting(
        training.teacher,
        training.rate,
        steps=plan.steps or training.steps * preset.longer,
        inputs=training.inputs,
        objective=training.objective,
        measures=(*MEASURES, "training_risk"),
    )
    seeds = over_seeds(changed(base, plan.changes, OPEN), plan.seeds or preset.seeds)
    own = not plan.changes or {"eta", "rate"} & set(plan.changes)
    return seeds if own else with_stable_steps(seeds)


def with_stable_steps(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Each with its share of the largest stable step, in three digits."""
    return tuple(
        replace(setting, rate=float(f"{SHARE * slow_weights.limit(setting).stable_rate:.3g}"))
        for setting in settings
    )


def controls(plan: Plan, preset: InputsPreset) -> list[Case]:
    """What must not hold, each with the hypothesis that it breaks."""
    covariance, normal, few, silent = (
        seeded(name, plan, preset) for name in ("covariance", "normal", "few", "silent-row")
    )
    wider = tuple(replace(setting, inputs=WIDER, rate=WIDER_RATE) for setting in covariance)
    noisy = tuple(setting.change(**{"teacher.noise": 0.5}) for setting in normal)
    # Two inputs give 36 equations for 9 + 30 unknowns; of them theory says nothing, so the step
    # size is that of the whole sample.
    two = tuple(setting.change(**{"objective.samples": 2}) for setting in normal)
    clean = {setting.seed: setting for setting in normal}

    def clean_plateau(setting: Setting) -> float:
        """Nor does it say when a noisy run leaves its plateau."""
        return slow_weights.plateau(clean[setting.seed])

    constants = claims.constants()
    standard = (
        replace(
            constants["value-constant"],
            value=claims.as_if_standard(slow_weights.value_constant),
            statement="‖W_V − V*‖√(ηT) → that of N(0, I)",
        ),
        replace(
            constants["attention-constant"],
            value=claims.as_if_standard(slow_weights.attention_constant),
            statement="‖S − S*‖√(ηT) → that of N(0, I)",
        ),
    )
    rates_with_noise = tuple(
        replace(
            claims.excess_rate(),
            curve=curve,
            plateau=clean_plateau,
            id=curve,
            statement=f"{curve} = Θ(1/T)",
        )
        for curve in ("training_risk", "excess_risk")
    )
    fresh = replace(
        constants["fresh-constant"],
        value=slow_weights.counting_law,
        statement="excess on fresh inputs·ηT → Σ_i K_i(D−K_i)/4",
    )
    return [
        Case(
            "as-if-standard",
            "covariance taken as I",
            wider,
            standard,
            "tokens N(0, I): ‖V*‖² is not tr(V*ΣV*ᵀ)",
        ),
        Case(
            "parallel",
            "covariance",
            covariance,
            (cosine_claim(hypotheses=slow_weights.hypotheses),),
            "tokens N(0, I): W_V is not parallel to V* on the way",
        ),
        Case(
            "parallel-sample",
            "normal sample",
            normal,
            (cosine_claim(hypotheses=slow_weights.hypotheses),),
            "the population: a sample has its own moments",
        ),
        Case(
            "fresh-law",
            "fresh inputs, law of the sample",
            few,
            (fresh,),
            "judged on the inputs trained on: n = 8 is few",
        ),
        Case(
            "noisy",
            "label noise 0.5",
            noisy,
            rates_with_noise,
            "no label noise: no student has loss 0, none ends at V*, S*",
        ),
        Case(
            "two-inputs",
            "n = 2",
            two,
            (replace(claims.excess_rate(), plateau=clean_plateau),),
            "a sample that identifies S*: 36 equations, 39 unknowns",
        ),
        Case(
            "unseen",
            "a silent row",
            silent,
            (claims.value_rate(),),
            "inputs that identify V*: no input makes this row speak",
        ),
    ]


study = Study(
    source=f"asked of {THEOREM}; the law is derived here (docs/derivations.md, section 14)",
    statement=(
        "The theorem trains on tokens iid N(0, I) with ReLU or the identity. On other inputs "
        "(heavy tails, a mean, correlation, two values), with other activations, and on a fixed "
        "sample without label noise, the excess over what is trained on must still tend to "
        "Σ_i K_i(D−K_i)/(4ηT), as long as the inputs identify S*. The errors of W_V and S do "
        "depend on the inputs, through one convex problem. That W_V is parallel to V* and that "
        "columns have two values is lost."
    ),
    equation=(
        "excess·ηT → Σ_i K_i(D−K_i)/4;   S_ji√(ηT) → x_j = argmin_{x>0} ½xᵀHx − ½Σ_j "
        "K_i ln x_j,   H the Schur complement at V*, S*"
    ),
    choices=(
        "D = Q = 6 tokens, pooled by K = 2, d = M = 3; for tanh by quadrature D = 4, "
        "Q = K = M = 1.",
        "Samples of n = 64 inputs without label noise, 256 for ReLU and leaky ReLU; every seed "
        "draws V* and its sample. Identity for the laws; Student t with 5 degrees for tanh and "
        "GELU.",
        "‖V*‖ = 8, 18 for laws with a mean (a shorter plateau at the same step size), 4 for erf "
        "and tanh, 1.5 for tanh by quadrature.",
        "The step size of a case is 0.4 of the largest stable one near the teacher, the least of "
        "five seeds. Where σ is smooth 20,000 steps are taken one by one, and 10⁸ by gradient "
        "flow; on samples with ReLU or leaky ReLU 120,000 one by one.",
        "The plateau is when the slowest weight off a support would be 1/D by its law: "
        "K D²/(2ηλ‖V*‖²) for iid tokens.",
    ),
    presets={
        "quick": InputsPreset(seconds=120.0, seeds=3, literal=20_000),
        # What the quick one leaves open, twenty times as long.
        "larger": InputsPreset(
            seconds=1200.0,
            seeds=3,
            literal=20_000,
            longer=20,
            only=("relu", "leaky", "at-the-kink", "silent-row"),
        ),
        "full": InputsPreset(seconds=900.0, seeds=5, literal=100_000),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/theory/slow_weights.py",
    letters=OPEN,
)
