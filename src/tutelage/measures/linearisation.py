"""Measures of the start of a student with heads: how far it bends on the boundary of its ball, and
how well it can represent its teacher.

They are about the start alone: where the student has gone since does not enter. The ball has the
teacher's radii ν, head by head ‖Δc‖ ≤ ν_c/√m, ‖ΔU‖ ≤ ν_u/√m, ‖ΔW‖_F ≤ ν_w/√m; in the experiments of
Arda et al. 2026 the radii ρ of the projection are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tutelage.numerics.heads import Heads, features
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.refuse import Refused
from tutelage.students.shallow_transformer import ShallowTransformer
from tutelage.teachers.transported import TransportedTeacher

NARROWEST = 8  # heads of the smallest of nested students
POINTS = 4  # random points of the boundary that are averaged over
RESTARTS = 2  # random points that the ascent starts from
ASCENT = 20  # its steps
PACE = 0.5  # and how far one goes, in radii
SINGLED_OUT = 8  # inputs that a point is looked for each on its own


def approximation_error(student: ShallowTransformer, objective: SquaredLoss) -> Float[Array, "3"]:
    """sup_j, mean_j and root mean square over j of |y_j − f_lin(X_j; θ̃)|, at the parameters θ̃
    that the teacher transports the start to.
    """
    there = eqx.tree_at(lambda s: s.heads, student, _teacher_of(objective).transport(student.start))
    gaps = jnp.abs(objective.labels - jax.vmap(there.linearised)(objective.tokens))
    return jnp.stack([jnp.max(gaps), jnp.mean(gaps), jnp.sqrt(jnp.mean(gaps**2))])


def nested_widths(heads: int) -> tuple[int, ...]:
    """8, 16, 32, … up to `heads`: the widths of the students that the start of one contains, since
    a wider draw begins with a narrower.
    """
    return tuple(m for m in (NARROWEST << k for k in range(heads.bit_length())) if m <= heads) or (
        heads,
    )


def nested_approximation(
    student: ShallowTransformer, objective: SquaredLoss
) -> Float[Array, "entries"]:
    """The three entries of `approximation_error`, width after width of `nested_widths`, all from
    the heads of this one student.

    At the symmetric start f = 0 and c² = 1, so that f_lin(X; θ̃) is the mean over the heads of φ_c
    v_c + ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩. The second half of the heads are twins of the first: a student of
    m heads averages over the first m/2.
    """
    widths, half = (
        nested_widths(len(student.start.output)),
        jax.tree.map(lambda leaf: leaf[: len(leaf) // 2], student.start),
    )
    v = _teacher_of(objective).directions(half)
    first = np.arange(len(half.output)) < np.asarray(widths)[:, None] // 2
    shares = jnp.asarray(first / first.sum(1, keepdims=True))

    def one(tokens: Float[Array, "d T"]) -> Float[Array, "widths"]:
        query = student.ask(tokens)
        seen = features(half, tokens, query, student.activation)
        along = seen.read * v.reading + seen.spread * jnp.einsum("mde,e->md", v.attention, query)
        return shares @ (seen.value * v.output + jnp.sum(along, axis=1))

    gaps = jnp.abs(objective.labels[:, None] - jax.lax.map(one, objective.tokens))
    return jnp.stack(
        [jnp.max(gaps, axis=0), jnp.mean(gaps, axis=0), jnp.sqrt(jnp.mean(gaps**2, axis=0))], axis=1
    ).ravel()


def random_linearisation(student: ShallowTransformer, objective: SquaredLoss) -> Float[Array, "2"]:
    """sup_j and mean_j of |f − f_lin| at a random point of the boundary: the mean over some."""
    points = [
        _boundary(student.start, _teacher_of(objective).radii, number) for number in range(POINTS)
    ]
    gaps = jax.lax.map(lambda heads: _gaps(student, heads, objective.tokens), _stacked(points))
    return jnp.stack([jnp.mean(jnp.max(gaps, axis=1)), jnp.mean(gaps)])


def adversarial_linearisation(
    student: ShallowTransformer, objective: SquaredLoss
) -> Float[Array, "2"]:
    """sup_j and mean_j of |f − f_lin| at the boundary point found by ascent on that mean, the best
    of some starts.

    A lower bound of what the worst point has: no ascent is promised to find that.
    """
    starts = [
        _boundary(student.start, _teacher_of(objective).radii, number) for number in range(RESTARTS)
    ]
    found = jax.lax.map(
        lambda heads: _gaps(
            student, _ascend(student, objective, objective.tokens, heads), objective.tokens
        ),
        _stacked(starts),
    )
    best = found[jnp.argmax(jnp.mean(found, axis=1))]
    return jnp.stack([jnp.max(best), jnp.mean(best)])


def singled_out_linearisation(
    student: ShallowTransformer, objective: SquaredLoss
) -> Float[Array, ""]:
    """The largest |f − f_lin| at one input, at a boundary point found by ascent for that input
    alone; over the first inputs.
    """
    first = _boundary(student.start, _teacher_of(objective).radii, 0)

    def one(tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        return _gaps(student, _ascend(student, objective, tokens[None], first), tokens[None])[0]

    return jnp.max(jax.lax.map(one, objective.tokens[:SINGLED_OUT]))


def _teacher_of(objective: SquaredLoss) -> TransportedTeacher:
    if not isinstance(objective.teacher, TransportedTeacher):
        raise Refused(
            "Measures of the start of a student need the radii of a transported teacher, since "
            f"they look at its ball. Got {type(objective.teacher).__name__}."
        )
    return objective.teacher


def _stacked(points: Sequence[Heads]) -> Heads:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *points)


def _gaps(
    student: ShallowTransformer, heads: Heads, tokens: Float[Array, "n d T"]
) -> Float[Array, "n"]:
    there = eqx.tree_at(lambda s: s.heads, student, heads)
    return jnp.abs(jax.vmap(lambda x: there(x) - there.linearised(x))(tokens))


def _scaled(heads: Heads, radii: Float[Array, "3"]) -> Heads:
    """Every head's block with its direction kept and its length set to ν/√m."""

    def block(leaf: Float[Array, "m ..."], radius: Float[Array, ""]) -> Float[Array, "m ..."]:
        length = jnp.sqrt(jnp.sum(leaf**2, axis=tuple(range(1, leaf.ndim)), keepdims=True))
        return leaf * (radius / jnp.sqrt(float(len(leaf))) / jnp.where(length > 0, length, 1.0))

    nu_c, nu_u, nu_w = radii
    return Heads(
        block(heads.attention, nu_w), block(heads.reading, nu_u), block(heads.output, nu_c)
    )


