"""What the web page shows of this paper: descent on the exact risk, and the laws over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from tutelage.claims import Constant, Hypothesis, Verdict, check
from tutelage.numerics.grids import log_spaced
from tutelage.papers.group_sparse import paper
from tutelage.papers.group_sparse.theory import laws
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.machine import Block, Machine
from tutelage.studies.pages import Line, Page, Reading, Silent
from tutelage.studies.tours import Stop

if TYPE_CHECKING:
    from tutelage.problem.build import Problem

MOST_DRAWN = 40  # groups whose attention is drawn
ENOUGH = 3.0  # plateaus, after which the laws are drawn


def choose_measures(setting: Setting) -> tuple[str, ...]:
    groups = laws.read_groups(setting)
    kept = ("attention_matrix", "value_matrix") if groups <= MOST_DRAWN else ()
    return ("excess_risk", "missed_weight", "right_weight", "value_miss", *kept)


def draw_machine(setting: Setting, problem: Problem) -> Machine:
    """Groups → attention → values → the sign."""
    import jax

    from tutelage.papers.group_sparse.parts.teacher import GroupSigns

    teacher = problem.teacher
    assert isinstance(teacher, GroupSigns)
    groups, dim = teacher.groups, len(teacher.direction)
    right = np.zeros((groups, groups))
    right[0] = 1.0
    return (
        Block(
            "inputs",
            "X",
            "groups",
            "feature {row} of group {column}, in one example input",
            (dim, groups),
            shared=np.asarray(jax.random.normal(jax.random.key(0), (dim, groups))),
            signed=True,
        ),
        Block(
            "attention",
            "S",
            "attention",
            "how much query {column} attends to group {row}; only group 1 has the label",
            (groups, groups),
            teacher=right,
            curve="attention_matrix" if "attention_matrix" in setting.measures else "",
        ),
        Block(
            "values",
            "v",
            "values",
            "how much feature {column} counts; the label is the sign of feature 1",
            (1, dim),
            teacher=np.asarray(teacher.direction)[None],
            curve="value_matrix" if "value_matrix" in setting.measures else "",
            signed=True,
        ),
        Block("number", "s", "right group", "attention on the right group", curve="right_weight"),
        Block("number", "L", "risk", "logistic risk", curve="excess_risk"),
    )


def read(setting: Setting) -> Reading:
    """What the laws say about plain descent, or why they say nothing."""
    if setting.optimiser.name != "gradient_descent":
        return Silent("No claims here: the laws are those of plain descent with small steps.")
    return Laws(setting)


@final
class Laws(Reading):
    """L·t^(1/3) → c₀/a and (1−s)·t^(2/3) → (D−1)/b, t = ηk."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def hypotheses(self) -> Sequence[Hypothesis]:
        groups, rate = laws.read_groups(self.setting), self.setting.rate
        detail = f"η = {rate:g}, 8/D = {8 / groups:.3g}"
        return (Hypothesis("the step size is below 8/D", rate < 8 / groups, detail),)

    def plateau(self) -> float | None:
        return _plateau_in_steps(self.setting)

    def predicted(self) -> Sequence[Line]:
        steps = log_spaced(self.setting.steps)
        times = self.setting.rate * steps
        late = times > ENOUGH * laws.plateau(self.setting)
        if not late.any():
            return []
        shown, t = steps[late].tolist(), times[late]
        risk, missed = laws.risk_constant(self.setting), laws.miss_constant(self.setting)
        return [
            Line(
                "excess_risk",
                "predicted",
                f"theory: {risk:.4g} (ηk)^(−1/3)",
                shown,
                (risk * t ** (-1 / 3)).tolist(),
            ),
            Line(
                "missed_weight",
                "predicted",
                f"theory: {missed:.4g} (ηk)^(−2/3)",
                shown,
                (missed * t ** (-2 / 3)).tolist(),
            ),
        ]

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        claims = (
            Constant(
                "excess_risk",
                -1 / 3,
                laws.risk_constant,
                plateau=_plateau_in_steps,
                approach=2 / 3,
                id="risk-constant",
                statement="L·(ηk)^(1/3) → c₀/a",
                source="docs/law.md of this paper",
            ),
            Constant(
                "missed_weight",
                -2 / 3,
                laws.miss_constant,
                plateau=_plateau_in_steps,
                approach=2 / 3,
                id="missed-constant",
                statement="(1 − s)·(ηk)^(2/3) → (D−1)/b",
                source="docs/law.md of this paper",
            ),
        )
        return [check(claim, run, prefix=f"{paper.name}/rates/explorer/") for claim in claims]


def _plateau_in_steps(setting: Setting) -> float:
    return laws.plateau(setting) / setting.rate


def _query(codes: str, groups: int, rate: float, steps: int) -> str:
    return (
        f"teacher=group_signs&teacher.groups={groups}&teacher.codes={codes}&"
        f"student=group_attention&objective=group_risk&rate={rate}&steps={steps}"
    )


_UNIT = _query("unit", 10, 0.5, 1_000_000)
_SINE = _query("sine", 10, 0.5, 1_000_000)

TOUR = (
    Stop(
        "One group has the answer",
        "Ten groups of features, and the label is a sign of the first. Attention does not know "
        "which, and ends with its whole weight on the right one.",
        "Drag the replay slider: the first row of S lights up.",
        _UNIT,
        last={"right_weight": (0.99, 1.0)},
    ),
    Stop(
        "The plateau",
        "Attention starts uniform, at 1/10 for each group. It takes (π/4)(D − 1)² ≈ 64 units of "
        "time before it moves.",
        "Raise the groups to 20: the plateau becomes more than four times as long.",
        _UNIT,
        last={"right_weight": (0.99, 1.0)},
        show="right_weight",
        axis="plateau",
    ),
    Stop(
        "A slow power law",
        "After the plateau the risk falls like t^(−1/3) only: confidence grows slowly once "
        "attention is right.",
        "Choose “1 − weight of the right group”: it falls like t^(−2/3).",
        _UNIT,
        last={"excess_risk": (0.00141, 0.00146)},
    ),
    Stop(
        "The constant",
        "Measured over predicted: the missed attention times t^(2/3) tends to its constant.",
        "Change the features of a group: the constant does not move.",
        _UNIT,
        verdicts={"missed-constant": "HOLDS"},
        show="missed_weight",
        view="ratio",
    ),
    Stop(
        "Longer codes",
        "Sine codes are longer than unit codes. The plateau becomes shorter and the constant of "
        "the missed attention changes, but the risk comes to the same line.",
        "Choose the missed attention as the curve, and the two lines come apart.",
        _SINE,
        verdicts={"risk-constant": "HOLDS"},
        also=(_UNIT,),
    ),
    Stop(
        "Too large a step",
        "A learning rate of 0.5 with 100 groups is far above 8/D. Attention is thrown off the "
        "right group for good.",
        "Lower the learning rate to 0.05: the right group is found.",
        _query("sine", 100, 0.5, 1000),
        last={"missed_weight": (0.5, 1.0)},
        show="missed_weight",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="Group sparsity",
        teachers=("group_signs",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.5, "steps": 100_000, "seed": 0},
        letters={letter: path for letter, path in paper.letters.items() if letter != "m"},
        symbols={"steps": "k"},
        theorem="1 − s = Θ(t^{−2/3})   L = Θ(t^{−1/3})   t = ηk",
        statement="Attention finds the one group of features that the label depends on; the risk "
        "then falls like a cube root of time.",
        machine=draw_machine,
        tour=TOUR,
    ),
)
