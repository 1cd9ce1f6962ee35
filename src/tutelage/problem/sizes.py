"""How large a part makes a setting, from its options alone and before anything is built.

A registration may give an estimate of its own, `register(…, estimate=…)`: a function of the part's
options and of the sizes so far, which returns the sizes with the part in them. Parts are asked in
the order teacher, inputs, student, objective, optimiser. Those that give none are estimated by
the names of their options: tokens, dim, outputs, queries, heads, hidden, samples, batch and so on.

Estimates are of the leading terms, to a factor of a few: enough to refuse what cannot end well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tutelage.settings import Value

Options = Mapping[str, Value]  # of a part, by their declared types, with the defaults filled in

LARGEST = 1e300  # a whole number beyond it may be none that a float can hold
STUDENT_COPIES = 4  # of a student: its gradient, where it began, where it was before, a buffer
STATE_COPIES = 4  # of a student, that an optimiser keeps: two, now and before
DRAWING_COPIES = 3  # of a sample while it is drawn and put together
INPUT_COPIES = 3  # of what a student makes of one input, forwards and backwards
IN_TURN = ("steps", "decades")  # options of a calculation that hold nothing
WORK_PER_TURN = 1e4  # multiplications that take as long as Python to begin one thing
PAIR_NUMBERS = 200  # for each output and query in a risk that is known: a row of quadrature


class Sizes(NamedTuple):
    """How large a setting is, as far as its parts have said. Counts are of numbers or inputs."""

    steps: float = 0.0
    outputs: float = 1.0  # M, d, D and Q of the teacher, as they are held
    dim: float = 1.0
    tokens: float = 1.0
    queries: float = 1.0
    per_draw: float = 1.0  # numbers that are held for one input while a sample is drawn
    work_per_draw: float = 0.0  # multiplications of one label
    apart: float = 0.0  # numbers drawn between the inputs to train on and those held out
    student: float = 0.0  # numbers of the student
    per_input: float = 0.0  # numbers that the student makes of one input
    work_per_input: float = 0.0
    in_blocks: bool = False  # whether a loss takes a whole sample through the student in blocks
    draws: float = 0.0  # inputs that are drawn before the first step and kept
    held: float = 0.0  # numbers that all parts hold at once
    work: float = 0.0  # multiplications until the first step is done
    work_per_step: float = 0.0  # of a step on a sample or a batch

    def hold(self, numbers: float, work: float = 0.0) -> Sizes:
        """With so many more numbers, and so much more work to make them. What is not a number, such
        as none of something infinitely large, counts as infinite.
        """
        held, done = self.held + numbers, self.work + work
        return self._replace(
            held=math.inf if math.isnan(held) else held,
            work=math.inf if math.isnan(done) else done,
        )

    def draw(self, trained: float, held_out: float) -> Sizes:
        """With a sample that is drawn before the first step and kept."""
        inputs = trained + held_out
        each = self.per_draw + self.outputs * self.queries
        between = self.apart if held_out else 0.0
        held = self.hold(DRAWING_COPIES * inputs * each + between, inputs * self.work_per_draw)
        return held._replace(draws=self.draws + inputs)

    def step(self, together: float) -> Sizes:
        """With one step on so many inputs at once."""
        at_once = min(together, 1.0) if self.in_blocks else together
        work = INPUT_COPIES * together * self.work_per_input
        held = self.hold(INPUT_COPIES * at_once * self.per_input, work)
        return held._replace(work_per_step=work)


Estimate = Callable[[Options, Sizes], Sizes]


def count(options: Options, name: str, otherwise: float = 0.0) -> float:
    """An option that counts something; `otherwise` where it is absent, left open or no number."""
    value = options.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    return max(0.0, float(value)) if value < LARGEST else math.inf


def size_teacher(options: Options, sizes: Sizes) -> Sizes:
    """V* of M×d and S* of D×Q; a collapsed teacher has one score for many tokens."""
    collapsed = options.get("collapse") is True
    tokens = 1.0 if collapsed else count(options, "tokens", 1.0)
    shaped = sizes._replace(
        outputs=count(options, "outputs", 1.0),
        dim=count(options, "dim", 1.0),
        tokens=tokens,
        queries=1.0 if collapsed else count(options, "queries", tokens),
    )
    return hold_teacher(shaped)


def hold_teacher(shaped: Sizes, copies: float = 1.0) -> Sizes:
    """With V* and so many matrices S* of the teacher's shape; a label costs V*XS*."""
    M, d, D, Q = shaped.outputs, shaped.dim, shaped.tokens, shaped.queries
    held = shaped.hold(M * d + copies * D * Q)
    return held._replace(per_draw=d * D, work_per_draw=copies * M * D * (d + Q))


def size_inputs(options: Options, sizes: Sizes) -> Sizes:
    """A law holds next to nothing."""
    return sizes


def size_student(options: Options, sizes: Sizes) -> Sizes:
    """`heads` or `hidden` times one layer of attention that looks at the tokens."""
    many = max(count(options, "heads", 1.0), count(options, "hidden", 1.0))
    M, d, D, Q = sizes.outputs, sizes.dim, sizes.tokens, sizes.queries
    return hold_student(
        sizes,
        many * (M * d + D * Q),
        per_input=many * D * (d + Q) + M * Q,
        work_per_input=many * D * (M * d + M * Q + d * Q),
    )


def hold_student(
    sizes: Sizes,
    numbers: float,
    *,
    per_input: float,
    work_per_input: float,
    in_blocks: bool = False,
) -> Sizes:
    """With a student of so many numbers, and what it makes of one input."""
    return sizes.hold(STUDENT_COPIES * numbers, numbers)._replace(
        student=numbers,
        per_input=per_input,
        work_per_input=work_per_input,
        in_blocks=in_blocks,
    )


def size_objective(options: Options, sizes: Sizes) -> Sizes:
    """A sample, and a step on a batch of it or on all of it."""
    samples = count(options, "samples")
    held_out = count(options, "held_out") + count(options, "validation")
    together = max(count(options, "batch", samples), held_out)
    return sizes.draw(samples, held_out).step(together)


def size_optimiser(options: Options, sizes: Sizes) -> Sizes:
    """A state of twice the student's numbers, as Adam's is."""
    return sizes.hold(STATE_COPIES * sizes.student)


def size_without_state(options: Options, sizes: Sizes) -> Sizes:
    """Of an optimiser that keeps nothing beside the student."""
    return sizes


def size_calculation(options: Options, sizes: Sizes) -> Sizes:
    """Nothing is known of it but its whole numbers: something is done as often as they say, and
    one number held for each of the largest. Steps and decades are gone through one by one.
    """
    counts = {name: count(options, name) for name in options if isinstance(options[name], int)}
    largest = max((size for name, size in counts.items() if name not in IN_TURN), default=0.0)
    times = math.prod(max(1.0, size) for size in counts.values())
    return sizes.hold(largest, WORK_PER_TURN * times)


USUAL: Mapping[str, Estimate] = {
    "teacher": size_teacher,
    "inputs": size_inputs,
    "student": size_student,
    "objective": size_objective,
    "optimiser": size_optimiser,
    "calculation": size_calculation,
}
