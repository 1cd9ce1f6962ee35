"""The claims of a theorem at any setting, with its hypotheses evaluated there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tutelage.claims.check import check
from tutelage.claims.claim import Claim
from tutelage.claims.verdict import Hypothesis, Verdict
from tutelage.notebook import card
from tutelage.refuse import Refused, one_of
from tutelage.run import Run
from tutelage.settings import Setting, one_setting
from tutelage.studies.answering import read_run
from tutelage.studies.discovery import find_study, papers
from tutelage.studies.replicates import describe_replicates
from tutelage.studies.study import AnyStudy, Case


@dataclass(frozen=True)
class Theorem:
    """What a study claims of runs at one setting: iterate over it for the claims."""

    study: AnyStudy
    case: Case
    hypotheses: tuple[Hypothesis, ...]  # of the theorem, evaluated at the setting; each once

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.case.claims

    @property
    def setting(self) -> Setting:
        """The setting, with the measures that the claims read."""
        (setting,) = self.case.settings
        return setting

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

    def check(self, runs: Run | Iterable[Run]) -> tuple[Verdict, ...]:
        """A verdict for each claim, on runs of `setting` (seeds of it), as the study would read
        them: some of its curves are derived from what a run measures.
        """
        several = (runs,) if isinstance(runs, Run) else tuple(runs)
        if not several:
            raise Refused("A theorem is checked against at least one run. Got none.")
        for run in several:
            if run.setting is None:
                raise Refused(
                    "A theorem is checked against runs of a setting, since its predictions depend "
                    "on it. Got a run without one: make it with `tt.execute([theorem.setting])`, "
                    "or check a claim against a curve with `tt.check(claim, curve, setting=…)`."
                )
        evidence = tuple(read_run(run, self.case) for run in several)
        varies, prefix = describe_replicates(evidence), f"{self.study.name}/{self.case.name}/"
        return tuple(check(claim, evidence, prefix=prefix, varies=varies) for claim in self.claims)

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
    """What the theorem of a study (`teacher-models/rates`) claims of runs at a setting.

    Check all of them against runs: `theorem.check(tt.execute([theorem.setting]))`; or one against
    your own curve: `tt.check(claim, frame, setting=setting)`.
    """
    study = find_study(name)
    if study.case_at is None:
        compared = study.compares or "the settings of its cases"
        raise Refused(
            "`claims` gives what a theorem says about runs at one setting. The claims of "
            f"{study.name} compare {compared}: `tt.reproduce({study.name!r})` answers them. "
            f"Studies with claims about one setting: {', '.join(studies_about_one_setting())}."
        )
    case = study.case_at(one_setting(setting))
    hypotheses = {
        hypothesis.text: hypothesis
        for claim in case.claims
        if claim.hypotheses is not None
        for hypothesis in claim.hypotheses(setting)
    }
    return Theorem(study, case, tuple(hypotheses.values()))


def studies_about_one_setting() -> list[str]:
    """The names of the studies that `claims` takes."""
    return [
        f"{paper.name}/{short}"
        for paper in papers().values()
        for short in paper.studies
        if paper.study(short).case_at is not None
    ]
