"""The population risk of the bilinear class, in closed form or by quadrature."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Erf, Identity, LeakyReLU
from tutelage.durations import say_seconds
from tutelage.inputs.base import Inputs
from tutelage.inputs.gaussian import Gaussian
from tutelage.inputs.independent import Independent
from tutelage.numerics import quadrature
from tutelage.numerics.closed_forms import ERF, IDENTITY, leaky
from tutelage.numerics.compiling import SOON
from tutelage.numerics.geometry import Form, bilinear_excess, bilinear_gradient
from tutelage.numerics.softmax_excess import softmax_excess
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.objectives.wide import COMPILER as WIDE_COMPILER
from tutelage.objectives.wide import is_wide, wide_excess, wide_step
from tutelage.refuse import Refused, positive
from tutelage.run import ErrorTerm
from tutelage.students.base import BilinearStudent, Student
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.students.position_attention import PositionAttention
from tutelage.teachers.base import BilinearClass, Teacher
from tutelage.teachers.collapsed import CollapsedTeacher, counts_of

LONG = 5.0  # seconds that a run takes, from which on that is said before
# Steps × scores, up to which a run is over before a faster program would have been compiled: such a
# program takes 0.7 s more, and saves 5 µs per step of 1,296 scores. Its batch may have 64 runs.
BRIEF_SCORES = 2_000 * 36**2


class PopulationRisk(Objective):
    r"""L = ½E‖Y − σ(W_V X S)‖_F² exactly, no sample ever drawn.

    Each pair of pre-activations is jointly Gaussian, so the risk is a sum over (row, column) of a
    function of two variances and one covariance (`numerics/geometry.py`). Other inputs than iid
    ones enter through their square roots: rows of W_V and V* as Σ^½w, columns of S and S* as R^½s.
    The noise floor is L_opt = ½ M Q noise². Zhang et al. 2026, Section 2; no 1/D or 1/M.

    For the identity two moments are enough, so that iid entries of any law will do: with variance
    s² and mean m the excess is s² times that of N(0, I), plus ½m²‖(W_V 1)(1ᵀS) − (V*1)(1ᵀS*)‖²; as
    columns sum to 1 that is (Q/2)m²‖(W_V−V*)1‖².
    """

    teacher: BilinearClass
    inputs: Gaussian | Independent
    value: Float[Array, "M d"]  # V* Σ^½
    selection: Float[Array, "D Q"]  # R^½ S*, or √n ⊙ S* of a collapsed teacher
    accuracy: quadrature.Accuracy | None = eqx.field(static=True)

    has_gradient: ClassVar[bool] = True

    def __init__(
        self,
        teacher: Teacher,
        inputs: Inputs | None = None,
        *,
        largest_std: float | None = None,
    ) -> None:
        """`largest_std`: how large a pre-activation quadrature must reach; by default half as much
        again as the teacher's.
        """
        if not isinstance(teacher, Teacher):
            raise Refused(
                "The population risk is that of a teacher, a tutelage.teachers.Teacher such as "
                "tutelage.BilinearTeacher(V, S), since it needs V* and S*. Got an object of the "
                f"type {type(teacher).__name__}; `tutelage.learn` finds V and S of a layer."
            )
        if not isinstance(teacher, BilinearClass):
            raise Refused(
                "The population risk is known in closed form only for teachers σ(V* X S*). "
                f"Got a {type(teacher).__name__}; a sampled objective with `held_out` inputs "
                "takes any teacher."
            )
        _, dim, tokens, _ = teacher.shape
        law = Gaussian() if inputs is None else inputs
        if not isinstance(law, Gaussian) and not (
            isinstance(law, Independent) and isinstance(teacher.activation, Identity)
        ):
            raise Refused(
                "The population risk is known in closed form for centred Gaussian tokens, since "
                "it needs pairs of jointly normal "
                "pre-activations, and for iid entries of any law where the activation is the "
                "identity, since two moments are then enough. "
                f"Got {type(law).__name__} inputs and {teacher.activation.name}; a "
                "sampled objective with `held_out` inputs takes "
                "any law."
            )
        self.inputs = law
        self.inputs.check_shapes(tokens, dim)
        if isinstance(teacher, CollapsedTeacher) and not self._iid_positions:
            plain = isinstance(self.inputs, Gaussian)
            got = "a `correlation`" if plain else type(self.inputs).__name__
            raise Refused(
                "A collapsed teacher needs Gaussian tokens that are independent between "
                "positions, since a correlation tells tokens apart. "
                f"Got {got}; leave the teacher whole."
            )
        self.teacher = teacher
        self.value = self.inputs.whiten_rows(teacher.value)
        self.selection = self._columns(teacher.selection)
        self.accuracy = None
        if not isinstance(teacher.activation, Identity | LeakyReLU | Erf):
            own = float(largest_deviation(self.value, self.selection))
            reach = positive(
                "largest_std",
                1.5 * own if largest_std is None else largest_std,
                reason="quadrature must resolve it",
            )
            if reach < own:
                raise Refused(
                    "`largest_std` must be at least the teacher's own largest standard "
                    "deviation, since the student ends there. "
                    f"Got largest_std={reach:g}, the teacher's is {own:g}."
                )
            # Rounded up, so that teachers of one shape and like scale share one compiled program.
            self.accuracy = quadrature.fit(
                teacher.activation, max(1.0, math.ceil(2 * reach) / 2), teacher.activation.name
            )

    def excess(self, student: Student) -> Float[Array, ""]:
        """L − L_opt = ½E‖f*(X) − TF(X)‖², never negative.

        In closed form to about eps relative at any distance from the teacher; by quadrature to the
        printed error or, close to the teacher, eps over the distance.
        """
        self.check(student)
        assert isinstance(student, BilinearStudent)  # as was checked
        value = self.inputs.whiten_rows(student.value)
        value_gap = self.inputs.whiten_rows(
            jax.lax.stop_gradient(student.value - self.teacher.value)
        )
        if self._iid_positions and is_wide(
            student, self.selection
        ):  # correlated positions mix all rows of S
            rest = value_gap, student.attention_scale, self.value, self.selection
            return wide_excess(self._form(), value, student.scores(), *rest)
        if self._iid_positions and isinstance(student, PositionAttention):
            return softmax_excess(
                self._form(),
                value,
                student.attention_scale * student.scores(),
                value_gap,
                self.value,
                self.selection,
            )
        attention = student.attention()
        attention_gap = self._columns(jax.lax.stop_gradient(attention - self.teacher.selection))
        centred = bilinear_excess(
            self._form(),
            value,
            self._columns(attention),
            value_gap,
            attention_gap,
            self.value,
            self.selection,
            self._many,
        )
        return centred if isinstance(self.inputs, Gaussian) else centred + self._of_mean(student)

    def descend(self, student: Student, rate: Float[Array, ""]) -> Student | None:
        """In one pass over the scores, where the attention is wide."""
        if not (self._iid_positions and is_wide(student, self.selection)):
            return None
        if student.key_codes is not None:  # the scores are a product, and not what is trained
            return None
        value, pull = jax.vjp(self.inputs.whiten_rows, student.value)
        value_gap = self.inputs.whiten_rows(student.value - self.teacher.value)
        rest = value_gap, student.attention_scale, self.value, self.selection
        to_value, scores = wide_step(self._form(), value, student.scores(), *rest, rate)
        moved = student.value - rate * pull(to_value)[0]
        return eqx.tree_at(lambda s: (s.value, s.key_query), student, (moved, scores))

    def _of_mean(self, student: BilinearStudent) -> Float[Array, ""]:
        """½m²‖(W_V 1)(1ᵀS) − (V*1)(1ᵀS*)‖², from the differences, so that nothing cancels near the
        teacher.
        """
        assert isinstance(self.inputs, Independent)
        attention = student.attention()
        by_value = jnp.outer((student.value - self.teacher.value).sum(1), attention.sum(0))
        by_attention = jnp.outer(
            self.teacher.value.sum(1), (attention - self.teacher.selection).sum(0)
        )
        return 0.5 * self.inputs.mean**2 * jnp.sum((by_value + by_attention) ** 2)

    @property
    def _many(self) -> Float[Array, "Q"] | None:
        """How many queries a column stands for, where it is not one."""
        return self.teacher.query_counts if isinstance(self.teacher, CollapsedTeacher) else None

    @property
    def _iid_positions(self) -> bool:
        return isinstance(self.inputs, Gaussian) and self.inputs.position_root is None

    def _columns(self, columns: Float[Array, "D Q"]) -> Float[Array, "D Q"]:
        """As they act on iid tokens; n tokens of one weight s act as one of weight √n s."""
        if isinstance(self.teacher, CollapsedTeacher):
            return jnp.sqrt(self.teacher.token_counts) * columns
        return self.inputs.whiten_columns(columns)

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.excess(student) + self.noise_floor

    def gradient(self, student: Student) -> Student:
        """∇L with the fields of the student, written out, so that it can be differentiated again:
        what a Hessian needs.

        `jax.grad` gives the same numbers, but not their derivatives: there the gaps to the teacher
        are constants.
        """

        def whitened(moving: BilinearStudent) -> tuple[Float[Array, "M d"], Float[Array, "D Q"]]:
            now = eqx.combine(moving, still)
            return self.inputs.whiten_rows(now.value), self._columns(now.attention())

        assert isinstance(student, BilinearStudent)  # as was checked
        moving, still = eqx.partition(student, eqx.is_inexact_array)
        (value, _), pull = jax.vjp(whitened, moving)
        gaps = (student.value - self.teacher.value, student.attention() - self.teacher.selection)
        whitened_gaps = (self.inputs.whiten_rows(gaps[0]), self._columns(gaps[1]))
        centred = pull(
            bilinear_gradient(
                self._form(), value, *whitened_gaps, self.value, self.selection, self._many
            )
        )[0]
        if isinstance(self.inputs, Gaussian):
            return centred
        return jax.tree.map(
            jnp.add,
            centred,
            jax.grad(lambda moving: self._of_mean(eqx.combine(moving, still)))(moving),
        )

    @property
    def noise_floor(self) -> Float[Array, ""]:
        """L_opt = ½E‖E‖_F²."""
        outputs, queries = self.value.shape[0], self.selection.shape[1]
        if isinstance(self.teacher, CollapsedTeacher):
            return 0.5 * outputs * jnp.sum(self.teacher.query_counts) * self.teacher.noise**2
        return 0.5 * outputs * queries * self.teacher.noise**2

    def check(self, student: Student) -> None:
        """Refuses, before any work, a student that this risk cannot be taken of."""
        if not isinstance(student, BilinearStudent):
            raise Refused(
                "The population risk is for students σ(W_V X S) whose attention S does not "
                "depend on the tokens. "
                f"Got {type(student).__name__}; a sampled objective with `held_out` inputs takes "
                "any student."
            )
        if isinstance(student, CollapsedAttention) != isinstance(self.teacher, CollapsedTeacher):
            raise Refused(
                "A collapsed teacher and a collapsed student need each other, since an entry of "
                "one stands for as many tokens as that of "
                f"the other. Got {type(self.teacher).__name__} and {type(student).__name__}."
            )
        # Scores have attention's shape and cost nothing where the codes are orthonormal: ten
        # thousand settings are checked before a sweep.
        scores = student.scores() if isinstance(student, PositionAttention) else student.attention()
        if student.activation != self.teacher.activation:
            raise Refused(
                "Teacher and student must share one activation, since the closed form is for a "
                "shared one. "
                f"Got {self.teacher.activation.name} and {student.activation.name}."
            )
        if student.value.shape != self.value.shape or scores.shape != self.selection.shape:
            raise Refused(
                "The student must have the shapes of its teacher, since the risk pairs their "
                "rows and columns: value "
                f"{self.value.shape}, attention {self.selection.shape}. Got "
                f"{student.value.shape} and {scores.shape}."
            )
        traced = isinstance(scores, jax.core.Tracer) or isinstance(student.value, jax.core.Tracer)
        if self.accuracy is not None and not traced:
            seen = float(
                largest_deviation(
                    self.inputs.whiten_rows(student.value), self._columns(student.attention())
                )
            )
            if seen > self.accuracy.reach:
                raise Refused(
                    "The student's pre-activations must stay within the reach of the "
                    "quadrature, since its error is only "
                    f"known there. Got standard deviation {seen:.3g}, reach "
                    f"{self.accuracy.reach:.3g}; pass "
                    "PopulationRisk(…, largest_std=…)."
                )

    def error_terms(self) -> tuple[ErrorTerm, ...]:
        known = self.accuracy
        return () if known is None else (ErrorTerm("quadrature", known.excess),)

    def compiler_options(self, student: Student, steps: int, backend: str) -> CompilerOptions:
        wide = self._iid_positions and is_wide(student, self.selection)
        if wide:
            return WIDE_COMPILER.get(backend, {})
        brief = steps * self.selection.size <= BRIEF_SCORES and backend == "cpu"
        return SOON if brief else super().compiler_options(student, steps, backend)

    def accuracy_note(self) -> str:
        return "" if self.accuracy is None else self.accuracy.sentence

    def cost_note(self, steps: int) -> str:
        if self.accuracy is None:
            return ""
        pairs, nodes = self.value.shape[0] * self.selection.shape[1], self.accuracy.nodes
        seconds = quadrature.SECONDS_PER_NODE * pairs * nodes**2 * steps
        if seconds < LONG:
            return ""
        return (
            f"{steps:,} steps take about {say_seconds(seconds)} on one core, since each sums over "
            f"{nodes}×{nodes} nodes for each of {pairs:,} outputs and queries; activations with a "
            "closed form (identity, relu, leaky_relu, erf) take far less."
        )

    def stable_rate(self, student: Student) -> float | None:
        r"""The largest step size that plain gradient descent bears near the teacher; None without a
        formula.

        There the Hessian is λ times that of the identity's: λ‖R^½S*‖_F² λ_max(Σ) for W_V, and for
        W_KQ, through the softmax's Jacobian J = diag(s) − ssᵀ, λ·scale²·tr(V*ΣV*ᵀ)·max_i λ_max(J_i
        R J_i) times the codes' largest squared singular values. For K equal weights, iid tokens and
        orthonormal codes it is 2/max(λQ/K, λ‖V*‖²/(DK²)), sharp to 2%. Where S* has no zeros or
        unequal weights the two blocks are coupled, and it is up to 7% too high. A teacher outside
        the class is never reached: None.
        """
        activation = self.teacher.activation
        if (
            not isinstance(activation, Identity | LeakyReLU)
            or not isinstance(student, PositionAttention | CollapsedAttention)
            or (isinstance(student, PositionAttention) and student.learned)
            or self.teacher.outside
            or not isinstance(self.inputs, Gaussian)
        ):
            return None  # learned codes grow, and the curvature with them
        lam = 1.0 if isinstance(activation, Identity) else 0.5 * (1 + activation.slope**2)
        features = (
            1.0
            if self.inputs.feature_root is None
            else float(jnp.linalg.norm(self.inputs.feature_root, 2)) ** 2
        )
        queries = counts_of(self.teacher)[1]
        weights = float(jnp.sum(queries * jnp.sum(self.selection**2, axis=0))) * features
        codes = 1.0
        if student.key_codes is not None:
            asked = student.key_codes if student.query_codes is None else student.query_codes
            codes = float(jnp.linalg.norm(student.key_codes, 2) * jnp.linalg.norm(asked, 2)) ** 2
        sharpest = max(float(np.linalg.norm(jacobian, 2)) ** 2 for jacobian in self._jacobians())
        scores = (
            float(student.attention_scale) ** 2 * codes * float(jnp.sum(self.value**2)) * sharpest
        )
        return 2.0 / (lam * max(weights, scores))

    def _jacobians(self) -> Iterator[Float[np.ndarray, "n n"]]:
        """R^½J of the softmax at every distinct column of S*; a collapsed one moves only along its
        classes, diag(s) − (√n s)(√n s)ᵀ.
        """
        weights = np.asarray(self.teacher.selection)
        if isinstance(self.teacher, CollapsedTeacher):
            for column, seen in zip(weights.T, np.asarray(self.selection).T, strict=True):
                yield np.diag(column) - np.outer(seen, seen)
        elif self._iid_positions:  # zeros do not move, and the order of the others does not matter
            for packed in {np.sort(column[column > 0]).tobytes() for column in weights.T}:
                column = np.frombuffer(packed, weights.dtype)
                yield np.diag(column) - np.outer(column, column)
        else:
            for column in np.unique(weights, axis=1).T:
                yield np.asarray(
                    self.inputs.whiten_columns(
                        jnp.asarray(np.diag(column) - np.outer(column, column))
                    )
                )

    def _form(self) -> Form:
        activation = self.teacher.activation
        if isinstance(activation, Identity):
            return IDENTITY
        if isinstance(activation, LeakyReLU):
            return leaky(activation.slope)
        if isinstance(activation, Erf):
            return ERF
        assert self.accuracy is not None
        return quadrature.form(activation, self.accuracy.nodes)


def largest_deviation(rows: Float[Array, "M d"], columns: Float[Array, "D Q"]) -> Float[Array, ""]:
    """The largest standard deviation of wᵀXs over rows and columns, for iid tokens."""
    return jnp.linalg.norm(rows, axis=1).max() * jnp.linalg.norm(columns, axis=0).max()
