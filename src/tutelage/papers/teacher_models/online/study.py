"""Online descent beside the exact one: the six runs with fresh batches and label noise, and the
floor at which noise stops them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Exponent, Number, Rate
from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.teacher_models.rates.study import LETTERS, PAPER, RUNS, hypotheses, predicted
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/online"
FLOOR = "floor = ητ²λ/(4N)·[MdQ/K/(1−ηH_V/2) + Q(K−1)‖V*‖²/(DK²)/(1−ηH_S/2)]"
DERIVED = "derived here (docs/derivations.md, section 6)"
EXACT = Part("population")
OPEN = {**LETTERS, "N": "objective.batch"}
SEEDS = {"quick": 3, "full": 5}
FLOOR_SEEDS = {"quick": 3, "full": 20}
PLATEAUS = {"quick": 25, "full": 1000}  # of the six runs
LATE = 10  # plateaus after which the six runs are compared with their exact twins

# The floor is measured where it is reached soon: few tokens, strong noise. Both Hessians, 4 and
# 3.1, are well inside 2/η.
SMALL = Part(
    "convolution",
    tokens=8,
    support=2,
    outputs=2,
    dim=3,
    norm=10.0,
    noise=10.0,
    activation="identity",
)
BASE = Setting(SMALL, rate=0.05, steps=2000, objective=Part("online", batch=100))

# axis -> words, path, values (the base among them), steps at each: about eight times as long as the
# exact run needs to pass the floor
SWEEPS: dict[str, tuple[str, str, Mapping[float, int]]] = {
    "eta": ("η", "rate", {0.1: 2000, 0.05: 2000, 0.025: 4000}),
    "N": ("N", "objective.batch", {25: 2000, 50: 2000, 100: 2000}),
    "tau": ("τ", "teacher.noise", {5.0: 5000, 10.0: 2000, 20.0: 2000}),
}


def twin(setting: Setting) -> Setting:
    """The exact run beside an online one: the same teacher, rate and seed on the population
    risk.
    """
    return replace(setting, objective=EXACT)


def pairs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """(online, exact) for each online run that has its twin among the runs."""
    exact = {
        run.setting: run
        for run in runs
        if run.setting is not None and run.setting.objective == EXACT
    }
    return [
        (run, exact[twin(run.setting)])
        for run in runs
        if run.setting is not None and run.setting.objective != EXACT
    ]


def beside(online: Run, exact: Run, curve: str = "excess_risk") -> Float[np.ndarray, "points"]:
    """The exact run's curve at the steps of the online one (log-log between measured steps)."""
    late = exact.steps > 0
    log = np.interp(
        np.log(np.maximum(online.steps, 1)),
        np.log(exact.steps[late]),
        np.log(exact.curves[curve][late]),
    )
    return np.where(online.steps > 0, np.exp(log), exact.curves[curve][0])


def floor_of(online: Run, exact: Run) -> float:
    """What is left of the online excess when that of the exact run is taken away, on average over
    the last two thirds of its time.
    """
    if online.steps[-1] < 30:
        raise NotYet(
            "Too short to tell: a floor is a mean over many steps, and the run ends at step "
            f"{online.steps[-1]:,}."
        )
    late = online.steps > online.steps[-1] / 3
    # Points are log-spaced: weighted by their gaps, so that it is a mean over time.
    gaps = np.gradient(online.steps.astype(float))[late]
    return float(
        np.average((online.curves["excess_risk"] - beside(online, exact))[late], weights=gaps)
    )


def _floor_ratios(runs: Sequence[Run]) -> list[float]:
    """The floor over its prediction: for each seed the mean over the points of a sweep, since seeds
    are what is independent.
    """
    found: dict[int, list[float]] = {}
    for online, exact in pairs(runs):
        assert online.setting is not None
        found.setdefault(online.setting.seed, []).append(
            floor_of(online, exact) / predicted("noise_floor")(online.setting)
        )
    return [float(np.mean(ratios)) for ratios in found.values()]


def _sum_law(runs: Sequence[Run]) -> list[float]:
    """The excess over exact + floor: the geometric mean over log time from ten plateaus on."""
    found = []
    for online, exact in pairs(runs):
        assert online.setting is not None
        late = online.steps > LATE * predicted("plateau")(twin(online.setting))
        if not late.any():
            raise NotYet(
                f"Too short to tell: it is read after {LATE} plateaus, and the run ends at step "
                f"{online.steps[-1]:,}."
            )
        expected = beside(online, exact) + predicted("noise_floor")(online.setting)
        found.append(float(np.exp(np.log(online.curves["excess_risk"] / expected)[late].mean())))
    return found


