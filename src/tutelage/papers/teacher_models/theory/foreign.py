r"""A trained student on foreign inputs X̃ and labels Ỹ: the limits of its excess over the teacher's
loss.

With Δ = TF(X̃) − f*(X̃) the excess ½E‖Ỹ−TF‖² − ½E‖Ỹ−f*‖² is ½E‖Δ‖² − E⟨Ỹ−f*, Δ⟩. The first term is
what the teacher's own labels give, of order 1/t. The second is of order t^-½ where the labels lean
on the limit error, as Ỹ = f* − κV*X̃O do, with O the off-support indicator over D−K.

Both terms are exact for the identity (first and second moments of iid entries) and for entries
that are symmetric about 0: X̃ and −X̃ are equally likely, so that σ′ may be averaged over the two
signs, E[σ′(a)²b²] = λE[b²] and E[σ′(a)bc] = ½(1+k)E[bc]. The first is exact for any centred
Gaussian. Where no closed form exists (skewed or shifted entries with a kink), the prediction is
taken on the very sample of the measurement, so that its chance is in both; such a claim tests the
limit error and not the sample.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.activations import Identity
from tutelage.inputs import Gaussian, Independent
from tutelage.inputs.base import Inputs
from tutelage.numerics.compiling import soon
from tutelage.numerics.streams import stream
from tutelage.papers.teacher_models.theory import facts, limit_error
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.papers.teacher_models.theory.facts import lam
from tutelage.problem.build import build_inputs
from tutelage.settings import Part, Setting


class Limits(NamedTuple):
    """What t·½E‖Δ‖² and √t·E⟨V*X̃O, Δ⟩ tend to."""

    own: float
    lean: float


@lru_cache(maxsize=256)
def predict_limits(setting: Setting, law: Part, count: int) -> Limits:
    """Both limits under an input law, from the limit error alone; on `count` fixed foreign inputs
    where no closed form exists.
    """
    teacher = build_bilinear(setting)
    inputs = build_inputs(law, teacher)
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    direction, c = limit_error(setting)
    off = off_support(S)
    if isinstance(teacher.activation, Identity) and isinstance(inputs, Independent):
        second = bilinear_moments(inputs, V, direction, V, direction)
        return Limits(0.5 * c**2 * second, c * bilinear_moments(inputs, V, off, V, direction))
    slope = facts(setting).slope
    if isinstance(inputs, Independent) and inputs.symmetric and slope is not None:
        second = lam(facts(setting)) * bilinear_moments(inputs, V, direction, V, direction)
        lean = 0.5 * (1 + slope) * bilinear_moments(inputs, V, off, V, direction)
        return Limits(0.5 * c**2 * second, c * lean)
    tokens = np.asarray(draw_foreign_tokens(setting, law, count))
    limit = _scaled_error(setting, tokens)
    lean = c * float(np.mean(np.sum((V @ tokens @ off) * limit, (1, 2))))
    if isinstance(inputs, Gaussian):
        # By symmetry E[σ′(a)²b²] = λE[b²] for centred jointly normal a and b.
        rows = np.asarray(inputs.whiten_rows(teacher.value))
        columns = np.asarray(inputs.whiten_columns(jnp.asarray(direction)))
        square = float(np.sum(rows**2) * np.sum(columns**2))
        return Limits(0.5 * c**2 * lam(facts(setting)) * square, lean)
    return Limits(0.5 * c**2 * float(np.mean(np.sum(limit**2, (1, 2)))), lean)


def predict_batch_limit(setting: Setting, law: Part, batch: int) -> float:
    """What t·½mean‖Δ‖² tends to on one batch of foreign inputs: there the noise's share −mean⟨E, Δ⟩
    has variance τ²·2·(this)/(N t).
    """
    _, c = limit_error(setting)
    limit = _scaled_error(setting, np.asarray(draw_foreign_tokens(setting, law, batch)))
    return 0.5 * c**2 * float(np.mean(np.sum(limit**2, (1, 2))))


def _scaled_error(
    setting: Setting, tokens: Float[np.ndarray, "n d D"]
) -> Float[np.ndarray, "n M Q"]:
    """σ′(V*X̃S*) ⊙ V*X̃N of each input: Δ in the limit, over c t^-½."""
    teacher, slope = build_bilinear(setting), facts(setting).slope
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    direction, _ = limit_error(setting)
    assert slope is not None  # else there is no limit error
    return np.where(V @ tokens @ S > 0, 1.0, slope) * (V @ tokens @ direction)


def off_support(selection: Float[np.ndarray, "D Q"]) -> Float[np.ndarray, "D Q"]:
    """Each column spreads 1 evenly over the tokens that its teacher does not read."""
    off = (selection == 0).astype(float)
    return off / np.maximum(off.sum(0), 1.0)


@lru_cache(maxsize=8)
def draw_foreign_tokens(setting: Setting, law: Part, count: int) -> Float[Array, "n d D"]:
    """The fixed foreign sample of a setting's seed."""
    teacher = build_bilinear(setting)
    inputs, (_, dim, tokens, _) = build_inputs(law, teacher), teacher.shape
    return _draw(inputs, count, tokens, dim, stream(setting.seed, "foreign inputs"))


@soon
def _draw(
    inputs: Inputs, count: int, tokens: int, dim: int, key: Key[Array, ""]
) -> Float[Array, "n d D"]:
    keys = jax.random.split(key, count)
    return jax.vmap(lambda each: inputs.sample(tokens, dim, key=each))(keys)


def bilinear_moments(
    inputs: Independent,
    A: Float[np.ndarray, "m d"],
    B: Float[np.ndarray, "D q"],
    C: Float[np.ndarray, "m d"],
    E: Float[np.ndarray, "D q"],
) -> float:
    """E⟨A X B, C X E⟩ for X with iid entries of mean m and variance s²: s²⟨A,C⟩⟨B,E⟩ +
    m²⟨A1,C1⟩⟨Bᵀ1,Eᵀ1⟩.
    """
    mean, variance = float(inputs.mean), float(inputs.variance)
    centred = variance * np.sum(A * C) * np.sum(B * E)
    return float(centred + mean**2 * (A.sum(1) @ C.sum(1)) * (B.sum(0) @ E.sum(0)))
