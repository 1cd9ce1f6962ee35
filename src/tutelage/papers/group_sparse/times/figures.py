"""The figures of `group-sparse/times`: the waits over D, and what steps of a fixed size do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.group_sparse.readings import number_of, setting_of
from tutelage.papers.group_sparse.theory import laws
from tutelage.studies.study import Answered

CAPTIONS = {
    "waits": (
        "Left: the time to a risk of 0.003 over c₀²/(3D²ε³), with sine codes and, "
        "still on its plateau, with unit codes. Right: the attention that is missed at t = D³; "
        "black, the laws with powers −4/3 and −7/3."
    ),
    "steps": (
        "The gap C along plain descent with sine codes, with steps of a fixed size. With few "
        "groups it grows slowly. With more, α overshoots and attention is thrown off for good. "
        "With many two steps decide, at η²(D+1)²/(8πD)."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figures for which all cases are there."""
    named = {a.case.name: a for a in answered}
    paths = []
    if {"groups", "few-groups", "many-unit", "many-sine"} <= set(named):
        paths += _waits(named, folder)
    if {"large-steps", "published-step", "thrown-off"} <= set(named):
        paths += _steps(named, folder)
    return paths


def _over_groups(a: Answered, name: str) -> tuple[np.ndarray, np.ndarray]:
    groups = [laws.read_groups(setting_of(run)) for run in a.runs]
    return np.array(groups, float), np.array([number_of(run, name) for run in a.runs])


def _waits(named: dict[str, Answered], folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        for number, (name, label) in enumerate({"groups": "sine", "few-groups": "unit"}.items()):
            groups, times = _over_groups(named[name], "time_to_risk")
            target = named[name].case.settings[0].calculation
            assert target is not None
            law = [laws.time_to_risk(int(D), float(target.options["target"])) for D in groups]
            style = {"color": look.COLOURS[number], "marker": "o", "ms": 3.0}
            left.plot(groups, times / law, label=f"{label} codes", **style)
            columns |= {f"{label}: D": groups, f"{label}: time over law": times / law}
        for number, codes in enumerate(("sine", "unit")):
            few = _over_groups(named["groups" if codes == "sine" else "few-groups"], MISSED)
            many = _over_groups(named[f"many-{codes}"], MISSED)
            groups, missed = (np.concatenate(pair) for pair in zip(few, many, strict=True))
            push = [laws.code_square(codes, int(D)) ** 2 for D in groups]
            law = [laws.missed_at(D**3, int(D), beta) for D, beta in zip(groups, push, strict=True)]
            style = {"color": look.COLOURS[number], "marker": "o", "ms": 3.0, "ls": ""}
            right.plot(groups, missed, label=f"{codes} codes", **style)
            right.plot(groups, law, color=look.THEORY, lw=0.7)
            columns |= {f"{codes} cube: D": groups, f"{codes}: 1−s at D³": missed}
        left.set(xscale="log", yscale="log", xlabel="$D$", ylabel="time to ε over its law")
        right.set(xscale="log", yscale="log", xlabel="$D$", ylabel="$1-s$ at $t=D^3$")
        shown = _over_groups(named["groups"], "time_to_risk")[0]
        left.set_xticks(shown, [f"{D:.0f}" for D in shown])
        left.minorticks_off()
        left.legend(loc="upper left")
        right.legend(loc="lower left")
        return look.write(drawn, folder, "waits", columns)


MISSED = "missed_at_cube"


def _steps(named: dict[str, Answered], folder: Path) -> list[Path]:
    shown = [*named["published-step"].runs, *named["thrown-off"].runs, *named["large-steps"].runs]
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.COLUMN, 2.6) as (drawn, axis):
        for number, run in enumerate(shown):
            setting = setting_of(run)
            assert setting.calculation is not None
            rate = float(setting.calculation.options["rate"])
            name = f"η = {rate:g}, D = {laws.read_groups(setting)}"
            style = look.STYLES[0] if rate == 0.5 else "--"
            gap = run.curves["gap"]
            axis.plot(run.steps[1:], gap[1:], ls=style, color=look.COLOURS[number % 6], label=name)
            columns |= {f"{name}: step": run.steps.astype(float), f"{name}: C": gap}
        axis.axhline(0.0, color="0.6", lw=0.6)
        axis.set(xscale="log", xlabel="step", ylabel="gap $C$")
        axis.set_yscale("symlog", linthresh=1.0)
        axis.legend(fontsize=5.5, ncols=2, loc="lower right")
        return look.write(drawn, folder, "steps", columns)
