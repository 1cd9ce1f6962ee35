"""Which position codes will do: the SVM law for codes of every kind, and what happens without
any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tutelage.claims import Bound, Claim, Recovery
from tutelage.papers.teacher_models.codes import figures
from tutelage.papers.teacher_models.codes.claims import SHARP, law_claims
from tutelage.papers.teacher_models.codes.kinds import KINDS, NEXT, POOLING, Kind
from tutelage.papers.teacher_models.codes.readings import (
    beside_floor,
    beside_margin,
    beside_silence,
    beside_symmetry,
)
from tutelage.papers.teacher_models.codes.table import write_table
from tutelage.papers.teacher_models.setup import LETTERS, THEOREM
from tutelage.papers.teacher_models.theory import LAW, max_margin
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.problem.build import build
from tutelage.problem.options import Value
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting, over_seeds

DERIVED = "derived here (docs/derivations.md)"
MEASURES = ("excess_risk", "score_matrix")
STABLE_FRACTION = 0.8  # of the largest stable rate, which depends on the codes
LEARNED_FRACTION = 0.05  # codes grow, and with them the curvature
# Draws of square codes: always the same ones, since two of them are the counterexamples.
SURVEYED_DRAWS, SURVEYED_STEPS = 12, 100_000
SMALL = Part("convolution", tokens=6, support=2, outputs=2, dim=4, norm=4.0, activation="identity")


@dataclass(frozen=True, kw_only=True)
class CodesPreset(Preset):
    """`seeds` are of V*, where the codes are given."""

    draws: int  # of random codes
    steps: int
    sampled_steps: int  # of the layers that see their tokens
    longer: Mapping[str, int] = field(default_factory=dict)  # times the steps, by kind of codes


def cases(plan: Plan, preset: CodesPreset) -> list[Case]:
    """The kinds of codes under the law; and, unless something was changed, learned codes, the
    floors and the controls.
    """
    law = [law_case(kind, plan, preset) for kind in KINDS]
    if plan.changes:
        return law
    return [
        *law,
        learned_case(plan, preset),
        lost_token_case(plan),
        *too_narrow_cases(plan, preset),
        *sampled_cases(plan, preset),
    ]


def law_case(kind: Kind, plan: Plan, preset: CodesPreset) -> Case:
    steps = preset.steps * preset.longer.get(kind.name, 1)
    base = Setting(kind.teacher, 1.0, steps=steps, measures=MEASURES)
    try:
        setting = changed(base, plan.changes, LETTERS)
    except NoSuchOption as reason:
        return Case(kind.name, kind.label, (), (), left_out=str(reason))
    options = {**kind.options(setting), **setting.student.options}
    setting = replace(
        setting,
        student=Part("position_attention", **options),
        steps=plan.steps or setting.steps,
    )
    settings = over_seeds(setting, plan.seeds or (preset.draws if kind.random else preset.seeds))
    if not {"eta", "rate"} & set(plan.changes):
        settings = tuple(set_rate(each, STABLE_FRACTION) for each in settings)
    return Case(kind.name, kind.label, settings, law_claims(), derived=beside_margin)


def case_at(setting: Setting) -> Case:
    """The SVM law, for whatever codes the student has; of learned ones a bound."""
    if setting.student.options.get("learned"):
        return at_setting(setting, (learned_claim(),))
    return at_setting(setting, law_claims(), measures=MEASURES, derived=beside_margin)


def set_rate(setting: Setting, fraction: float) -> Setting:
    """The setting at a fraction of its largest stable rate; that of its codes as they start, where
    they are learned.
    """
    problem = build(setting.change(**{"student.learned": False}))
    stable = problem.objective.stable_rate(problem.student)
    if stable is None:
        raise Refused(
            "Step sizes here are a fraction of the largest stable one, which is known for "
            "identity, ReLU and leaky ReLU only. "
            f"Got activation {build_bilinear(setting).activation.name}; give a step size with "
            "`--set eta=…`."
        )
    return replace(setting, rate=fraction * stable)


def position_settings(
    teacher: Part, seeds: Sequence[int], fraction: float, steps: int, **options: Value
) -> tuple[Setting, ...]:
    """Position-only attention with these codes, each seed at its own rate."""
    student = Part("position_attention", **options)
    setting = Setting(teacher, 1.0, steps=steps, student=student, measures=MEASURES)
    return tuple(set_rate(replace(setting, seed=seed), fraction) for seed in seeds)


def learned_case(plan: Plan, preset: CodesPreset) -> Case:
    """Trained codes: PᵀWP is of degree three in what is trained, so the excess falls faster than
    1/T by a power of log T.
    """
    # A small V* and a small step keep away from the edge of stability.
    settings = position_settings(
        POOLING.change(norm=4.0),
        range(plan.seeds or preset.seeds),
        LEARNED_FRACTION,
        plan.steps or preset.steps * 3 // 10,
        key_codes="orthonormal",
        learned=True,
    )
    return Case("learned", "learned, from orthonormal", settings, (learned_claim(),))


def learned_claim() -> Bound:
    law = LAW["excess"]
    return Bound(
        law.curve,
        law.exponent,
        id="excess-bound",
        statement="excess risk = O(1/T) with learned codes (the heuristic says T^-1 (log T)^-4/3)",
        source=DERIVED,
        hypotheses=max_margin.svm_law,
    )


def lost_token_case(plan: Plan) -> Case:
    """A control. Square Gaussian codes with K = 2: full rank, separable, and in two draws of
    twelve the descent ends elsewhere.
    """
    settings = position_settings(
        POOLING,
        range(SURVEYED_DRAWS),
        STABLE_FRACTION,
        plan.steps or SURVEYED_STEPS,
        key_codes="gaussian",
    )
    return Case(
        "lost-token",
        "Gaussian, p = D, K = 2",
        settings,
        (replace(recovery("with any full-rank codes"), hypotheses=max_margin.svm_law),),
        control="the law needs the descent to find the supports, which full rank alone does not "
        "ensure",
        derived=beside_silence,
    )


def too_narrow_cases(plan: Plan, preset: CodesPreset) -> list[Case]:
    """Codes of length 3 for 8 positions: no W separates the supports, and the excess keeps a
    certified floor.
    """
    label, settings = (
        "Gaussian, p = 3",
        position_settings(
            NEXT,
            range(plan.seeds or preset.seeds),
            STABLE_FRACTION,
            plan.steps or 10_000,
            key_codes="gaussian",
            size=3,
        ),
    )
    floor = Recovery(
        "below_floor",
        0.0,
        1e-9,
        from_step=0,
        id="floor",
        statement="excess ≥ ‖V*‖²s²/4 at every step, s the least weight in S*, where no W "
        "separates the supports",
        source=DERIVED,
        hypotheses=max_margin.svm_law,
    )
    return [
        Case("too-narrow-floor", label, settings, (floor,), derived=beside_floor),
        Case(
            "too-narrow",
            label,
            settings,
            (recovery("with p = 3"),),
            control="codes by which the supports can be separated: three numbers do not tell "
            "eight positions apart",
            derived=beside_floor,
        ),
    ]


def sampled_cases(plan: Plan, preset: CodesPreset) -> list[Case]:
    """Layers that see their tokens, trained on fresh batches: codes concatenated, added, learned,
    and none.
    """

    def case(
        name: str, label: str, claims: tuple[Claim, ...], control: str = "", **options: Value
    ) -> Case:
        setting = Setting(
            SMALL,
            0.02,
            steps=plan.steps or preset.sampled_steps,
            student=Part("content_attention", **options),
            objective=Part("online", batch=32, held_out=300),
            measures=("excess_risk",),
        )
        settings = over_seeds(setting, plan.seeds or preset.seeds)
        return Case(name, label, settings, claims, control, derived=beside_symmetry)

    passes = Recovery(
        "over_floor",
        0.0,
        1.0,
        id="passes",
        statement="the excess ends below that of every permutation-equivariant layer",
        source="(2.4) is contained in (2.5) with any codes that separate the supports",
    )
    keeps = Recovery(
        "below_floor",
        0.0,
        0.08,  # three standard errors of 300 held-out inputs
        from_step=0,
        id="floor",
        statement="excess ≥ ½‖V*‖²‖S* − S̄‖² at every step without codes",
        source=DERIVED,
    )
    return [
        case("concatenated", "sinusoids, concatenated", (passes,), codes="sinusoidal"),
        case(
            "learned-content",
            "learned, concatenated",
            (passes, recovery("with learned codes")),
            codes="gaussian",
            learned=True,
        ),
        case(
            "added",
            "sinusoids, added",
            (recovery("with codes added to the tokens"),),
            control="codes kept out of the values: X + P with fixed P puts W_V P A into the output",
            codes="sinusoidal",
            mix="added",
        ),
        case("no-codes-floor", "no codes", (keeps,), mix="none"),
        case(
            "no-codes",
            "no codes",
            (recovery("without codes"),),
            control="position codes: without them the layer commutes with every permutation of "
            "the tokens",
            mix="none",
        ),
    ]


def recovery(words: str) -> Recovery:
    within = 0.05
    return Recovery(
        "relative_excess",
        0.0,
        within,
        id="recovery",
        statement=f"the excess falls below {within:g} of that of predicting zero {words}",
        source=f"{THEOREM}, without its hypothesis on the codes",
    )


study = Study(
    source=SHARP,
    statement=(
        "The theorem is for orthonormal codes. For any fixed codes by which some W separates the "
        "supports, and once the descent has found them, W_KQ grows along the max-margin matrix: "
        "W_KQ/log t → W_svm and excess·t → ‖W_svm‖². Without codes attention is "
        "permutation-equivariant, and its excess cannot fall below that of the teacher's average "
        "over all orders of the tokens."
    ),
    equation=(
        "W_svm = argmin ‖W‖_F  with  c(p_on − p_off)ᵀW p_i ≥ ½,  c(p_on − p_on′)ᵀW p_i = 0;   "
        "excess·ηT → ‖W_svm‖²;   without codes: excess ≥ ½‖V*‖²‖S* − mean_Π ΠS*Πᵀ‖²"
    ),
    choices=(
        "Exact risk, identity activation, D = 8, M = 2, d = 4. Average pooling (K = 2, ‖V*‖ = "
        "11), or the next token (K = 1, ‖V*‖ = 8) for Gaussian codes of length D or less, for "
        "which pooling needs ten times the steps.",
        "Step size 0.8 of the largest stable one, which depends on the codes, so every draw has "
        "its own; for learned codes 0.05 of it, with ‖V*‖ = 4.",
        "Gaussian codes have iid N(0, 1/p) entries, drawn anew by every seed. Textbook sinusoids "
        "have wavelengths from 2π to 10⁴·2π; even ones have D/2 frequencies from 0.4 to 2.4 "
        "radians a position.",
        "The law is claimed of runs that have found their supports, and the verdict says how "
        "many have not: the descent can lose a token for good, even with full-rank codes, as the "
        "case lost-token shows.",
        "Layers that see their tokens: D = 6, d = 4, fresh batches of 32, start N(0, 0.01²), "
        "step 0.02, judged on 300 held-out inputs.",
    ),
    presets={
        "quick": CodesPreset(seconds=60.0, seeds=3, draws=6, steps=300_000, sampled_steps=1_000),
        # What the quick one leaves open, by gradient flow but for the layer that sees its tokens.
        # Textbook sinusoids stay open: their windows begin at 5·10⁸ steps, and a flow beyond takes
        # minutes per seed.
        "larger": CodesPreset(
            seconds=200.0,
            seeds=3,
            literal=100_000,
            draws=6,
            steps=1_000_000_000,
            sampled_steps=10_000,
            only=("gaussian-wide", "gaussian-narrow", "learned-content"),
        ),
        # The paper has no other codes, and so no sizes for them. Textbook sinusoids, whose plateau
        # lasts 2·10⁷ steps, go on for 200 times as long. Four seeds, by the power calculation.
        "paper": CodesPreset(
            seconds=180.0,
            seeds=4,
            literal=100_000,
            draws=6,
            steps=10_000_000_000,
            longer={"textbook-sinusoids": 200},
            sampled_steps=10_000,
        ),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/theory/max_margin.py",
    table=write_table,
)
