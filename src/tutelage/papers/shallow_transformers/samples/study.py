"""How error and needed width grow with the number of samples: the bound, √log n, and the smallest
width that reaches a given loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tutelage.claims import Claim, Number
from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.verdict import Hypothesis
from tutelage.numerics.grids import nested_sizes
from tutelage.papers.shallow_transformers.setup import CHOICES, LETTERS, refuse_swept, setting_at
from tutelage.papers.shallow_transformers.theory.approximation import (
    DELTA,
    SOURCE,
    approximation_bound,
    hypotheses,
    sizes,
)
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "shallow-transformers/samples"
OPEN = {
    letter: LETTERS[letter] for letter in ("d", "T", "R", "tau", "eta")
}  # the sweeps set n and m
FIRST = 100  # the smallest n of the sup error's sweep
LEVEL = 0.15  # of min loss/E[y²]: below it a width is enough
# Seeds of the sup error, of its control, and of the needed widths by either method.
SEEDS = {"quick": (30, 6, 3, 8), "full": (30, 30, 30, 30)}


@dataclass(frozen=True)
class Grid:
    """The sizes of a preset."""

    dim: int  # d and T of the sup error; the needed widths are found at d = T = 4
    tokens: int
    heads: int
    samples: int
    pool: int
    steps: int  # of projected descent
    widths: Mapping[int, tuple[int, ...]]  # m tried at each n
    fast_steps: int  # of descent with momentum
    fast_widths: Mapping[int, tuple[int, ...]]


def _octaves(first: int, last: int) -> tuple[int, ...]:
    return tuple(2**k for k in range(first, last + 1))


GRIDS = {
    "quick": Grid(
        *(4, 4, 32, 10_000, 256),
        *(400, {n: _octaves(2, 4) for n in (64, 256, 1024)}),
        *(300, {32: _octaves(1, 3), 64: _octaves(1, 4), 128: _octaves(1, 5)}),
    ),
    "full": Grid(
        *(8, 16, 64, 10_000, 8192),
        *(1000, {n: _octaves(1, 6) for n in (100, 316, 1000, 3162, 10_000)}),
        *(1000, {n: _octaves(1, 8) for n in (32, 64, 128, 256, 512)}),
    ),
}


def conditions(setting: Setting) -> list[Hypothesis]:
    """The theorems' hypotheses, where inputs, labels or method may be others than the paper's."""
    if setting.optimiser.name == "projected_descent":
        found = hypotheses(setting)
    else:
        projected = replace(setting, optimiser=Part("projected_descent"), rate=setting.steps**-0.5)
        found = [
            h
            for h in hypotheses(projected)
            if h.text not in (STEP, "radii cover the target, ρ ≥ ν")
        ]
        found.append(
            Hypothesis(
                "projected descent with step 1/√τ",
                False,
                f"{setting.optimiser.name}, η = {setting.rate:g}",
            )
        )
    bounded = setting.inputs.name == "clipped_gaussian"
    own = setting.objective.options.get("labels", "own") == "own"
    replaced = {
        "token norms ≤ 1": None
        if bounded
        else Hypothesis("token norms ≤ 1", False, f"{setting.inputs.name} tokens, not clipped"),
        "target in the transported class": None
        if own
        else Hypothesis("target in the transported class", False, "labels of other inputs"),
    }
    at_start = setting.steps == 1  # nothing is trained: the step does not matter
    return [replaced.get(h.text) or h for h in found if not (at_start and h.text == STEP)]


STEP = "step size 1/√τ"


# ----------------------------------------------------------------------------------- the sup error over nested samples


def sups(run: Run) -> list[tuple[float, float]]:
    """(n, sup error over the first n samples) at the start, from n = 100 on."""
    return [
        (float(n), float(e))
        for n, e in zip(
            nested_sizes(samples_of(run)), run.curves["approximation_sups"][0], strict=True
        )
        if n >= FIRST
    ]


def over_bound(run: Run) -> float:
    """The largest over n of (sup error + what the pool may hide) over the bound at that n.

    A label is off by its standard error times a normal deviate; none of n deviates passes √(2
    log(2n/δ)) with probability 1 − δ.
    """
    assert run.setting is not None
    s, doubt = sizes(run.setting), float(run.curves["label_error_sup"][0])
    return max(
        (error + doubt * math.sqrt(2 * math.log(2 * n / DELTA)))
        / approximation_bound(replace(s, n=int(n)))
        for n, error in sups(run)
    )


def growth(runs: Sequence[Run]) -> list[float]:
    """The exponent of the sup error in n, one a seed."""
    if len(sups(runs[0])) < 3:
        raise Refused(
            f"An exponent needs at least three points from n = {FIRST} on. Got "
            f"{len(sups(runs[0]))}; more samples are needed."
        )
    return [fitted_exponent(sups(run)) for run in runs]


def root_log(setting: Setting) -> float:
    """The exponent that √log n has through its own values at the sweep's points."""
    return fitted_exponent(
        [
            (n, math.sqrt(math.log(n)))
            for n in nested_sizes(int(setting.objective.options["samples"]))
            if n >= FIRST
        ]
    )


