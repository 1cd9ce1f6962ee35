r"""How many parameters a student of the class fits to noise: the statistical dimension of its
tangent cone at the teacher.

Near the teacher a student moves by dW⊗S* + V*⊗dS, where columns of dS sum to 0 and are not negative
where S* is zero. These directions are a convex cone C. Label noise acts on the MQ×Dd numbers of a
free linear map as white noise of variance τ²/n; least squares over the class projects it on C, so
that n·excess → (τ²/2)·δ(C) with δ(C) = E‖Π_C g‖², g standard normal: the statistical dimension of
Amelunxen, Lotz, McCoy and Tropp 2014. Derived in docs/derivations.md, section 15. Predictions only:
nothing here sees a run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.facts import Facts, facts
from tutelage.settings import Part, Setting

DRAWS = 40_000  # of g, where δ has no closed form: its error is then below 0.1%


def teacher_facts(setting: Setting) -> Facts:
    """The facts of a setting's teacher, whoever learns from it and on however many samples."""
    return facts(replace(setting, student=Part("position_attention"), objective=Part("population")))


def project(
    given: Float[np.ndarray, "... D Q"], on: Bool[np.ndarray, "D Q"]
) -> Float[np.ndarray, "... D Q"]:
    r"""The nearest T with all column sums equal and T ≥ 0 off the support.

    T = g + ν_q on the support and (g + ν_q)₊ off it, with Σ_q ν_q = 0, since the common sum a is
    free. For a given set of entries that are not cut, c_q of them in column q with sum b_q, ν_q =
    (a − b_q)/c_q and a = Σ(b/c)/Σ(1/c); the set is iterated until it stays.
    """
    kept = on | (given > 0)
    for _ in range(100):
        c, b = kept.sum(-2), np.where(kept, given, 0.0).sum(-2)
        a = (b / c).sum(-1, keepdims=True) / (1 / c).sum(-1, keepdims=True)
        shifted = given + ((a - b) / c)[..., None, :]
        now = on | (shifted > 0)
        if (now == kept).all():
            return np.where(kept, shifted, 0.0)
        kept = now
    raise NoPrediction(
        "The projection on the tangent cone did not settle on which weights are cut."
    )


def length_square(
    noise: Float[np.ndarray, "M Q d D"],
    value: Float[np.ndarray, "M d"],
    selection: Float[np.ndarray, "D Q"],
) -> float:
    """‖Π_C N‖² of noise N on the numbers of a free linear map: a part dW⊗S* with dW ⟂ V*, and V*
    times a column-coupled part.
    """
    along_values = np.einsum("mqej,jq->me", noise, selection) / np.linalg.norm(selection)
    unit = value / np.linalg.norm(value)
    across = np.sum(along_values**2) - np.sum(along_values * unit) ** 2
    weights = project(np.einsum("mqej,me->jq", noise, unit), selection > 0)
    return float(across + np.sum(weights**2))


def statistical_dimension(setting: Setting) -> float:
    r"""δ(C) = Md − 1 + δ(C′), C′ = {T: column sums equal, T ≥ 0 off the support}; for one query
    δ(C′) = K + (D−K)/2.

    The same for every leaky slope: σ′ halves (or scales by λ) the curvature and the noise alike.
    """
    f = teacher_facts(setting)
    if f.lam is None or not (f.standard and f.iid_positions and f.realisable):
        raise NoPrediction(
            "The statistical dimension is known for tokens N(0, I), (leaky) ReLU or identity and "
            "columns that sum to 1."
        )
    return f.outputs * f.dim - 1 + _weights_dimension(f.on.tobytes(), f.on.shape)


@lru_cache(maxsize=64)
def _weights_dimension(pattern: bytes, shape: tuple[int, int]) -> float:
    on = np.frombuffer(pattern, bool).reshape(shape)
    if shape[1] == 1:
        return float(on.sum() + (~on).sum() / 2)
    drawn = np.random.default_rng(0).standard_normal((DRAWS, *shape))
    return float(np.mean(np.sum(project(drawn, on) ** 2, (-2, -1))))


def free_weights(setting: Setting) -> float:
    """Md − 1 + KQ + (D−K)Q − (Q−1): what δ would be if weights could be negative. Wrong, which is
    what a control is for.
    """
    f = teacher_facts(setting)
    return float(f.outputs * f.dim - 1 + f.tokens * f.queries - (f.queries - 1))


def known_selection(setting: Setting) -> float:
    """Md: the same of a student that knows S*."""
    f = teacher_facts(setting)
    return float(f.outputs * f.dim)


def free_map(setting: Setting) -> float:
    """MQDd: the same of a free linear map."""
    f = teacher_facts(setting)
    return float(f.outputs * f.queries * f.tokens * f.dim)
