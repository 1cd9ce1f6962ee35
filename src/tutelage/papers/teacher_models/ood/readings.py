"""How a run of `teacher-models/ood` is read: its student at every measured step, tried on foreign
inputs, on one noisy batch, and with its tokens exchanged.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from tutelage.activations import Activation, Identity
from tutelage.claims.claim import NoPrediction
from tutelage.inputs import Gaussian, Independent
from tutelage.numerics.compiling import soon
from tutelage.numerics.streams import stream
from tutelage.objectives import PopulationRisk
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.papers.teacher_models.theory.foreign import (
    bilinear_moments,
    draw_foreign_tokens,
    off_support,
)
from tutelage.problem.build import build_inputs
from tutelage.run import Run
from tutelage.settings import Part
from tutelage.students.base import BilinearStudent
from tutelage.teachers import BilinearTeacher

SNAPSHOTS = ("value_matrix", "attention_matrix")  # the measures that are read here
Chosen = Bool[np.ndarray, "all"] | list[int]  # which of the measured steps


class Terms(NamedTuple):
    """½E‖Δ‖² and E⟨V*X̃O, Δ⟩ along a run."""

    own: Float[np.ndarray, "points"]
    lean: Float[np.ndarray, "points"]


class Snapshot(BilinearStudent):
    """A student at one step: σ(W_V X S) with S itself."""

    value: Float[Array, "M d"]
    weights: Float[Array, "D Q"]
    activation: Activation = eqx.field(static=True)

    def attention(self) -> Float[Array, "D Q"]:
        return self.weights

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        return self.activation(self.value @ tokens @ self.weights)


def choose_points(run: Run) -> Bool[np.ndarray, "points"]:
    """Every second measured step from ten plateaus on: where the claims read, and no more than they
    need.
    """
    assert run.setting is not None
    chosen = run.steps >= 10 * theory.plateau(run.setting)
    chosen[-2::-2] = False
    return chosen


def fill_curve(
    chosen: Bool[np.ndarray, "all"], values: Float[np.ndarray, "points"]
) -> Float[np.ndarray, "all"]:
    """A curve over all measured steps, not a number where nothing was looked at."""
    curve = np.full(len(chosen), np.nan)
    curve[chosen] = values
    return curve


def read_snapshots(
    run: Run, chosen: Chosen
) -> tuple[Float[np.ndarray, "points M d"], Float[np.ndarray, "points D Q"]]:
    """W_V and S at the chosen measured steps."""
    outputs, dim, tokens, queries = _whole_teacher(run).shape
    values, attentions = (run.curves[name][chosen] for name in SNAPSHOTS)
    return values.reshape(-1, outputs, dim), attentions.reshape(-1, tokens, queries)


def read_terms(run: Run, law: Part, count: int, chosen: Chosen) -> Terms:
    """Both terms of the excess under a foreign input law, at the chosen steps of a run."""
    assert run.setting is not None
    teacher = _whole_teacher(run)
    inputs = build_inputs(law, teacher)
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    values, attentions = read_snapshots(run, chosen)
    off = off_support(S)
    if isinstance(teacher.activation, Identity) and isinstance(inputs, Independent):
        found = [
            _read_moments(inputs, off, W, A, V, S) for W, A in zip(values, attentions, strict=True)
        ]
        return Terms(np.array([own for own, _ in found]), np.array([lean for _, lean in found]))
    tokens = draw_foreign_tokens(run.setting, law, count)
    own, lean = _read_sample(teacher.activation, tokens, V, S, off, values, attentions)
    if isinstance(inputs, Gaussian):
        risk = PopulationRisk(teacher, inputs)
        own = _read_closed(risk, jnp.asarray(values), jnp.asarray(attentions))
    return Terms(np.asarray(own), np.asarray(lean))


def read_noisy_batch(
    run: Run, law: Part, batch: int, draws: int, noise: float, chosen: Chosen
) -> Float[np.ndarray, "draws points"]:
    """The paper's own measure: the student's loss on one batch with label noise less the teacher's,
    for several draws of the noise.
    """
    assert run.setting is not None
    teacher = _whole_teacher(run)
    tokens = draw_foreign_tokens(run.setting, law, batch)
    labels = jax.vmap(teacher)(tokens)
    error = noise * jax.random.normal(
        stream(run.setting.seed, "foreign labels"), (draws, *labels.shape)
    )
    values, attentions = read_snapshots(run, chosen)

    def excess_at(student: tuple[Float[Array, "M d"], Float[Array, "D Q"]]) -> Float[Array, "r"]:
        value, attention = student
        gap = teacher.activation(value @ tokens @ attention) - labels
        return 0.5 * jnp.sum(gap**2) / batch - jnp.einsum("rnmq,nmq->r", error, gap) / batch

    return np.asarray(jax.lax.map(excess_at, (jnp.asarray(values), jnp.asarray(attentions)))).T


def read_permuted_change(
    run: Run, order: Int[np.ndarray, "D"], chosen: Chosen
) -> Float[np.ndarray, "points"]:
    """E‖TF(XΠ) − TF(X)‖² / E‖TF(X)‖² for the permutation of tokens `order`, exact for iid normal
    tokens.
    """
    teacher = _whole_teacher(run)
    changed = []
    for W, A in zip(*read_snapshots(run, chosen), strict=True):
        # XΠ read with S is X read with ΠS: the student against itself with its tokens exchanged.
        value, attention = jnp.asarray(W), jnp.asarray(A)
        itself = eqx.tree_at(lambda t: (t.value, t.selection), teacher, (value, attention))
        moved = Snapshot(value=value, weights=jnp.asarray(A[order]), activation=teacher.activation)
        zero = Snapshot(
            value=jnp.zeros_like(value), weights=attention, activation=teacher.activation
        )
        changed.append(_relative_change(PopulationRisk(itself), moved, zero))
    return np.array(changed, float)


def _whole_teacher(run: Run) -> BilinearTeacher:
    assert run.setting is not None
    teacher = build_bilinear(run.setting)
    if not isinstance(teacher, BilinearTeacher):
        raise NoPrediction(
            "Foreign inputs are read with S* token by token. Got the teacher "
            f"{run.setting.teacher.name!r}."
        )
    return teacher


@soon
def _relative_change(risk: PopulationRisk, moved: Snapshot, zero: Snapshot) -> Float[Array, ""]:
    return risk.excess(moved) / risk.excess(zero)


@soon
def _read_closed(
    risk: PopulationRisk, values: Float[Array, "points M d"], attentions: Float[Array, "points D Q"]
) -> Float[Array, "points"]:
    return jax.lax.map(
        lambda student: risk.excess(
            Snapshot(value=student[0], weights=student[1], activation=risk.teacher.activation)
        ),
        (values, attentions),
    )


@partial(jax.jit, static_argnums=0)
def _read_sample(
    activation: Activation,
    tokens: Float[Array, "n d D"],
    V: Float[Array, "M d"],
    S: Float[Array, "D Q"],
    off: Float[Array, "D Q"],
    values: Float[Array, "points M d"],
    attentions: Float[Array, "points D Q"],
) -> tuple[Float[Array, "points"], Float[Array, "points"]]:
    labels, leaning = activation(V @ tokens @ S), V @ tokens @ off

    def terms_at(
        student: tuple[Float[Array, "M d"], Float[Array, "D Q"]],
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        gap = activation(student[0] @ tokens @ student[1]) - labels
        return 0.5 * jnp.sum(gap**2) / len(tokens), jnp.sum(leaning * gap) / len(tokens)

    return jax.lax.map(terms_at, (values, attentions))


def _read_moments(
    inputs: Independent,
    off: Float[np.ndarray, "D Q"],
    W: Float[np.ndarray, "M d"],
    A: Float[np.ndarray, "D Q"],
    V: Float[np.ndarray, "M d"],
    S: Float[np.ndarray, "D Q"],
) -> tuple[float, float]:
    """Both terms for the identity, from WXA − V*XS* = (W−V*)XA + V*X(A−S*)."""
    pieces = ((W - V, A), (V, A - S))
    own = sum(bilinear_moments(inputs, *a, *b) for a in pieces for b in pieces)
    return 0.5 * own, sum(bilinear_moments(inputs, V, off, *a) for a in pieces)
