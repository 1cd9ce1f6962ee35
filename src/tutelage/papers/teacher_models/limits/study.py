"""The limits of the class: teachers outside it, richer students on them, one map of what is
reached, beside what can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tutelage.claims import Claim, Measured, Number
from tutelage.papers.teacher_models.limits.readings import LEARNED, Cell, Draw
from tutelage.papers.teacher_models.rates.study import LETTERS
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/limits"
SOURCE = "proved here (docs/derivations.md, section 16)"
OPEN = {letter: LETTERS[letter] for letter in ("D", "d", "M", "K", "V", "eta")}
DRAWS = {"quick": 3, "full": 5}  # of the teacher: a replication each
RESTARTS = {"quick": 5, "full": 10}
STEPS = {"quick": 1200, "full": 10_000}
RATE = 0.05
DATA = {"samples": 8192, "held_out": 4096, "batch": 64}

SIZE = {"tokens": 6, "outputs": 2, "dim": 4}
TEACHERS: dict[str, tuple[str, Part]] = {
    "convolution": ("convolution (the class)", Part("convolution", support=2, **SIZE)),
    "max-pooling": ("max pooling", Part("max_pooling", support=2, **SIZE)),
    "top-k": ("top-2 by content", Part("top_k", support=2, **SIZE)),
    "softmax": ("softmax by content", Part("softmax_selection", sharpness=3.0, **SIZE)),
    "two-heads": ("two heads", Part("two_heads", support=2, **SIZE)),
    "two-layers": ("two layers", Part("two_layers", support=2, hidden=4, **SIZE)),
    "products": ("products of tokens", Part("products", **SIZE)),
}
STUDENTS: dict[str, tuple[str, Part]] = {
    "position": ("position, one head", Part("position_attention", start=0.5)),
    "heads": ("position, two heads", Part("multi_head_position", heads=2, start=0.5)),
    "layers": ("position, two layers", Part("two_layer_position", hidden=8, start=0.5)),
    "content": ("content and position", Part("content_attention", start=0.5)),
}
# Cells whose teacher is a student of that kind, or a limit of such students: nothing is out of
# reach there.
INSIDE = {
    *(("convolution", student) for student in STUDENTS),
    ("softmax", "content"),
    ("two-heads", "heads"),
    ("two-layers", "layers"),
}
BOUNDED = (
    "position",
    "heads",
)  # students of which each output is σ of a linear form: a bound is proved for every teacher here
ROOM = (
    0.03  # of a bound: three Monte Carlo errors of a relative excess on 40,000 inputs, rounded up
)
TAUGHT = (
    ("max-pooling", "position"),
    ("softmax", "heads"),
    ("two-heads", "position"),
    ("products", "position"),
)


def floor(setting: Setting) -> float:
    """The certified bound; it loads JAX only when it is asked."""
    from tutelage.papers.teacher_models.theory import limits as limits_theory

    return limits_theory.floor(setting)


def over_floor(cell: Cell, runs: Sequence[Run]) -> list[float]:
    """The best of restarts over the bound of its own draw."""
    floors = {run.setting.seed: floor(run.setting) for run in runs if run.setting is not None}
    return [
        draw.best / bound for draw, bound in zip(cell.draws(runs), floors.values(), strict=True)
    ]


MEASURED: dict[str, tuple[str, Callable[[Draw], float]]] = {
    "best": (
        "the relative excess of the best of restarts, on fresh inputs",
        lambda draw: draw.best,
    ),
    "second": (
        "the relative excess of the second best restart, held out",
        lambda draw: sorted(draw.restarts)[1],
    ),
    "median": (
        "the relative excess of the median restart, held out",
        lambda draw: sorted(draw.restarts)[len(draw.restarts) // 2],
    ),
    "worst": (
        "the relative excess of the worst restart, held out",
        lambda draw: max(draw.restarts),
    ),
    "near": ("the number of restarts within 10% of the best", lambda draw: float(draw.near)),
    "alone": (
        "the share of draws in which the best is one restart's alone",
        lambda draw: float(draw.alone),
    ),
    "error": ("one Monte Carlo error of the best", lambda draw: draw.error),
    "gap": ("the best on fresh inputs less the same on the training sample", lambda draw: draw.gap),
}


def measurements(cell: Cell, prefix: str) -> list[Claim]:
    """What a cell of the map shows; one number a draw of the teacher."""
    return [
        Measured(cell.values(read), of, id=f"{prefix}/{name}", statement=of, source="measured here")
        for name, (of, read) in MEASURED.items()
    ]


def claims(cell: Cell, prefix: str, inside: bool, bounded: bool) -> list[Claim]:
    """What theory says of a cell: the teacher is learned, or a bound is respected and reached."""
    if inside:
        return [learned(cell, f"{prefix}/learned")]
    if not bounded:
        return []
    over, of = partial(over_floor, cell), "the best of restarts over the certified bound"
    return [
        Number(
            over,
            1.0,
            of,
            ROOM,
            "at least",
            id=f"{prefix}/floor",
            statement="nothing is below the certified bound",
            source=SOURCE,
        ),
        Number(
            over,
            1.0,
            of,
            ROOM,
            id=f"{prefix}/reached",
            statement="training reaches the bound, which a student attains",
            source=SOURCE,
        ),
    ]


def learned(cell: Cell, id: str) -> Claim:
    """The teacher is a student of this kind, or a limit of such students."""
    values, statement = (
        cell.values(lambda draw: draw.best),
        "the teacher is learned: the relative excess is 1% or less",
    )
    return Number(
        values,
        0.0,
        "the best of restarts",
        LEARNED,
        "at most",
        id=id,
        statement=statement,
        source="it is in the student's class",
    )


@dataclass(frozen=True)
class Limits:
    """The study `teacher-models/limits`."""

    name: str = NAME
    sentence: str = (
        "teachers outside the class and richer students: a map of the relative "
        "excess reached, beside certified bounds"
    )
    statement: str = (
        "The theorem speaks of teachers σ(V*XS*). Seven teachers, of which one is of the class, "
        "are taught to four students: attention by "
        "position with one head, two heads or two layers, and attention by content and position. "
        "Each cell of the map is the relative "
        "excess of the best of several restarts, averaged over draws of the teacher. For "
        "students by position with one or two heads a "
        "lower bound is proved, and it is attained by a student of the kind: training must end "
        "there."
    )
    equation: str = (
        "relative excess = E‖Y−f‖²/E‖Y−EY‖²;   identity, H heads:  ≥ (E‖Y‖² − Σ_{r≤H} "
        "σ_r(E[Y⊗X])²)/E‖Y−EY‖²;   top-K: 1 − K/D;   "
        "two unlike heads, one student: ½;   products: 1;   max pooling of pairs: 0.538"
    )
    source: str = (
        "asked of Zhang et al. 2026, Section 2; the bounds are derived here "
        "(docs/derivations.md, section 16)"
    )
    choices: tuple[str, ...] = (
        "D = 6, d = 4, M = 2, K = 2. Every student ends with the σ of its teacher's family: ReLU "
        "for convolution and max pooling, identity "
        "for the others; between two layers there is always a ReLU.",
        "V*u = 0 in selection by content, and V₂ orthogonal to the lengths of V₁'s rows in two "
        "layers: labels then have mean zero, and no "
        "student needs a bias. Two heads are as unlike as can be: ⟨V₁, V₂⟩ = 0 and no token in "
        "common.",
        "A seed is a draw of the teacher and of its data; restarts differ in the student's "
        "random start alone, entries N(0, 0.5²).",
        "Adam at 0.05, annealed to zero along half a cosine, batches of 64 out of 8,192 inputs. "
        "The best of restarts is chosen on 4,096 "
        "held-out inputs and judged on 40,000 others.",
        "Two layers have 8 hidden rows, twice those of the teacher with two layers.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 60.0, "full": 1500.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.2, "full": 1.5})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/limits.py"

    def cases(self, plan: Plan) -> list[Case]:
        """A case a cell of the map; and, unless something was changed, the controls."""
        cells = {(teacher, student): Cell() for teacher in TEACHERS for student in STUDENTS}
        cases = [_case(teacher, student, cell, plan) for (teacher, student), cell in cells.items()]
        return (
            cases
            if plan.changes
            else [*cases, *(_control(*taught, cells[taught], plan) for taught in TAUGHT)]
        )

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.limits import figures as limits_figures

        return limits_figures.draw(answered, folder)


def cell_name(teacher: str, student: str) -> str:
    return f"{teacher}+{student}"


def _settings(teacher: str, student: str, plan: Plan) -> tuple[Setting, ...]:
    steps = plan.steps or STEPS[plan.preset]
    base = Setting(
        TEACHERS[teacher][1],
        RATE,
        steps=steps,
        student=STUDENTS[student][1],
        objective=Part("minibatch", **DATA),
        optimiser=Part("annealed_adam", steps=steps),
        measures=("excess_risk",),
    )
    base = changed(base, plan.changes, OPEN)
    return tuple(
        base.change(seed=base.seed + draw, **{"student.restart": restart})
        for draw in range(plan.seeds or DRAWS[plan.preset])
        for restart in range(RESTARTS[plan.preset])
    )


def _case(teacher: str, student: str, cell: Cell, plan: Plan) -> Case:
    name, label = cell_name(teacher, student), f"{TEACHERS[teacher][0]} | {STUDENTS[student][0]}"
    try:
        settings = _settings(teacher, student, plan)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    prefix = f"{NAME}/{name}"
    said = claims(cell, prefix, (teacher, student) in INSIDE, bounded=student in BOUNDED)
    return Case(name, label, settings, (*measurements(cell, prefix), *said))


def _control(teacher: str, student: str, cell: Cell, plan: Plan) -> Case:
    """What must not hold: a teacher outside the class, taken for one that this student learns."""
    name, label = (
        f"taken-for-learned-{cell_name(teacher, student)}",
        f"{TEACHERS[teacher][0]} | {STUDENTS[student][0]}, as if learned",
    )
    claim = learned(cell, f"{NAME}/{name}/learned")
    return Case(
        name,
        label,
        _settings(teacher, student, plan),
        (claim,),
        "the teacher is one of the student's class",
    )


LIMITS = Limits()
