"""What the number of tokens changes: training loss, gradients of the function and distance from
linearity, against T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.setup import CHOICES, LETTERS, refuse_swept, setting_at
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE, hypotheses
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "shallow-transformers/length"
OPEN = {
    letter: LETTERS[letter] for letter in ("d", "n", "m", "R", "tau", "eta")
}  # the sweep sets T
TOLERANCE = 0.05  # of every exponent in T
RECURRENT = 1.02  # |u| of the recurrent control: 1.02^256 = 159


@dataclass(frozen=True)
class Grid:
    """The sizes of a preset."""

    dim: int
    heads: int
    samples: int
    pool: int
    steps: int
    seeds: int
    lengths: tuple[int, ...]
    control_lengths: tuple[int, ...]


GRIDS = {
    "quick": Grid(4, 16, 64, 256, 100, 5, (4, 16, 64, 256), (4, 16, 64, 256)),
    "full": Grid(
        8, 64, 1000, 8192, 1000, 30, (4, 8, 16, 32, 64, 128, 256), (4, 8, 16, 32, 64, 128, 256)
    ),
}


@dataclass(frozen=True)
class Quantity:
    """What is read off a run, and its name in a sentence."""

    name: str
    words: str
    read: Callable[[Run], float]


# The last of the four entries of a gradient measure is that of all blocks together.
QUANTITIES = (
    Quantity(
        "loss",
        "min loss/E[y²]",
        lambda run: float(run.curves["least_loss"].min() / run.curves["label_power"][0]),
    ),
    Quantity("gradient", "sup ‖∇f‖", lambda run: float(run.curves["function_gradient_sup"][0, 3])),
    Quantity(
        "linearisation",
        "sup |f − f_lin| at random points of the boundary",
        lambda run: float(run.curves["random_linearisation"][0, 0]),
    ),
)
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


def length_of(run: Run) -> float:
    assert run.setting is not None
    return float(run.setting.teacher.options["tokens"])


def points(runs: Sequence[Run], quantity: Quantity) -> list[tuple[float, float, int]]:
    """(T, value, seed) of every run."""
    return [
        (length_of(run), quantity.read(run), run.setting.seed)
        for run in runs
        if run.setting is not None
    ]


def exponents(runs: Sequence[Run], quantity: Quantity) -> list[float]:
    """The exponent in T through all lengths, one a seed."""
    found = points(runs, quantity)
    if len({T for T, _, _ in found}) < 3:
        raise Refused(
            "An exponent needs at least three lengths, since two always fit. Got "
            f"{len({T for T, _, _ in found})}."
        )
    return [
        fitted_exponent([(T, y) for T, y, s in found if s == seed])
        for seed in sorted({s for _, _, s in found})
    ]


def conditions(setting: Setting) -> list[Hypothesis]:
    """The theorems' hypotheses, where the student may be another than the paper's."""
    if setting.student.name == "shallow_transformer":
        return [h for h in hypotheses(setting) if setting.steps > 1 or h.text != "step size 1/√τ"]
    return [
        Hypothesis(
            "a student that reads by attention",
            False,
            f"{setting.student.name}, |u| = {RECURRENT:g}",
        )
    ]


def grown_conditions(setting: Setting) -> list[Hypothesis]:
    """The same for tokens that grow: at the smallest T they are still short enough, and over the
    sweep they are not.
    """
    grown = Hypothesis("token norms ≤ 1", False, "up to √T/2")
    return [grown if h.text == grown.text else h for h in conditions(setting)]


def _no_growth(case: str, quantity: Quantity) -> Claim:
    return Number(
        values=lambda runs: exponents(runs, quantity),
        value=0.0,
        of=f"the exponent in T of {quantity.words}",
        tolerance=TOLERANCE,
        side="at most",
        id=f"{NAME}/{case}/{quantity.name}-no-growth",
        statement=f"{quantity.words} does not grow with T: the bounds are free of T",
        source=SOURCE,
        hypotheses=grown_conditions if case == "growing-tokens" else conditions,
    )


def _flat(case: str, quantity: Quantity) -> Claim:
    return Exponent(
        points=lambda runs: points(runs, quantity),
        exponent=0.0,
        of=quantity.words,
        tolerance=TOLERANCE,
        id=f"{NAME}/{case}/{quantity.name}-flat",
        statement=f"{quantity.words} has exponent 0 in T, more than the bounds say",
        source="asked here; the paper states upper bounds",
        hypotheses=conditions,
    )


@dataclass(frozen=True)
class Length:
    """The study `shallow-transformers/length`."""

    name: str = NAME
    sentence: str = (
        "Does anything depend on the number of tokens T: training loss, gradients of "
        "the function, distance from linearity?"
    )
    statement: str = (
        "No bound of the paper contains T, since the covariance M of the tokens under attention "
        "has ‖M‖_F ≤ 1 for every T. Measured from "
        "T = 4 to 256 at fixed m, with the same heads: whether anything grows with T, and "
        "whether it is flat, which a bound does not "
        "say."
    )
    equation: str = "‖M_i‖_F ≤ max_t ‖x_t‖² ≤ 1 for every T"
    source: str = SOURCE
    choices: tuple[str, ...] = (
        *CHOICES,
        "Heads of a seed are the same for every T, and so is the boundary point; tokens and "
        "anchors are drawn anew, and so E[y²] differs.",
        "The linearisation is taken at one random point with ρ = 3 in every block. The sup is "
        "over the n training inputs.",
        "Control with growing tokens: norms up to √T/2. Control with recurrence: an IndRNN with "
        "|u| = 1.02 and input weights of 10⁻⁴, "
        "small enough to stay unsaturated up to T = 256; with the authors' |u| = 1.5 units "
        "saturate within a dozen tokens.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 30.0, "full": 20000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.5, "full": 4.0})
    checked_in: str = "src/tutelage/papers/shallow_transformers/length/study.py"

    def cases(self, plan: Plan) -> list[Case]:
        return [_case(plan, *row) for row in ROWS]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.shallow_transformers.length import figures as length_figures

        return length_figures.draw(answered, folder)


def _attention(setting: Setting, length: int) -> Setting:
    return setting


def _growing(setting: Setting, length: int) -> Setting:
    """Tokens, of inputs and anchors alike, of norm up to √T/2."""
    size = math.sqrt(length) / 2
    teacher, inputs = (
        setting.teacher.change(token_scale=size, token_radius=size),
        setting.inputs.change(scale=size, radius=size),
    )
    return replace(
        setting,
        teacher=teacher,
        inputs=inputs,
        steps=1,
        measures=("function_gradient_sup", "random_linearisation"),
    )


def _recurrent(setting: Setting, length: int) -> Setting:
    student = Part(
        "indrnn", heads=setting.student.options["heads"], recurrent=RECURRENT, scale=1e-4
    )
    return replace(
        setting,
        student=student,
        optimiser=Part("gradient_descent"),
        steps=1,
        measures=("function_gradient_sup",),
    )


ROWS: tuple[tuple[str, str, str, Callable[[Setting, int], Setting], tuple[str, ...]], ...] = (
    ("attention", "T from 4 to 256", "", _attention, tuple(BY_NAME)),
    (
        "growing-tokens",
        "token norms up to √T/2",
        "token norms ≤ 1: these grow with T",
        _growing,
        ("gradient", "linearisation"),
    ),
    (
        "indrnn",
        "IndRNN, |u| > 1",
        "attention: the gradient through a recurrence with |u| > 1 grows with T",
        _recurrent,
        ("gradient",),
    ),
)


def _case(
    plan: Plan,
    name: str,
    label: str,
    control: str,
    turned: Callable[[Setting, int], Setting],
    quantities: tuple[str, ...],
) -> Case:
    grid, settings = GRIDS[plan.preset], []
    try:
        for T in grid.control_lengths if control else grid.lengths:
            base = setting_at(
                heads=grid.heads,
                samples=grid.samples,
                steps=plan.steps or grid.steps,
                measures=(
                    "least_loss",
                    "label_power",
                    "label_error",
                    "function_gradient_sup",
                    "random_linearisation",
                ),
                dim=grid.dim,
                tokens=T,
                pool=grid.pool,
            )
            refuse_swept(plan.changes, "tokens")
            base = changed(base, plan.changes, OPEN)
            if not {"eta", "rate"} & set(plan.changes):
                base = replace(base, rate=base.steps**-0.5)
            settings += [
                replace(turned(base, T), seed=seed) for seed in range(plan.seeds or grid.seeds)
            ]
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    growth = [_no_growth(name, BY_NAME[quantity]) for quantity in quantities]
    flat = [] if control else [_flat(name, BY_NAME[quantity]) for quantity in quantities]
    return Case(name, label, tuple(settings), (*growth, *flat), control)


LENGTH = Length()
