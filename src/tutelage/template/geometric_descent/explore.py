"""What the web page shows of the paper: one page, with the prediction drawn over the run."""

from tutelage.claims import Verdict, check
from tutelage.numerics.grids import log_spaced
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Page, Reading

from . import theory
from .contraction.study import CLAIM


class Theorem(Reading):
    def __init__(self, setting: Setting) -> None:
        steps = log_spaced(setting.steps)
        values = theory.excess(setting, steps)
        self.line = Line("excess_risk", "predicted", "Theorem 1", steps.tolist(), values.tolist())

    def predicted(self) -> list[Line]:
        return [self.line]

    def verdicts(self, run: Run) -> list[Verdict]:
        return [check(CLAIM, run)]


BEGIN = {"rate": 0.4, "steps": 100}
pages = (Page("geometric-descent", "Learning to average", ("averaging",), Theorem, begin=BEGIN),)
