"""What the replicates of a case vary: the runs of settings that are equal but for their seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np

from tutelage.problem.build import build_student, build_teacher
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Setting

EXACT = ("population",)  # objectives in which nothing is drawn
ALIKE = 1e-6  # relative difference of all curves below which runs are one run to rounding


def describe_replicates(runs: Sequence[Run]) -> str:
    """What differs between runs whose settings differ in the seed alone, in words; "" where there
    are no two such runs.
    """
    groups: dict[Setting, list[Run]] = {}
    for run in runs:
        if run.setting is not None and run.complete:
            groups.setdefault(replace(run.setting, seed=0), []).append(run)
    pairs = [found for found in groups.values() if len({r.setting for r in found}) > 1]
    if not pairs:
        return ""
    words = _find_differences(pairs[0][0], pairs[0][1])
    if not words:
        return "nothing but the seed"
    said = " and ".join([", ".join(words[:-1]), words[-1]] if words[:-1] else words)
    if all(_agree(found) for found in pairs):
        return f"{said}, which changes no curve by more than {ALIKE:g}: one run to rounding"
    return said


def _find_differences(first: Run, second: Run) -> list[str]:
    assert first.setting is not None
    assert second.setting is not None
    a, b = first.setting, second.setting
    if a.calculation is not None:
        return ["what is drawn"]
    words = []
    try:
        if not _equal(build_teacher(a), build_teacher(b)):
            words.append("the teacher")
        if not _equal(build_student(a), build_student(b)):
            words.append("the start")
    except Refused:  # a part that goes on from another run
        return ["the seed"]
    if a.objective.name not in EXACT:
        words.append("the data")
    return words


def _equal(first: object, second: object) -> bool:
    """Whether two of a kind hold the same numbers."""
    pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def _agree(runs: Sequence[Run]) -> bool:
    """Whether all that some runs are judged by is the same to rounding: what a calculation found,
    and the curves of a training run that are numbers. (Its arrays may turn with the teacher.)
    """
    first, *rest = runs
    assert first.setting is not None
    whole = first.setting.calculation is not None
    compared = {name: curve for name, curve in first.curves.items() if whole or curve.ndim == 1}
    return bool(compared) and all(
        name in run.curves
        and run.curves[name].shape == curve.shape
        and np.allclose(run.curves[name], curve, rtol=ALIKE, atol=0, equal_nan=True)
        for run in rest
        for name, curve in compared.items()
    )
