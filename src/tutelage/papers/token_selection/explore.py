"""What the web page shows of this paper: attention finding the subset that its input names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from tutelage.claims import Constant, Hypothesis, Order, Verdict, check
from tutelage.numerics.grids import log_spaced
from tutelage.papers.token_selection import paper
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Page, Prepared, Reading, Silent


def choose_measures(setting: Setting) -> tuple[str, ...]:
    if setting.student.name == "subset_attention":
        return ("excess_risk", "chosen_weight", "attention_matrix")
    return ("excess_risk", "chosen_weight", "score_gap", "value_scale")


def read(setting: Setting) -> Reading:
    """What the law says of a head with orthonormal codes, or why it says nothing."""
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

    def predicted(self) -> Sequence[Line]:
        from tutelage.papers.token_selection.setup import predict_constant, predict_plateau

        steps = log_spaced(self.setting.steps)
        steps = steps[steps >= predict_plateau(self.setting)]
        if not len(steps):
            return []
        limit = predict_constant(self.setting)
        values = limit / (self.setting.rate * steps)
        label = f"theory: N/(4ηT), N = {4 * limit:g}"
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
                statement="L·ηT → N/4, N = T − 1 for fixed codes and m for fresh ones",
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


PREPARED = (
    Prepared(
        "any three of eight",
        "One head learns all 56 subsets of three. Column j of the picture is its attention when it "
        "is asked about the tokens j, j + 1 and j + 2: uniform at first, a band in the end.",
        _query(8, 3, 4, "subset_attention"),
    ),
    Prepared(
        "whatever the size of the subset",
        "One token of twenty and four of twenty: after the plateau both losses come to the same "
        "line, (T − 1)/(4ηT).",
        _query(20, 4, 5, "selection_head"),
        also=(_query(20, 1, 5, "selection_head"),),
    ),
    Prepared(
        "codes drawn anew",
        "Codes of width 64, new at every step: the loss is larger by 64/19, and the head serves "
        "any number of tokens.",
        _query(20, 4, 5, "selection_head", "&student.codes=fresh&student.width=64"),
        also=(_query(20, 4, 5, "selection_head"),),
    ),
)

pages = (
    Page(
        name=paper.name,
        title="A subset that the input names",
        teachers=("subset_average",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.5, "steps": 20_000, "seed": 0},
        letters=paper.letters,
        prepared=PREPARED,
    ),
)
