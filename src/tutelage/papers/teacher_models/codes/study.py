"""Which position codes will do: the SVM law for codes of every kind, and what happens without
any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.claims import Bound, Claim, Recovery
from tutelage.papers.teacher_models.codes.claims import SHARP, hypotheses, law_claims
from tutelage.papers.teacher_models.codes.readings import (
    beside_floor,
    beside_margin,
    beside_silence,
    beside_symmetry,
)
from tutelage.papers.teacher_models.rates.study import LETTERS as ALL_LETTERS
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/codes"
LETTERS = {letter: ALL_LETTERS[letter] for letter in ("D", "K", "d", "M", "V", "tau", "eta", "T")}
STEPS = {"quick": 100_000, "full": 1_000_000}
DRAWS = {"quick": 6, "full": 16}  # of random codes
SEEDS = {"quick": 3, "full": 5}  # of V*, where the codes are given
SURVEYED = (
    12  # draws of square codes: always the same ones, since two of them are the counterexamples
)
SAMPLED_STEPS = {"quick": 1_000, "full": 30_000}

POOLING = Part(
    "convolution", tokens=8, support=2, outputs=2, dim=4, norm=11.0, activation="identity"
)
NEXT = Part(
    "bilinear",
    selection=np.roll(np.eye(8), 1, axis=0),
    outputs=2,
    dim=4,
    norm=8.0,
    activation="identity",
)
SMALL = Part("convolution", tokens=6, support=2, outputs=2, dim=4, norm=4.0, activation="identity")
MEASURES = ("excess_risk", "score_matrix")


def even_sinusoids(positions: int) -> Float[np.ndarray, "D D"]:
    """Sines and cosines of D/2 frequencies spaced evenly from 0.4 to 2.4 radians a position, each
    code of length 1 (D even).
    """
    rows = np.arange(positions)
    angles = np.outer(np.linspace(0.4, 2.4, positions // 2)[rows // 2], np.arange(positions))
    return np.where(rows[:, None] % 2 == 0, np.sin(angles), np.cos(angles)) * math.sqrt(
        2 / positions
    )


@dataclass(frozen=True)
class Kind:
    """A kind of codes under the SVM law: who teaches, and the options of the student that has
    them.
    """

    name: str
    label: str
    teacher: Part
    options: Callable[[Setting], Mapping[str, Any]]
    random: bool = False


def _named(name: str, size: float = 1.0, **more: Any) -> Callable[[Setting], Mapping[str, Any]]:
    """Codes of a name, `size` times D long."""
    return lambda setting: {"key_codes": name, "size": round(size * _tokens(setting)), **more}


def _tokens(setting: Setting) -> int:
    options = setting.teacher.options
    return int(options["tokens"] if "tokens" in options else len(options["selection"]))


KINDS = (
    Kind("orthonormal", "orthonormal", POOLING, _named("orthonormal")),
    Kind("longer", "1.5 × orthonormal", POOLING, _named("orthonormal", code_scale=1.5)),
    Kind("shorter", "0.7 × orthonormal", POOLING, _named("orthonormal", code_scale=0.7)),
    Kind(
        "even-sinusoids",
        "even sinusoids",
        POOLING,
        lambda s: {"key_codes": even_sinusoids(_tokens(s))},
    ),
    Kind("gaussian-wide", "Gaussian, p = 2D", POOLING, _named("gaussian", 2.0), random=True),
    Kind("gaussian-square", "Gaussian, p = D, K = 1", NEXT, _named("gaussian"), random=True),
    Kind("gaussian-narrow", "Gaussian, p = ¾D, K = 1", NEXT, _named("gaussian", 0.75), random=True),
    Kind("textbook-sinusoids", "textbook sinusoids", POOLING, _named("sinusoidal", code_scale=0.5)),
)


@dataclass(frozen=True)
class Codes:
    """The study `teacher-models/codes`."""

    name: str = NAME
    sentence: str = (
        "Which position codes will do: the max-margin law for codes of every kind, "
        "and what happens without any"
    )
    statement: str = (
        "The theorem is for orthonormal codes. For any fixed codes by which some W separates the "
        "supports, and once the descent has found "
        "them, W_KQ grows along the max-margin matrix: W_KQ/log t → W_svm and excess·t → "
        "‖W_svm‖². Without codes attention is "
        "permutation-equivariant, and its excess cannot fall below that of the teacher's average "
        "over all orders of the tokens."
    )
    equation: str = (
        "W_svm = argmin ‖W‖_F  with  c(p_on − p_off)ᵀW p_i ≥ ½,  c(p_on − p_on′)ᵀW p_i = 0;   "
        "excess·ηT → ‖W_svm‖²;   "
        "without codes: excess ≥ ½‖V*‖²‖S* − mean_Π ΠS*Πᵀ‖²"
    )
    source: str = SHARP
    choices: tuple[str, ...] = (
        "Exact risk, identity activation, D = 8, M = 2, d = 4. Average pooling (K = 2, ‖V*‖ = "
        "11), or the next token (K = 1, ‖V*‖ = 8) "
        "for Gaussian codes of length D or less, for which pooling needs ten times the steps.",
        "Step size 0.8 of the largest stable one, which depends on the codes, so every draw has "
        "its own; for learned codes 0.05 of it, "
        "with ‖V*‖ = 4.",
        "Gaussian codes have iid N(0, 1/p) entries, drawn anew by every seed. Textbook sinusoids "
        "have wavelengths from 2π to 10⁴·2π; even "
        "ones have D/2 frequencies from 0.4 to 2.4 radians a position.",
        "The law is claimed of runs that have found their supports, and the verdict says how "
        "many have not: the descent can lose a "
        "token for good, even with full-rank codes, as the case lost-token shows.",
        "Layers that see their tokens: D = 6, d = 4, fresh batches of 32, start N(0, 0.01²), "
        "step 0.02, judged on 300 held-out inputs.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: LETTERS)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 30.0, "full": 900.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/max_margin.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The kinds of codes under the law; and, unless something was changed, learned codes, the
        floors and the controls.
        """
        cases = [_law_case(kind, plan) for kind in KINDS]
        if plan.changes:
            return cases
        return [*cases, _learned(plan), *_lost_token(plan), *_too_narrow(plan), *_sampled(plan)]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.codes import figures as codes_figures

        return codes_figures.draw(answered, folder)


