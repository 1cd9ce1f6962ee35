"""What the web page shows of this paper: its student on both of its targets, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, final

from tutelage.claims import Hypothesis, Verdict, check
from tutelage.papers.shallow_transformers import paper
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.problem.registry import options_of
from tutelage.run import Outcome, Run
from tutelage.settings import Setting
from tutelage.studies.machine import Block, Machine
from tutelage.studies.pages import Line, Page, Reading, Silent, say_nothing
from tutelage.studies.tours import Stop

if TYPE_CHECKING:
    from tutelage.problem.build import Problem

OWN_STUDENT = "shallow_transformer"
OWN_MEASURES = {  # of a student
    "shallow_transformer": ("displacement", "linearisation_gap"),
    "indrnn": ("saturation",),
}
CURVES_OF_BOUNDS = ("least_loss", "averaged_loss", "label_power")


def choose_measures(setting: Setting) -> tuple[str, ...]:
    """Losses, and what only the one student has: how far it has gone from its start and from its
    linearisation, or how saturated it is.
    """
    held_out = ("validation_loss",) if setting.objective.options.get("validation", 0) else ()
    projected = setting.optimiser.name == "projected_descent"
    kept = ("least_loss", "averaged_loss") if projected else ()
    return ("loss", *held_out, *kept, "label_power", *OWN_MEASURES.get(setting.student.name, ()))


def draw_machine(setting: Setting, problem: Problem) -> Machine:
    """A sequence → heads near their start → the sum over heads."""
    _, dim, tokens, _ = problem.teacher.shape
    moved = {"U": "values", "W": "attention"} if setting.student.name == OWN_STUDENT else {}
    return (
        Block("number", "X", f"{tokens} tokens", f"a sequence of {dim} features each"),
        *(
            Block(
                "number",
                letter,
                what,
                "√m times the largest move",
                curve=f"displacement.{letter}",
            )
            for letter, what in moved.items()
        ),
        Block("number", "L", "loss", "mean squared error on the sample", curve="loss"),
    )


def read(setting: Setting) -> Reading:
    """What the bounds say about a setting, or why they say nothing."""
    if setting.teacher.name != "transported":
        return say_nothing(setting)
    if setting.optimiser.name != "projected_descent" or setting.objective.name != "squared_loss":
        return Silent(
            "No claims here: the bounds are for projected descent on the squared loss of the "
            "whole sample."
        )
    return BoundsReading(setting)


@final
class BoundsReading(Reading):
    """The claims of the study `bounds` about training. They are about the last step, and so wait
    for it.
    """

    def __init__(self, setting: Setting) -> None:
        # The error of a finite pool is part of the bounds, so that its size is always said.
        pool = options_of("teacher", "transported")["pool"].default
        given = setting.teacher.options.get("pool", pool)
        self.setting = setting.change(**{"teacher.pool": given})
        self.conditions = theory.hypotheses(self.setting)

    def hypotheses(self) -> Sequence[Hypothesis]:
        return self.conditions

    def predicted(self) -> Sequence[Line]:
        """The bound on linearisation, which holds for every iterate."""
        bound = theory.linearisation_bound(theory.sizes(self.setting))
        ends, label = (1.0, float(self.setting.steps)), f"theory: at most {bound:.3g}"
        return [Line("linearisation_gap.sup", "predicted", label, ends, (bound, bound))]

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        from tutelage.papers.shallow_transformers.bounds.quantities import (
            IN_TRAINING,
            bound_claims,
        )

        if run.outcome is not Outcome.FINISHED or not set(CURVES_OF_BOUNDS) <= set(run.curves):
            return ()
        judged, prefix = replace(run, setting=self.setting), f"{paper.name}/bounds/explorer/"
        claims = bound_claims(IN_TRAINING, theory.hypotheses)
        return [check(claim, judged, prefix=prefix) for claim in claims]


def _heads(width: int, more: str = "") -> str:
    sizes = f"student.heads={width}{more}&objective.samples=100&rate=0.05&steps=400&seed=0"
    return f"teacher=transported&student=shallow_transformer&{sizes}"


_BINDING = "&optimiser.rho_c=0.05&optimiser.rho_u=0.05&optimiser.rho_w=0.05"

TOUR = (
    Stop(
        "A wide layer of heads",
        "64 attention heads are trained on 100 sequences by projected gradient descent. In 400 "
        "steps the loss comes to 2.3·10⁻⁴.",
        "Change the learning rate and watch the loss.",
        _heads(64),
        last={"loss": (2.25e-4, 2.35e-4)},
    ),
    Stop(
        "Heads hardly move",
        "A wide layer learns without going far: √m times the largest move of any head is about "
        "0.13 in the mean over c, U and W, where radii of 3 are allowed.",
        "Raise the heads to 512: √m times the move hardly changes, so that each head moves less.",
        _heads(64),
        last={"displacement": (0.12, 0.14)},
        show="displacement.W",
    ),
    Stop(
        "The wider, the more linear",
        "Widths 8, 64 and 512 on the same sample: the wider the student, the closer it stays to "
        "its linearisation.",
        "Look at the theory line: the bound holds for every step, far above what is measured.",
        _heads(512),
        last={"linearisation_gap": (1e-7, 1e-6)},
        also=(_heads(64), _heads(8)),
        show="linearisation_gap.sup",
    ),
    Stop(
        "Long sequences",
        "Sequences of 128 tokens over those of 16. Their labels differ in size: look at how far "
        "each loss falls from its own start.",
        "Set the tokens to 256.",
        _heads(64, "&teacher.tokens=128"),
        last={"loss": (3.6e-4, 3.75e-4)},
        also=(_heads(64),),
        show="loss",
    ),
    Stop(
        "A projection that binds",
        "Radii of 0.05, which the heads reach: the displacements stop there, and the loss stays "
        "above that of radii of 3.",
        "Choose the curve of the displacement, and see it stop at 0.05.",
        _heads(64, _BINDING),
        last={"loss": (5.7e-4, 5.8e-4), "displacement": (0.0499, 0.0501)},
        also=(_heads(64),),
        show="loss",
    ),
)

pages = (
    Page(
        name=paper.name,
        title="Shallow transformers",
        teachers=("transported", "autoregression"),
        reading=read,
        measures=choose_measures,
        begin={"rate": 0.05, "steps": 400, "seed": 0},
        begin_with={"autoregression": {"rate": 0.3, "steps": 200}},
        letters=paper.letters,
        symbols={"steps": "τ", "teacher.tokens": "T"},
        theorem="L ≲ (d + log m/δ′)²/√τ + √(log(n/δ)/m) + (d + log m/δ′)/√m",
        statement="A wide layer of attention heads learns near its start, with bounds that do not "
        "grow with the length of the sequence.",
        machine=draw_machine,
        tour=TOUR,
    ),
)
