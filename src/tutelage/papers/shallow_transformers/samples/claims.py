"""What the study of samples claims, and the hypotheses that its claims rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tutelage.claims import Claim, Number
from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.samples.readings import (
    LEVEL,
    WIDTH_TOLERANCE,
    growth,
    log_exponent,
    over_bound,
    root_log,
    trivial_over_bound,
    width_exponents,
)
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.settings import Part, Setting


def start_conditions(setting: Setting) -> list[Hypothesis]:
    """Those of a statement about the start, where inputs may be others than the paper's."""
    return _as_drawn(setting, theory.start_hypotheses(setting))


def trained_conditions(setting: Setting) -> list[Hypothesis]:
    """The theorems' hypotheses, where inputs, labels or method may be others than the paper's."""
    if setting.optimiser.name == "projected_descent":
        return _as_drawn(setting, theory.hypotheses(setting))
    projected = replace(setting, optimiser=Part("projected_descent"))
    found = [h for h in theory.start_hypotheses(projected) if h.text != theory.COVERED]
    method = f"{setting.optimiser.name}, η = {setting.rate:g}"
    found.append(Hypothesis("projected descent with step 1/√τ", False, method))
    return _as_drawn(setting, found)


def _as_drawn(setting: Setting, found: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The same where tokens are unbounded or labels are other inputs'."""
    other = {}
    if setting.inputs.name != "clipped_gaussian":
        said = f"{setting.inputs.name} tokens, not clipped"
        other[theory.SHORT_TOKENS] = Hypothesis(theory.SHORT_TOKENS, False, said)
    if setting.objective.options.get("labels", "own") != "own":
        said = "labels of other inputs"
        other[theory.IN_CLASS] = Hypothesis(theory.IN_CLASS, False, said)
    return [other.get(h.text, h) for h in found]


def bound_claim() -> Claim:
    return Number(
        values=lambda runs: [max(over_bound(run) for run in runs)],
        value=1.0,
        of="the largest sup error, with what the pool may hide, over its bound",
        tolerance=0.0,
        side="at most",
        certain=True,  # "never" is said of every run, and so is the largest read off
        id="bound",
        statement=(
            "sup_j |f̃(X_j) − f_lin(X_j; θ̃)| ≤ 2(ν_c+ν_u+ν_w)√(2 log(2n/δ)/m) in every run and "
            "for every n from 100 on"
        ),
        source=theory.SOURCE,
        claimed_by=ClaimedBy.PAPER,
        ceiling=trivial_over_bound,
        hypotheses=start_conditions,
    )


def growth_claim() -> Claim:
    return Number(
        values=growth,
        value=root_log,
        of="the exponent in n of the sup error",
        tolerance=0.02,
        side="at most",
        scale="linear",  # 0 where the largest error is among the first hundred
        id="growth",
        statement=(
            "the sup error over n samples grows no faster than √log n; a sweep to 10⁴ cannot tell "
            "√log n from n^0.07, only exclude powers above the interval"
        ),
        source=theory.SOURCE,
        claimed_by=ClaimedBy.PAPER,
        hypotheses=start_conditions,
    )


def width_claim(axis: Sequence[int], method: str, claimed_by: ClaimedBy = ClaimedBy.PAPER) -> Claim:
    return Number(
        values=width_exponents,
        value=log_exponent(axis),
        of=f"the exponent in n of the smallest width with min loss below {LEVEL:g} of E[y²]",
        tolerance=WIDTH_TOLERANCE,
        side="at most",
        scale="linear",
        id="needed-width",
        statement=(
            "the width needed for a given relative training loss grows no faster than log n "
            f"({method})"
        ),
        source=theory.SOURCE,
        claimed_by=claimed_by,
        history=(
            "First read in whole octaves, with a tolerance of 0.15: three seeds that did not move "
            "by an octave held it, and no growth could have failed it. Read between octaves since, "
            "with a tolerance of 0.05."
        ),
        hypotheses=trained_conditions,
    )
