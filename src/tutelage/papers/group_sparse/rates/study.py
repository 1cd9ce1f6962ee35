"""Gradient flow from zero: how fast the risk and the missed attention fall, with constants."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.claims import Constant, Order, Rate
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.group_sparse.rates import figures
from tutelage.papers.group_sparse.readings import Curves, read_flow, setting_of
from tutelage.papers.group_sparse.setup import (
    DERIVED,
    FROM_SUMMARY,
    GroupPreset,
    expect_calculation,
    hypotheses,
    over_groups,
)
from tutelage.papers.group_sparse.theory.laws import plateau
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

MARGIN = 0.1  # of the inputs in the control
APPROACH = 2 / 3  # what the laws leave out is smaller by t^(−2/3)


@dataclass(frozen=True, kw_only=True)
class FlowPreset(GroupPreset):
    decades: int  # of t


RISK_RATE = Rate(
    "risk",
    -1 / 3,
    0.005,
    plateau,
    APPROACH,
    id="risk-rate",
    statement="L falls like t^(−1/3), so that a risk ε takes a time of the order 1/ε³",
    source=f"T* = Θ(D³ ∨ 1/(D³ε³)) for fixed D: {FROM_SUMMARY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
RISK_ORDER = Order(
    "risk",
    -1 / 3,
    plateau=plateau,
    approach=APPROACH,
    id="risk-order",
    statement="L = Θ(t^(−1/3)), with no power of log t",
    source=f"Θ of the time to ε: {FROM_SUMMARY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
RISK_CONSTANT = Constant(
    "risk_level",
    0.0,
    1.0,
    0.005,
    plateau,
    APPROACH,
    id="risk-constant",
    statement="L·t^(1/3) → c₀/a, a = D^(2/3)(3c₀)^(1/3)",
    source=DERIVED,
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
)
MISSED_RATE = Rate(
    "missed",
    -2 / 3,
    0.005,
    plateau,
    APPROACH,
    id="missed-rate",
    statement="1 − s falls like t^(−2/3)",
    source=DERIVED,
    hypotheses=hypotheses,
)
MISSED_CONSTANT = Constant(
    "missed_level",
    0.0,
    1.0,
    0.005,
    plateau,
    APPROACH,
    id="missed-constant",
    statement="(1 − s)·t^(2/3) → (D−1)/b",
    source=DERIVED,
    hypotheses=hypotheses,
)
LAWS = (RISK_RATE, RISK_ORDER, RISK_CONSTANT, MISSED_RATE, MISSED_CONSTANT)


def read_as_unit_codes(run: Run) -> Curves:
    """The same with b of unit codes, whatever the codes are."""
    return read_flow(replace(run, setting=setting_of(run).change(**{"teacher.codes": "unit"})))


def cases(plan: Plan, preset: FlowPreset) -> list[Case]:
    """Flows with both kinds of codes; unless something was changed, the controls."""
    flow = Part("group_flow", decades=preset.decades)

    def case(codes: str, label: str) -> Case:
        settings = over_groups(plan, preset.groups, flow, codes)
        varies = "the number of groups"
        return Case(codes, label, settings, LAWS, derived=read_flow, varies=varies)

    main = [case("unit", "unit codes"), case("sine", "sine codes")]
    if plan.changes:
        return main
    least = preset.groups[:1]
    bare = tuple(replace(law, claimed_by=ClaimedBy.BEYOND) for law in LAWS)
    return [
        *main,
        Case(
            "margin",
            "|⟨v*, x⟩| ≥ 0.1",
            over_groups(plan, least, Part("group_flow", decades=preset.decades, margin=MARGIN)),
            bare,
            "inputs near the boundary: with a margin the risk falls like 1/t",
            derived=read_flow,
        ),
        Case(
            "other-codes",
            "sine codes, law of unit codes",
            over_groups(plan, least, flow, "sine"),
            (MISSED_CONSTANT,),
            "β² in the law is that of the codes: here it is 1, and the codes have (D+1)/2",
            derived=read_as_unit_codes,
        ),
    ]


def case_at(setting: Setting) -> Case:
    """The laws of one flow."""
    expect_calculation(setting, "group_flow")
    return at_setting(setting, LAWS, derived=read_flow)


study = Study(
    source=f"{FROM_SUMMARY}; sharper: {DERIVED}",
    statement=(
        "A value vector and attention by position, trained from zero on the logistic risk, select "
        "the one group that the label depends on. Sharper, and derived here: the risk is known "
        "exactly, it falls like t^(−1/3), and the attention that is missed like t^(−2/3), both "
        "with their constants."
    ),
    equation=(
        "L·t^(1/3) → c₀/a,  a = D^(2/3)(3c₀)^(1/3),  c₀ = π²/(6√2π);   (1−s)·t^(2/3) → (D−1)/b,  "
        "b = ¾[β⁴c₀/a + √((β⁴c₀/a)² + (16/3)κβ⁴a)],  κ = 1/(2√2π)"
    ),
    choices=(
        "Gradient flow in the two numbers that it keeps to by symmetry, α and the gap C, in log "
        "time. One run per D: there is no chance in it.",
        "σ = 1. Codes of length 1, and sine codes of square length (D+1)/2 (which the paper is "
        "said to use). Of W the block of the codes is trained; full-attention trains all.",
    ),
    presets={
        "quick": FlowPreset(seconds=10.0, groups=(5, 10, 20, 40), decades=12),
        "confirm": FlowPreset(seconds=15.0, groups=(7, 14, 28, 56, 112), decades=13),
        "paper": FlowPreset(seconds=30.0, groups=(4, 8, 16, 32, 64, 128, 256), decades=15),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/group_sparse/theory/laws.py",
)