def _boundary(start: Heads, radii: Float[Array, "3"], number: int) -> Heads:
    """The start, and from it for every head and block a random direction, as long as its radius.

    The directions are constants of the compiled program, drawn by NumPy: the same for every student
    of a shape, whose own heads come from elsewhere. Drawing them inside would take longer to
    compile than all the rest.
    """
    draw = np.random.default_rng(number)
    drawn = Heads(
        *(jnp.asarray(_unit(draw.normal(size=leaf.shape))) for leaf in jax.tree.leaves(start))
    )
    return jax.tree.map(jnp.add, start, _scaled(drawn, radii))


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.sqrt((rows**2).sum(axis=tuple(range(1, rows.ndim)), keepdims=True))


def _ascend(
    student: ShallowTransformer, objective: SquaredLoss, tokens: Float[Array, "n d T"], first: Heads
) -> Heads:
    """Ascent on mean|f − f_lin| along the boundary: a step of fixed length along each head's own
    gradient, then back to its sphere.

    Heads enter f − f_lin by a sum, so that scaling each one's gradient by itself keeps every head's
    direction of ascent.
    """
    start, radii = student.start, _teacher_of(objective).radii

    def step(_: Int[Array, ""], heads: Heads) -> Heads:
        upward = _scaled(jax.grad(lambda h: jnp.mean(_gaps(student, h, tokens)))(heads), radii)
        away = jax.tree.map(lambda now, then, up: now - then + PACE * up, heads, start, upward)
        return jax.tree.map(jnp.add, start, _scaled(away, radii))

    return jax.lax.fori_loop(0, ASCENT, step, first)


LINEARISATION = (
    approximation_error,
    nested_approximation,
    random_linearisation,
    adversarial_linearisation,
    singled_out_linearisation,
)
