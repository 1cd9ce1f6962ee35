"""Training on other inputs and activations: what of Theorem 3.1 survives, over the population and
on fixed samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Constant, Hypothesis, Measured, Rate, Recovery
from tutelage.papers.teacher_models.inputs.cases import ALL, SAMPLED, WIDER
from tutelage.papers.teacher_models.rates.study import PAPER
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/inputs"
HERE = "derived here (docs/derivations.md, section 14)"
OPEN = {
    "V": "teacher.norm",
    "M": "teacher.outputs",
    "tau": "teacher.noise",
    "n": "objective.samples",
    "eta": "rate",
    "T": "steps",
}
SEEDS = {"quick": 3, "full": 5}
LONGER = 10  # times as many steps in the full preset
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


def theory(function: str) -> Callable[[Setting], Any]:
    """A prediction of `slow_weights.py` by name; it loads JAX only when it is asked."""

    def at(setting: Setting) -> Any:
        from tutelage.papers.teacher_models.theory import slow_weights

        return getattr(slow_weights, function)(setting)

    return at


def as_if_standard(constant: str) -> Callable[[Setting], float]:
    """The constants of Theorem 3.1's own inputs, with ‖V*‖² where tr(V*ΣV*ᵀ) belongs: wrong here,
    which is what a control is for.
    """

    def at(setting: Setting) -> float:
        return float(theory(constant)(replace(setting, inputs=Part("gaussian"))))

    return at


def off_weights(run: Run) -> Float[np.ndarray, "D Q"]:
    """S at the end of a run; not a number on the supports."""
    from tutelage.problem.build import build_teacher

    assert run.setting is not None
    return np.where(
        np.asarray(build_teacher(run.setting).selection) > 0,
        np.nan,
        np.asarray(run.student.attention()),
    )


def inequality(run: Run) -> float:
    """The largest weight off the support over the smallest of the same column: 1 where columns have
    two values.
    """
    weights = off_weights(run)
    return float(np.max(np.nanmax(weights, 0) / np.nanmin(weights, 0)))


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    found: Sequence[Hypothesis] = theory("hypotheses")(setting)
    return found


def claims_of(case: str) -> dict[str, Claim]:
    """Claims and measurements of one case, by their short names."""

    def about(name: str, statement: str, source: str = HERE) -> dict[str, Any]:
        return {
            "id": f"{NAME}/{case}/{name}",
            "statement": statement,
            "source": source,
            "hypotheses": hypotheses,
        }

    def constant(name: str, curve: str, exponent: float, function: str, statement: str) -> Claim:
        return Constant(
            curve, exponent, theory(function), plateau=theory("plateau"), **about(name, statement)
        )

    def measured(name: str, read: Callable[[Run], float], of: str, statement: str) -> Claim:
        return Measured(
            lambda runs: [read(run) for run in runs], of, **about(name, statement, "measured here")
        )

    rate = about(
        "excess-rate",
        "excess over what is trained on = Θ(1/T)",
        f"{PAPER}, there for tokens N(0, I)",
    )
    return {
        "excess-rate": Rate("training_risk", -1.0, plateau=theory("plateau"), **rate),
        "excess-constant": constant(
            "excess-constant",
            "training_risk",
            -1.0,
            "counting_law",
            "the same·ηT → Σ_i K_i(D−K_i)/4",
        ),
        "value-constant": constant(
            "value-constant",
            "value_error",
            -0.5,
            "value_constant",
            "‖W_V − V*‖√(ηT) → that of the barrier",
        ),
        "attention-constant": constant(
            "attention-constant",
            "attention_error",
            -0.5,
            "attention_constant",
            "‖S − S*‖√(ηT) → that of the barrier",
        ),
        "fresh-constant": constant(
            "fresh-constant",
            "excess_risk",
            -1.0,
            "fresh_constant",
            "excess on fresh inputs·ηT → ½⟨E, H E⟩",
        ),
        "cosine": measured(
            "cosine",
            lambda r: float(r.curves["cosine"][1:].min()),
            "the least cosine of W_V and V*",
            "least cosine",
        ),
        "two-values": measured(
            "two-values",
            inequality,
            "the largest over the smallest weight off a support",
            "weights off a support, largest over smallest",
        ),
    }


@dataclass(frozen=True)
class Inputs:
    """The study `teacher-models/inputs`."""

    name: str = NAME
    sentence: str = (
        "training on other inputs, other activations and fixed noiseless samples: "
        "what of Theorem 3.1 survives"
    )
    statement: str = (
        "The theorem trains on tokens iid N(0, I) with ReLU or the identity. On other inputs "
        "(heavy tails, a mean, correlation, two "
        "values), with other activations, and on a fixed sample without label noise, the excess "
        "over what is trained on must still tend to "
        "Σ_i K_i(D−K_i)/(4ηT), as long as the inputs identify S*. The errors of W_V and S do "
        "depend on the inputs, through one "
        "convex problem. That W_V is parallel to V* and that columns have two values is lost."
    )
    equation: str = (
        "excess·ηT → Σ_i K_i(D−K_i)/4;   S_ji√(ηT) → x_j = argmin_{x>0} ½xᵀHx − ½Σ_j "
        "K_i ln x_j,   H the Schur complement at V*, S*"
    )
    source: str = f"asked of {PAPER}; the law is derived here (docs/derivations.md, section 14)"
    choices: tuple[str, ...] = (
        "D = Q = 6 tokens, pooled by K = 2, d = M = 3; for tanh by quadrature D = 4, Q = K = M = "
        "1.",
        "Samples of n = 64 inputs without label noise, 256 for ReLU and leaky ReLU; every seed "
        "draws V* and its sample. Identity for the "
        "laws; Student t with 5 degrees for tanh and GELU.",
        "‖V*‖ = 8, 18 for laws with a mean (a shorter plateau at the same step size), 4 for erf "
        "and tanh, 1.5 for tanh by quadrature.",
        "The step size is 0.4 of the largest stable one near the teacher, computed from the "
        "inputs of each seed.",
        "The plateau is when the slowest weight off a support would be 1/D by its law: K "
        "D²/(2ηλ‖V*‖²) for iid tokens.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 55.0, "full": 900.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/slow_weights.py"

    def cases(self, plan: Plan) -> list[Case]:
        """Every law and activation; and, unless something was changed, the controls."""
        # A step size takes a drawn sample, so only what was asked for is planned; a name that is
        # none is refused beside all of them.
        asked = set(plan.only) if set(plan.only) <= {*ALL, *CONTROLS} else set()
        cases = [_case(name, plan) for name in ALL if not asked or name in asked]
        return (
            cases
            if plan.changes or (asked and not asked & set(CONTROLS))
            else [*cases, *_controls(plan)]
        )

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.inputs import figures as inputs_figures

        return inputs_figures.draw(answered, folder)


def _settings(name: str, plan: Plan) -> tuple[Setting, ...]:
    _, teacher, inputs, objective, steps = ALL[name]
    length = plan.steps or steps * (LONGER if plan.preset == "full" else 1)
    base = changed(
        Setting(teacher, 0.1, steps=length, inputs=inputs, objective=objective, measures=SAMPLED),
        plan.changes,
        OPEN,
    )
    seeds = [replace(base, seed=base.seed + i) for i in range(plan.seeds or SEEDS[plan.preset])]
    return tuple(seeds) if {"eta", "rate"} & set(plan.changes) else _stepped(seeds)


def _stepped(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Each with its share of the largest stable step, in three digits."""
    return tuple(
        replace(s, rate=float(f"{SHARE * theory('limit')(s).stable_rate:.3g}")) for s in settings
    )


