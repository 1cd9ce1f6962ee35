r"""What theory says about the gradients of the two students on a lagged series: exact laws where
nothing is saturated, and ceilings.

While W_in is so small that σ = tanh is its own tangent, h_T = Σ_k u^k W x_{T−k} and so ∂h_T/∂u =
Σ_k k u^{k−1} W x_{T−k}: the powers of |u| come with a factor k, the number of places at which u may
be moved. Tokens are [X_t; p_t]; X has unit variance and correlation φ^j at distance jL, p_t turns
with its frequencies. So E‖∂f/∂u‖² is a finite sum, with a limit for |u| < 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.theory.approximation import DELTA, SHORT_TOKENS, SIGMA
from tutelage.papers.shallow_transformers.theory.options import read_number, read_option
from tutelage.problem.build import build_student, build_teacher
from tutelage.settings import Part, Setting
from tutelage.students.indrnn import IndRNN
from tutelage.teachers.autoregression import Autoregression

UNSATURATED = "unsaturated units"


@dataclass(frozen=True)
class Scale:
    """How large an experiment is, in what its findings may change with."""

    samples: int
    heads: int
    steps: int

    def reaches(self, other: Scale) -> bool:
        """Whether it is as large as the other in every respect."""
        return (
            self.samples >= other.samples
            and self.heads >= other.heads
            and self.steps >= other.steps
        )

    def __str__(self) -> str:
        return f"n = {self.samples}, m = {self.heads}, {self.steps} steps"


PAPER_SCALE = Scale(samples=5000, heads=64, steps=2000)  # of the paper's second experiment


def scale_of(setting: Setting) -> Scale:
    """The scale of a setting that is trained."""
    return Scale(
        samples=int(setting.objective.options["samples"]),
        heads=int(setting.student.options["heads"]),
        steps=setting.steps,
    )


def window(setting: Setting) -> int:
    """T, by default L + 1."""
    given = read_option(setting, "teacher", "tokens")
    return int(setting.teacher.options["lag"]) + 1 if given is None else int(given)


def squares(setting: Setting, u: float) -> tuple[float, Float[np.ndarray, "P P"]]:
    """E[g gᵀ] of g = Σ_k k u^{k−1} x_{T−k}: the entry of the value channel, and the block of the
    position channels.

    The two do not mix, since E X = 0. Tokens of length one are no longer Gaussian in their value:
    no prediction.
    """
    teacher = build_teacher(setting)
    assert isinstance(teacher, Autoregression)
    if teacher.norms != "free":
        raise NoPrediction(
            "The law is for tokens that keep their values, and these are divided by their lengths."
        )
    k = np.arange(teacher.tokens)
    a = k * float(u) ** np.maximum(k - 1, 0)
    value = float(a @ a)
    for j in range(1, (teacher.tokens - 1) // teacher.lag + 1):
        value += 2 * teacher.coefficient**j * float(a[: -j * teacher.lag] @ a[j * teacher.lag :])
    along = teacher.positions()[:, ::-1] @ a
    return value, np.outer(along, along)


def recurrent_square(setting: Setting) -> float:
    """E‖∂f/∂u‖² at an unsaturated start, over W_in, signs and inputs: s²·(mean over the signs of tr
    E[g gᵀ]).
    """
    found = [squares(setting, u) for u in _recurrences(setting)]
    traces = [value + np.trace(block) for value, block in found]
    return _input_scale(setting) ** 2 * float(np.mean(traces))


def drawn_square(setting: Setting) -> float:
    """The same for the W_in and u that the setting's seed draws, over the inputs alone: (1/m) Σ_i
    c_i² W_iᵀ E[g gᵀ] W_i.
    """
    # What is drawn does not know the lag: the shortest will do, once.
    shortest = setting.change(**{"teacher.lag": 1, "teacher.tokens": None})
    W, u, c = _drawn(replace(shortest, objective=Part("squared_loss", samples=1)))
    law = {float(number): squares(setting, float(number)) for number in np.unique(u)}
    each = [
        ci**2 * (law[ui][0] * w[0] ** 2 + w[1:] @ law[ui][1] @ w[1:])
        for w, ui, ci in zip(W, u.tolist(), c, strict=True)
    ]
    return float(np.mean(each))


@cache
def _drawn(
    setting: Setting,
) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
    student = build_student(setting)
    assert isinstance(student, IndRNN)
    units = student.units
    return np.asarray(units.reading), np.asarray(units.recurrence), np.asarray(units.output)


def recurrent_limit(setting: Setting) -> float:
    """The limit of `recurrent_square` as L → ∞ for |u| < 1: Σk²r^{k−1} = (1+r)/(1−r)³ at r = u²,
    and 1/(1 − 2u cos ω + u²)² a frequency.
    """
    size = read_number(setting, "student", "recurrent")
    if size >= 1:
        raise NoPrediction(f"There is a limit for |u| < 1 alone. Here |u| = {size:g}.")
    channels = int(read_number(setting, "teacher", "channels"))
    omega = 10_000.0 ** (-np.arange(0, channels, 2) / channels)
    value = (1 + size**2) / (1 - size**2) ** 3
    positions = [np.sum((1 - 2 * u * np.cos(omega) + u**2) ** -2.0) for u in _recurrences(setting)]
    return _input_scale(setting) ** 2 * (value + float(np.mean(positions)))


def recurrent_ceiling(setting: Setting) -> float:
    """‖∂f/∂u‖ ≤ Σ_{k<T−1} |u|^k at |c| = 1, for every input and however saturated: |h| ≤ 1 and σ′ ≤
    1. For |u| < 1 below 1/(1−|u|).
    """
    size = read_number(setting, "student", "recurrent")
    return float(np.sum(size ** np.arange(window(setting) - 1)))


def _input_scale(setting: Setting) -> float:
    """s, the standard deviation of W_in."""
    return read_number(setting, "student", "scale")


def _recurrences(setting: Setting) -> tuple[float, ...]:
    """The values that u is drawn from: both signs, or one."""
    size = read_number(setting, "student", "recurrent")
    return (size, -size) if read_option(setting, "student", "signs") == "random" else (size,)


def transformer_ceiling(setting: Setting) -> float:
    """‖∇f‖ ≤ √(σ₀² + L₁²) with L₁ = σ₁√(1+B_U²) at the start, B_U = √d + √(2 log(m/2δ′)): tokens of
    length ≤ 1, |c| = 1, every T.
    """
    if not _unit_tokens(setting):
        raise NoPrediction("The bound asks for tokens of length at most 1.")
    d = 1 + int(read_number(setting, "teacher", "channels"))
    m = int(setting.student.options["heads"])
    zero, first, _ = SIGMA
    reading = math.sqrt(d) + math.sqrt(2 * math.log(m / (2 * DELTA)))
    return math.hypot(zero, first * math.sqrt(1 + reading**2))


def _unit_tokens(setting: Setting) -> bool:
    return read_option(setting, "teacher", "norms") == "unit"


def hypotheses(setting: Setting) -> list[Hypothesis]:
    """What the paper's theorem and its experiment ask for, at a setting."""
    unit, scale = _unit_tokens(setting), scale_of(setting)
    phi = read_number(setting, "teacher", "coefficient")
    return [
        Hypothesis(
            SHORT_TOKENS,
            unit,
            "divided by their lengths" if unit else "as in the authors' code, about √(X² + P/2)",
        ),
        Hypothesis(
            "noiseless labels",
            False,
            f"a series has its innovations: the best predictor keeps {1 - phi**2:.2g}",
        ),
        Hypothesis("the experiment's size", scale.reaches(PAPER_SCALE), str(scale)),
        Hypothesis("symmetric start, |c| = 1", True, "by construction"),
    ]


def figure_hypotheses(setting: Setting) -> list[Hypothesis]:
    """What the paper's Figure 2 is of."""
    scale = scale_of(setting)
    return [
        Hypothesis("the experiment's size", scale.reaches(PAPER_SCALE), str(scale)),
        Hypothesis("the experiment's step size", None, f"{setting.rate:g}, chosen here"),
    ]


def start_hypotheses(setting: Setting) -> list[Hypothesis]:
    """What the laws of the gradient at the start rest on."""
    if setting.student.name != "indrnn":
        unit = _unit_tokens(setting)
        said = "divided by their lengths" if unit else "not asked for by the law of the IndRNN"
        return [Hypothesis(SHORT_TOKENS, unit, said)]
    scale = _input_scale(setting)
    return [
        Hypothesis(UNSATURATED, scale < 1e-3, f"W_in has standard deviation {scale:g}"),
        Hypothesis("symmetric start, |c| = 1", True, "by construction"),
    ]


def any_start_hypotheses(setting: Setting) -> list[Hypothesis]:
    """The same for what is said about every start, saturated or not."""
    return [h for h in start_hypotheses(setting) if h.text != UNSATURATED]