def _misaligned(runs: Sequence[Run]) -> list[float]:
    """1 − cos(W_V, V*) of each online run at its end."""
    return [1 - float(online.curves["cosine"][-1]) for online, _ in pairs(runs)]


def _mass_gap(runs: Sequence[Run]) -> list[float]:
    """The largest difference of support mass between online and exact run, over queries, at the
    end.
    """
    return [
        float(np.abs(online.curves["support_mass"][-1] - exact.curves["support_mass"][-1]).max())
        for online, exact in pairs(runs)
    ]  # fmt: skip


def _claim(
    case: str,
    name: str,
    kind: Callable[..., Claim],
    *given: object,
    statement: str,
    source: str = DERIVED,
    **more: object,
) -> Claim:
    return kind(
        *given,
        id=f"{NAME}/{case}/{name}",
        statement=statement,
        source=source,
        hypotheses=hypotheses,
        **more,
    )


def run_claims(case: str) -> tuple[Claim, ...]:
    """What is claimed of one of the six runs."""
    follows = "online excess / (exact excess + floor) after ten plateaus"
    mass = "the largest difference of support mass from the exact run"
    return (
        _claim(
            case,
            "follows-exact",
            Number,
            _sum_law,
            1.0,
            follows,
            0.1,
            statement="the online excess follows the exact run",
        ),
        _claim(
            case,
            "support-mass",
            Number,
            _mass_gap,
            0.0,
            mass,
            0.02,
            "at most",
            statement="it finds the attention of the exact run",
        ),
        _claim(
            case,
            "cosine",
            Number,
            _misaligned,
            0.0,
            "1 − cos(W_V, V*) at the end",
            0.001,
            "at most",
            statement="cos(W_V, V*) → 1 online too (Fig. 2c)",
            source=PAPER,
        ),
    )


