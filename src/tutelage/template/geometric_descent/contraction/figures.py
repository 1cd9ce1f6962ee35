"""One function per figure."""

from collections.abc import Sequence
from pathlib import Path

from tutelage.figures import look
from tutelage.studies.study import Answered

from .. import theory


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    setting, steps = answered[0].case.settings[0], answered[0].runs[0].steps
    columns = {"step": steps, "theory": theory.excess(setting, steps)}
    columns |= {each.case.label: each.runs[0].curves["excess_risk"] for each in answered}
    with look.figure(look.COLUMN, 2.4) as (drawn, axis):
        for label, curve in list(columns.items())[1:]:
            axis.plot(steps, curve, ls=":" if label == "theory" else "-", label=label)
        axis.set(yscale="log", xlabel="step $T$", ylabel="excess risk")
        axis.legend()
        return look.write(drawn, folder, "excess", {k: v.tolist() for k, v in columns.items()})
