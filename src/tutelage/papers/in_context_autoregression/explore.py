"""What the web page shows of this paper: heads becoming orthogonal, and |c| coming to its law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from tutelage.claims import Hypothesis, Ratio, Verdict, check
from tutelage.claims.claim import NotYet
from tutelage.numerics.grids import log_spaced
from tutelage.papers.in_context_autoregression import paper
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.machine import Block, Machine
from tutelage.studies.pages import Line, Page, Reading, Silent
from tutelage.studies.tours import Stop

if TYPE_CHECKING:
    from tutelage.problem.build import Problem

DIM = 10  # features, where a teacher names none
SETTLED = 1e-8  # loss of a prefix below which |c| no longer moves


def choose_measures(setting: Setting) -> tuple[str, ...]:
    numbers = ("excess_risk", "prefix_loss", "head_overlap", "level", "older_weight", "balance")
    return (*numbers, "heads_matrix")


def draw_machine(setting: Setting, problem: Problem) -> Machine:
    """Rotating tokens → heads BᵀA → the next token."""
    import jax

    _, dim, tokens, _ = problem.teacher.shape
    heads = int(setting.teacher.options.get("dim", DIM))
    example = problem.inputs.sample(tokens, dim, key=jax.random.key(0))
    return (
        Block(
            "inputs",
            "X",
            "tokens",
            "row {row} of token {column}: each feature turns by an angle of its own",
            (dim, tokens),
            shared=np.asarray(example),
            signed=True,
        ),
        Block(
            "attention",
            "BᵀA",
            "heads",
            "how feature {row} is matched with feature {column}; orthogonal heads are diagonal",
            (heads, heads),
            curve="heads_matrix",
            signed=True,
        ),
        Block("number", "c", "level", "mean of the diagonal of BᵀA", curve="level"),
        Block("number", "o", "overlap", "share beside the diagonal", curve="head_overlap"),
        Block("number", "ℓ", "loss", "loss per prefix", curve="prefix_loss"),
    )


def read(setting: Setting) -> Reading:
    """What the conservation law says about independent angles and H = d heads, or why nothing."""
    given = setting.teacher.options
    if given.get("process", "unitary") != "unitary":
        return Silent(
            "No claims here: the law shown is that of independent angles. Pairs of angles are "
            "judged in the study `orthogonal`."
        )
    heads = setting.student.options.get("heads")
    if heads is not None and heads != given.get("dim", 10):
        return Silent(
            "No claims here: the law is for as many heads as features. Fewer heads leave d − H per "
            "prefix, and are judged in the study `unitary`."
        )
    return Law(setting)


@final
class Law(Reading):
    """|c| from the start, and the loss that then falls exponentially."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def hypotheses(self) -> Sequence[Hypothesis]:
        from tutelage.papers.in_context_autoregression.setup import hypotheses

        return hypotheses(self.setting)

    def predicted(self) -> Sequence[Line]:
        from tutelage.papers.in_context_autoregression.setup import predict_level

        level = predict_level(self.setting)
        steps = log_spaced(self.setting.steps)[1:].tolist()
        label = f"theory: |c| = {level:.5g}, by the start"
        # The sign is not predicted: both are drawn.
        return [
            Line("level", "predicted", label, steps, [sign * level] * len(steps))
            for sign in (1, -1)
        ]

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        from tutelage.papers.in_context_autoregression.setup import predict_level

        claim = Ratio(
            read_level,
            predict_level,
            0.01,
            of="|c|",
            certain=True,
            id="level",
            statement="|c| is what the conservation law gives from the start, within 1%",
            source="docs/law.md of this paper",
        )
        return [check(claim, run, prefix=f"{paper.name}/unitary/explorer/")]


def read_level(run: Run) -> float:
    """|c| at the end of a run that has come to its minimum."""
    if not run.curves["prefix_loss"][-1] < SETTLED:
        raise NotYet("The loss has not come to zero yet; more steps would decide.")
    return abs(float(run.curves["level"][-1]))


def _query(process: str, more: str = "", rate: str = "0.002", steps: int = 4000) -> str:
    return (
        f"teacher=rotating_tokens&teacher.dim=10&teacher.tokens=20&teacher.process={process}&"
        f"inputs=rotations&student=linear_attention&objective=next_token{more}&"
        f"rate={rate}&steps={steps}&seed=0"
    )


_UNITARY = _query("unitary")

TOUR = (
    Stop(
        "Learning the rule of a sequence",
        "Each feature turns by an angle of its own, and the next token must be predicted in "
        "context. Linear attention learns it to rounding.",
        "Drag the replay slider: BᵀA becomes a diagonal.",
        _UNITARY,
        last={"prefix_loss": (0, 1e-8)},
        show="prefix_loss",
    ),
    Stop(
        "Heads become orthogonal",
        "What BᵀA has beside its diagonal falls to rounding: every head takes a feature of its "
        "own.",
        "Change the seed: another start, the same end.",
        _UNITARY,
        last={"head_overlap": (0, 1e-3)},
        show="head_overlap",
    ),
    Stop(
        "A conservation law",
        "Descent conserves ½(‖A‖² + ‖B‖²) − ‖P‖², so that the start alone fixes the level |c| at "
        "the end.",
        "Make the start larger under Student: the level at the end moves with it.",
        _UNITARY,
        verdicts={"level": "HOLDS"},
        show="level",
    ),
    Stop(
        "Fewer heads than features",
        "Five heads for ten features: BᵀA becomes a projector, and five of ten features are lost. "
        "The loss stays at 5 per prefix.",
        "Set the heads to 8: two features are lost.",
        _query("unitary", "&student.heads=5"),
        last={"prefix_loss": (4.9, 5.1)},
        show="prefix_loss",
    ),
    Stop(
        "Angles in pairs",
        "Angles ±θ, as a real rotation has them. Entries beside the diagonal stay, since the token "
        "before the newest helps.",
        "Compare BᵀA with that of the first stop.",
        _query("orthogonal", steps=20000),
        last={"head_overlap": (0.05, 0.1)},
        show="head_overlap",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="In-context autoregression",
        teachers=("rotating_tokens",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.002, "steps": 4000, "seed": 0},
        letters={key: path for key, path in paper.letters.items() if key in ("d", "T", "H")},
        symbols={"steps": "k"},
        theorem="C = BᵀA → cI   ½Σ_k √(δ_k² + 4c²) − R/c² = ½(‖A_0‖² + ‖B_0‖²) − ‖P_0‖²",
        statement="Linear attention learns to apply the context's own rotation, and its heads "
        "become orthogonal.",
        machine=draw_machine,
        tour=TOUR,
    ),
)
