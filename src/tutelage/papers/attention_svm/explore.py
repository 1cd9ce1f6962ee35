"""What the web page shows of this paper: W turning to the max-margin matrix, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from tutelage.claims import Constant, Hypothesis, Verdict, check
from tutelage.claims.claim import NoPrediction
from tutelage.numerics.grids import log_spaced
from tutelage.papers.attention_svm import paper
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Page, Prepared, Reading, Silent


def choose_measures(setting: Setting) -> tuple[str, ...]:
    return ("excess_risk", "margin_miss", "best_weight")


def read(setting: Setting) -> Reading:
    """What the law says of plain descent on W from zero, or why it says nothing."""
    if setting.optimiser.name != "gradient_descent" or setting.student.name != "matrix_attention":
        return Silent(
            "No claims here: the law shown is that of plain gradient descent on W. Normalised "
            "descent, and K and Q, are judged in studies of their own."
        )
    return Law(setting)


@final
class Law(Reading):
    """excess·ηT → ‖W^mm‖² and the curve of 1 − corr, where the best tokens are selected."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def hypotheses(self) -> Sequence[Hypothesis]:
        from tutelage.papers.attention_svm.setup import hypotheses

        return hypotheses(self.setting)

    def predicted(self) -> Sequence[Line]:
        from tutelage.papers.attention_svm.setup import programme_of, sample_of
        from tutelage.papers.attention_svm.theory.approach import miss_of_direction

        sample = sample_of(self.setting)
        try:
            solved = programme_of(sample, sample.best.tolist())
        except NoPrediction:
            return []
        steps = log_spaced(self.setting.steps)
        steps = steps[self.setting.rate * steps > np.e]
        if not len(steps):
            return []
        times = self.setting.rate * steps
        level = f"theory: ‖W^mm‖²/ηT, ‖W^mm‖² = {solved.square:.4g}"
        lines = [
            Line(
                "excess_risk", "predicted", level, steps.tolist(), (solved.square / times).tolist()
            )
        ]
        if self.setting.teacher.options.get("design") == "orthonormal":
            miss = miss_of_direction(solved, np.log(times))
            kept = (miss > 0) & (times > 1e3)
            shown = steps[kept].tolist(), miss[kept].tolist()
            lines.append(Line("margin_miss", "predicted", "theory: closed form", *shown))
        return lines

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        claim = Constant(
            "excess_risk",
            -1.0,
            predict_constant,
            id="constant",
            statement="excess·ηT → ‖W^mm‖², where the best tokens are selected",
            source="docs/law.md of this paper",
        )
        return [check(claim, run, prefix=f"{paper.name}/max-margin/explorer/")]


def predict_constant(setting: Setting) -> float:
    """‖W^mm‖² of the best tokens."""
    from tutelage.papers.attention_svm.setup import programme_of, sample_of

    sample = sample_of(setting)
    return programme_of(sample, sample.best.tolist()).square


def _query(design: str, seed: int = 0, more: str = "") -> str:
    return (
        f"teacher=labelled_sequences&teacher.design={design}&student=matrix_attention&"
        f"objective=sequence_loss{more}&rate=5&steps=200000&seed={seed}"
    )


PREPARED = (
    Prepared(
        "orthonormal tokens",
        "Every constraint supports: the excess comes to n(T−1)/T over ηT, and 1 − corr(W, W^mm) "
        "to a curve that is known in closed form.",
        _query("orthonormal"),
    ),
    Prepared(
        "equal scores",
        "All tokens but the best have the same score, as in the paper's theorem: descent from zero "
        "always selects the best ones.",
        _query("equal_scores"),
        show="margin_miss",
    ),
    Prepared(
        "another local optimum",
        "Random tokens: this run settles at a token that is not the best, and its correlation with "
        "the best tokens' W^mm stays away from 1.",
        _query("sphere", 1),
        also=(_query("sphere", 0),),
        show="margin_miss",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="Attention as a support vector machine",
        teachers=("labelled_sequences",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 5.0, "steps": 20_000, "seed": 0},
        letters=paper.letters,
        symbols={"steps": "k"},
        prepared=PREPARED,
    ),
)