def _bound_claim() -> Claim:
    return Number(
        values=lambda runs: [max(over_bound(run) for run in runs)],
        value=1.0,
        of="the largest sup error, with what the pool may hide, over its bound",
        tolerance=0.0,
        side="at most",
        certain=True,  # "never" is said of every run, and so is the largest read off
        id=f"{NAME}/approximation/bound",
        statement="sup_j |f̃(X_j) − f_lin(X_j; θ̃)| ≤ 2(ν_c+ν_u+ν_w)√(2 log(2n/δ)/m) in every "
        "run and for every n from 100 on",
        source=SOURCE,
        hypotheses=conditions,
    )


def _growth_claim(case: str) -> Claim:
    return Number(
        values=growth,
        value=root_log,
        of="the exponent in n of the sup error",
        tolerance=0.02,
        side="at most",
        id=f"{NAME}/{case}/growth",
        statement="the sup error over n samples grows no faster than √log n; a sweep to 10⁴ "
        "cannot tell √log n from n^0.07, only exclude "
        "powers above the interval",
        source=SOURCE,
        hypotheses=conditions,
    )


# ------------------------------------------------------------------------------------------------------ needed widths


def relative(run: Run) -> float:
    """The least loss that was measured, over the loss of the zero function."""
    losses = run.curves["least_loss"] if "least_loss" in run.curves else run.curves["loss"]
    return float(losses.min() / run.curves["label_power"][0])


def needed(runs: Sequence[Run]) -> dict[tuple[int, int], float]:
    """(seed, n) -> the smallest width tried whose relative loss is below the level; infinity where
    none is.
    """
    found: dict[tuple[int, int], float] = {}
    for run in runs:
        assert run.setting is not None
        place = (run.setting.seed, samples_of(run))
        found[place] = min(
            found.get(place, math.inf), width_of(run) if relative(run) < LEVEL else math.inf
        )
    return found


def width_of(run: Run) -> int:
    assert run.setting is not None
    return int(run.setting.student.options["heads"])


def samples_of(run: Run) -> int:
    assert run.setting is not None
    return int(run.setting.objective.options["samples"])


def width_exponents(runs: Sequence[Run]) -> list[float]:
    """The exponent in n of the needed width, one a seed.

    A width that was not reached at the largest n counts as twice the largest tried there. That is
    the least it can be, and so the growth is understated: enough to refute a slow one, not to
    confirm it. Elsewhere such a gap decides nothing, and neither does a needed width that might be
    smaller than the smallest tried.
    """
    found = needed(runs)
    axis = sorted({n for _, n in found})
    if len(axis) < 3:
        raise Refused(
            "An exponent needs at least three points of a sweep, since two always fit. Got "
            f"{len(axis)}."
        )
    tried = {n: sorted({width_of(run) for run in runs if samples_of(run) == n}) for n in axis}
    least = {(seed, n): min(width, 2.0 * tried[n][-1]) for (seed, n), width in found.items()}
    exponents = [
        fitted_exponent([(n, least[seed, n]) for n in axis])
        for seed in sorted({seed for seed, _ in found})
    ]
    missed = sorted({n for (_, n), width in found.items() if math.isinf(width)})
    if missed and (missed != axis[-1:] or np.mean(exponents) <= log_exponent(axis) + TOLERANCE):
        raise NotYet(
            f"Too narrow or too short to tell: at n = {', '.join(f'{n:,}' for n in missed)} no "
            "width up to "
            f"{', '.join(str(tried[n][-1]) for n in missed)} brings every seed below {LEVEL:g} "
            "of E[y²]. Wider students or more steps "
            "would decide."
        )
    if any(width == tried[n][0] > 2 for (_, n), width in found.items()):
        raise NotYet(
            f"The smallest width tried, {tried[axis[0]][0]}, is enough somewhere, and a smaller "
            "one may be. Narrower ones would decide."
        )
    return exponents


TOLERANCE = 0.15  # widths are powers of two: half an octave at one end of a range of 3 to 4 octaves


def log_exponent(axis: Sequence[float]) -> float:
    """The exponent that log n has through its own values at the sweep's points."""
    return fitted_exponent([(n, math.log(n)) for n in axis])


def _width_claim(case: str, axis: Sequence[int], words: str) -> Claim:
    return Number(
        values=width_exponents,
        value=log_exponent(axis),
        of=f"the exponent in n of the smallest width with min loss below {LEVEL:g} of E[y²]",
        tolerance=TOLERANCE,
        side="at most",
        id=f"{NAME}/{case}/needed-width",
        statement="the width needed for a given relative training loss grows no faster than log "
        f"n ({words})",
        source=SOURCE,
        hypotheses=conditions,
    )


