"""The one join of theory and data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tutelage.claims.budget import collect_errors, widen
from tutelage.claims.claim import Answer, Claim
from tutelage.claims.labels import ClaimedBy, Evidence
from tutelage.claims.power_laws import Bound, Rate
from tutelage.claims.verdict import Hypothesis, Status, Verdict
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

if TYPE_CHECKING:
    from tutelage.settings import Setting

ORDER_SIGNS = ("Θ(", "O(")


def check(
    claim: Claim,
    evidence: Run | Sequence[Run],
    *,
    control: str = "",
    prefix: str = "",
    registered: bool = False,
    varies: str = "",
    history: str = "",
) -> Verdict:
    """The verdict of runs (seeds, or the points of a sweep) on a claim.

    `control` names the hypothesis that these runs break on purpose: such a claim is judged on its
    bare prediction, and must FAIL. `prefix` begins the id of the verdict, as a study's and a case's
    name do. `registered` says that the claim stood in the ledger before this evidence existed,
    `history` how it was asked before, beside what the claim says itself. `varies` is what differs
    between replicates.

    A claim of a paper is OUTSIDE where one of its hypotheses is not met in some run: the paper says
    nothing there. A hypothesis that is met up to an unstated constant never makes it so. The known
    errors of the runs widen the interval before it counts.
    """
    runs = [evidence] if isinstance(evidence, Run) else list(evidence)
    if not runs:
        raise Refused("A claim needs at least one run to be checked against. Got none.")
    if control and claim.measurement:
        raise Refused(
            "A control is a claim that must not hold, and a measurement cannot hold. Got the "
            f"measurement {claim.id!r}."
        )
    _refuse_tolerance(claim)
    errors = collect_errors(runs)
    failed = [run for run in runs if run.outcome is Outcome.FAILED]
    if failed:
        said = (
            f"{len(failed)} of {len(runs)} runs could not be made, the first because: "
            f"{failed[0].note}"
        )
        answer = Answer(Status.UNDECIDED, said, None)
    else:
        answer = widen(claim, claim.answer(runs), errors)
    settings = [run.setting for run in runs if run.setting is not None]
    hypotheses = evaluate_hypotheses(claim, settings)
    if not control and not failed:
        answer = _bounded(claim, runs, answer)
        if claim.claimed_by is ClaimedBy.PAPER:
            answer = judge_outside(hypotheses, answer)
    return Verdict(
        id=f"{prefix}{claim.id}",
        statement=state_claim(claim),
        source=claim.source,
        predicted=answer.predicted,
        measured=answer.measured,
        interval=answer.interval,
        tolerance=claim.tolerance,
        status=answer.status,
        sentence=" ".join(said for said in (answer.sentence, _continued(runs)) if said),
        hypotheses=hypotheses,
        seeds=tuple(sorted({setting.seed for setting in settings})),
        horizon=answer.horizon,
        spread=answer.spread,
        control=control,
        measurement=claim.measurement,
        evidence=_evidence(claim, registered),
        claimed_by=claim.claimed_by,
        source_text=claim.source_text,
        varies=varies,
        errors=errors,
        history=" ".join(said for said in (claim.history, history) if said),
        smallest_violation=answer.smallest_violation,
        looseness=answer.looseness,
        contraction=answer.contraction,
        begins=answer.begins,
        e_value=answer.e_value,
    )


def state_claim(claim: Claim) -> str:
    """The statement of a claim; of an order that is judged by its slope alone, it says so."""
    statement = claim.statement or (type(claim).__doc__ or "").partition("\n")[0]
    slope = isinstance(claim.judged_as, Rate | Bound)
    if slope and any(sign in statement for sign in ORDER_SIGNS):
        return f"{statement} (judged by its slope)"
    return statement


def _refuse_tolerance(claim: Claim) -> None:
    """Refuses a tolerance that every number is within, or none."""
    tolerance = claim.tolerance
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise Refused(
            "The tolerance of a claim must be zero or a positive finite number, since every number "
            f"is within an infinite one. Got {tolerance!r} for the claim {claim.id!r}."
        )


def evaluate_hypotheses(claim: Claim, settings: Sequence[Setting]) -> tuple[Hypothesis, ...]:
    """The hypotheses of a claim over all its settings: of each the worst that is found.

    A sweep may begin where a hypothesis is met and end where it is not. Seeds are taken for alike.
    """
    if claim.hypotheses is None or not settings:
        return ()
    worst: dict[str, Hypothesis] = {}
    for setting in {replace(setting, seed=0): setting for setting in settings}.values():
        for one in claim.hypotheses(setting):
            if one.text not in worst or _rank(one) < _rank(worst[one.text]):
                worst[one.text] = one
    return tuple(worst.values())


def _rank(hypothesis: Hypothesis) -> int:
    return {False: 0, None: 1, True: 2}[hypothesis.met]


def judge_outside(hypotheses: Sequence[Hypothesis], answer: Answer) -> Answer:
    """OUTSIDE where a hypothesis is not met; what was seen stays in the sentence."""
    unmet = [
        f"{one.text} ({one.detail})" if one.detail else one.text
        for one in hypotheses
        if one.met is False
    ]
    if not unmet:
        return answer
    said = f"The paper's statement says nothing here, since it assumes: {'; '.join(unmet)}."
    return replace(answer, status=Status.OUTSIDE, sentence=f"{said} {answer.sentence}".strip())


def _bounded(claim: Claim, runs: Sequence[Run], answer: Answer) -> Answer:
    """Of a bound: by which factor it is loose, and VACUOUS where no run could exceed it anyway."""
    if answer.predicted is None or answer.measured is None:
        return answer
    factor = answer.looseness
    if factor is None and claim.ceiling and answer.predicted > 0 and answer.measured > 0:
        factor = answer.predicted / answer.measured
    if factor is not None:
        said = f"{answer.sentence} It is loose by a factor {factor:.3g}."
        answer = replace(answer, looseness=factor, sentence=said)
    if claim.ceiling is None or answer.status is not Status.HOLDS:
        return answer
    ceiling = claim.ceiling(runs)
    if answer.predicted is None or answer.predicted < ceiling:
        return answer
    said = (
        f"{answer.sentence} The bound says nothing: at {answer.predicted:.3g} it is no smaller "
        f"than the trivial ceiling, {ceiling:.3g}."
    )
    return replace(answer, status=Status.VACUOUS, sentence=said)


def _evidence(claim: Claim, registered: bool) -> Evidence:
    if claim.derived:
        return Evidence.DERIVED
    return Evidence.REGISTERED if registered else Evidence.EXPLORATORY


def _continued(runs: Sequence[Run]) -> str:
    """That steps were not all taken one by one, of the run that is least exact in it."""
    by_flow = [run.continued for run in runs if run.continued is not None]
    return max(by_flow, key=lambda one: one.solver + one.stepping).sentence if by_flow else ""
