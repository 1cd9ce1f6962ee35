"""The population risk of a head, over Gaussian tokens, subsets and codes alike."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from tutelage.objectives.base import Objective
from tutelage.papers.token_selection.parts.students import SubsetHead
from tutelage.refuse import Refused
from tutelage.students.base import Student


class SubsetRisk(Objective):
    r"""½ E‖f(X, y) − f*(X, y)‖² with tokens integrated out: $\tfrac12 E\sum_i\|s_iV-u_iI\|_F^2$.

    It is per subset: how many a sequence is asked about does not change it.
    """

    has_gradient: ClassVar[bool] = True

    def __call__(self, student: Student) -> Float[Array, ""]:
        assert isinstance(student, SubsetHead)
        return 0.5 * student.miss()

    def gradient(self, student: Student) -> Student:
        slope: Student = eqx.filter_grad(self)(student)
        return slope

    def check(self, student: Student) -> None:
        if not isinstance(student, SubsetHead):
            raise Refused(
                "The risk of subsets is one of a head that is asked about them. Got "
                f"{type(student).__name__}; 'subset_attention' and 'selection_head' are such."
            )


def chosen_weight(student: SubsetHead, objective: SubsetRisk) -> Float[Array, ""]:
    """The mean attention that the subset gets."""
    return student.chosen_weight()
