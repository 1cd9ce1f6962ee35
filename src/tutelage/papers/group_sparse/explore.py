"""What the web page shows of this paper: descent on the exact risk, and the laws over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from tutelage.claims import Constant, Hypothesis, Verdict, check
from tutelage.numerics.grids import log_spaced
from tutelage.papers.group_sparse import paper
from tutelage.papers.group_sparse.theory import laws
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Page, Prepared, Reading, Silent

ENOUGH = 3.0  # plateaus, after which the laws are drawn


def choose_measures(setting: Setting) -> tuple[str, ...]:
    return ("excess_risk", "missed_weight", "value_miss")


def read(setting: Setting) -> Reading:
    """What the laws say of plain descent, or why they say nothing."""
    if setting.optimiser.name != "gradient_descent":
        return Silent("No claims here: the laws are those of plain descent with small steps.")
    return Laws(setting)


@final
class Laws(Reading):
    """L·t^(1/3) → c₀/a and (1−s)·t^(2/3) → (D−1)/b, t = ηT."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def hypotheses(self) -> Sequence[Hypothesis]:
        groups, rate = laws.read_groups(self.setting), self.setting.rate
        detail = f"η = {rate:g}, 8/D = {8 / groups:.3g}"
        return (Hypothesis("the step size is below 8/D", rate < 8 / groups, detail),)

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
                f"theory: {risk:.4g} (ηT)^(−1/3)",
                shown,
                (risk * t ** (-1 / 3)).tolist(),
            ),
            Line(
                "missed_weight",
                "predicted",
                f"theory: {missed:.4g} (ηT)^(−2/3)",
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
                statement="L·(ηT)^(1/3) → c₀/a",
                source="docs/law.md of this paper",
            ),
            Constant(
                "missed_weight",
                -2 / 3,
                laws.miss_constant,
                plateau=_plateau_in_steps,
                approach=2 / 3,
                id="missed-constant",
                statement="(1 − s)·(ηT)^(2/3) → (D−1)/b",
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


PREPARED = (
    Prepared(
        "unit codes",
        "A plateau of (π/4)(D−1)², then the risk falls like t^(−1/3) and the missed attention like "
        "t^(−2/3), both to their constants.",
        _query("unit", 10, 0.5, 1_000_000),
    ),
    Prepared(
        "sine codes",
        "Longer codes shorten the plateau and change the constant of the missed attention, but not "
        "that of the risk.",
        _query("sine", 10, 0.5, 1_000_000),
        also=(_query("unit", 10, 0.5, 1_000_000),),
    ),
    Prepared(
        "thrown off",
        "Steps of 0.5 with 100 groups: α overshoots, and attention is thrown off the right group "
        "for good.",
        _query("sine", 100, 0.5, 1000),
        show="missed_weight",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="One group of many",
        teachers=("group_signs",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.5, "steps": 100_000, "seed": 0},
        letters={letter: path for letter, path in paper.letters.items() if letter != "m"},
        symbols={"steps": "k"},
        prepared=PREPARED,
    ),
)
