r"""Where descent comes from in the end, whatever the inputs: the attention off the support as a
barrier problem.

Near the teacher W_V and the weights on the supports are fast; a weight q_j off the support of
column i falls as d log q_j/dt = −c²[q_j g_j + (1/K_i)Σ_k q_k g_k], g the slope of the excess with
the fast parameters at their optimum. Its quadratic form is a Schur complement, L = ½qᵀHq. A fall
like t^-½ needs q_j g_j = K_i/(2c²Dt) for every j, that is q = x/√t with

    x = argmin_{x>0}  ½xᵀHx − Σ_j a_j ln x_j,        a_j = K_i/(2c²D),

one point wherever H is positive definite. There xᵀHx = Σa_j, so excess·t → ½Σ_j a_j = Σ_i
K_i(D−K_i)/(4c²D): the counting law, in which H no longer appears. It appears in the errors of W_V
and S. docs/derivations.md, section 14.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tutelage.activations import LeakyReLU
from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.inputs import Gaussian
from tutelage.inputs.base import Inputs
from tutelage.objectives.base import Objective
from tutelage.objectives.empirical import EmpiricalRisk
from tutelage.objectives.minibatch import MinibatchRisk
from tutelage.objectives.online import OnlineRisk
from tutelage.objectives.sample import Sample
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.papers.teacher_models.theory.curvature import Curvature, of_population, on_sample
from tutelage.problem.build import Problem, build
from tutelage.settings import Setting
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.students.position_attention import PositionAttention
from tutelage.teachers.base import BilinearClass
from tutelage.teachers.bilinear import BilinearTeacher
from tutelage.teachers.collapsed import CollapsedTeacher

# Of the largest curvature. Below it a direction costs nothing, and the teacher is not the only
# answer.
SINGULAR = 1e-10


class Limit(NamedTuple):
    """What the run tends to, times √t: W_V − V*, S − S*; and how fast and how steep it is there."""

    value: Float[np.ndarray, "M d"]  # 0 along what the inputs do not see of V*
    attention: Float[np.ndarray, "D Q"]
    law: float  # Σ_i K_i(D−K_i)/(4c²D)
    excess: float  # times t: the law again, by way of the curvature
    fresh: float  # the same over the inputs that the excess is measured on
    off: Float[np.ndarray, "off"]  # x: the weights off the supports
    stable_rate: float
    seen: float  # the least curvature over the largest among fast directions: 0 hides V*


def directions(
    selection: Float[np.ndarray, "D Q"], values: int
) -> tuple[Float[np.ndarray, "n fast"], Float[np.ndarray, "n off"], Float[np.ndarray, "off"]]:
    """Fast directions of (dW, dS), slow ones, and the K_i of each slow one.

    Weight moves from the first token of a support: to another of it (fast), or to one off it
    (slow); columns keep their sums.
    """
    D, Q = selection.shape
    fast = [np.eye(values + D * Q)[:, :values]]
    slow, supports = [], []
    for q in range(Q):
        on = np.flatnonzero(selection[:, q] > 0)
        moved = np.eye(D) - np.eye(D)[:, on[:1]]
        whole = np.zeros((values + D * Q, D))
        whole[values + q * D : values + (q + 1) * D] = moved
        off = np.setdiff1d(np.arange(D), on)
        fast.append(whole[:, on[1:]])
        slow.append(whole[:, off])
        supports.append(np.full(len(off), float(len(on))))
    return np.concatenate(fast, 1), np.concatenate(slow, 1), np.concatenate(supports)


def barrier(
    curvature: Float[np.ndarray, "n n"], weights: Float[np.ndarray, "n"]
) -> Float[np.ndarray, "n"]:
    """argmin over x > 0 of ½xᵀHx − Σa ln x, by damped Newton steps, which converge from anywhere
    for this kind of function.
    """
    x = np.sqrt(weights / np.diag(curvature))
    for _ in range(200):
        slope = curvature @ x - weights / x
        step = np.linalg.solve(curvature + np.diag(weights / x**2), slope)
        size = math.sqrt(max(float(slope @ step), 0.0) / float(weights.min()))
        x = x - step / (1 + size)
        if size < 1e-13:
            return x
    raise NoPrediction(f"The barrier problem did not converge: its last step was {size:.2g}.")


def limit(setting: Setting) -> Limit:
    """The end of a run, from the teacher and the inputs alone: no step size enters."""
    return _limit(replace(setting, rate=1.0, steps=1))


@lru_cache(maxsize=512)
def _limit(setting: Setting) -> Limit:
    if setting.objective.name == "empirical" and build_bilinear(setting).noisy:
        raise NoPrediction("On a sample with label noise the descent does not end at the teacher.")
    problem = build(setting)
    teacher, objective = _teacher_of(problem), problem.objective
    M, d, D, Q = teacher.shape
    S = np.asarray(teacher.selection)
    curvature = trained_on(problem)
    whole = curvature.whole()
    fast, slow, supports = directions(S, M * d)
    ratios = identified(curvature, S)
    if ratios[0] < SINGULAR:
        raise NoPrediction(
            "The inputs do not identify S*: some change of weights that attention can make costs "
            "nothing."
        )
    schur, along = _schur(whole, fast, slow)
    scale = _score_scale(problem)
    x = barrier(schur, supports / (2 * scale**2 * D))
    moved = slow @ x - fast @ (along @ x)
    value, attention = moved[: M * d].reshape(M, d), moved[M * d :].reshape(Q, D).T
    judged = objective.judge if isinstance(objective, EmpiricalRisk | OnlineRisk) else objective
    fresh = _over(judged, teacher, problem.inputs).excess(value, attention)
    # A sum over (on, off) pairs, K_i for each of the D−K_i tokens off support i.
    law = float(supports.sum() / (4 * scale**2 * D))
    return Limit(
        value,
        attention,
        law,
        curvature.excess(value, attention),
        fresh,
        x,
        _stable_rate(whole, S, M * d, scale),
        ratios[1],
    )


def trained_on(problem: Problem) -> Curvature:
    """The curvature of what is descended on."""
    objective = problem.objective
    data = objective.sample if isinstance(objective, EmpiricalRisk | MinibatchRisk) else objective
    return _over(data, _teacher_of(problem), problem.inputs)


def _teacher_of(problem: Problem) -> BilinearTeacher | CollapsedTeacher:
    """Its teacher σ(V* X S*)."""
    if not isinstance(problem.teacher, BilinearTeacher | CollapsedTeacher):
        raise NoPrediction(
            "The slow weights are those of teachers σ(V* X S*). Got a "
            f"{type(problem.teacher).__name__}."
        )
    return problem.teacher


def _score_scale(problem: Problem) -> float:
    """c: the softmax is of c times the scores."""
    if not isinstance(problem.student, PositionAttention | CollapsedAttention):
        raise NoPrediction(
            "The slow weights are those of attention by position, whose scores are free. Got a "
            f"{type(problem.student).__name__}."
        )
    return float(problem.student.attention_scale)


def _over(data: Objective, teacher: BilinearClass, inputs: Inputs) -> Curvature:
    """The curvature over a sample, or over the law of the inputs."""
    if isinstance(data, Sample):
        return on_sample(teacher.activation, teacher.value, teacher.selection, data.tokens)
    return of_population(teacher.activation, teacher.value, teacher.selection, inputs)


def identified(curvature: Curvature, selection: Float[np.ndarray, "D Q"]) -> tuple[float, float]:
    """Of the slow directions, and of the fast ones, the least curvature over the largest: 0 where
    S*, or V*, is not the only answer.

    A row of V* whose ReLU is silent on every input is not seen; then the second is 0, and the first
    need not be.
    """
    M, _, d, _ = curvature.cross.shape
    fast, slow, _ = directions(selection, M * d)
    whole = curvature.whole()
    found = [
        np.linalg.eigvalsh(part) for part in (_schur(whole, fast, slow)[0], fast.T @ whole @ fast)
    ]
    return float(max(found[0][0], 0.0) / found[0][-1]), float(max(found[1][0], 0.0) / found[1][-1])


def _schur(
    whole: Float[np.ndarray, "n n"],
    fast: Float[np.ndarray, "n fast"],
    slow: Float[np.ndarray, "n off"],
) -> tuple[Float[np.ndarray, "off off"], Float[np.ndarray, "fast off"]]:
    """The quadratic form of the slow directions with the fast ones at their optimum, and that
    optimum; what costs nothing stays put.
    """
    along = np.linalg.pinv(fast.T @ whole @ fast, rcond=SINGULAR, hermitian=True) @ (
        fast.T @ whole @ slow
    )
    return slow.T @ whole @ (slow - fast @ along), along


def _stable_rate(
    whole: Float[np.ndarray, "n n"], selection: Float[np.ndarray, "D Q"], values: int, scale: float
) -> float:
    """2 over the largest curvature in W_V and the scores, which move S through the softmax's
    Jacobian diag(s) − ssᵀ at the teacher.
    """
    D, Q = selection.shape
    through = np.eye(values + D * Q)
    for q in range(Q):
        s, here = selection[:, q], values + q * D
        through[here : here + D, here : here + D] = scale * (np.diag(s) - np.outer(s, s))
    return float(2 / np.linalg.eigvalsh(through.T @ whole @ through)[-1])


def at_a_kink(problem: Problem) -> bool:
    """Whether some pre-activation of the teacher is 0 on the sample, where leaky ReLU has no
    derivative.

    There the excess is still homogeneous of degree 2 in the error, and so the counting law stands
    (Euler); but it is no quadratic form.
    """
    teacher, objective = _teacher_of(problem), problem.objective
    if not isinstance(teacher.activation, LeakyReLU):
        return False
    if not isinstance(objective, EmpiricalRisk | MinibatchRisk):
        return False
    tokens = np.asarray(objective.sample.tokens)
    before = np.abs(np.asarray(teacher.value) @ tokens @ np.asarray(teacher.selection))
    return bool(before.min() <= 1e-12 * before.max())


@lru_cache(maxsize=512)
def _smooth_there(setting: Setting) -> None:
    if at_a_kink(build(setting)):
        raise NoPrediction(
            "Pre-activations at the kink of σ leave no quadratic form, and so no prediction of "
            "the errors."
        )


def value_constant(setting: Setting) -> float:
    """‖W_V − V*‖·√t."""
    _smooth_there(replace(setting, rate=1.0, steps=1))
    if limit(setting).seen < SINGULAR:
        raise NoPrediction("The inputs do not identify V*: some change of W_V costs nothing.")
    return float(np.linalg.norm(limit(setting).value))


def attention_constant(setting: Setting) -> float:
    """‖S − S*‖_F·√t."""
    _smooth_there(replace(setting, rate=1.0, steps=1))
    return float(np.linalg.norm(limit(setting).attention))


def counting_law(setting: Setting) -> float:
    """excess·t → Σ_i K_i(D−K_i)/(4c²D) over the inputs that are trained on, if they identify S*."""
    return limit(setting).law


def fresh_constant(setting: Setting) -> float:
    """excess·t over inputs that were not trained on."""
    _smooth_there(replace(setting, rate=1.0, steps=1))
    return limit(setting).fresh


def plateau(setting: Setting) -> float:
    """Steps after which the slowest weight off the support would be 1/D by its law x/√t: K
    D²/(2ηλ‖V*‖²) for iid tokens and equal K.
    """
    found = limit(setting)
    return float((len(found.attention) * found.off.max()) ** 2 / setting.rate)


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """Those of Theorem 3.1 that inputs and activations can break, and what the counting law asks
    for in their place.
    """
    return _hypotheses(replace(setting, rate=1.0, steps=1))


@lru_cache(maxsize=512)
def _hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    problem = build(setting)
    teacher, inputs = _teacher_of(problem), problem.inputs
    activation = teacher.activation.name
    standard = (
        isinstance(inputs, Gaussian)
        and inputs.feature_root is None
        and inputs.position_root is None
    )
    ratios = identified(trained_on(problem), np.asarray(teacher.selection))
    exact = setting.objective.name == "population"
    noise = float(teacher.noise)
    return (
        Hypothesis("tokens iid N(0, I)", standard, setting.inputs.name),
        Hypothesis(
            "σ is identity, ReLU or leaky ReLU",
            activation == "identity" or "relu" in activation,
            activation,
        ),
        Hypothesis("descent on the population risk", exact, setting.objective.name),
        Hypothesis("no label noise on a fixed sample", exact or noise == 0, f"noise {noise:g}"),
        *(
            Hypothesis(
                f"the inputs identify {name}",
                ratio >= SINGULAR,
                f"least over largest curvature {ratio:.2g}",
            )
            for name, ratio in zip(("S*", "V*"), ratios, strict=True)
        ),
    )
