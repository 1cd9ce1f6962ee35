"""What the web page shows of this paper: teachers in its class and outside, and Theorem 3.1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from tutelage.claims import Claim, Constant, Hypothesis, Rate, Recovery, Verdict, check
from tutelage.claims.claim import NoPrediction, NotYet
from tutelage.claims.power_laws import window_of
from tutelage.claims.trend import WINDOWS
from tutelage.papers.teacher_models import paper
from tutelage.run import Run
from tutelage.settings import MEASURES, Setting
from tutelage.studies.machine import draw_bilinear
from tutelage.studies.pages import (
    Line,
    Page,
    Phase,
    Prepared,
    Reading,
    Silent,
    fit_slope,
    measured_matrices,
    say_nothing,
)
from tutelage.studies.tours import Stop

if TYPE_CHECKING:
    from tutelage.papers.teacher_models.theory import Law

IN_CLASS = ("convolution", "graph_convolution", "token_selection", "group_sparse", "bilinear")
BEYOND = ("max_pooling", "top_k", "softmax_selection", "two_heads", "two_layers", "products")
REMEMBERED_FACTS = 128  # settings whose facts theory keeps, each with its D×Q matrix
# Steps of the plateau that the recursion is asked to go through; it takes them one by one.
RECURSION_STEPS = 100_000
PHASES = {  # a short name, and what it means
    "settled": ("C₁ settled", "W_V has come within 1% of its best length at the present attention"),
    "halving": ("excess halved", "half of the first excess risk is left"),
    "attention": ("plateau ends", "the tokens that the teacher reads have half of the attention"),
}


def choose_measures(setting: Setting) -> tuple[str, ...]:
    """The standard measures where the student has them, and its attention where that is not too
    much.
    """
    # A risk over minibatches knows the data, and not the teacher.
    judged = setting.teacher.name in IN_CLASS and setting.objective.name != "minibatch"
    if setting.student.name == "known_selection" and judged:
        return ("excess_risk", "value_error", "cosine", "value_scale")
    if setting.student.name != "position_attention" or not judged:
        return ("excess_risk", *measured_matrices(setting))
    return (*MEASURES, "value_scale", *measured_matrices(setting))


def read(setting: Setting) -> Reading:
    """What Theorem 3.1 says about a setting, or why it says nothing."""
    teacher, student = setting.teacher, setting.student.name
    if teacher.options.get("collapse"):
        return Silent("The explorer judges teachers that are not collapsed.")
    if teacher.name not in IN_CLASS:
        return say_nothing(setting)
    if student != "position_attention":
        return Silent(
            f"No claims here: Theorem 3.1 is about the student position_attention. Got {student}."
        )
    if setting.objective.name == "minibatch":
        return Silent(
            "No claims here: minibatches of a fixed sample do not measure what Theorem 3.1 is "
            "about."
        )
    try:
        return TheoremReading(setting)
    except NoPrediction as reason:
        return Silent(f"No claims here. {reason}")


@final
class TheoremReading(Reading):
    """The claims of the study `rates` about one setting."""

    def __init__(self, setting: Setting) -> None:
        from tutelage.papers.teacher_models import theory
        from tutelage.papers.teacher_models.setup import claims_of_theorem

        if theory.facts.cache_info().currsize >= REMEMBERED_FACTS:
            theory.facts.cache_clear()
        self.setting = setting
        self.conditions = theory.theorem_3_1(setting)
        self.constants = {law.name: _find_constant(law, setting) for law in theory.LAWS}
        # A constant of zero (all tokens are read) is no power law, and nothing is claimed of it.
        self.claims: list[Claim] = [
            claim
            for name, claim in claims_of_theorem().items()
            if self.constants.get(name.removesuffix("-constant")) != 0
        ]

    def hypotheses(self) -> Sequence[Hypothesis]:
        return self.conditions

    def predicted(self) -> Sequence[Line]:
        """Straight lines of the sharp constants from the end of the plateau on, and where label
        noise will hold an online run.
        """
        from tutelage.papers.teacher_models import theory

        lines, rate, end = [], self.setting.rate, float(self.setting.steps)
        begin = max(1.0, theory.plateau(self.setting))
        for law in theory.LAWS:
            constant = self.constants[law.name]
            if constant and begin < end:
                values = [constant * (rate * step) ** law.exponent for step in (begin, end)]
                label = f"theory: {constant:.4g} · {law.time_text}"
                lines.append(Line(law.curve, "predicted", label, (begin, end), values))
        noise = float(self.setting.teacher.options.get("noise", 0.0))
        if noise > 0 and self.setting.objective.name == "online":
            try:
                floor = theory.noise_floor(self.setting)
            except NoPrediction:
                return lines
            label = f"theory: noise floor {floor:.3g}"
            lines.append(Line("excess_risk", "predicted", label, (1.0, end), (floor, floor)))
        return lines

    def plateau(self) -> float | None:
        from tutelage.papers.teacher_models import theory

        try:
            steps = theory.plateau(self.setting)
        except NoPrediction:
            return None
        return steps if math.isfinite(steps) and steps >= 1 else None

    def fitted(self, run: Run) -> Sequence[Line]:
        """The slope in the last window of each claimed rate, drawn over all the windows that the
        verdict reads.
        """
        lines = []
        for claim in self.claims:
            if not isinstance(claim, Rate) or claim.curve not in run.curves:
                continue
            if (span := window_of(claim, [run])) is None:
                continue
            # The last of so many windows, equally wide in log time, begins here.
            begin = span[1] * (span[0] / span[1]) ** (1 / WINDOWS)
            curve = run.curves[claim.curve]
            late = (run.steps >= begin) & (run.steps <= span[1]) & (curve > 0)
            fit = fit_slope(run.steps[late], curve[late])
            if fit is not None:
                slope, level = fit
                values = np.exp(level + slope * np.log(span)).tolist()
                label = f"fitted slope {slope:.3f}"
                lines.append(Line(claim.curve, "fitted", label, span, values, (begin, span[1])))
        return lines

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        """Of the curves that are there: a run of a study may have measured less than the page."""
        return [
            check(claim, run, prefix=f"{paper.name}/rates/explorer/")
            for claim in self.claims
            if isinstance(claim, Rate | Constant | Recovery) and claim.curve in run.curves
        ]

    def phases(self, run: Run | None) -> Sequence[Phase]:
        """Those of the study `phases`: when each ends by theory, and when it was seen to. Nothing
        is predicted where the hypotheses that the recursion rests on are not met.
        """
        proven = all(condition.met is not False for condition in self.conditions[:-1])
        predicted = _predict_phases(self.setting) if proven else {}
        found = []
        for name, (short, sentence) in PHASES.items():
            seen = None if run is None or name == "settled" else _see_phase(run, name)
            if name in predicted or seen is not None:
                found.append(Phase(short, sentence, predicted.get(name), seen))
        return found


def _find_constant(law: Law, setting: Setting) -> float | None:
    try:
        return float(law.constant(setting))
    except NoPrediction:
        return None


def _predict_phases(setting: Setting) -> dict[str, float]:
    from tutelage.papers.teacher_models import theory
    from tutelage.papers.teacher_models.theory import recursion, slow_manifold

    try:
        if theory.plateau(setting) <= RECURSION_STEPS:
            times = recursion.times(setting)._asdict()
            return {name: step for name, step in times.items() if math.isfinite(step)}
        return {
            "halving": slow_manifold.halving_time(setting),
            "attention": slow_manifold.attention_time(setting),
        }
    except NoPrediction:
        return {}


def _see_phase(run: Run, name: str) -> float | None:
    from tutelage.papers.teacher_models.phases.plateau import crossing

    if not {"excess_risk", "support_mass"} <= set(run.curves):
        return None
    if not (run.curves["excess_risk"] > 0).all():
        return None
    try:
        return crossing(run, name)
    except NotYet:
        return None


def _convolution(
    more: str = "", support: int = 4, rate: float = 0.2, steps: int = 100_000, norm: float = 50
) -> str:
    sizes = (
        f"tokens=36&teacher.support={support}&teacher.outputs=8&teacher.dim=10"
        f"&teacher.norm={norm:g}"
    )
    return f"teacher=convolution&teacher.{sizes}{more}&rate={rate:g}&steps={steps}&seed=0"


_SMALL = (
    "teacher=convolution&teacher.tokens=8&teacher.support=2&teacher.outputs=2&teacher.dim=3"
    "&teacher.activation=identity"
)
_NO_CODES = "[[" + ",".join(["1"] * 36) + "]]"  # one number per position, the same for all
_VARIANCES = (0.2, 0.3, 0.4, 0.55, 0.75, 1.05, 1.5, 2.1, 2.9, 4)
_UNEQUAL = ",".join(
    "[" + ",".join(str(variance if i == j else 0) for j in range(len(_VARIANCES))) + "]"
    for i, variance in enumerate(_VARIANCES)
)

_FIRST = _convolution()
_SLOW = _convolution(rate=0.05)

TOUR = (
    Stop(
        "A transformer learns a convolution",
        "The teacher averages each group of 4 among 36 tokens. The student starts at zero, knows "
        "no groups, and its attention S ends at the teacher's S*.",
        "Drag the replay slider under the attention and watch the blocks appear.",
        _FIRST,
        verdicts={"cosine": "HOLDS"},
        last={"support_mass": (0.99, 1.0)},
    ),
    Stop(
        "The plateau",
        "At first the excess risk hardly moves: attention must grow out of nothing. A smaller V* "
        "takes longer, and in units of the predicted plateau both start to learn at 1.",
        "Set the axis to steps: the plateaus are 16 and 389 steps long.",
        _convolution(steps=20_000, norm=10),
        last={"support_mass": (0.9, 1.0)},
        also=(_convolution(steps=20_000),),
        show="support_mass",
        axis="plateau",
    ),
    Stop(
        "The slope",
        "After the plateau the excess risk falls like 1/T: a straight line of slope −1 on these "
        "axes, and the verdict on the rate HOLDS.",
        "Choose the curve “Attention error”: it falls like 1/√T, with slope −1/2.",
        _FIRST,
        verdicts={"excess-rate": "HOLDS"},
    ),
    Stop(
        "The constant",
        "Theory knows more than the slope: ηT times the excess risk tends to ΣK(D−K)/4 = 1152, "
        "whatever the values are. Here is measured over predicted.",
        "Change the norm of V*: the ratio still tends to 1.",
        _FIRST,
        verdicts={"excess-constant": "HOLDS"},
        view="ratio",
    ),
    Stop(
        "One curve for all learning rates",
        "Against time ηT, a learning rate of 0.05 gives the same curve as 0.2: small steps follow "
        "one gradient flow.",
        "Set the axis back to steps, and the two curves come apart by a factor of four.",
        _FIRST,
        verdicts={"excess-constant": "HOLDS"},
        also=(_SLOW,),
        axis="time",
    ),
    Stop(
        "Break the learning rate",
        "Now the learning rate is 1.3 times the largest stable one. The excess risk "
        "falls at first, then stalls: the constant FAILS, and the theorem no longer applies.",
        "Lower the learning rate to 0.4 and see the line come back.",
        _convolution(rate=0.58),
        verdicts={"excess-constant": "FAILS", "excess-rate": "OUTSIDE"},
        last={"excess_risk": (100, 1000)},
    ),
    Stop(
        "Take the positions away",
        "All positions carry the same code, so that attention cannot tell tokens apart. It stays "
        "uniform, at 4/36 on the right tokens, and the excess risk stays high.",
        "Compare with the first stop: press “Keep as overlay”, then go back to it.",
        _convolution(f"&student.key_codes={_NO_CODES}", steps=20_000),
        last={"support_mass": (0.111, 0.1112)},
    ),
)

PREPARED = (
    Prepared(
        "D = K",
        "The teacher reads every token, so uniform attention is right from the start. The excess "
        "falls exponentially, and no rate holds.",
        _convolution(support=36, steps=10_000),
    ),
    Prepared(
        "start at random",
        "W_V begins far from V*. The cosine is not 1 on the way, so its claim FAILS; the excess "
        "keeps its rate and its constant.",
        _convolution("&student.start=0.3"),
    ),
    Prepared(
        "break the inputs",
        "Features have unequal variances. W_V leaves the direction of V* on the way: look at the "
        "cosine.",
        _convolution(f"&inputs.covariance=[{_UNEQUAL}]", rate=0.05, steps=20_000),
        show="cosine",
    ),
    Prepared(
        "label noise",
        "A fresh batch of 100 noisy labels at every step. The excess falls like 1/T, then "
        "wanders about the floor that theory predicts.",
        f"{_SMALL}&teacher.norm=10&teacher.noise=10&objective=online&objective.batch=100"
        "&rate=0.05&steps=10000&seed=0",
    ),
    Prepared(
        "a real graph",
        "Graph convolution on Zachary's karate club. Nodes have different degrees, and the "
        "constants hold with their sum.",
        "teacher=graph_convolution&teacher.tokens=34&teacher.graph=karate&teacher.outputs=8"
        "&teacher.dim=10&teacher.norm=30&rate=0.2&steps=100000&seed=0",
    ),
    Prepared(
        "one token matters",
        "Group-sparse regression: every query must find the same token. Watch one row of the "
        "attention light up.",
        "teacher=group_sparse&teacher.tokens=20&teacher.dim=10&teacher.norm=15&rate=0.04"
        "&steps=100000&seed=0",
    ),
    Prepared(
        "heavy tails",
        "Student-t inputs and 64 samples, where no theorem applies. The student still learns: "
        "look at how the excess falls.",
        f"{_SMALL}&teacher.norm=8&inputs=independent&inputs.law=student_t&objective=empirical"
        "&objective.samples=64&objective.held_out=1000&rate=0.05&steps=20000&seed=0",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="Teacher models",
        teachers=(*IN_CLASS, *BEYOND),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.2, "steps": 100_000, "seed": 0},
        begin_with={
            "group_sparse": {"rate": 0.04},
            **{teacher: {"rate": 0.01, "steps": 2000} for teacher in BEYOND},
        },
        letters=paper.letters,
        theorem="E(T) = L(T) − L_opt = Θ(1/T)   ηT·E(T) → Σ_i K_i(D − K_i)/4",
        statement="Gradient descent from zero learns every teacher σ(V*XS*), and its excess risk "
        "falls like 1/T.",
        machine=draw_bilinear,
        tour=TOUR,
        prepared=PREPARED,
        start=True,
        script=Path(__file__).with_suffix(".js"),
    ),
)
