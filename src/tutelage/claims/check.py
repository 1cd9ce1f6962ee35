"""The one join of theory and data."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.claim import Answer, Claim
from tutelage.claims.labels import Evidence
from tutelage.claims.verdict import Status, Verdict
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run


def check(
    claim: Claim,
    evidence: Run | Sequence[Run],
    *,
    control: str = "",
    prefix: str = "",
    registered: bool = False,
) -> Verdict:
    """The verdict of runs (seeds, or the points of a sweep) on a claim.

    `control` names the hypothesis that these runs break on purpose: such a claim must not hold.
    `prefix` begins the id of the verdict, as a study's and a case's name do. `registered` says that
    the claim stood in the ledger before this evidence existed.
    """
    runs = [evidence] if isinstance(evidence, Run) else list(evidence)
    if not runs:
        raise Refused("A claim needs at least one run to be checked against. Got none.")
    if control and claim.measurement:
        raise Refused(
            "A control is a claim that must not hold, and a measurement cannot hold. Got the "
            f"measurement {claim.id!r}."
        )
    failed = [run for run in runs if run.outcome is Outcome.FAILED]
    if failed:
        said = (
            f"{len(failed)} of {len(runs)} runs could not be made, the first because: "
            f"{failed[0].note}"
        )
        answer = Answer(Status.UNDECIDED, said, None)
    else:
        answer = claim.answer(runs)
    settings = [run.setting for run in runs if run.setting is not None]
    hypotheses = claim.hypotheses(settings[0]) if claim.hypotheses is not None and settings else ()
    return Verdict(
        id=f"{prefix}{claim.id}",
        statement=claim.statement or (type(claim).__doc__ or "").partition("\n")[0],
        source=claim.source,
        predicted=answer.predicted,
        measured=answer.measured,
        interval=answer.interval,
        tolerance=claim.tolerance,
        status=answer.status,
        sentence=" ".join(said for said in (answer.sentence, _continued(runs)) if said),
        hypotheses=tuple(hypotheses),
        seeds=tuple(sorted({setting.seed for setting in settings})),
        horizon=answer.horizon,
        spread=answer.spread,
        control=control,
        measurement=claim.measurement,
        evidence=_evidence(claim, registered),
        claimed_by=claim.claimed_by,
        source_text=claim.source_text,
        smallest_violation=answer.smallest_violation,
        looseness=answer.looseness,
        contraction=answer.contraction,
        begins=answer.begins,
        e_value=answer.e_value,
    )


def _evidence(claim: Claim, registered: bool) -> Evidence:
    if claim.derived:
        return Evidence.DERIVED
    return Evidence.REGISTERED if registered else Evidence.EXPLORATORY


def _continued(runs: Sequence[Run]) -> str:
    """That steps were not all taken one by one, of the run that is least exact in it."""
    by_flow = [run.continued for run in runs if run.continued is not None]
    return max(by_flow, key=lambda one: one.solver + one.stepping).sentence if by_flow else ""
