"""Position weights alone: descent filters by the modes of Slepian's matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims import Curve, Measured, Number
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.in_context_autoregression.positions import figures
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_CODE,
    change_settings,
    expect_training,
    over_seeds,
)
from tutelage.papers.in_context_autoregression.theory.slepian import Filter, expected_modes
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting

MEASURES = ("excess_risk", "position_weights")
RATE, UNTIL = 0.5, 1e-3  # of the published script
ANGLES = 1000  # likewise


@dataclass(frozen=True, kw_only=True)
class PositionsPreset(Preset):
    tokens: int = 30
    slownesses: tuple[float, ...] = (50.0, 100.0, 200.0, 300.0)
    first_seed: int = 0


@lru_cache(maxsize=64)
def filter_of(setting: Setting, bandwidth: float = 1.0) -> Filter:
    """The filter of a setting; with another bandwidth, in units of 2/μ."""
    given = setting.teacher.options
    slowness = float(given.get("slowness", 100.0)) / bandwidth
    rate = setting.rate or float(setting.part("calculation").options["rate"])
    return Filter(int(given.get("tokens", 30)), slowness, rate)


def predict_loss(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """The loss of the filter after some steps."""
    return np.array([filter_of(setting).loss(int(step)) for step in steps])


def predict_loss_of_half(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """The same with half the bandwidth."""
    return np.array([filter_of(setting, 0.5).loss(int(step)) for step in steps])


def read_filter(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`filter_miss`, the largest distance of P from the filter at every measured step."""
    assert run.setting is not None
    return {"filter_miss": _miss(run, filter_of(run.setting))}


