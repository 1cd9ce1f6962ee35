"""One function per figure."""

from collections.abc import Sequence
from pathlib import Path

from tutelage.figures import look
from tutelage.studies.study import Answered

from .. import theory


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Each curve over steps of its own: a run that diverges or reaches zero ends early."""
    first = answered[0]
    steps = first.runs[0].steps
    curves = {"theory": (steps, theory.excess(first.case.settings[0], steps))}
    for each in answered:
        curves[each.case.label] = (each.runs[0].steps, each.runs[0].curves["excess_risk"])
    columns: dict[str, list[float]] = {}
    with look.figure(look.COLUMN, 2.4) as (drawn, axis):
        for label, (steps, curve) in curves.items():
            axis.plot(steps, curve, ls=":" if label == "theory" else "-", label=label)
            columns |= {f"step of {label}": steps.tolist(), label: curve.tolist()}
        axis.set(yscale="log", xlabel="step $T$", ylabel="excess risk")
        axis.legend()
        return look.write(drawn, folder, "excess", columns)
