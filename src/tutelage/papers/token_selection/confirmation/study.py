"""The important claims of this paper once more, registered before they were run, on sizes and seeds
that no other study has.
"""

from __future__ import annotations

from dataclasses import replace

from tutelage.papers.token_selection.codes import study as codes
from tutelage.papers.token_selection.lengths import study as lengths
from tutelage.papers.token_selection.rates import study as rates
from tutelage.papers.token_selection.setup import DERIVED, Task
from tutelage.studies.study import Case, Plan, Preset, Study

SECONDS = 45.0
RATES = rates.RatesPreset(
    seconds=SECONDS,
    tasks=(Task(28, 5, 6), Task(50, 2, 7), Task(33, 11, 4)),
    width=90,
    steps=10**9,
)
LENGTHS = lengths.LengthsPreset(
    seconds=SECONDS, task=Task(26, 3, 4), others=(13, 60, 100), width=112, steps=10**12
)
CODES = codes.CodesPreset(
    seconds=SECONDS,
    seeds=10,
    tokens=24,
    dim=3,
    supports=(3, 5),
    width=1500,
    draws=2048,
    points=10,
    faces=(1, 2, 3),
    first_seed=1000,
)
# What is not confirmed: an identity, a claim that fails already, and the first paper's constant.
LEFT_OUT = ("all-sizes", "whole-head", "fixed-subset")
FLOORS = ("floor-q3", "floor-q5", "narrow")


def cases(plan: Plan, preset: Preset) -> list[Case]:
    """The law, the ratio of lengths and the floor, with their controls; sizes are those that were
    registered, so that a plan's changes do not apply.
    """
    law = [case for case in rates.cases(Plan(), RATES) if case.name not in LEFT_OUT]
    ratio = lengths.cases(Plan(), LENGTHS)
    floor = [case for case in codes.cases(Plan(), CODES) if case.name in FLOORS]
    return [
        replace(case, name=f"{study}-{case.name}")
        for study, made in (("rates", law), ("lengths", ratio), ("codes", floor))
        for case in made
    ]


study = Study(
    source=DERIVED,
    statement=(
        "L·t → N/4 without a logarithm, the ratio of losses on other lengths, and the floor of "
        "random signs, on sizes and seeds that were not looked at before."
    ),
    equation=(
        "L·t → N/4;   L_T′/L_T → (T′ − T)²/(q(T − q)) + (T′ − q)/(T − q);   "
        "floor ≈ (d/2q²) min_C [(T − q)e^(−2C + 2C²q/m) + C²(q − 1)(q − 2)/m]"
    ),
    choices=("Registered in `results/ledger.jsonl` before any of its runs was made.",),
    presets={"quick": Preset(seconds=SECONDS)},
    cases=cases,
    compares="the cases of three studies, at sizes and seeds that were registered",
    checked_in="src/tutelage/papers/token_selection/theory",
)
