"""What the web page shows of this paper: heads becoming orthogonal, and |c| coming to its law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from tutelage.claims import Hypothesis, Ratio, Verdict, check
from tutelage.claims.claim import NotYet
from tutelage.numerics.grids import log_spaced
from tutelage.papers.in_context_autoregression import paper
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Page, Prepared, Reading, Silent

SETTLED = 1e-8  # loss of a prefix below which |c| no longer moves


def choose_measures(setting: Setting) -> tuple[str, ...]:
    return ("excess_risk", "prefix_loss", "head_overlap", "level", "older_weight", "balance")


def read(setting: Setting) -> Reading:
    """What the conservation law says of independent angles and H = d heads, or why nothing."""
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
        label = f"theory: |c| = {level:.5g} from the start"
        return [Line("level", "predicted", label, steps, [level] * len(steps))]

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


PREPARED = (
    Prepared(
        "heads become orthogonal",
        "Independent angles: what BᵀA has beside its diagonal falls to rounding, and c comes to "
        "the level that the start fixes.",
        _query("unitary"),
        show="head_overlap",
    ),
    Prepared(
        "fewer heads",
        "Five heads for ten features: BᵀA becomes a projector, and five of ten are lost.",
        _query("unitary", "&student.heads=5"),
        show="prefix_loss",
    ),
    Prepared(
        "angles in pairs",
        "Angles ±θ, as a real orthogonal matrix has them: entries beside the diagonal stay, since "
        "the token before the newest helps.",
        _query("orthogonal", steps=20000),
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
        prepared=PREPARED,
    ),
)