@dataclass(frozen=True)
class Online:
    """The study `teacher-models/online`."""

    name: str = NAME
    sentence: str = (
        "The paper's runs online, with batches of 100 and label noise, beside the "
        "exact run; the noise floor in η, N and τ"
    )
    statement: str = (
        "The paper's experiments draw a fresh batch of N = 100 inputs with Gaussian label noise "
        "at every step. Beside the exact run of the "
        "same teacher: the online excess is the exact one plus a floor that label noise keeps "
        "up, proportional to ητ²/N."
    )
    equation: str = f"excess ≈ exact(t) + floor,   {FLOOR},   H_V = λQ/K,  H_S = λ‖V*‖²/(DK²)"
    source: str = f"{PAPER}, Fig. 2a, 2c, 3; the floor is {DERIVED}"
    choices: tuple[str, ...] = (
        "Batches of N = 100 as in the paper; label noise τ = 1 in the six runs: its level is not "
        "stated.",
        "The runs with leaky ReLU are in the full preset: compiling a program a run is what "
        "takes time here.",
        "d, M, V*, η as in teacher-models/rates; the excess is measured exactly (population "
        "risk), so that only the steps are random.",
        "The floor is measured in a small setting with strong noise (D = 8, K = 2, M = 2, d = 3, "
        "τ = 5 to 20), where it is reached within "
        "2,000 steps; what the exact run of the same teacher still has is taken away.",
        "The formula is the limit of late times: while attention still spreads, its curvature is "
        "smaller, and the floor with it, by a few "
        "percent at these lengths (like t^-½). With what three seeds leave of chance, hence "
        "tolerances of 10% and of 0.1 in exponents.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 50.0, "full": 3600.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/constants.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The paper's runs (leaky ReLU in the full preset); unless something was changed also the
        floor, its laws and the control.
        """
        runs = {
            name: run
            for name, run in RUNS.items()
            if plan.preset == "full" or not name.endswith("-leaky")
        }
        cases = [
            _six(name, label, teacher, rate, plan) for name, (label, teacher, rate) in runs.items()
        ]
        if plan.changes:
            return cases
        return [
            *cases,
            *(_sweep(axis, plan) for axis in SWEEPS),
            _relu(plan),
            _departure(plan),
            _noiseless(plan),
            _control(plan),
        ]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.online import figures as online_figures

        return online_figures.draw(answered, folder)


def _six(name: str, label: str, teacher: Part, rate: float, plan: Plan) -> Case:
    base = Setting(teacher.change(noise=1.0), rate, steps=1, objective=BASE.objective)
    try:
        setting = changed(base, plan.changes, OPEN)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    plateau = predicted("plateau")(setting)
    if setting.steps == base.steps:
        setting = replace(setting, steps=plan.steps or math.ceil(PLATEAUS[plan.preset] * plateau))
    return Case(
        name, label, _with_twins(setting, plan.seeds or SEEDS[plan.preset]), run_claims(name)
    )


def _with_twins(setting: Setting, seeds: int) -> tuple[Setting, ...]:
    online = [replace(setting, seed=setting.seed + i) for i in range(seeds)]
    return (*online, *(twin(s) for s in online))


def _floor_seeds(plan: Plan) -> int:
    return plan.seeds or FLOOR_SEEDS[plan.preset]


def _sweep(axis: str, plan: Plan) -> Case:
    words, path, points = SWEEPS[axis]
    settings: list[Setting] = []
    for value, steps in points.items():
        settings += _with_twins(
            BASE.change(**{path: value, "steps": plan.steps or steps}), _floor_seeds(plan)
        )

    def at(setting: Setting) -> float:
        kind, _, option = path.partition(".")
        return float(getattr(setting, kind).options[option] if option else getattr(setting, kind))

    def measured(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return [
            (at(o.setting), floor_of(o, e), o.setting.seed)
            for o, e in pairs(runs)
            if o.setting is not None
        ]

    def expected(values: Sequence[float]) -> float:
        once = {at(s): s for s in settings if s.objective != EXACT}
        return fitted_exponent([(v, predicted("noise_floor")(once[v])) for v in values])

    power = {"eta": "η", "N": "1/N", "tau": "τ²"}[axis]
    claims = (
        _claim(
            f"floor-{axis}", "exponent", Exponent, measured, expected, f"the floor in {words}", 0.1,
            statement=f"the floor is proportional to {power} (and to its correction for finite η)",
        ),
        _claim(
            f"floor-{axis}", "floor", Number, _floor_ratios, 1.0, "the floor over its "
"predicted value", 0.1,
            statement=FLOOR,
        ),
    )  # fmt: skip
    return Case(f"floor-{axis}", f"floor in {words}", tuple(settings), claims)


def _relu(plan: Plan) -> Case:
    setting = BASE.change(
        **{"teacher.activation": "relu", "teacher.noise": 20.0, "steps": plan.steps or 2000}
    )
    claim = _claim(
        "floor-relu", "floor", Number, _floor_ratios, 1.0, "the floor over its "
"predicted value", 0.1,
        statement="the same formula with λ = ½",
    )  # fmt: skip
    return Case("floor-relu", "floor, ReLU", _with_twins(setting, _floor_seeds(plan)), (claim,))


def _departure(plan: Plan) -> Case:
    """A run that follows the exact one for a decade and then leaves it."""
    setting = BASE.change(**{"teacher.noise": 5.0, "steps": plan.steps or 5000})
    claim = _claim(
        "departure", "sum-law", Number, _sum_law, 1.0, "excess / (exact + floor) "
"after ten plateaus", 0.1,
        statement="excess ≈ exact(t) + floor, before, at and after the step where the two are "
"equal",
    )  # fmt: skip
    return Case(
        "departure", "leaving the exact run", _with_twins(setting, _floor_seeds(plan)), (claim,)
    )


def _noiseless(plan: Plan) -> Case:
    """No label noise: no floor, since at the teacher every batch has gradient zero."""
    setting = BASE.change(**{"teacher.noise": 0.0, "steps": plan.steps or 2500})
    about = {"plateau": predicted("plateau")}
    claims = (
        _claim(
            "noiseless", "excess-rate", Rate, "excess_risk", -1.0, 0.1, statement="τ = 0: excess = Θ(1/T) "
"online too", source=PAPER, **about
        ),
        _claim(
            "noiseless", "follows-exact", Number, _sum_law, 1.0, "online / exact excess after "
"ten plateaus", 0.1,
            statement="τ = 0: the constant is that of the exact run, up to the inputs' randomness",
        ),
    )  # fmt: skip
    return Case("noiseless", "no label noise", _with_twins(setting, _floor_seeds(plan)), claims)


def _control(plan: Plan) -> Case:
    """Label noise ends the 1/T law: the same claim as for the noiseless run must not hold."""
    setting = BASE.change(steps=plan.steps or 2000)
    claim = _claim(
        "noisy", "excess-rate", Rate, "excess_risk", -1.0, 0.1, statement="excess = Θ(1/T) with label "
"noise τ = 10", source=PAPER,
        plateau=predicted("plateau"),
    )  # fmt: skip
    seeds = tuple(replace(setting, seed=i) for i in range(_floor_seeds(plan)))
    return Case(
        "noisy",
        "label noise",
        seeds,
        (claim,),
        "gradients of the population risk: label noise keeps up a floor",
    )


ONLINE = Online()
