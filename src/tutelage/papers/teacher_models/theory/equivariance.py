r"""What a layer without position codes can do at best: the least excess of any
permutation-equivariant predictor.

Attention that sees its tokens alone commutes with permutations: f(XΠ) = f(X)Π. For iid tokens the
best such predictor is the average of the teacher over all D! orders, f̄(X) = mean_Π f*(XΠ)Πᵀ, since
averaging is the orthogonal projection onto the equivariant functions. For f* = V*XS* it is V*XS̄
with S̄ = mean_Π ΠS*Πᵀ, which has one value on its diagonal and one off it. Nothing here sees a run.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.settings import Part, Setting
from tutelage.teachers.base import BilinearClass


def symmetrised(selection: Float[np.ndarray, "D D"]) -> Float[np.ndarray, "D D"]:
    """S̄: the mean of the diagonal on it, the mean of the rest off it."""
    tokens = len(selection)
    diagonal = np.trace(selection) / tokens
    rest = (selection.sum() - np.trace(selection)) / (tokens * (tokens - 1))
    return rest + (diagonal - rest) * np.eye(tokens)


def floor(setting: Setting) -> float:
    """½‖V*‖²‖S* − S̄‖_F²: no permutation-equivariant predictor has a smaller excess."""
    teacher = _linear_teacher(setting)
    selection = np.asarray(teacher.selection)
    return 0.5 * float(
        np.sum(np.asarray(teacher.value) ** 2) * np.sum((selection - symmetrised(selection)) ** 2)
    )


def silence(setting: Setting) -> float:
    """½‖V*‖²‖S*‖_F²: the excess of predicting zero, beside which others are measured."""
    teacher = _linear_teacher(setting)
    return 0.5 * float(
        np.sum(np.asarray(teacher.value) ** 2) * np.sum(np.asarray(teacher.selection) ** 2)
    )


def _linear_teacher(setting: Setting) -> BilinearClass:
    teacher = build_bilinear(setting)
    tokens, queries = teacher.selection.shape
    if (
        teacher.activation.name != "identity"
        or setting.inputs != Part("gaussian")
        or tokens != queries
    ):
        raise NoPrediction(
            "These are known for the identity, tokens iid N(0, I) and a query for each token. "
            f"Got activation {teacher.activation.name}, {setting.inputs.name} inputs, {queries} "
            f"queries of {tokens} tokens."
        )
    return teacher
