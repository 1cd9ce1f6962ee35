"""The figures of `teacher-models/phases`: the two scalars and the three phases, the elementary
curve, the plateau, stable steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.phases.plateau import SWEEPS, TIMES, crossing
from tutelage.papers.teacher_models.phases.stability import ABOVE, BELOW, LAM
from tutelage.papers.teacher_models.sweeps import Sweep, read_along
from tutelage.papers.teacher_models.theory import recursion, slow_manifold
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "phases": "C₁, the score gap and Kp of gradient descent, against the exact recursion.",
    "closed-form": "Left: excess risk beside the elementary curve. Right: how far apart they are.",
    "plateau": (
        "Length of the plateau: measured (circles), by the exact recursion, by the formula of "
        "the slow manifold, and the printed T*."
    ),
    "stability": (
        "Excess risk at steps below and above the largest stable one, and the sharpness over 2/η."
    ),
}

# The first two of these that were run.
SHOWN = ("token-selection", "cnn-relu", "group-sparse", "gcn-relu", "cnn-leaky", "gcn-leaky")
SHADES = ("#DCE9F2", "#FBEBD0", "#DDF0E8")


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    by_name = {a.case.name: a for a in answered}
    paths: list[Path] = []
    main = [by_name[name] for name in SHOWN if name in by_name][:2]
    if main:
        paths += _phases(main, folder)
    if "closed-form" in by_name:
        paths += _closed_form(by_name["closed-form"], folder)
    if any(sweep.name in by_name for sweep in SWEEPS):
        paths += _plateau(by_name, folder)
    if any(name.startswith(("values-", "scores-")) for name in by_name):
        paths += _stability(by_name, folder)
    return paths


def _phases(main: Sequence[Answered], folder: Path) -> list[Path]:
    """The three phases of a run: C₁ rises, then p, then p tends to 1/K. Gradient descent (circles)
    against the recursion of two numbers.
    """
    columns: dict[str, look.Column] = {}
    curves = {"value_scale": "$C_1$", "score_gap": "$C_2+C_3$", "support_mass": "$Kp$"}
    with look.figure(look.PAGE, 4.6, nrows=3, ncols=len(main), squeeze=False, sharex="col") as (
        drawn,
        axes,
    ):
        for column, a in zip(axes.T, main, strict=True):
            run = a.runs[0]
            assert run.setting is not None
            steps = run.steps[1:]
            predicted = recursion.along(run.setting, run.steps)
            times = recursion.times(run.setting)
            for axis, (curve, label) in zip(column, curves.items(), strict=True):
                edges = (1.0, times.settled, times.attention, float(steps[-1]))
                for shade, left, right in zip(SHADES, edges[:-1], edges[1:], strict=True):
                    axis.axvspan(left, right, color=shade, lw=0)
                measured = run.curves[curve].reshape(len(run.steps), -1).mean(1)[1:]
                axis.plot(steps, predicted[curve][1:], color=look.THEORY, lw=0.9, label="recursion")
                axis.plot(
                    steps[::2],
                    measured[::2],
                    ls="",
                    marker="o",
                    ms=2.2,
                    color=look.COLOURS[0],
                    label="gradient descent",
                )
                axis.set(xscale="log", xlim=(1, steps[-1]), ylabel=label)
                columns |= {
                    f"{a.case.label}: step": steps,
                    f"{a.case.label}: {curve}, measured": measured,
                    f"{a.case.label}: {curve}, recursion": predicted[curve][1:],
                }
            column[0].plot(
                steps,
                predicted["best_scale"][1:],
                color=look.COLOURS[4],
                ls=":",
                lw=1.2,
                label="best $C_1$ at this $p$",
            )
            column[0].set_ylim(0, 1.25 * float(predicted["value_scale"].max()))
            column[2].axhline(0.5, color=look.THEORY, lw=0.5, ls="--")
            for text, left, right in zip(
                ("$C_1$ rises", "$p$ rises", r"$p\to 1/K$"), edges[:-1], edges[1:], strict=True
            ):
                middle = float(np.sqrt(left * right))
                column[0].text(
                    middle,
                    0.96,
                    text,
                    ha="center",
                    va="top",
                    fontsize=7,
                    transform=column[0].get_xaxis_transform(),
                )
            column[0].set_title(a.case.label)
            column[2].set_xlabel("step $T$")
        drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return look.write(drawn, folder, "phases", columns)


def _closed_form(a: Answered, folder: Path) -> list[Path]:
    """The excess risk of the identity against the elementary curve, which has no fit, and how far
    it departs from it.
    """
    run = a.runs[0]
    assert run.setting is not None
    steps, excess = run.steps[1:], run.curves["excess_risk"][1:]
    curve = slow_manifold.excess_curve(run.setting, steps)
    half, attention = (
        slow_manifold.halving_time(run.setting),
        slow_manifold.attention_time(run.setting),
    )
    with look.figure(look.PAGE, 2.5, ncols=2) as (drawn, (left, right)):
        left.plot(steps, curve, color=look.THEORY, lw=0.9, label="elementary curve, no fit")
        left.plot(
            steps[::2],
            excess[::2],
            ls="",
            marker="o",
            ms=2.2,
            color=look.COLOURS[0],
            label="gradient descent",
        )
        left.plot(
            steps[-30:],
            theory.counting_law(run.setting) / (run.setting.rate * steps[-30:]),
            color=look.COLOURS[4],
            ls="--",
            label="counting law",
        )
        for time, text in ((half, "halved"), (attention, "$Kp=½$")):
            left.axvline(time, color=look.THEORY, lw=0.5, ls=":")
            left.text(
                time * (0.9 if time == half else 1.1),
                excess.min(),
                text,
                fontsize=7,
                ha="right" if time == half else "left",
            )
        left.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess risk",
            title="identity, $D=36$, $K=4$, $\\|V^*\\|=3$",
        )
        left.legend(loc="lower left", bbox_to_anchor=(0.0, 0.12))
        right.plot(steps, np.abs(excess / curve - 1), color=look.COLOURS[0])
        right.axhline(0.01, color=look.THEORY, lw=0.7)
        right.text(
            0.98,
            0.011,
            "tolerance of the claim",
            ha="right",
            va="bottom",
            fontsize=7,
            transform=right.get_yaxis_transform(),
        )
        start = slow_manifold.settling(run.setting)
        right.axvline(start, color=look.THEORY, lw=0.5, ls=":")
        right.text(1.1 * start, 0.15, "judged from here on", fontsize=7, va="top")
        right.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="|excess / curve − 1|",
            ylim=(1e-5, 0.2),
            title="departure",
        )
        columns: dict[str, look.Column] = {
            "step": steps,
            "excess": excess,
            "elementary curve": curve,
        }
        return look.write(drawn, folder, "closed-form", columns)


def _plateau(by_name: Mapping[str, Answered], folder: Path) -> list[Path]:
    """The steps at which the excess has halved and K p = ½, against D, K, ‖V*‖ and η: measured
    (circles), by the recursion, by the formula of the slow manifold, and the printed T*.
    """
    shown = [(sweep, by_name[sweep.name]) for sweep in SWEEPS if sweep.name in by_name]
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 2.5, ncols=len(shown), squeeze=False) as (drawn, (axes,)):
        for axis, (sweep, a) in zip(axes, shown, strict=True):
            columns |= _draw_sweep(axis, sweep, a)
        axes[0].set_ylabel("steps")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return look.write(drawn, folder, "plateau", columns)


def _draw_sweep(axis: Axes, sweep: Sweep, a: Answered) -> dict[str, look.Column]:
    settings = {sweep.axis(setting): setting for setting in a.case.settings}
    x = np.array(sorted(settings))
    columns: dict[str, look.Column] = {}
    for i, (name, time) in enumerate(TIMES.items()):
        points = read_along(sweep.axis, partial(crossing, name=name))(a.runs)
        places, steps = [point[0] for point in points], [point[1] for point in points]
        exact = np.array([time.by_recursion(settings[place]) for place in x])
        formula = np.array([time.by_formula(settings[place]) for place in x])
        colour = look.COLOURS[i]
        axis.plot(x, exact, color=colour, label=f"recursion: {time.label}")
        axis.plot(
            x, formula, color=colour, ls=":", lw=2.4, alpha=0.5, label=f"formula: {time.label}"
        )
        axis.plot(places, steps, ls="", marker="o", ms=3.5, mfc="none", color=look.THEORY)
        columns |= {
            f"{sweep.name}: x": places,
            f"{sweep.name}: {name}, measured": steps,
            f"{sweep.name}: theory's x": x,
            f"{sweep.name}: {name}, recursion": exact,
            f"{sweep.name}: {name}, formula": formula,
        }
    printed = [theory.printed_plateau(settings[place]) for place in x]
    axis.plot(x, printed, color=look.COLOURS[4], ls="--", label=r"$KD^2/(\eta\|V^*\|^2)$")
    axis.plot([], [], ls="", marker="o", ms=3.5, mfc="none", color=look.THEORY, label="measured")
    axis.set(xscale="log", yscale="log", xlabel=sweep.axis_label)
    axis.set_xticks(x, [f"{place:g}" for place in x])
    axis.minorticks_off()
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.tick_params(labelsize=6)
    return columns


def _stability(by_name: Mapping[str, Answered], folder: Path) -> list[Path]:
    """The excess risk below and above the two limits of the step size, and the sharpness along W_V,
    which waits at 2/η above the first.
    """
    titles = {
        "values": r"limit of $W_V$, zero start",
        "scores": "limit of the scores, perturbed start",
    }
    factors = (*BELOW, *ABOVE)
    columns: dict[str, look.Column] = {}

    def line(axis: Axes, i: int, run: Run, y: Float[np.ndarray, "points"], label: str) -> None:
        axis.plot(
            run.steps[1:], y[1:], color=look.COLOURS[i], ls=look.STYLES[i], lw=1.0, label=label
        )

    with look.figure(look.PAGE, 2.6, ncols=3) as (drawn, axes):
        for axis, kind in zip(axes, titles, strict=False):
            for i, factor in enumerate(factors):
                if (a := by_name.get(f"{kind}-{factor:g}")) is not None:
                    run = a.runs[0]
                    line(axis, i, run, run.curves["excess_risk"], rf"{factor:g} $\times$ limit")
                    columns |= {
                        f"{kind} {factor:g}: step": run.steps,
                        f"{kind} {factor:g}: excess": run.curves["excess_risk"],
                    }
            if kind == "scores" and (a := by_name.get(f"symmetric-{ABOVE[-1]:g}")) is not None:
                run = a.runs[0]
                axis.plot(
                    run.steps[1:],
                    run.curves["excess_risk"][1:],
                    color=look.THEORY,
                    lw=0.8,
                    label=f"{ABOVE[-1]:g}, zero start",
                )
                axis.legend(handles=axis.get_lines()[-1:], loc="lower left")
                columns |= {
                    "zero start: step": run.steps,
                    "zero start: excess": run.curves["excess_risk"],
                }
            axis.set(
                xscale="log",
                yscale="log",
                xlabel="step $T$",
                ylabel="excess risk",
                title=titles[kind],
            )
        for i, factor in enumerate(factors):
            if (a := by_name.get(f"values-{factor:g}")) is not None:
                run = a.runs[0]
                sharpness = (run.rate or 0.0) * LAM / 2 * run.curves["attention_square"]
                line(axes[2], i, run, sharpness, rf"{factor:g} $\times$ limit")
                columns[f"values {factor:g}: sharpness"] = sharpness
        axes[2].axhline(1.0, color=look.THEORY, lw=0.7)
        axes[2].set(
            xscale="log",
            xlabel="step $T$",
            ylabel=r"$\eta\lambda\|S\|_F^2/2$",
            title="sharpness over $2/\\eta$",
            ylim=(0.3, 1.3),
        )
        axes[2].yaxis.set_minor_formatter(NullFormatter())
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
        return look.write(drawn, folder, "stability", columns)
