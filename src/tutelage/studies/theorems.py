"""The claims of a theorem at any setting, with its hypotheses evaluated there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tutelage.claims.claim import Claim
from tutelage.claims.verdict import Hypothesis
from tutelage.notebook import card
from tutelage.refuse import Refused, one_of
from tutelage.settings import Setting
from tutelage.studies.discovery import find_study, papers
from tutelage.studies.study import AnyStudy


@dataclass(frozen=True)
class Theorem:
    """What a study claims of a run at one setting: iterate over it for the claims."""

    study: AnyStudy
    setting: Setting
    claims: tuple[Claim, ...]
    hypotheses: tuple[Hypothesis, ...]  # of the theorem, evaluated at the setting; each once

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, name: str) -> Claim:
        """A claim by its id."""
        found = {claim.id: claim for claim in self.claims}
        return found[one_of(f"claim of {self.study.name}", name, found)]

    @property
    def unmet(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that this setting breaks."""
        return tuple(hypothesis for hypothesis in self.hypotheses if hypothesis.met is False)

    def __str__(self) -> str:
        lines = [f"{self.study.name}: {self.study.source}"]
        lines += [f"  claim       {claim.id}: {claim.statement}" for claim in self.claims]
        for hypothesis in self.hypotheses:
            detail = f" ({hypothesis.detail})" if hypothesis.detail else ""
            lines.append(f"  hypothesis  {hypothesis.text}: {hypothesis.word}{detail}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = {claim.id: claim.statement for claim in self.claims}
        rows |= {h.text: f"{h.word}{f': {h.detail}' if h.detail else ''}" for h in self.hypotheses}
        return card("claims", self.study.name, [self.study.statement], rows, "")


def claims(name: str, setting: Setting) -> Theorem:
    """What the theorem of a study (`teacher-models/rates`) claims of a run at a setting.

    Check each against a run of that setting: `tt.check(claim, run)`; or against a curve of your
    own: `tt.check(claim, frame, setting=setting)`.
    """
    study = find_study(name)
    if study.claims is None:
        others = [
            f"{paper.name}/{short}"
            for paper in papers().values()
            for short in paper.studies
            if paper.study(short).claims is not None
        ]
        raise Refused(
            f"The claims of {study.name} are about the cases of that study together, and not about "
            f"one run at a setting. `tt.reproduce({study.name!r})` answers them. Studies that have "
            f"claims for any setting: {', '.join(others)}."
        )
    found = tuple(study.claims(setting))
    hypotheses = {
        hypothesis.text: hypothesis
        for claim in found
        if claim.hypotheses is not None
        for hypothesis in claim.hypotheses(setting)
    }
    return Theorem(study, setting, found, tuple(hypotheses.values()))
