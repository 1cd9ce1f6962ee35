"""The front door of verdicts: any evidence is made runs, and the claim is checked against them."""

from __future__ import annotations

from tutelage.claims.check import check as check_runs
from tutelage.claims.claim import Claim, OfCurve
from tutelage.claims.verdict import Verdict
from tutelage.evidence.claiming import OF_LOGARITHMS
from tutelage.evidence.curves import check_positive
from tutelage.evidence.sources import Evidence, as_runs
from tutelage.refuse import Refused
from tutelage.settings import Setting


def check(
    claim: Claim,
    evidence: Evidence,
    *,
    x: str | None = None,
    by: str | None = None,
    rate: float | None = None,
    setting: Setting | None = None,
    control: str = "",
    prefix: str = "",
    registered: bool = False,
) -> Verdict:
    """The verdict of evidence on a claim.

    `evidence` is a run or several (seeds, or the points of a sweep), a DataFrame, a dataset of
    xarray, a dict of columns, a pair (steps, values), an array of those two columns, or the path of
    a log. Of a table, the column of the claim's name is judged; `x` names that of steps where it
    has no usual name, and `by` the one that tells runs apart. `rate` is the step size, and
    `setting` the setting, at which it was measured, where the claim asks for them.

    `control` names the hypothesis that the evidence breaks on purpose: such a claim must not hold.
    `prefix` begins the id of the verdict, as a study's and a case's name do. `registered` says that
    the claim stood in the ledger before this evidence existed.
    """
    _refuse_claim(claim)
    y = (claim.curve,) if isinstance(claim, OfCurve) else ()
    runs = as_runs(evidence, x=x, y=y, by=by, rate=rate, setting=setting)
    if isinstance(claim, OF_LOGARITHMS):
        for run in runs:
            if run.student is None and claim.curve in run.curves:  # made elsewhere
                check_positive(claim.curve, run.curves[claim.curve], run.steps)
    return check_runs(claim, runs, control=control, prefix=prefix, registered=registered)


def _refuse_claim(claim: Claim) -> None:
    """Refuses what is no claim: a class that was not called, or evidence in the first place."""
    if isinstance(claim, Claim):
        return
    if isinstance(claim, type):
        got = f"the class {claim.__name__}: call it first"
    else:
        got = f"an object of the type {type(claim).__name__}"
    raise Refused(
        'The claim comes first and the evidence second, check(tt.Rate("loss", exponent=-1), run), '
        f"since a claim says what is looked for. Got {got}."
    )
