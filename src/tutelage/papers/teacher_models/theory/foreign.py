r"""A trained student on foreign inputs X̃ and labels Ỹ: its excess over the teacher's loss, along a
run and in the limit.

With Δ = TF(X̃) − f*(X̃) the excess ½E‖Ỹ−TF‖² − ½E‖Ỹ−f*‖² is ½E‖Δ‖² − E⟨Ỹ−f*, Δ⟩. The first term is
what the teacher's own labels give, of order 1/t; the second is of order t^-½ where the labels lean
on the limit error, as Ỹ = f* − κV*X̃O do, with O the off-support indicator over D−K.

Both terms are exact for the identity (first and second moments of iid entries), and the first for
any centred Gaussian (closed form); else they are means over a fixed sample, and the prediction is
taken on that very sample, so that its chance is in both.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation, Identity, LeakyReLU
from tutelage.inputs import Gaussian, Independent
from tutelage.numerics.streams import stream
from tutelage.objectives import PopulationRisk
from tutelage.papers.teacher_models.theory import limit_error
from tutelage.problem.build import build_inputs, build_teacher
from tutelage.run import Run
from tutelage.settings import Part, Setting

SNAPSHOTS = ("value_matrix", "attention_matrix")


class Terms(NamedTuple):
    """½E‖Δ‖² and E⟨V*X̃O, Δ⟩, along a run or in the limit (then times t and √t)."""

    own: Float[np.ndarray, "points"] | float
    lean: Float[np.ndarray, "points"] | float


class Snapshot(eqx.Module):
    """A student at one step: σ(W_V X S) with S itself."""

    value: Float[Array, "M d"]
    weights: Float[Array, "D Q"]
    activation: Activation = eqx.field(static=True)

    def attention(self) -> Float[Array, "D Q"]:
        return self.weights


def snapshots(
    run: Run, chosen: Any
) -> tuple[Float[np.ndarray, "points M d"], Float[np.ndarray, "points D Q"]]:
    """W_V and S at the chosen measured steps."""
    assert run.setting is not None
    outputs, dim, tokens, queries = build_teacher(run.setting).shape
    values, attentions = (run.curves[name][chosen] for name in SNAPSHOTS)
    return values.reshape(-1, outputs, dim), attentions.reshape(-1, tokens, queries)


def off_support(selection: Float[np.ndarray, "D Q"]) -> Float[np.ndarray, "D Q"]:
    """Each column spreads 1 evenly over the tokens that its teacher does not read."""
    off = (selection == 0).astype(float)
    return off / np.maximum(off.sum(0), 1.0)


def along(run: Run, law: Part, count: int, chosen: Any) -> Terms:
    """Both terms of the excess at the chosen steps of a run."""
    assert run.setting is not None
    teacher = build_teacher(run.setting)
    inputs = build_inputs(law, teacher)
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    values, attentions = snapshots(run, chosen)
    off = off_support(S)
    if isinstance(teacher.activation, Identity) and isinstance(inputs, Independent):
        found = [
            _by_moments(inputs, off, W, A, V, S) for W, A in zip(values, attentions, strict=True)
        ]
        return Terms(np.array([f.own for f in found]), np.array([f.lean for f in found]))
    tokens = foreign_tokens(run.setting, law, count)
    own, lean = (
        np.asarray(term)
        for term in _on_sample(teacher.activation, tokens, V, S, off, values, attentions)
    )
    if isinstance(inputs, Gaussian):
        own = np.asarray(
            _closed(PopulationRisk(teacher, inputs), jnp.asarray(values), jnp.asarray(attentions))
        )
    return Terms(own, lean)


def limits(setting: Setting, law: Part, count: int) -> Terms:
    """What t·own and √t·lean tend to, from the limit error alone."""
    teacher = build_teacher(setting)
    inputs = build_inputs(law, teacher)
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    direction, c = limit_error(setting)
    off = off_support(S)
    if isinstance(teacher.activation, Identity) and isinstance(inputs, Independent):
        second, lean = (
            _bilinear_moments(inputs, V, direction, V, direction),
            _bilinear_moments(inputs, V, off, V, direction),
        )
        return Terms(0.5 * c**2 * second, c * lean)
    tokens = np.asarray(foreign_tokens(setting, law, count))
    limit = _derivative(teacher.activation, V @ tokens @ S) * (V @ tokens @ direction)
    lean = c * float(np.mean(np.sum((V @ tokens @ off) * limit, (1, 2))))
    if isinstance(inputs, Gaussian):
        # By symmetry E[σ′(a)²b²] = λE[b²] for centred jointly normal a and b.
        lam = (
            1.0
            if isinstance(teacher.activation, Identity)
            else 0.5 * (1 + teacher.activation.slope**2)
        )
        rows, columns = (
            np.asarray(inputs.whiten_rows(teacher.value)),
            np.asarray(inputs.whiten_columns(jnp.asarray(direction))),
        )
        return Terms(0.5 * c**2 * lam * float(np.sum(rows**2) * np.sum(columns**2)), lean)
    return Terms(0.5 * c**2 * float(np.mean(np.sum(limit**2, (1, 2)))), lean)


@lru_cache(maxsize=8)
def foreign_tokens(setting: Setting, law: Part, count: int) -> Float[Array, "n d D"]:
    """The fixed foreign sample of a setting's seed."""
    teacher = build_teacher(setting)
    inputs, (_, dim, tokens, _) = build_inputs(law, teacher), teacher.shape
    keys = jax.random.split(stream(setting.seed, "foreign inputs"), count)
    return jax.vmap(lambda key: inputs.sample(tokens, dim, key=key))(keys)


