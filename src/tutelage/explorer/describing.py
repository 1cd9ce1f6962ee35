"""What is known of a setting before it runs: theory, hypotheses, the teacher's pattern, and code
that makes the same run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tutelage.explorer.code import command_of, python_of
from tutelage.explorer.measuring import numbers
from tutelage.explorer.reading import Event, Json, plain_lines, plain_phases
from tutelage.explorer.states import State, query_of
from tutelage.explorer.stream import Known, tell_about
from tutelage.studies.machine import Block, Matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.problem.build import Problem
    from tutelage.settings import Setting

SECONDS_WORTH_SAYING = 5.0  # of all steps of a run, before they begin
SECONDS_PER_NODE = 2e-8  # of a quadrature: 40 ms per step for 81² nodes and 8×36 outputs


def describe(
    state: State,
    known: Known,
    store: str = "out",
    before: Callable[[str], None] = lambda kind: None,
    longest: float = math.inf,
) -> Event:
    """JSON-ready; refused where the setting is. `before` is that of `checked`, and `longest` the
    seconds that a run may take here.
    """
    from tutelage.report.mathematics import render_mathml, split_lines
    from tutelage.running.execute import checked
    from tutelage.studies.record import describe_setting

    setting = state.setting
    problem = checked(setting, before=before)
    reading = state.placed.page.reading(setting)
    return {
        "ok": True,
        "setting": setting.plain(),
        "summary": describe_setting(setting),
        "theorem": [render_mathml(line) for line in split_lines(state.placed.page.theorem)],
        "identity": setting.identity(),
        "known": known.shape(setting, problem) in known,
        "predicted": plain_lines(reading.predicted()),
        "phases": plain_phases(reading.phases(None)),
        "hypotheses": [
            {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail}
            for h in reading.hypotheses()
        ],
        "sentence": reading.sentence,
        "about": tell_about(setting, reading, problem.objective.error_terms()),
        "cost": describe_cost(setting, problem, longest),
        "machine": [plain_block(block) for block in state.placed.page.machine(setting, problem)],
        "python": python_of(setting, state.placed),
        "command": command_of(setting, store),
        "query": query_of(setting),
    }


def describe_cost(setting: Setting, problem: Problem, longest: float) -> str:
    """What a run takes before it starts, where that is long; "" where it is not.

    A smooth activation needs quadrature: each step takes a square grid of nodes for every output
    and query.
    """
    from tutelage.objectives.population import PopulationRisk

    accuracy = problem.objective.accuracy if isinstance(problem.objective, PopulationRisk) else None
    if accuracy is None:
        return ""
    outputs, _, _, queries = problem.teacher.shape
    each = SECONDS_PER_NODE * outputs * queries * accuracy.nodes**2
    seconds = each * setting.steps
    if seconds < SECONDS_WORTH_SAYING:
        return ""
    ends = (
        f" A run ends here after {longest:g} s, at about step {longest / each:,.0f}; as Python it "
        "has no limit."
        if seconds > longest
        else ""
    )
    return (
        f"This activation needs quadrature: about {1000 * each:,.0f} ms per step on one core, so "
        f"that {setting.steps:,} steps take some {_describe_seconds(seconds)}.{ends} Fewer steps, "
        "outputs or tokens take less. Press Run to start."
    )


def _describe_seconds(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def plain_block(block: Block) -> dict[str, Json]:
    """A block of the machine, JSON-ready."""
    return {
        "role": block.role,
        "symbol": block.symbol,
        "name": block.name,
        "says": block.says,
        "shape": list(block.shape),
        "shared": _plain_matrix(block.shared),
        "teacher": _plain_matrix(block.teacher),
        "curve": block.curve,
        "signed": block.signed,
        "bend": None if block.bend is None else [numbers(each) for each in block.bend],
    }


def _plain_matrix(matrix: Matrix | None) -> Json:
    return None if matrix is None else [numbers(row) for row in np.asarray(matrix)]
