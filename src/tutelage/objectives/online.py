"""Online gradient descent: a fresh batch at every step."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.inputs.base import Inputs
from tutelage.numerics.compiling import BARRIERS, SMALL_LOOPS, THREADS
from tutelage.numerics.side_by_side import apart, bilinear_loss
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.objectives.sample import Sample
from tutelage.refuse import whole
from tutelage.students.base import BilinearStudent, Student
from tutelage.teachers.base import Teacher

# Numbers in a batch of inputs and labels, below which splitting operations over threads costs more
# than it saves.
LITTLE = 2**20


class OnlineRisk(Objective):
    r"""½ mean ‖Y − f(X)‖_F² over `batch` inputs drawn anew at every step, with label noise: an
    unbiased draw of the risk.

    `judge` measures the excess without noise: the population risk in closed form, or a held-out
    sample.
    """

    teacher: Teacher
    inputs: Inputs
    judge: Objective
    batch: int = eqx.field(static=True)

    def __init__(self, teacher: Teacher, inputs: Inputs, judge: Objective, *, batch: int) -> None:
        self.teacher, self.inputs, self.judge = teacher, inputs, judge
        self.batch = whole("batch", batch, least=1, reason="a step averages that many inputs")

    stochastic: ClassVar[bool] = True

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.judge(student)

    def draw(self, student: Student, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of one fresh batch, all its inputs side by side."""
        tokens, labels = self.draw_batch(key=key)
        if isinstance(student, BilinearStudent):
            weights = student.value, student.attention()
            return bilinear_loss(student.activation, *weights, tokens, labels)
        return Sample(apart(tokens, self.batch), apart(labels, self.batch))(student)

    def draw_batch(
        self, *, key: Key[Array, ""]
    ) -> tuple[Float[Array, "d nD"], Float[Array, "M nQ"]]:
        """Fresh inputs and their labels, in the precision of the teacher."""
        _, dim, tokens, _ = self.teacher.shape
        kinds = (x.dtype for x in jax.tree.leaves(self.teacher) if eqx.is_inexact_array(x))
        dtype = next(kinds, jnp.dtype(jnp.float64))
        drawn = self.inputs.sample_batch(self.batch, tokens, dim, dtype, key=key)
        return drawn, self.teacher.label_batch(drawn, self.batch, key=key)

    def compiler_options(self, student: Student, steps: int, backend: str) -> CompilerOptions:
        """Barriers are kept for the sake of the draws. A batch of single numbers that is counted in
        words of 64 bits is half as fast in vectors of the usual 256; where a processor has none of
        512, XLA takes what there is.
        """
        if backend != "cpu":
            return {}
        outputs, dim, tokens, queries = self.teacher.shape
        little = self.batch * (dim * tokens + outputs * queries) < LITTLE
        left_out = (*BARRIERS, SMALL_LOOPS, *((THREADS,) if little else ()))
        return {
            "xla_disable_hlo_passes": ",".join(left_out),
            "xla_cpu_prefer_vector_width": 512,
        }

    def excess(self, student: Student) -> Float[Array, ""]:
        return self.judge.excess(student)

    def check(self, student: Student) -> None:
        self.judge.check(student)

    def stable_rate(self, student: Student) -> float | None:
        return self.judge.stable_rate(student)
