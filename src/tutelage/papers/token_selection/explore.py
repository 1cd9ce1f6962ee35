"""What the web page shows of this paper: attention finding the subset that its input names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from tutelage.claims import Constant, Hypothesis, Order, Verdict, check
from tutelage.numerics.grids import log_spaced
from tutelage.papers.token_selection import paper
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.machine import Block, Machine
from tutelage.studies.pages import Line, Page, Reading, Silent
from tutelage.studies.tours import Stop

if TYPE_CHECKING:
    from tutelage.problem.build import Problem


def choose_measures(setting: Setting) -> tuple[str, ...]:
    if setting.student.name == "subset_attention":
        return ("excess_risk", "chosen_weight", "attention_matrix")
    return ("excess_risk", "chosen_weight", "score_gap", "value_scale")


def draw_machine(setting: Setting, problem: Problem) -> Machine:
    """Tokens and a subset → attention → the mean of the subset."""
    import jax

    from tutelage.papers.token_selection.parts.teacher import SubsetAverage, neighbouring_subsets

    teacher = problem.teacher
    assert isinstance(teacher, SubsetAverage)
    shape = (teacher.tokens, teacher.queries)
    subsets = neighbouring_subsets(teacher.tokens, teacher.support, teacher.queries)
    tokens = jax.random.normal(jax.random.key(0), (teacher.dim, teacher.tokens))
    return (
        Block(
            "inputs",
            "X",
            "tokens",
            "feature {row} of token {column}, in one example input",
            (teacher.dim, teacher.tokens),
            shared=np.asarray(tokens),
            signed=True,
        ),
        Block(
            "values",
            "y",
            "subsets",
            "1 where token {row} is in subset {column}, which the input names",
            shape,
            shared=np.asarray(subsets),
        ),
        Block(
            "attention",
            "S",
            "attention",
            "attention on token {row} when asked about subset {column}",
            shape,
            teacher=np.asarray(subsets) / teacher.support,
            curve="attention_matrix" if "attention_matrix" in setting.measures else "",
        ),
        Block("number", "w", "on the subset", "attention on the subset", curve="chosen_weight"),
        Block("number", "L", "loss", "mean over all subsets", curve="excess_risk"),
    )


def read(setting: Setting) -> Reading:
    """What the law says about a head with orthonormal codes, or why it says nothing."""
    if setting.student.options.get("codes") == "signs":
        return Silent(
            "No claims here: with random signs the loss comes to a floor, which is a study of its "
            "own (token-selection/codes)."
        )
    return Law(setting)


@final
class Law(Reading):
    """L·t → N/4."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def hypotheses(self) -> Sequence[Hypothesis]:
        from tutelage.papers.token_selection.setup import hypotheses

        return hypotheses(self.setting)

    def plateau(self) -> float | None:
        from tutelage.papers.token_selection.setup import predict_plateau

        return float(predict_plateau(self.setting))

    def predicted(self) -> Sequence[Line]:
        from tutelage.papers.token_selection.setup import predict_constant, predict_plateau

        steps = log_spaced(self.setting.steps)
        steps = steps[steps >= predict_plateau(self.setting)]
        if not len(steps):
            return []
        limit = predict_constant(self.setting)
        values = limit / (self.setting.rate * steps)
        label = f"theory: {4 * limit:g}/(4ηk)"
        return [Line("excess_risk", "predicted", label, steps.tolist(), values.tolist())]

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        from tutelage.papers.token_selection.setup import DERIVED, predict_constant, predict_plateau

        claims = (
            Constant(
                "excess_risk",
                -1.0,
                predict_constant,
                plateau=predict_plateau,
                id="constant",
                statement="L·ηk → N/4, N = T − 1 for fixed codes and m for fresh ones",
                source=DERIVED,
            ),
            Order(
                "excess_risk",
                -1.0,
                plateau=predict_plateau,
                id="order",
                statement="L = Θ(1/T): no logarithm",
                source=DERIVED,
            ),
        )
        return [check(claim, run, prefix=f"{paper.name}/rates/explorer/") for claim in claims]


def _query(tokens: int, support: int, dim: int, student: str, more: str = "") -> str:
    return (
        f"teacher=subset_average&teacher.tokens={tokens}&teacher.support={support}&"
        f"teacher.dim={dim}&teacher.queries={min(tokens, 8)}&student={student}&"
        f"objective=subset_risk{more}&rate=0.5&steps=200000&seed=0"
    )


_EIGHT = _query(8, 3, 4, "subset_attention")
_TWENTY = _query(20, 4, 5, "selection_head")

TOUR = (
    Stop(
        "Any three of eight",
        "The input names a subset, and the answer is its mean. One head learns all 56 subsets of "
        "three: column j of S is its attention when asked about tokens j to j + 2.",
        "Drag the replay slider: uniform at first, a band in the end.",
        _EIGHT,
        last={"chosen_weight": (0.99, 1.0)},
    ),
    Stop(
        "No logarithm",
        "A bound of log t/t is reported for this loss. A logarithm would be a factor of 12 here, "
        "but ηk times the loss ends at 1.7514, where N/4 is 1.75.",
        "Raise the steps tenfold: ηk times the loss comes closer still.",
        _EIGHT,
        last={"excess_risk": (1.7505e-5, 1.752e-5)},
    ),
    Stop(
        "The constant",
        "Measured over predicted: ηk times the loss tends to (T − 1)/4 = 1.75.",
        "Change the tokens of a subset: the constant stays.",
        _EIGHT,
        verdicts={"constant": "HOLDS"},
        view="ratio",
    ),
    Stop(
        "Whatever the size of the subset",
        "One token of twenty and four of twenty: after the plateau both losses come to the same "
        "line, 19/(4ηk).",
        "Set the axis to step / plateau: both start to fall at about 1.",
        _TWENTY,
        last={"excess_risk": (4.75e-5, 4.77e-5)},
        also=(_query(20, 1, 5, "selection_head"),),
    ),
    Stop(
        "Codes drawn anew",
        "Codes of width 64, new at every step: the loss is larger by 64/19, and the head serves "
        "any number of tokens.",
        "Halve the width: the loss halves.",
        _query(20, 4, 5, "selection_head", "&student.codes=fresh&student.width=64"),
        last={"excess_risk": (1.6e-4, 1.62e-4)},
        also=(_TWENTY,),
    ),
)

pages = (
    Page(
        name=paper.name,
        title="Token selection",
        teachers=("subset_average",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.5, "steps": 20_000, "seed": 0},
        letters=paper.letters,
        symbols={"steps": "k"},
        theorem="f*(X, y) = (1/q) Σ_{i ∈ y} x_i   ηk·L(k) → (T − 1)/4",
        statement="One softmax head learns to average any subset that its input names, whatever "
        "the subset.",
        machine=draw_machine,
        tour=TOUR,
    ),
)
