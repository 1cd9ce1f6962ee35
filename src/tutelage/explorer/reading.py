"""What theory says of a run while it goes on: predicted lines, verdicts as they form, fitted lines, phases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tutelage.settings import Setting

Lines = list[dict[str, Any]]
LAWS = (("excess_risk", -1.0, "counting_law"), ("value_error", -0.5, "value_constant"), ("attention_error", -0.5, "attention_constant"))


class Reading:
    """The claims of `teacher-models/rates` about one setting, and what they predict."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def predicted(self) -> Lines:
        """Straight lines of the sharp constants, from the end of the plateau on."""
        from tutelage.claims.claim import NoPrediction
        from tutelage.papers.teacher_models import theory

        lines: Lines = []
        for curve, exponent, law in LAWS:
            if curve not in self.setting.measures or self.setting.student.name != "position_attention":
                continue
            try:
                constant, begin = getattr(theory, law)(self.setting), max(1.0, theory.plateau(self.setting))
            except NoPrediction:
                continue
            if constant > 0 and begin < self.setting.steps:
                ends = [begin, float(self.setting.steps)]
                values = [constant * (self.setting.rate * step) ** exponent for step in ends]
                label = f"predicted {constant:.4g}·(ηT)^{exponent:g}"
                lines.append({"curve": curve, "kind": "predicted", "label": label, "steps": ends, "values": values})
        return lines

    def events(self, points: np.ndarray, curves: Mapping[str, np.ndarray], run: Any) -> Iterator[dict[str, Any]]:
        return iter(())
