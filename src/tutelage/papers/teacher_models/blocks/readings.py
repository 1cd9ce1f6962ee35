"""What is read from the runs of `teacher-models/blocks`: how far each block moved, and how far the
excess fell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NotYet
from tutelage.objectives.online import OnlineRisk
from tutelage.objectives.sample import Sample
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.students.content_attention import ContentAttention

Reading = Callable[[Sequence[Run]], list[float]]  # one number per seed
SCORES = ("XX", "XP", "PX", "PP")


def block_norms(setting: Setting, student: ContentAttention) -> dict[str, float]:
    """How far each block has moved from its start: W_V on tokens and on codes, and the four blocks
    of W_KQ (rows: keys).
    """
    value, scores = movement(setting, student)
    dim = setting.teacher.options["dim"]
    parts = {"X": slice(None, dim), "P": slice(dim, None)}
    moved = {f"V{name}": float(np.linalg.norm(value[:, part])) for name, part in parts.items()}
    return moved | {
        pair: float(np.linalg.norm(scores[parts[pair[0]], parts[pair[1]]])) for pair in SCORES
    }


def movement(
    setting: Setting, student: ContentAttention
) -> tuple[Float[np.ndarray, "M e"], Float[np.ndarray, "e e"]]:
    """W_V and W_KQ less what they were at the start."""
    before = build(setting).student
    assert isinstance(before, ContentAttention)
    return (
        np.asarray(student.value - before.value),
        np.asarray(student.score_matrix() - before.score_matrix()),
    )


def mean_attention(
    setting: Setting, student: ContentAttention, count: int = 64
) -> Float[np.ndarray, "D D"]:
    """The layer's attention, averaged over held-out inputs."""
    objective = build(setting).objective
    assert isinstance(objective, OnlineRisk)
    assert isinstance(objective.judge, Sample)
    held = objective.judge.tokens[:count]
    return np.asarray(jax.vmap(lambda x: student.weights(student.embed(x)))(held).mean(0))


def final_excess(run: Run) -> float:
    """The excess at the end: the mean of the last tenth of a decade, since single steps are
    noisy.
    """
    late = run.steps > run.steps[-1] * 10**-0.1
    return float(run.curves["excess_risk"][late].mean())


def runs_of(student: str, runs: Sequence[Run]) -> list[tuple[Setting, Run]]:
    """The runs of one student, each with its setting."""
    return [
        (run.setting, run)
        for run in runs
        if run.setting is not None and run.setting.student.name == student
    ]


def block_share(block: str, of: str) -> Reading:
    """How far one block moved over how far another did."""

    def read_shares(runs: Sequence[Run]) -> list[float]:
        found = [
            block_norms(setting, _learned(run).student)
            for setting, run in runs_of("content_attention", runs)
        ]
        return [norms[block] / norms[of] for norms in found]

    return read_shares


def largest_share(runs: Sequence[Run]) -> list[float]:
    """Of the three other blocks of W_KQ, the one that moved farthest, over the one that must."""
    others = (block_share(block, "PP")(runs) for block in ("XX", "XP", "PX"))
    return [max(three) for three in zip(*others, strict=True)]


def excess_ratio(runs: Sequence[Run]) -> list[float]:
    """The full layer's final excess over that of the position-only student of the same seed."""
    position = {setting.seed: run for setting, run in runs_of("position_attention", runs)}
    return [
        final_excess(run) / final_excess(_learned(position[setting.seed]))
        for setting, run in runs_of("content_attention", runs)
    ]


def moved_by_batch(block: str) -> Callable[[Sequence[Run]], list[tuple[float, float, int]]]:
    """(N, how far the block moved, seed)."""
    return lambda runs: [
        (
            float(setting.objective.options["batch"]),
            block_norms(setting, run.student)[block],
            setting.seed,
        )
        for setting, run in runs_of("content_attention", runs)
    ]


def _learned(run: Run) -> Run:
    """A run that has left its plateau for good: where the blocks stand before that says nothing of
    where they end.
    """
    if final_excess(run) > 0.2 * run.curves["excess_risk"][0]:
        raise NotYet(
            f"Too short to tell: the excess at step {run.steps[-1]:,} is still more than a fifth "
            "of its start."
        )
    return run
