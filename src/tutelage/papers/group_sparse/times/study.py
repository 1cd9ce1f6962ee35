"""How long selection takes: to a risk ε, to attend to the right group; and what large steps do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from tutelage.claims import Exponent, Measured, Number, Ratio
from tutelage.claims.claim import NoPrediction
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.group_sparse.readings import number_of, setting_of
from tutelage.papers.group_sparse.setup import (
    DERIVED,
    FROM_SUMMARY,
    NO_STEP_SIZE,
    hypotheses,
    over_groups,
)
from tutelage.papers.group_sparse.theory import laws
from tutelage.papers.group_sparse.times import figures
from tutelage.papers.group_sparse.times.presets import PRESETS, TimesPreset
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study

Points = list[tuple[float, float, int]]
LARGE_STEP = 2.0
PUBLISHED_STEP = 0.5  # of one of the paper's experiments
STEPS = 1000  # of plain descent: what large steps decide is decided after three


def read_target(setting: Setting) -> float:
    assert setting.calculation is not None
    return float(setting.calculation.options["target"])


def predict_time(setting: Setting) -> float:
    return laws.time_to_risk(laws.read_groups(setting), read_target(setting))


def predict_half(setting: Setting) -> float:
    return math.pi / 4 * (laws.read_groups(setting) - 1) ** 2 / laws.read_push(setting)


def predict_log_missed(setting: Setting) -> float:
    assert setting.calculation is not None
    rate = float(setting.calculation.options["rate"])
    return laws.log_missed_by_steps(laws.read_groups(setting), laws.read_push(setting), rate)


def refuse_without_step_size(setting: Setting) -> float:
    raise NoPrediction(f"{NO_STEP_SIZE}.")


def read_time(run: Run) -> float:
    return number_of(run, "time_to_risk")


def read_half(run: Run) -> float:
    return number_of(run, "time_to_half")


def read_log_missed(run: Run) -> float:
    return number_of(run, "log_missed")


def time_by_groups(runs: Sequence[Run]) -> Points:
    return [(laws.read_groups(setting_of(run)), read_time(run), 0) for run in runs]


def time_by_target(runs: Sequence[Run]) -> Points:
    return [(read_target(setting_of(run)), read_time(run), 0) for run in runs]


def half_by_groups(runs: Sequence[Run]) -> Points:
    return [(laws.read_groups(setting_of(run)), read_half(run), 0) for run in runs]


def missed_by_groups(runs: Sequence[Run]) -> Points:
    return [
        (laws.read_groups(setting_of(run)), number_of(run, "missed_at_cube"), 0) for run in runs
    ]


def log_missed_by_groups(runs: Sequence[Run]) -> Points:
    """−log(1 − s), of steps at their end and of flow at t = D³."""
    found = []
    for run in runs:
        steps = "log_missed" in run.curves
        log = read_log_missed(run) if steps else math.log(number_of(run, "missed_at_cube"))
        found.append((float(laws.read_groups(setting_of(run))), -log, 0))
    return found


def log_missed_over_groups(runs: Sequence[Run]) -> list[float]:
    return [-y / x for x, y, _ in log_missed_by_groups(runs)]


def exponent(
    name: str,
    points: Callable[[Sequence[Run]], Points],
    value: float,
    of: str,
    statement: str,
    source: str = DERIVED,
) -> Exponent:
    """A claim about a power of D or ε: exact calculations, so that there is no chance in it."""
    return Exponent(
        points,
        value,
        of,
        certain=True,
        id=name,
        statement=statement,
        source=source,
        hypotheses=hypotheses,
    )


TIME = Ratio(
    read_time,
    predict_time,
    0.03,
    "the time to the risk ε",
    certain=True,
    id="time",
    statement="the time to a risk ε is c₀²/(3D²ε³) within 3%",
    source=DERIVED,
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
)
BY_TARGET = replace(
    exponent(
        "epsilon-exponent",
        time_by_target,
        -3.0,
        "the time to the risk ε, in ε,",
        "the time to a risk ε is of the order 1/ε³ at fixed D",
        f"T* = Θ(D³ ∨ 1/(D³ε³)): {FROM_SUMMARY}",
    ),
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
BY_GROUPS = exponent(
    "D-exponent",
    time_by_groups,
    -2.0,
    "the time to the risk ε, in D,",
    "the time to a fixed small risk falls like D^(−2)",
)
BY_CUBE = replace(BY_GROUPS, exponent=-3.0, statement="the time to a fixed small risk is D^(−3)")
PAPER_TIME = Number(
    lambda runs: [number_of(run, "time_to_risk") for run in runs],
    refuse_without_step_size,
    "the number of steps to the risk ε",
    0.0,
    id="paper-time",
    statement="T* = Θ(D³ ∨ 1/(D³ε³)) steps, also in D",
    source=FROM_SUMMARY,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
HALF = exponent(
    "half-exponent",
    half_by_groups,
    2.0,
    "the time to s = ½, in D,",
    "with unit codes it takes a time of the order D² to attend to the right group",
)
HALF_CONSTANT = Ratio(
    read_half,
    predict_half,
    0.03,
    "the time to s = ½",
    certain=True,
    id="half-constant",
    statement="the time to s = ½ is (π/4)(D−1)²/β⁴ within 3%: D² with unit codes, π with sine ones",
    source=DERIVED,
    hypotheses=hypotheses,
    history="First asked of D = 2000 to 16000, where it fails (many-unit, many-sine); "
    "then of more.",
)
CUBE_UNIT = exponent(
    "cube-exponent",
    missed_by_groups,
    -4 / 3,
    "1 − s at t = D³, in D,",
    "at t = D³ small steps on unit codes leave 1 − s of the order D^(−4/3)",
)
CUBE_SINE = replace(
    CUBE_UNIT,
    exponent=-7 / 3,
    statement="at t = D³ small steps on sine codes leave 1 − s of the order D^(−7/3)",
)
PAPER_MISSED = Number(
    log_missed_over_groups,
    refuse_without_step_size,
    "−log(1 − s)/D",
    0.0,
    id="paper-attention",
    statement="S_{j*j} ≥ 1 − e^{−Θ(D)} after T* steps",
    source=FROM_SUMMARY,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
STEP_GAP = Ratio(
    read_log_missed,
    predict_log_missed,
    0.01,
    "log(1 − s) after 1000 steps",
    certain=True,
    id="two-steps",
    statement="two steps of η = 2 on sine codes decide: log(1 − s) = log(D−1) − η²(D+1)²/(8πD)",
    source=DERIVED,
)
EXPONENTIAL = Exponent(
    log_missed_by_groups,
    1.0,
    "−log(1 − s), in D,",
    certain=True,
    id="exponential",
    statement="with steps of a fixed size on sine codes 1 − s is e^{−Θ(D)} for many groups",
    source=DERIVED,
    history="First asked at ± 0.05 of D = 400 to 3200, where the exponent is 1.037.",
)
SELECTS = Number(
    lambda runs: [-math.expm1(read_log_missed(run)) for run in runs],
    0.5,
    "s after 1000 steps",
    0.0,
    "at least",
    certain=True,
    id="selects",
    statement="steps of η = 0.5 on sine codes end with more than half of the weight on the right "
    "group",
    source=DERIVED,
)
ENDS = Measured(
    lambda runs: [number_of(run, "risk") for run in runs],
    "the risk after 1000 steps, where attention was thrown off,",
    certain=True,
    id="risk",
    statement="the risk at the end where large steps have thrown attention off",
    source=DERIVED,
)


def cases(plan: Plan, preset: TimesPreset) -> list[Case]:
    """Waits of flow over D and ε, steps of a fixed size; unless something was changed, controls."""
    varies = "the number of groups"

    def waits(groups: Sequence[int], target: float, codes: str) -> tuple[Setting, ...]:
        return over_groups(plan, groups, Part("group_waits", target=target), codes)

    def steps(groups: Sequence[int], rate: float) -> tuple[Setting, ...]:
        return over_groups(plan, groups, Part("group_steps", rate=rate, steps=STEPS), "sine")

    one = preset.groups[:1]
    small = tuple(s for target in preset.targets for s in waits(one, target, "sine"))
    few = waits(preset.groups, preset.target, "unit")
    small_risk = waits(preset.groups, preset.targets[-1], "sine")
    main = [
        Case(
            "groups",
            "sine codes",
            waits(preset.groups, preset.target, "sine"),
            (TIME,),
            varies=varies,
        ),
        Case("small-risk", "sine, small ε", small_risk, (BY_GROUPS, PAPER_TIME), varies=varies),
        Case("epsilon", "one D, several ε", small, (BY_TARGET,), varies="the risk to come to"),
        Case("few-groups", "unit codes", few, (HALF,), varies=varies),
        Case(
            "many-unit",
            "unit codes, many groups",
            waits(preset.many, preset.target, "unit"),
            (HALF, HALF_CONSTANT, CUBE_UNIT),
            varies=varies,
        ),
        Case(
            "many-sine",
            "sine codes, many groups",
            waits(preset.many, preset.target, "sine"),
            (HALF_CONSTANT, CUBE_SINE, PAPER_MISSED),
            varies=varies,
        ),
        *(
            Case(
                f"most-{codes}",
                f"{codes} codes, most groups",
                waits(preset.most, preset.target, codes),
                (HALF_CONSTANT,),
                varies=varies,
            )
            for codes in laws.CODES
        ),
        Case(
            "large-steps",
            "η = 2, sine codes",
            steps(preset.large, LARGE_STEP),
            (STEP_GAP, EXPONENTIAL),
            varies=varies,
        ),
        Case(
            "published-step",
            "η = 0.5, sine codes, few groups",
            steps((10, 20, 40), PUBLISHED_STEP),
            (SELECTS,),
            varies=varies,
        ),
        Case("thrown-off", "η = 0.5, D = 400", steps((400,), PUBLISHED_STEP), (ENDS,)),
    ]
    if plan.changes:
        return main
    bare = replace(BY_TARGET, claimed_by=ClaimedBy.BEYOND)
    unit = tuple(s for target in (0.3, 0.1, 0.03, 0.01) for s in waits((80,), target, "unit"))
    return [
        *main,
        Case(
            "early",
            "unit codes, ε = 0.003",
            few,
            (TIME,),
            "ε so small that the plateau is over: with unit codes it is not",
            varies=varies,
        ),
        Case(
            "cube",
            "sine codes, small ε",
            small_risk,
            (BY_CUBE,),
            "the power −2 of D: −3 is that of the paper's number of steps",
            varies=varies,
        ),
        Case(
            "large-risk",
            "D = 80, unit codes",
            unit,
            (bare,),
            "ε so small that the plateau is over: here the wait is the plateau",
            varies="the risk to come to",
        ),
        Case(
            "small-D",
            "unit codes, D = 5 to 80",
            few,
            (HALF_CONSTANT, CUBE_SINE),
            "many groups, and sine codes in the power −7/3",
            varies=varies,
        ),
        Case(
            "small-steps",
            "flow to t = D³",
            waits(preset.many, preset.target, "sine"),
            (EXPONENTIAL,),
            "large steps: small ones leave a power of D",
            varies=varies,
        ),
        Case(
            "middle-D",
            "η = 2, D = 16 to 64",
            steps((16, 32, 64), LARGE_STEP),
            (STEP_GAP,),
            "D so large that two steps leave nothing to attend to elsewhere: here the third step, "
            "of the wrong sign, throws attention off",
            varies=varies,
        ),
        Case(
            "thrown",
            "η = 0.5, D = 400",
            steps((400,), PUBLISHED_STEP),
            (SELECTS,),
            "η < 8/D or so: beyond it α overshoots, and attention is thrown off",
        ),
    ]


study = Study(
    source=f"{FROM_SUMMARY}; sharper: {DERIVED}",
    statement=(
        "The paper is said to reach risk ε after T* = Θ(D³ ∨ 1/(D³ε³)) steps, with attention "
        "1 − e^{−Θ(D)} on the right group. Under gradient flow the time to ε is c₀²/(3D²ε³), "
        "attention takes (π/4)(D−1)²/β⁴, and at t = D³ misses a power of D. Two steps of a fixed "
        "size on long codes do give e^{−Θ(D)}, if D is large."
    ),
    equation=("t(ε) → c₀²/(3D²ε³);   t(s = ½) → (π/4)(D−1)²/β⁴;   C₂ = η²β⁴/(2πD)"),
    choices=(
        "Times are t = η·steps of gradient flow, and crossings are found by the solver.",
        "Steps of a fixed size are plain descent on the exact risk, in the same two numbers.",
        "The paper's step size is not known to us. What depends on it is UNDECIDED.",
    ),
    presets=PRESETS,
    cases=cases,
    compares="flows over numbers of groups and over the risks that they come to",
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/group_sparse/theory/laws.py",
)
