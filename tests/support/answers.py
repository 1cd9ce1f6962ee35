"""Answered cases of a study, each run when a test first asks for it: cases that only deep tests
read cost the quick ones nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from tutelage.studies.answering import run_cases
from tutelage.studies.study import Answered, Plan, Study
from tutelage.training.method import USUAL, Method


class Answers(dict[str, Answered]):
    def __init__(
        self, name: str, study: Study, plan: Callable[[str], Plan], method: Method = USUAL
    ) -> None:
        self.name, self.study, self.plan, self.method = name, study, plan, method

    def __missing__(self, case: str) -> Answered:
        cases, _ = self.study.plan(self.plan(case))
        (self[case],) = run_cases(self.name, cases, method=self.method)
        return self[case]
