"""What the web page shows of the paper: one page, with the prediction drawn over the run."""

from tutelage.numerics.grids import log_spaced
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Page, Reading

from . import theory


class Theorem(Reading):
    def __init__(self, setting: Setting) -> None:
        steps = log_spaced(setting.steps)
        values = theory.excess(setting, steps)
        self.line = Line("excess_risk", "predicted", "Theorem 1", steps.tolist(), values.tolist())

    def predicted(self) -> list[Line]:
        return [self.line]


pages = (
    Page(
        "geometric-descent", "Learning to average", teachers=("averaging",), reading=Theorem,
        measures=lambda setting: ("excess_risk", "cosine"),
        begin={"rate": 0.4, "steps": 100, "seed": 0},
    ),
)  # fmt: skip
