"""Finite samples: the excess against n, beside least squares, ridge, a two-layer network and an
oracle on the same data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.papers.teacher_models.rates.study import LETTERS, PAPER
from tutelage.papers.teacher_models.samples.claims import (
    AROUND,
    SHARE,
    control_claims,
    curve_claims,
    network_claims,
    noiseless_claims,
    oracle_claims,
    relu_claims,
    several_claims,
    sweep_claims,
)
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/samples"
OPEN = {
    letter: LETTERS[letter] for letter in ("V", "tau", "eta", "T")
}  # S* is given by hand, and the sweeps set D and d
SEEDS = {"quick": 20, "full": 50}  # of the curves against n
FEWER = {"quick": 10, "full": 20}  # of the sweeps
NETWORKS = {"quick": 5, "full": 10}
STEPS = 500  # of Adam; a student of the class has then settled
LONGER = 1500  # for networks, and near the threshold without noise
COUNTS = {"quick": (50, 100, 400, 1600), "full": (25, 50, 100, 200, 400, 800, 1600, 6400)}
RELU_COUNTS = {"quick": (100, 400, 3200), "full": (50, 100, 200, 400, 800, 1600, 3200, 12_800)}
NETWORK_COUNTS = {"quick": (100, 400, 1600), "full": (100, 200, 400, 800, 1600, 3200)}
NOISELESS = {"identity": (13, 17, 21, 30), "relu": (34, 51, 68)}
SIZES = {
    "D": {"quick": ((8, 8), (16, 8), (32, 8)), "full": ((8, 8), (16, 8), (32, 8), (64, 8))},
    "d": {"quick": ((16, 4), (16, 8), (16, 16)), "full": ((16, 4), (16, 8), (16, 16), (16, 32))},
}
HIDDEN = {"identity": 2, "relu": 1}  # the narrowest network that can be the teacher


def one_query(tokens: int, support: int) -> np.ndarray:
    """S* of one query that reads the first `support` tokens; which ones does not matter, since
    tokens are iid.
    """
    return (np.arange(tokens) < support)[:, None] / support


def setting_at(
    tokens: int = 16,
    dim: int = 8,
    *,
    activation: str = "identity",
    noise: float = 0.5,
    support: int = 4,
) -> Setting:
    """One output of one query; ‖V*‖² = K, so that the signal has variance 1 before σ and τ = ½ is a
    noise of a quarter of that.
    """
    teacher = Part(
        "bilinear",
        selection=one_query(tokens, support),
        outputs=1,
        dim=dim,
        norm=support**0.5,
        activation=activation,
        noise=noise,
    )
    return Setting(
        teacher,
        rate=0.05,
        steps=STEPS,
        student=Part("position_attention", attention_scale=1.0),
        objective=Part("empirical", samples=100),
        optimiser=Part("adam"),
        measures=("excess_risk",),
    )


def several() -> Setting:
    """Three outputs and four queries, whose supports differ in size and overlap."""
    selection = np.zeros((12, 4))
    for query, (first, support) in enumerate(((0, 2), (1, 3), (3, 4), (0, 6))):
        selection[first : first + support, query] = 1 / support
    teacher = Part(
        "bilinear",
        selection=selection,
        outputs=3,
        dim=6,
        norm=3.0,
        activation="identity",
        noise=0.5,
    )
    return replace(setting_at(), teacher=teacher)


@dataclass(frozen=True)
class FiniteSamples:
    """The study `teacher-models/samples`."""

    name: str = NAME
    sentence: str = (
        "finite n: excess against n beside least squares, ridge, a two-layer network "
        "and an oracle; the n each needs in D and d"
    )
    statement: str = (
        "The paper trains on the population. On a fixed sample of n labelled inputs with noise τ "
        "the student fits some of the noise: to "
        "leading order as much as a linear model of δ parameters, δ the statistical dimension of "
        "its tangent cone at the teacher. A weight "
        "that must be zero counts one half, since a softmax cannot be negative. Least squares on "
        "the flattened input fits D·d parameters, "
        "an oracle that knows S* fits d."
    )
    equation: str = (
        "2n·excess/τ² → δ = Md − 1 + K + (D−K)/2 (one query);   least squares: "
        "Dd·n/(n−Dd−2);   oracle: d·n/(n−d−1)"
    )
    source: str = f"asked of {PAPER}; derived here (docs/derivations.md, section 15)"
    choices: tuple[str, ...] = (
        "One output, one query, K = 4; D = 16 and d = 8 but in the sweeps; ‖V*‖² = K, so that "
        "the signal has variance 1; τ = ½.",
        f"The student is trained to convergence, not stopped early: Adam, step 0.05, {STEPS} "
        "steps, scores not divided by √D, which is "
        "faster and has the same minimum. The excess is the closed form.",
        "Least squares and ridge have an intercept; ridge takes the penalty with the least "
        "leave-one-out error. The oracle is "
        "least squares on X S*; for ReLU it is a student with S = S* fixed, trained alike.",
        "A network of equal size does not exist: one hidden unit reads D·d = 128 numbers and the "
        "student has D + d = 24. It is the "
        f"narrowest that can be the teacher (two units for the identity, one for ReLU), {LONGER} "
        "steps, judged on 8192 held-out inputs.",
        f"The n that a method needs is where its excess is {SHARE:.0%} of that of saying 0.",
        "Means over samples are steadied by a control variate of mean zero: what the sample's "
        "own noise does to the linearised method.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 80.0, "full": 1500.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.5, "full": 4.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/tangent_cone.py"

    def cases(self, plan: Plan) -> list[Case]:
        """Curves against n for both teachers, the sweeps, samples without noise and, unless
        something was changed, the controls.
        """
        try:
            cases = _cases(plan)
        except NoSuchOption as reason:
            return [Case("identity", "identity", (), (), left_out=str(reason))]
        if plan.changes:
            return cases
        by_name = {case.name: case for case in cases}
        return [
            *cases,
            *(
                Case(name, label, by_name[of].settings, (claim,), breaks)
                for name, label, of, claim, breaks in control_claims(
                    by_name["identity"].settings, by_name["relu"].settings
                )
            ),
        ]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.samples import figures as finite_samples_figures

        return finite_samples_figures.draw(answered, folder)


def _grid(base: Setting, counts: Sequence[int], seeds: int, **fields: Any) -> tuple[Setting, ...]:
    return tuple(
        replace(base, objective=base.objective.change(samples=n), seed=base.seed + seed, **fields)
        for n in counts
        for seed in range(seeds)
    )


def _cases(plan: Plan) -> list[Case]:
    many, few, fewest = (plan.seeds or table[plan.preset] for table in (SEEDS, FEWER, NETWORKS))

    def made(setting: Setting, steps: int = STEPS) -> Setting:
        return changed(replace(setting, steps=plan.steps or steps), plan.changes, OPEN)

    identity, relu = (
        made(setting_at(activation=activation)) for activation in ("identity", "relu")
    )
    curve = _grid(identity, COUNTS[plan.preset], many)
    bent = _grid(relu, RELU_COUNTS[plan.preset], many)
    cases = [
        Case("identity", "identity", curve, curve_claims(curve)),
        Case("relu", "ReLU", bent, relu_claims(bent)),
    ]
    known = _grid(relu, (100, 1600), many, student=Part("known_selection"))
    cases.append(Case("relu-oracle", "ReLU, S* known", known, oracle_claims(known)))
    for base, activation in ((identity, "identity"), (relu, "relu")):
        student = Part("two_layer", hidden=HIDDEN[activation])
        wide = replace(
            made(base, LONGER),
            student=student,
            rate=0.01,
            objective=Part("empirical", samples=100, held_out=8192),
        )
        settings = _grid(wide, NETWORK_COUNTS[plan.preset], fewest)
        cases.append(
            Case(
                f"{activation}-network",
                f"network, {activation}",
                settings,
                network_claims(f"{activation}-network", settings),
            )
        )
    for axis in SIZES:
        cases.append(_sweep(axis, plan, few, made))
    noiseless = {"identity": identity, "relu": relu}
    for activation, base in noiseless.items():
        quiet = made(base, LONGER).change(**{"teacher.noise": 0.0})
        settings = _grid(quiet, NOISELESS[activation], many)
        name = f"{activation}-noiseless"
        cases.append(
            Case(name, f"no noise, {activation}", settings, noiseless_claims(name, settings))
        )
    both = _grid(made(several()), (800,), few)
    cases.append(Case("several", "three outputs, four queries", both, several_claims(both)))
    return cases


def _sweep(axis: str, plan: Plan, seeds: int, made: Any) -> Case:
    from tutelage.papers.teacher_models.samples.readings import expected_need

    settings: list[Setting] = []
    for size in SIZES[axis][plan.preset]:
        base = made(setting_at(*size))
        expected = expected_need("student", base, SHARE)
        settings += _grid(base, [round(expected * factor) for factor in AROUND], seeds)
    return Case(axis, f"{axis} swept", tuple(settings), sweep_claims(axis, settings))


SAMPLES = FiniteSamples()
