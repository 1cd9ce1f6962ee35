"""The measures of approximation on nested samples again, in plain NumPy from their definitions."""

from __future__ import annotations

import numpy as np
from heads_twin import directions, linearised


def sups(student, objective):
    """The linearised student at the transported parameters c + v_c/√m, U + c v_u/√m, W + c v_w/√m,
    against the labels.
    """
    start, teacher = student.start, objective.teacher
    v_w, v_u, v_c = directions(start, teacher.anchors, teacher.weights, np.asarray(teacher.radii))
    W, U, c = (np.asarray(p) for p in (start.attention, start.reading, start.output))
    root = np.sqrt(len(c))
    there = type(start)(
        W + c[:, None, None] * v_w / root, U + c[:, None] * v_u / root, c + v_c / root
    )
    gaps = [
        abs(linearised(there, start, X, X[:, -1]) - y)
        for X, y in zip(np.asarray(objective.tokens), np.asarray(objective.labels), strict=True)
    ]
    sizes = [n for n in (10, 18, 32, 56, 100) if n < len(gaps)] + [len(gaps)]
    return [max(gaps[:n]) for n in sizes]


MEASURES = {
    "approximation_sups": sups,
    "label_error_sup": lambda student, objective: max(np.asarray(objective.errors)),
}