def batch_limit(setting: Setting, law: Part, batch: int) -> float:
    """What t·½mean‖Δ‖² tends to on one batch of foreign inputs: there the noise's share −mean⟨E, Δ⟩
    has variance τ²·2·(this)/(N t).
    """
    teacher = build_teacher(setting)
    V, S, tokens = (
        np.asarray(teacher.value),
        np.asarray(teacher.selection),
        np.asarray(foreign_tokens(setting, law, batch)),
    )
    direction, c = limit_error(setting)
    limit = _derivative(teacher.activation, V @ tokens @ S) * (V @ tokens @ direction)
    return 0.5 * c**2 * float(np.mean(np.sum(limit**2, (1, 2))))


def noisy_batch(
    run: Run, law: Part, batch: int, draws: int, noise: float, chosen: Any
) -> Float[np.ndarray, "draws points"]:
    """The paper's own measure: the student's loss on one batch with label noise less the teacher's,
    for several draws of the noise.
    """
    assert run.setting is not None
    teacher = build_teacher(run.setting)
    tokens = foreign_tokens(run.setting, law, batch)
    labels = jax.vmap(teacher)(tokens)
    error = noise * jax.random.normal(
        stream(run.setting.seed, "foreign labels"), (draws, *labels.shape)
    )
    values, attentions = snapshots(run, chosen)

    def at(pair: Any) -> Any:
        gap = teacher.activation(pair[0] @ tokens @ pair[1]) - labels
        return 0.5 * jnp.sum(gap**2) / batch - jnp.einsum("rnmq,nmq->r", error, gap) / batch

    return np.asarray(jax.lax.map(at, (jnp.asarray(values), jnp.asarray(attentions)))).T


def permuted_change(run: Run, order: Any, chosen: Any) -> Float[np.ndarray, "points"]:
    """E‖TF(XΠ) − TF(X)‖² / E‖TF(X)‖² for the permutation of tokens `order`, exact for iid normal
    tokens.
    """
    assert run.setting is not None
    teacher = build_teacher(run.setting)
    values, attentions = snapshots(run, chosen)
    changed = []
    for W, A in zip(values, attentions, strict=True):
        # XΠ read with S is X read with ΠS: the student against itself with its tokens exchanged.
        moved = eqx.tree_at(
            lambda t: (t.value, t.selection), teacher, (jnp.asarray(W), jnp.asarray(A))
        )
        zero = Snapshot(jnp.zeros_like(moved.value), jnp.asarray(A), teacher.activation)
        other = Snapshot(jnp.asarray(W), jnp.asarray(A[order]), teacher.activation)
        changed.append(_change(PopulationRisk(moved), other, zero))
    return np.array(changed, float)


@eqx.filter_jit
def _change(risk: PopulationRisk, other: Snapshot, zero: Snapshot) -> Float[Array, ""]:
    return risk.excess(other) / risk.excess(zero)


@eqx.filter_jit
def _closed(
    risk: PopulationRisk, values: Float[Array, "points M d"], attentions: Float[Array, "points D Q"]
) -> Float[Array, "points"]:
    return jax.lax.map(
        lambda pair: risk.excess(Snapshot(pair[0], pair[1], risk.teacher.activation)),
        (values, attentions),
    )


@partial(jax.jit, static_argnums=0)
def _on_sample(
    activation: Activation,
    tokens: Float[Array, "n d D"],
    V: Float[Array, "M d"],
    S: Float[Array, "D Q"],
    off: Float[Array, "D Q"],
    values: Float[Array, "points M d"],
    attentions: Float[Array, "points D Q"],
) -> tuple[Float[Array, "points"], Float[Array, "points"]]:
    teacher, leaning = activation(V @ tokens @ S), V @ tokens @ off

    def at(pair: Any) -> Any:
        gap = activation(pair[0] @ tokens @ pair[1]) - teacher
        return 0.5 * jnp.sum(gap**2) / len(tokens), jnp.sum(leaning * gap) / len(tokens)

    return jax.lax.map(at, (values, attentions))


def _by_moments(inputs: Independent, off: Any, W: Any, A: Any, V: Any, S: Any) -> Terms:
    """Both terms for the identity, from WXA − V*XS* = (W−V*)XA + V*X(A−S*)."""
    pieces = ((W - V, A), (V, A - S))
    own = sum(_bilinear_moments(inputs, *a, *b) for a in pieces for b in pieces)
    return Terms(0.5 * own, sum(_bilinear_moments(inputs, V, off, *a) for a in pieces))


def _bilinear_moments(inputs: Independent, A: Any, B: Any, C: Any, E: Any) -> float:
    """E⟨A X B, C X E⟩ for X with iid entries of mean m and variance s²: s²⟨A,C⟩⟨B,E⟩ +
    m²⟨A1,C1⟩⟨Bᵀ1,Eᵀ1⟩.
    """
    mean, variance = float(inputs.mean), float(inputs.variance)
    centred = variance * np.sum(A * C) * np.sum(B * E)
    return float(centred + mean**2 * (A.sum(1) @ C.sum(1)) * (B.sum(0) @ E.sum(0)))


def _derivative(activation: Activation, x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    slope = activation.slope if isinstance(activation, LeakyReLU) else 1.0
    return np.where(x > 0, 1.0, slope)
