"""The figures of `teacher-models/ood`: Fig. 2b under three label laws, every input law's constant,
the noisy batch and the invariance.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from tutelage.claims import Constant
from tutelage.claims.claim import value_at
from tutelage.figures import look
from tutelage.papers.teacher_models.setup import RUNS
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "ood-labels": (
        "Excess on exponential inputs: the teacher's own labels (slope −1), labels that lean "
        "on the limit error, and their reverse (slope −½)."
    ),
    "ood-laws": (
        "The constant of the excess under the teacher's labels, over its prediction, for "
        "every law of inputs."
    ),
    "ood-noise-and-invariance": (
        "Left: excess on one batch with weak and with strong label noise. Right: how much the "
        "student's output changes when tokens are exchanged."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    paths: list[Path] = []
    if six := [named[name] for name in RUNS if name in named]:
        paths += _labels(six, folder)
    if any("@" in name for name in named):
        judged = [a for a in answered if any(c.id == "own-constant" for c in a.case.claims)]
        paths += _laws(judged, folder)
    if {"weak-noise", "strong-noise", "inside", "inside-16", "across"} <= set(named):
        paths += _noise_and_invariance(named, folder)
    return paths


def _seen(runs: Sequence[Run], curve: str) -> tuple[look.Line, Float[np.ndarray, "seeds points"]]:
    """Steps and one row per seed, where the curve was looked at and is positive."""
    shortest = min(len(run.steps) for run in runs)
    values = np.stack([run.curves[curve][:shortest] for run in runs])
    seen = (values > 0).all(0)
    return runs[0].steps[:shortest][seen], values[:, seen]


def _labels(six: Sequence[Answered], folder: Path) -> list[Path]:
    """Fig. 2b under three label laws, exponential inputs: the teacher's own labels (slope −1),
    labels that lean on the limit error, and the same with their sign reversed (slope −½).
    """
    columns: dict[str, look.Column] = {}
    shown = (
        ("own_labels", "own-constant", -1.0, "teacher's labels"),
        ("leaning_labels", "leaning-constant", -0.5, r"labels $f^*-V^*\tilde XO$"),
        ("reversed_labels", "leaning-constant", -0.5, r"labels $f^*+V^*\tilde XO$: gain"),
    )
    with look.figure(look.PAGE, 2.7, ncols=3) as (drawn, axes):
        for axis, (curve, constant, exponent, title) in zip(axes, shown, strict=True):
            for i, a in enumerate(six):
                # One seed: its V* enters the constant under inputs that are not centred, so a mean
                # over seeds has no one prediction.
                steps, (values,) = _seen(a.runs[:1], curve)
                label = a.case.label.removesuffix(", exponential inputs")
                axis.plot(steps, values, color=look.COLOURS[i], ls=look.STYLES[i], label=label)
                claim, _ = a.find(constant)
                assert isinstance(claim, Constant)
                limit = value_at(claim.value, a.runs[0])
                tail, rate = steps[len(steps) // 2 :], a.case.settings[0].rate
                theory = limit * (rate * tail) ** exponent
                axis.plot(tail, theory, color=look.THEORY, lw=0.7, zorder=5)
                columns |= {f"{title}, {label}: step": steps, f"{title}, {label}: excess": values}
            axis.set(xscale="log", yscale="log", xlabel="step $T$", title=title)
        axes[0].plot([], [], color=look.THEORY, lw=0.7, label="predicted limit")
        axes[0].set_ylabel("excess, exponential inputs, seed 0")
        axes[2].set_ylabel("teacher's loss − student's")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return look.write(drawn, folder, "ood-labels", columns)


def _laws(cases: Sequence[Answered], folder: Path) -> list[Path]:
    """The constant of the excess under the teacher's labels over its prediction, for every law of
    foreign inputs.
    """
    found = [(a.case.label, a.find("own-constant")[1]) for a in cases]
    rows = [
        (label, v.measured / v.predicted, *(np.array(v.interval) / v.predicted))
        for label, v in found
        if v.measured and v.predicted and v.interval
    ]
    with look.figure(look.PAGE, 0.7 + 0.17 * len(rows)) as (drawn, axis):
        axis.axvspan(0.97, 1.03, color="0.9", lw=0)
        axis.axvline(1.0, color=look.THEORY, lw=0.7)
        for i, (_, measured, low, high) in enumerate(rows):
            axis.plot([low, high], [i, i], color=look.COLOURS[0])
            axis.plot(measured, i, marker="o", ms=4, color=look.COLOURS[0])
        axis.set_yticks(range(len(rows)), [row[0] for row in rows])
        axis.invert_yaxis()
        axis.set(
            xlabel=r"excess$\,\cdot\,\eta T$, measured over predicted (grey: ±3%)",
            title="Teacher's labels on foreign inputs",
        )
        names = ("case", "ratio", "low", "high")
        return look.write(
            drawn,
            folder,
            "ood-laws",
            {name: [row[k] for row in rows] for k, name in enumerate(names)},
        )


def _noise_and_invariance(named: dict[str, Answered], folder: Path) -> list[Path]:
    """The excess on one batch with weak and with strong label noise, and how much the student's
    output changes when tokens are exchanged.
    """
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        for i, (name, exponent) in enumerate((("weak-noise", -1.0), ("strong-noise", -0.5))):
            a = named[name]
            steps, seeds = _seen(a.runs, "noisy_batch")
            values, _, _ = look.band(
                left, steps, seeds, i, middle=look.geometric, label=a.case.label
            )
            limit = a.find("constant")[1].predicted
            if limit is not None:
                left.plot(
                    steps,
                    limit * (a.case.settings[0].rate * steps) ** exponent,
                    color=look.THEORY,
                    lw=0.7,
                )
            columns |= {f"{name}: step": steps, f"{name}: rms excess": values}
        left.plot([], [], color=look.THEORY, lw=0.7, label="predicted")
        left.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess, rms over draws",
            title="One batch of 100 with label noise",
        )
        left.legend()
        for i, name in enumerate(("inside", "inside-16", "across")):
            a = named[name]
            steps, seeds = _seen(a.runs, "permuted_change")
            values, _, _ = look.band(
                right, steps, seeds, i, middle=look.geometric, label=a.case.label
            )
            if name != "across":
                slope = a.verdicts[0].predicted or 0.0
                right.plot(
                    steps, values[-1] * (steps / steps[-1]) ** slope, color=look.THEORY, lw=0.7
                )
            columns |= {f"{name}: step": steps, f"{name}: change": values}
        right.plot([], [], color=look.THEORY, lw=0.7, label=r"slope $-1-2K/D$")
        right.set(xscale="log", yscale="log", xlabel="step $T$", title="Exchanging tokens")
        right.set_ylabel(r"$E\|TF(X\Pi)-TF(X)\|^2\,/\,E\|TF\|^2$")
        right.legend(loc="upper right", bbox_to_anchor=(1.0, 0.92))
        return look.write(drawn, folder, "ood-noise-and-invariance", columns)