def _law_case(kind: Kind, plan: Plan) -> Case:
    try:
        setting = changed(
            Setting(kind.teacher, 1.0, steps=STEPS[plan.preset], measures=MEASURES),
            plan.changes,
            LETTERS,
        )
        setting = replace(
            setting,
            student=Part(
                "position_attention", **{**kind.options(setting), **setting.student.options}
            ),
        )
    except NoSuchOption as reason:
        return Case(kind.name, kind.label, (), (), left_out=str(reason))
    count = plan.seeds or (DRAWS if kind.random else SEEDS)[plan.preset]
    own_rate = not {"eta", "rate"} & set(plan.changes)
    settings = [
        replace(setting, seed=setting.seed + i, steps=plan.steps or setting.steps)
        for i in range(count)
    ]
    settings = [_at_rate(s, 0.8) if own_rate else s for s in settings]
    return Case(
        kind.name, kind.label, tuple(settings), law_claims(NAME, kind.name), derived=beside_margin
    )


def _at_rate(setting: Setting, fraction: float) -> Setting:
    """The setting at a fraction of its largest stable rate; that of its codes as they start, where
    they are learned.
    """
    from tutelage.problem.build import build

    problem = build(setting.change(**{"student.learned": False}))
    stable = problem.objective.stable_rate(problem.student)
    if stable is None:
        raise Refused(
            "Step sizes here are a fraction of the largest stable one, which is known for "
            "identity, ReLU and leaky ReLU only. "
            f"Got activation {problem.objective.teacher.activation.name}; give a step size with "
            "`--set eta=…`."
        )
    return replace(setting, rate=fraction * stable)


def _student(
    teacher: Part, plan: Plan, seeds: Sequence[int], fraction: float, steps: int, **options: Any
) -> tuple[Setting, ...]:
    setting = Setting(
        teacher,
        1.0,
        steps=plan.steps or steps,
        student=Part("position_attention", **options),
        measures=MEASURES,
    )
    return tuple(_at_rate(replace(setting, seed=seed), fraction) for seed in seeds)


def _learned(plan: Plan) -> Case:
    """Trained codes: PᵀWP is of degree three in what is trained, so the excess falls faster than
    1/T by a power of log T.
    """
    seeds = range(plan.seeds or SEEDS[plan.preset])
    # Codes grow, and with them the curvature: a small V* and a small step keep away from the edge
    # of stability.
    settings = _student(
        POOLING.change(norm=4.0),
        plan,
        seeds,
        0.05,
        STEPS[plan.preset] * 3 // 10,
        key_codes="orthonormal",
        learned=True,
    )
    claim = Bound(
        "excess_risk",
        -1.0,
        id=f"{NAME}/learned/excess-bound",
        statement="excess risk = O(1/T) with learned codes (the heuristic says T^-1 (log T)^-4/3)",
        source="derived here (docs/derivations.md)",
        hypotheses=hypotheses,
    )
    return Case("learned", "learned, from orthonormal", settings, (claim,))


