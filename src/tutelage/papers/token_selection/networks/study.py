"""Fully connected networks: the least error with m units in the first layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutelage.claims import Number, Ratio
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.token_selection import paper
from tutelage.papers.token_selection.networks import figures
from tutelage.papers.token_selection.setup import DERIVED, FROM_SUMMARY, Task, task_of
from tutelage.papers.token_selection.theory.networks import least_error, smallest_eigenvalue
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan, Preset, Study

ROUNDING = 1e-12  # of a trace of Td eigenvalues
SHIFT, SMALL_SHIFT = 20.0, 1.0  # weight on the number of the subset, in spreads of a unit


@dataclass(frozen=True, kw_only=True)
class NetworksPreset(Preset):
    tasks: tuple[Task, ...]
    samples: int
    first_seed: int = 0  # a confirmation has seeds of its own


def units_of(setting: Setting) -> int:
    return int(setting.part("calculation").options["units"])


def predict_least(setting: Setting) -> float:
    return least_error(*task_of(setting), units_of(setting))


def read_error(run: Run) -> float:
    return float(run.curves["error"][0])


LEAST = Ratio(
    read_error,
    predict_least,
    ROUNDING,
    of="the error above the best first layer",
    certain=True,
    id="least",
    statement="the least E‖f − f*‖² with m ≥ d first-layer units is (T − q)(Td − m)/(qT(T − 1))",
    source=DERIVED,
    derived=True,
)


def errors(runs: Sequence[Run]) -> list[float]:
    return [read_error(run) for run in runs]


ZERO = Number(
    errors,
    0.0,
    of="the error above the best first layer",
    tolerance=ROUNDING,
    certain=True,
    id="zero",
    statement="with Td units the error is zero",
    source=DERIVED,
    derived=True,
)


def errors_over_eigenvalue(runs: Sequence[Run]) -> list[float]:
    """The least of all errors over λ = (T − q)/(qT(T − 1))."""
    found = []
    for run in runs:
        assert run.setting is not None
        task = task_of(run.setting)
        found.append(read_error(run) / smallest_eigenvalue(task.tokens, task.support))
    return [min(found)]


NEEDED = Number(
    errors_over_eigenvalue,
    1.0,
    of="the least error with fewer than Td units, over (T − q)/(qT(T − 1)),",
    tolerance=ROUNDING,
    side="at least",
    certain=True,
    id="needed",
    statement="with fewer than Td first-layer units no network is without error",
    source=f"width Ω(Td): {FROM_SUMMARY}",
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)


def least_ratios(runs: Sequence[Run]) -> list[float]:
    """The smallest error above some first layer over the least one."""
    found = []
    for run in runs:
        assert run.setting is not None
        found.append(read_error(run) / predict_least(run.setting))
    return [min(found)]


def ratios_of_one_less(runs: Sequence[Run]) -> list[float]:
    """The smallest error over the least one with one unit less."""
    found = []
    for run in runs:
        assert run.setting is not None
        found.append(
            read_error(run) / least_error(*task_of(run.setting), units_of(run.setting) - 1)
        )
    return [min(found)]


BEST = Number(
    least_ratios,
    1.0,
    of="the smallest error above a random first layer, over the least,",
    tolerance=ROUNDING,
    side="at least",
    certain=True,
    id="no-better",
    statement="no first layer does better than the formula",
    source=DERIVED,
    derived=True,
)


def sampled_ratios(runs: Sequence[Run]) -> list[float]:
    """The error of an explicit network on drawn inputs over the least one."""
    found = []
    for run in runs:
        assert run.setting is not None
        found.append(float(run.curves["sampled_error"][0]) / predict_least(run.setting))
    return found


ATTAINED = Number(
    sampled_ratios,
    1.0,
    of="the error of an explicit network on drawn inputs, over the least,",
    tolerance=0.03,
    id="attained",
    statement="a network that reads the subset off one unit comes to the least error",
    source=DERIVED,
)


def cases(plan: Plan, preset: NetworksPreset) -> list[Case]:
    """All widths of the first layer; unless something was changed, the controls."""
    seeds = plan.seeds or preset.seeds
    if plan.changes:
        base = _network(preset.tasks[0], preset.tasks[0].dim)
        asked = changed(base, plan.changes, paper.letters)
        return [Case("best", "best first layer", (asked,), (LEAST,))]
    below = tuple(_network(task, m) for task in preset.tasks for m in _widths(task))
    full = tuple(_network(task, task.tokens * task.dim) for task in preset.tasks)
    first = preset.tasks[0]
    half = first.tokens * first.dim // 2
    random = tuple(
        _network(first, m, "random", seed=preset.first_seed + i)
        for m in _widths(first)
        for i in range(seeds)
    )

    def sampled(shift: float) -> tuple[Setting, ...]:
        return tuple(
            _network(first, half, "best", shift, preset.samples, preset.first_seed + i)
            for i in range(seeds)
        )

    return [
        Case("best", "best first layer, m < Td", below, (LEAST, NEEDED)),
        Case("all-units", "m = Td", full, (ZERO,)),
        Case("random", "random first layers", random, (BEST,)),
        Case("explicit", f"explicit network, m = {half}", sampled(SHIFT), (ATTAINED,)),
        Case(
            "random-layer",
            "random first layers",
            random,
            (LEAST,),
            "the best first layer: a random one leaves more",
        ),
        Case(
            "one-unit-less",
            "m = Td − 1",
            tuple(_network(task, task.tokens * task.dim - 1) for task in preset.tasks),
            (ZERO,),
            "Td units: one less leaves (T − q)/(qT(T − 1))",
        ),
        Case(
            "enough-units",
            "m = Td",
            full,
            (NEEDED,),
            "fewer than Td units: with Td there is no error",
        ),
        Case(
            "one-unit-more",
            "one unit more than is counted",
            below,
            (replace(BEST, values=ratios_of_one_less),),
            "the count of units: one more does better",
        ),
        Case(
            "subset-unread",
            f"explicit network, weight {SMALL_SHIFT:g} on the subset",
            sampled(SMALL_SHIFT),
            (ATTAINED,),
            "large weights on the subset: with small ones it is misread",
        ),
    ]


def _widths(task: Task) -> range:
    """From d to Td − 1, about eight of them."""
    most = task.tokens * task.dim
    return range(task.dim, most, max(1, most // 8))


def _network(
    task: Task,
    units: int,
    layer: str = "best",
    shift: float = SHIFT,
    samples: int = 0,
    seed: int = 0,
) -> Setting:
    part = Part("network_error", units=units, layer=layer, shift=shift, samples=samples)
    return Setting.of_calculation(part, teacher=task.teacher, seed=seed)


study = Study(
    source=f"{FROM_SUMMARY}; sharper: {DERIVED}",
    statement=(
        "Fully connected networks need a first layer of Ω(Td) units. Sharper, and derived here: "
        "the least error over all networks with m first-layer units, of any depth, falls on a "
        "straight line in m and is zero if and only if m ≥ Td."
    ),
    equation="inf E‖f − f*‖² = (T − q)(Td − m)/(qT(T − 1)) for d ≤ m ≤ Td;   E‖f*‖² = d/q",
    choices=(
        "Nothing is trained: all that is above the first layer is taken at its best.",
        "The error is E‖f − f*‖², twice the loss of the other studies.",
        "Subsets are gone through one by one, so that sizes are small.",
    ),
    presets={
        "quick": NetworksPreset(
            seconds=10.0,
            seeds=6,
            tasks=(Task(6, 2, 3), Task(7, 3, 2), Task(8, 1, 4)),
            samples=40_000,
        ),
        "large": NetworksPreset(
            seconds=60.0, seeds=12, tasks=(Task(12, 4, 5), Task(16, 2, 8)), samples=100_000
        ),
    },
    cases=cases,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    compares="first layers of several widths, none of which is trained",
    checked_in="src/tutelage/papers/token_selection/theory/networks.py",
)