def _case(name: str, plan: Plan) -> Case:
    label = ALL[name][0]
    try:
        settings = _settings(name, plan)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    claims = claims_of(name)
    without = {
        "at-the-kink": (
            "value-constant",
            "attention-constant",
            "fresh-constant",
        ),  # pre-activations at the kink: no quadratic form
        "silent-row": (
            "value-constant",
            "fresh-constant",
            "cosine",
        ),  # a row that no input sees is not learned: see the control
    }
    left = without.get(name, ()) if ALL[name][3].name == "empirical" else ("fresh-constant",)
    return Case(
        name, label, settings, tuple(claim for key, claim in claims.items() if key not in left)
    )


def _controls(plan: Plan) -> list[Case]:
    """What must not hold, each with the hypothesis that it breaks."""
    covariance, normal, few, silent = (
        _settings(name, plan) for name in ("covariance", "normal", "few", "silent-row")
    )
    wider = _stepped([replace(s, inputs=WIDER) for s in covariance])
    noisy = tuple(s.change(**{"teacher.noise": 0.5}) for s in normal)
    # Two inputs give 36 equations for 9 + 30 unknowns; of them theory says nothing, so the step
    # size is that of the whole sample.
    two = tuple(s.change(**{"objective.samples": 2}) for s in normal)

    def taken(case: str, name: str, **more: Any) -> Claim:
        return replace(claims_of(case)[name], **more)

    def parallel(case: str) -> Claim:
        said: dict[str, Any] = {
            "statement": "cos(W_V, V*) = 1 from the first step",
            "source": PAPER,
            "hypotheses": hypotheses,
        }
        return Recovery("cosine", 1.0, 1e-9, 1, id=f"{NAME}/{case}/cosine", **said)

    standard = tuple(
        taken(
            "as-if-standard",
            f"{name}-constant",
            value=as_if_standard(f"{name}_constant"),
            statement=f"{curve}√(ηT) → that of N(0, I)",
        )
        for name, curve in (("value", "‖W_V − V*‖"), ("attention", "‖S − S*‖"))
    )
    clean = {s.seed: theory("plateau")(s) for s in normal}  # theory says nothing of the noisy ones

    def as_clean(setting: Setting) -> float:
        return float(clean[setting.seed])

    noisy_claims = tuple(
        taken(
            "noisy",
            "excess-rate",
            curve=curve,
            plateau=as_clean,
            id=f"{NAME}/noisy/{curve}",
            statement=f"{curve} = Θ(1/T)",
        )
        for curve in ("training_risk", "excess_risk")
    )
    law = taken(
        "fresh-law",
        "fresh-constant",
        value=theory("counting_law"),
        statement="excess on fresh inputs·ηT → Σ_i K_i(D−K_i)/4",
    )
    unknown = taken("two-inputs", "excess-rate", plateau=as_clean)
    about: dict[str, Any] = {
        "statement": "‖W_V − V*‖ = Θ(1/√T)",
        "source": PAPER,
        "hypotheses": hypotheses,
    }
    seen = Rate(
        "value_error", -0.5, plateau=theory("plateau"), id=f"{NAME}/unseen/value-rate", **about
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
            (parallel("parallel"),),
            "tokens N(0, I): W_V is not parallel to V* on the way",
        ),
        Case(
            "parallel-sample",
            "normal sample",
            normal,
            (parallel("parallel-sample"),),
            "the population: a sample has its own moments",
        ),
        Case(
            "fresh-law",
            "fresh inputs, law of the sample",
            few,
            (law,),
            "judged on the inputs trained on: n = 8 is few",
        ),
        Case(
            "noisy",
            "label noise 0.5",
            noisy,
            noisy_claims,
            "no label noise: no student has loss 0, none ends at V*, S*",
        ),
        Case(
            "two-inputs",
            "n = 2",
            two,
            (unknown,),
            "a sample that identifies S*: 36 equations, 39 unknowns",
        ),
        Case(
            "unseen",
            "a silent row",
            silent,
            (seen,),
            "inputs that identify V*: no input makes this row speak",
        ),
    ]


INPUTS = Inputs()