def _lost_token(plan: Plan) -> list[Case]:
    """Square Gaussian codes with K = 2: full rank, separable, and in two draws of twelve the
    descent ends elsewhere.
    """
    settings = _student(POOLING, plan, range(SURVEYED), 0.8, STEPS["quick"], key_codes="gaussian")
    claim = replace(
        _recovery("lost-token", 0.05, "with any full-rank codes"), hypotheses=hypotheses
    )
    breaks = "the law needs the descent to find the supports, which full rank alone does not ensure"
    return [
        Case(
            "lost-token",
            "Gaussian, p = D, K = 2",
            settings,
            (claim,),
            breaks,
            derived=beside_silence,
        )
    ]


def _recovery(case: str, within: float, words: str) -> Recovery:
    return Recovery(
        "relative_excess",
        0.0,
        within,
        id=f"{NAME}/{case}/recovery",
        statement=f"the excess falls below {within:g} of that of predicting zero {words}",
        source="Zhang et al. 2026, Theorem 3.1, without its hypothesis on the codes",
    )


def _too_narrow(plan: Plan) -> list[Case]:
    """Codes of length 3 for 8 positions: no W separates the supports, and the excess keeps a
    certified floor.
    """
    settings = _student(
        NEXT,
        plan,
        range(plan.seeds or SEEDS[plan.preset]),
        0.8,
        10_000,
        key_codes="gaussian",
        size=3,
    )
    floor = Recovery(
        "below_floor",
        0.0,
        1e-9,
        from_step=0,
        id=f"{NAME}/too-narrow-floor/floor",
        statement="excess ≥ ‖V*‖²s²/4 at every step, s the least weight in S*, where no W "
        "separates the supports",
        source="derived here (docs/derivations.md)",
        hypotheses=hypotheses,
    )
    label = "Gaussian, p = 3"
    breaks = (
        "codes by which the supports can be separated: three numbers do not tell eight "
        "positions apart"
    )
    return [
        Case("too-narrow-floor", label, settings, (floor,), derived=beside_floor),
        Case(
            "too-narrow",
            label,
            settings,
            (_recovery("too-narrow", 0.05, "with p = 3"),),
            breaks,
            derived=beside_floor,
        ),
    ]


def _sampled(plan: Plan) -> list[Case]:
    """Layers that see their tokens, trained on fresh batches: codes concatenated, added, learned,
    and none.
    """

    def settings(**options: Any) -> tuple[Setting, ...]:
        student, objective = (
            Part("content_attention", **options),
            Part("online", batch=32, held_out=300),
        )
        setting = Setting(
            SMALL,
            0.02,
            steps=plan.steps or SAMPLED_STEPS[plan.preset],
            student=student,
            objective=objective,
        )
        return tuple(
            replace(setting, measures=("excess_risk",), seed=seed)
            for seed in range(plan.seeds or SEEDS[plan.preset])
        )

    def passes(case: str) -> Recovery:
        return Recovery(
            "over_floor",
            0.0,
            1.0,
            id=f"{NAME}/{case}/passes",
            statement="the excess ends below that of every permutation-equivariant layer",
            source="(2.4) is contained in (2.5) with any codes that separate the supports",
        )

    def case(
        name: str, label: str, claims: tuple[Claim, ...], breaks: str = "", **options: Any
    ) -> Case:
        return Case(name, label, settings(**options), claims, breaks, derived=beside_symmetry)

    keeps = Recovery(
        "below_floor",
        0.0,
        0.08,  # three standard errors of 300 held-out inputs
        from_step=0,
        id=f"{NAME}/no-codes-floor/floor",
        statement="excess ≥ ½‖V*‖²‖S* − S̄‖² at every step without codes",
        source="derived here (docs/derivations.md)",
    )
    passed = (passes("learned-content"), _recovery("learned-content", 0.05, "with learned codes"))
    return [
        case(
            "concatenated", "sinusoids, concatenated", (passes("concatenated"),), codes="sinusoidal"
        ),
        case("learned-content", "learned, concatenated", passed, codes="gaussian", learned=True),
        case(
            "added",
            "sinusoids, added",
            (_recovery("added", 0.05, "with codes added to the tokens"),),
            "codes kept out of the values: X + P with fixed P puts W_V P A into the output",
            codes="sinusoidal",
            mix="added",
        ),
        case("no-codes-floor", "no codes", (keeps,), mix="none"),
        case(
            "no-codes",
            "no codes",
            (_recovery("no-codes", 0.05, "without codes"),),
            "position codes: without them the layer commutes with every permutation of the tokens",
            mix="none",
        ),
    ]


CODES = Codes()
