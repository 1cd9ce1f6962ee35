"""The parts of this paper's own: what its programs take of memory, as a calculation."""

from __future__ import annotations

from typing import Annotated

from tutelage.problem.options import Matrix, Option
from tutelage.problem.registry import register


@register(
    "calculation",
    "memory_of_programs",
    label="memory of training and inference",
    sentence="Bytes that a student's programs take, as planned and as really resident.",
    slow=True,
)
def _memory_of_programs(
    *,
    training_lags: Annotated[Matrix, Option("lags of training", hidden=True)],
    inference_lags: Annotated[Matrix, Option("lags of inference", hidden=True)],
) -> object:
    """The windows of one gradient are the samples of the objective."""
    from tutelage.papers.shallow_transformers.parts.memory import MemoryOfPrograms

    return MemoryOfPrograms(training_lags, inference_lags)
