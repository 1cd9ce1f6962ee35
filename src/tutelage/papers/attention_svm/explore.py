"""What the web page shows of this paper: W turning to the max-margin matrix, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from tutelage.claims import Constant, Hypothesis, Verdict, check
from tutelage.claims.claim import NoPrediction
from tutelage.numerics.grids import log_spaced
from tutelage.papers.attention_svm import paper
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.machine import Block, Machine
from tutelage.studies.pages import Line, Page, Prepared, Reading, Silent
from tutelage.studies.tours import Stop

if TYPE_CHECKING:
    from tutelage.problem.build import Problem


def choose_measures(setting: Setting) -> tuple[str, ...]:
    return ("excess_risk", "margin_miss", "best_weight", "weights_matrix")


def draw_machine(setting: Setting, problem: Problem) -> Machine:
    """Tokens → softmax(X W z) → the score of what is attended to, one column per sequence."""
    from tutelage.papers.attention_svm.parts.teacher import LabelledSequences

    assert isinstance(problem.teacher, LabelledSequences)
    sample = problem.teacher.sample
    count, tokens, _ = sample.tokens.shape
    best = np.zeros((tokens, count))
    best[sample.best, sample.rows] = 1.0
    scores = sample.scores.T
    return (
        Block(
            "inputs",
            "X",
            "one sequence",
            "feature {row} of token {column}, in the first sequence",
            (sample.tokens.shape[2], tokens),
            shared=sample.tokens[0].T,
            signed=True,
        ),
        Block(
            "attention",
            "S",
            "attention",
            "how much sequence {column} attends to its token {row}; the best one should get all",
            (tokens, count),
            teacher=best,
            curve="weights_matrix" if "weights_matrix" in setting.measures else "",
        ),
        Block(
            "values",
            "γ",
            "scores",
            "what sequence {column} gains from attending to token {row}",
            (tokens, count),
            shared=scores,
            signed=True,
        ),
        Block("number", "w", "best token", "mean weight of the best token", curve="best_weight"),
        Block("number", "L", "excess loss", "loss above that of the best", curve="excess_risk"),
    )


def read(setting: Setting) -> Reading:
    """What the law says about plain descent on W from zero, or why it says nothing."""
    if setting.optimiser.name != "gradient_descent" or setting.student.name != "matrix_attention":
        return Silent(
            "No claims here: the law shown is that of plain gradient descent on W. Normalised "
            "descent, and K and Q, are judged in studies of their own."
        )
    return Law(setting)


@final
class Law(Reading):
    """excess·ηk → ‖W^mm‖² and the curve of 1 − corr, where the best tokens are selected."""

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
        level = f"theory: {solved.square:.4g}/ηk (squared margin norm)"
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
            statement="excess·ηk → ‖W^mm‖², where the best tokens are selected",
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


_ORTHONORMAL = _query("orthonormal")

TOUR = (
    Stop(
        "Attention picks one token",
        "Six sequences of eight tokens. Each has one token with the best score, and the trained "
        "matrix W moves all of the attention to it.",
        "Drag the replay slider: each column of S ends with one bright token.",
        _ORTHONORMAL,
        last={"best_weight": (0.99, 1.0)},
    ),
    Stop(
        "The loss falls like 1/T",
        "Weights grow only logarithmically, and so the excess loss falls like one over time: a "
        "straight line, with a constant that is the margin of a support vector machine.",
        "Choose another design under Teacher: the line has another height, the same slope.",
        _ORTHONORMAL,
        verdicts={"constant": "HOLDS"},
    ),
    Stop(
        "The constant is a margin",
        "Measured over predicted: ηk times the excess loss tends to ‖W^mm‖² = 5.25, the squared "
        "norm of the max-margin matrix.",
        "Change the number of sequences: the constant follows, the ratio still tends to 1.",
        _ORTHONORMAL,
        verdicts={"constant": "HOLDS"},
        view="ratio",
    ),
    Stop(
        "The direction follows slowly",
        "W turns to the max-margin matrix: 1 − corr falls, but only like 1/log² of time. Here it "
        "is known in closed form.",
        "Raise the steps to 1,000,000 and see how little is gained.",
        _ORTHONORMAL,
        last={"margin_miss": (0.019, 0.022)},
        show="margin_miss",
    ),
    Stop(
        "Another local optimum",
        "With random tokens a run may settle at a token that is not the best. Its correlation "
        "with the best tokens' matrix then stays away from 1.",
        "Change the seed: some draws end at the best tokens, others do not.",
        _query("sphere", 1),
        last={"best_weight": (0.0, 0.95)},
        also=(_query("sphere", 0),),
        show="margin_miss",
    ),
)

PREPARED = (
    Prepared(
        "equal scores",
        "All tokens but the best have the same score, as in the paper's theorem: descent from zero "
        "always selects the best ones.",
        _query("equal_scores"),
        show="margin_miss",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="Attention SVM",
        teachers=("labelled_sequences",),
        reading=read,
        measures=choose_measures,
        begin={"rate": 5.0, "steps": 20_000, "seed": 0},
        letters=paper.letters,
        symbols={"steps": "k"},
        theorem="W(k)/‖W(k)‖ → W^{mm}/‖W^{mm}‖   ηk·(L − L_opt) → ‖W^{mm}‖²",
        statement="Descent on the attention weights W turns to the matrix of a support vector "
        "machine that separates the best tokens from the others.",
        machine=draw_machine,
        tour=TOUR,
        prepared=PREPARED,
    ),
)