def read_half_filter(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The same with half the bandwidth."""
    assert run.setting is not None
    return {"filter_miss": _miss(run, filter_of(run.setting, 0.5))}


def _miss(run: Run, found: Filter) -> Float[np.ndarray, "points"]:
    expected = np.array([found.weights(int(step)) for step in run.steps])
    return np.abs(run.curves["position_weights"] - expected).max((1, 2))


def worst_miss(runs: Sequence[Run]) -> list[float]:
    return [max(float(run.curves["filter_miss"].max()) for run in runs)]


def correlations(runs: Sequence[Run]) -> list[float]:
    return [float(run.curves["correlation"][-1]) for run in runs]


def worst_correlation(runs: Sequence[Run]) -> list[float]:
    return [min(correlations(runs))]


def worst_modes(runs: Sequence[Run]) -> list[float]:
    """The largest |learned modes − (1 + 4T/μ)|."""
    found = []
    for run in runs:
        assert run.setting is not None
        given = run.setting.teacher.options
        expected = expected_modes(int(given["tokens"]), float(given["slowness"]))
        found.append(abs(float(run.curves["learned_modes"][-1]) - expected))
    return [max(found)]


def modes_over_tokens(runs: Sequence[Run]) -> list[float]:
    """The largest |learned modes − T|."""
    tokens = [int(run.setting.teacher.options["tokens"]) for run in runs if run.setting is not None]
    learned = [float(run.curves["learned_modes"][-1]) for run in runs]
    return [max(abs(a - b) for a, b in zip(learned, tokens, strict=True))]


FILTER = Number(
    worst_miss,
    0.0,
    "the largest distance of a weight from the filter",
    1e-10,
    "at most",
    certain=True,
    id="filter",
    statement="after k steps P is the spectral filter (I − (I − 2ηG/R)^k)e of Slepian's matrix",
    source=DERIVED,
    derived=True,
)
LOSS = Curve(
    "excess_risk",
    predict_loss,
    tolerance=1e-8,
    id="loss",
    statement="the loss is that of the filter at every step",
    source=DERIVED,
    derived=True,
)
SAMPLED = Number(
    worst_correlation,
    1.0,
    "the least correlation of P from drawn angles and of the filter",
    1e-3,
    certain=True,
    id="sampled",
    statement="descent on 1000 drawn angles, as published, gives the filter's P: correlation 0.999",
    source=f"{FROM_CODE}; the filter: {DERIVED}",
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.PARTLY_READ,
)
MODES = Number(
    worst_modes,
    0.0,
    "the largest distance of the number of learned modes from 1 + 4T/μ",
    0.5,
    "at most",
    certain=True,
    id="modes",
    statement="about 1 + 4T/μ modes are learned when the loss is 10⁻³, within one half",
    source=DERIVED,
)
CORRELATION = Measured(
    correlations,
    of="the correlation of P from drawn angles and of the filter",
    scale="linear",
    id="correlation",
    statement="the correlation of P from 1000 drawn angles and of the filter",
    source=FROM_CODE,
)


def make_setting(tokens: int, slowness: float, seed: int) -> Setting:
    """Position weights by the published step size, until their loss is 10⁻³."""
    return Setting(
        Part("slow_rotation", tokens=tokens, slowness=slowness),
        RATE,
        Filter(tokens, slowness, RATE).steps_until(UNTIL),
        seed=seed,
        student=Part("position_weights"),
        objective=Part("position_loss"),
        measures=MEASURES,
    )


def sampled_setting(tokens: int, slowness: float, seed: int, bandwidth: float = 1.0) -> Setting:
    """The same by literal steps on drawn angles."""
    descent = Part("sampled_descent", angles=ANGLES, rate=RATE, until=UNTIL, bandwidth=bandwidth)
    teacher = Part("slow_rotation", tokens=tokens, slowness=slowness)
    return Setting.of_calculation(descent, teacher=teacher, seed=seed)


def cases(plan: Plan, preset: PositionsPreset) -> list[Case]:
    """Exact runs at some slownesses, the same on drawn angles, and controls."""
    T, first = preset.tokens, preset.first_seed
    made = [make_setting(T, slowness, first) for slowness in preset.slownesses]
    settings = tuple(dict.fromkeys(change_settings(plan, made)))
    main = Case("slow", "μ = 50 … 300", settings, (FILTER, LOSS), derived=read_filter)
    if plan.changes:
        return [main]
    seeds = plan.seeds or preset.seeds

    def sampled(slowness: float, bandwidth: float = 1.0) -> tuple[Setting, ...]:
        return over_seeds(sampled_setting(T, slowness, first, bandwidth), seeds)

    drawn = tuple(s for slowness in preset.slownesses for s in sampled(slowness))
    fast = preset.slownesses[0]
    return [
        main,
        Case("drawn-angles", "1000 drawn angles", drawn, (SAMPLED, MODES)),
        *(
            Case(f"mu{slowness:g}", f"μ = {slowness:g}", sampled(slowness), (CORRELATION,))
            for slowness in preset.slownesses
        ),
        Case(
            "half-bandwidth",
            "bandwidth 1/μ",
            settings,
            (FILTER, replace(LOSS, theory=predict_loss_of_half)),
            "the bandwidth 2/μ: this filter has half of it",
            derived=read_half_filter,
        ),
        Case(
            "half-bandwidth-drawn",
            "bandwidth 1/μ",
            sampled(fast, 0.5),
            (SAMPLED,),
            "the bandwidth 2/μ: this filter has half of it",
        ),
        Case(
            "all-modes",
            "1000 drawn angles",
            drawn,
            (replace(MODES, values=modes_over_tokens, statement="all T modes are learned"),),
            "modes of tiny size are not learned: this claims all T",
        ),
    ]


def case_at(setting: Setting) -> Case:
    """The filter, and its loss, at every step of training."""
    expect_training(setting, "slow_rotation")
    return at_setting(setting, (FILTER, LOSS), measures=MEASURES, derived=read_filter)


study = Study(
    source=f"{FROM_CODE}; the filter: {DERIVED}",
    statement=(
        "If one feature turns slowly, by θ/μ, and the position weights alone are trained, descent "
        "from zero is a spectral filter of Slepian's matrix of bandwidth 2/μ. It learns a few "
        "modes before the loss is 10⁻³, so that P is smooth and not the single weight that the "
        "minimum has."
    ),
    equation="G_tt′ = sinc(4π(t − t′)/μ);   p_k = (I − (I − 2ηG/R)^k) e",
    choices=(
        "The authors' stored arrays were not at hand. Descent on 1000 drawn angles, as in their "
        "script but with our own numbers, stands for them.",
        "The number of learned modes is the trace of the longest prefix's filter.",
    ),
    presets={
        "quick": PositionsPreset(seconds=20.0, seeds=4),
        "confirm": PositionsPreset(
            seconds=20.0, seeds=4, tokens=24, slownesses=(40.0, 90.0, 250.0), first_seed=1000
        ),
        "paper": PositionsPreset(seconds=60.0, seeds=20),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/in_context_autoregression/theory/slepian.py",
)