@dataclass(frozen=True)
class Samples:
    """The study `shallow-transformers/samples`."""

    name: str = NAME
    sentence: str = (
        "How the approximation error and the needed width grow with the number of "
        "samples n: only through log n?"
    )
    statement: str = (
        "At fixed m the sup over n samples of the approximation error is at most a constant "
        "times √(log(n/δ)/m), and so a width that is "
        "logarithmic in n is enough for a given training loss. Measured on nested samples with "
        "the same heads, n from 100 to 10,000; and "
        "as the smallest width, over powers of two, that brings the least training loss below a "
        "fixed share of E[y²]."
    )
    equation: str = "sup_{j≤n} |f̃(X_j) − f_lin(X_j; θ̃)| ≤ 2(ν_c+ν_u+ν_w)√(2 log(2n/δ)/m)"
    source: str = SOURCE
    choices: tuple[str, ...] = (
        *CHOICES,
        "The needed widths are found at d = T = 4, where many can be tried (and the quick preset "
        "takes the sup error there too). A width "
        "is enough when the least loss of τ steps is below 0.15 of E[y²], a level that step 1/√τ "
        "reaches within the widths tried.",
        "Labels that have nothing to do with their inputs are not learned with step 1/√τ at any "
        "width. To see how their needed width "
        "grows, they and the target are trained once more by a faster method (step 1, momentum "
        "0.9, no projection), to which no theorem "
        "applies.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 45.0, "full": 9000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.5, "full": 3.0})
    checked_in: str = "src/tutelage/papers/shallow_transformers/samples/study.py"

    def cases(self, plan: Plan) -> list[Case]:
        return [
            _sup_case(
                plan, "approximation", "sup error on nested samples", Part("clipped_gaussian"), 0
            ),
            _sup_case(
                plan,
                "heavy-tails",
                "Student-t tokens",
                Part("independent", law="student_t", freedom=FREEDOM, scale=SCALE),
                1,
            ),
            _width_case(plan, "width", "needed width, projected descent"),
            _width_case(plan, "width-fast", "needed width, momentum", fast=True),
            _width_case(
                plan,
                "foreign-labels",
                "needed width, labels of other inputs",
                fast=True,
                labels="foreign",
            ),
        ]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.shallow_transformers.samples import figures as samples_figures

        return samples_figures.draw(answered, folder)


FREEDOM, SCALE = 2.5, 1.0  # heavy tails: the largest of n tokens is of order n^(1/freedom)
UNBOUNDED = (
    "token norms ≤ 1: Student-t tokens have no bound, and the largest of n grows like a power of n"
)
FOREIGN = (
    "labels of the target class: these are other inputs' and have to be memorised, which "
    "takes parameters in proportion to n"
)


def _sup_case(plan: Plan, name: str, label: str, inputs: Part, control: int) -> Case:
    """One run a seed: its measures at the start, over the first 100 … n samples. One sample a step,
    so that a step costs nothing.
    """
    grid = GRIDS[plan.preset]
    base = setting_at(
        heads=grid.heads,
        samples=grid.samples,
        steps=1,
        measures=("approximation_sups", "label_error", "label_error_sup", "label_power"),
        dim=grid.dim,
        tokens=grid.tokens,
        pool=grid.pool,
    )
    base = replace(base, inputs=inputs, objective=Part("single_sample", samples=grid.samples))
    try:
        refuse_swept(plan.changes, "samples")
        base = replace(changed(base, plan.changes, OPEN), steps=1, rate=1.0)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    settings = tuple(
        replace(base, seed=seed) for seed in range(plan.seeds or SEEDS[plan.preset][control])
    )
    claims = (_growth_claim(name),) if control else (_bound_claim(), _growth_claim(name))
    return Case(name, label, settings, claims, UNBOUNDED if control else "")


def _width_case(
    plan: Plan, name: str, label: str, *, fast: bool = False, labels: str = "own"
) -> Case:
    grid = GRIDS[plan.preset]
    widths, steps = (grid.fast_widths, grid.fast_steps) if fast else (grid.widths, grid.steps)
    settings = []
    try:
        for n in widths:
            for m in widths[n]:
                measures = ("loss" if fast else "least_loss", "label_power", "label_error")
                base = setting_at(
                    heads=m,
                    samples=n,
                    steps=plan.steps or steps,
                    measures=measures,
                    dim=4,
                    tokens=4,
                    pool=grid.pool,
                )
                if fast:
                    base = replace(
                        base,
                        rate=1.0,
                        optimiser=Part("momentum", decay=0.9),
                        objective=base.objective.change(labels=labels),
                    )
                refuse_swept(plan.changes, "samples", "heads")
                base = _horizon(changed(base, plan.changes, OPEN), plan, fast)
                settings += [
                    replace(base, seed=seed)
                    for seed in range(plan.seeds or SEEDS[plan.preset][2 + fast])
                ]
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    words = "step 1, momentum 0.9, no projection" if fast else "projected descent, step 1/√τ"
    return Case(
        name,
        label,
        tuple(settings),
        (_width_claim(name, sorted(widths), words),),
        FOREIGN if labels == "foreign" else "",
    )


def _horizon(setting: Setting, plan: Plan, fast: bool) -> Setting:
    """The step is 1/√τ of the horizon that was asked for, unless it was itself asked for."""
    asked = fast or "eta" in plan.changes or "rate" in plan.changes
    return setting if asked else replace(setting, rate=setting.steps**-0.5)


SAMPLES = Samples()
