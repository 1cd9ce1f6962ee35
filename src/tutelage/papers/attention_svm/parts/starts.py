"""Where a path begins: at the student's own start, or far out along W^mm of a selection."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.calculations.base import Ingredients
from tutelage.papers.attention_svm.parts.sample import Sample, Selection
from tutelage.papers.attention_svm.parts.students import FixedHead, MatrixAttention
from tutelage.papers.attention_svm.parts.teacher import LabelledSequences
from tutelage.papers.attention_svm.theory.programmes import max_margin
from tutelage.refuse import Refused


def read_parts(given: Ingredients) -> tuple[Sample, FixedHead]:
    """The sample of the teacher and the student, of a setting whose parts are this paper's."""
    teacher, student = given.teacher, given.student
    if not isinstance(teacher, LabelledSequences) or not isinstance(student, FixedHead):
        raise Refused(
            "Descent on attention with a fixed head needs the teacher 'labelled_sequences', and "
            "one of the students 'matrix_attention' and 'factored_attention'. Got "
            f"{given.setting.teacher.name!r} and {given.setting.student.name!r}."
        )
    return teacher.sample, student


def check_selection(sample: Sample, given: Float[np.ndarray, "m"]) -> Selection:
    """One token per sequence, as whole numbers."""
    count, tokens = sample.scores.shape
    chosen = np.asarray(given)
    if chosen.shape != (count,) or (chosen % 1 != 0).any() or not _within(chosen, tokens):
        raise Refused(
            f"`selection` must name one of {tokens} tokens for each of {count} sequences, counted "
            f"from 0, since W^mm attends to them. Got {given!r}."
        )
    return chosen.astype(int)


def _within(chosen: Float[np.ndarray, "m"], tokens: int) -> bool:
    return bool(((chosen >= 0) & (chosen < tokens)).all())


def start_at_selection(
    sample: Sample, student: FixedHead, selection: Float[np.ndarray, "m"], length: float
) -> Float[np.ndarray, "d d"]:
    """`length` times W^mm of a selection."""
    if not isinstance(student, MatrixAttention):
        raise Refused(
            "A start at a multiple of W^mm is one of W itself, since its factors are not unique. "
            f"Got the student {type(student).__name__}."
        )
    return length * max_margin(sample, check_selection(sample, selection)).matrix
