"""Fig. 1: full attention on tokens and codes. Which blocks of its matrices move, by how much, and
the gap to position-only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Exponent, Hypothesis, Number
from tutelage.claims.claim import NotYet
from tutelage.papers.teacher_models.rates.study import LETTERS
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/blocks"
PAPER = "Zhang et al. 2026, Section 2 and Fig. 1"
PARITY = "by parity, derived here (docs/derivations.md, section 8)"
OPEN = {**LETTERS, "N": "objective.batch"}
SEEDS = {"quick": 3, "full": 8}
LONGER = {"quick": 1, "full": 10}  # times the steps below
SIZES = {"quick": (25, 100, 400), "full": (25, 50, 100, 200, 400, 800)}  # batches
SCORES = ("XX", "XP", "PX", "PP")

TEACHER = Part("convolution", tokens=8, support=2, outputs=4, dim=4, norm=10.0, activation="relu")
ONLINE = Part("online", batch=100, held_out=300)
MERGED = Setting(
    TEACHER,
    rate=0.01,
    steps=6000,
    student=Part("content_attention", form="merged", start=0.01),
    objective=ONLINE,
    measures=("excess_risk",),
)
# W_K = W_Q = 0 is a saddle, so the start is larger; once they have grown the product of two
# matrices learns faster than one.
SEPARATE = replace(
    MERGED, steps=3000, student=Part("content_attention", form="separate", start=0.05)
)
TEXTBOOK = replace(
    MERGED,
    steps=1500,
    teacher=TEACHER.change(
        dim=16
    ),  # as many features as two codes' worth: the codes are added to them
    student=Part("content_attention", form="separate", mix="added", codes="sinusoidal", start=0.1),
)


def position_only(setting: Setting) -> Setting:
    """The student (2.4) beside a full layer: the same teacher, batches and rate, in the basis of
    its codes, from a start of 0.01.
    """
    return replace(setting, student=Part("position_attention", start=0.01))


def block_norms(setting: Setting, student: Any) -> dict[str, float]:
    """How far each block has moved from its start: W_V on tokens and on codes, and the four blocks
    of W_KQ (rows: keys).
    """
    before = build(setting).student
    dim = setting.teacher.options["dim"]
    value = np.asarray(student.value - before.value)
    scores = np.asarray(student.score_matrix() - before.score_matrix())
    parts = {"X": slice(None, dim), "P": slice(dim, None)}
    moved = {f"V{name}": float(np.linalg.norm(value[:, part])) for name, part in parts.items()}
    return moved | {
        pair: float(np.linalg.norm(scores[parts[pair[0]], parts[pair[1]]])) for pair in SCORES
    }


def _full_runs(runs: Sequence[Run]) -> list[Run]:
    return [
        run
        for run in runs
        if run.setting is not None and run.setting.student.name == "content_attention"
    ]


def _share(block: str, of: str) -> Callable[[Sequence[Run]], list[float]]:
    def shares(runs: Sequence[Run]) -> list[float]:
        found = [
            block_norms(run.setting, _learned(run).student)
            for run in _full_runs(runs)
            if run.setting is not None
        ]
        return [norms[block] / norms[of] for norms in found]

    return shares


def _largest_share(runs: Sequence[Run]) -> list[float]:
    """Of the three other blocks of W_KQ, the one that moved farthest, over the one that must."""
    return [
        max(three)
        for three in zip(*(_share(block, "PP")(runs) for block in ("XX", "XP", "PX")), strict=True)
    ]


def final_excess(run: Run) -> float:
    """The excess at the end: the mean of the last tenth of a decade, since single steps are
    noisy.
    """
    late = run.steps > run.steps[-1] * 10**-0.1
    return float(run.curves["excess_risk"][late].mean())


def _learned(run: Run) -> Run:
    """A run that has left its plateau for good: where the blocks stand before that says nothing of
    where they end.
    """
    if final_excess(run) > 0.2 * run.curves["excess_risk"][0]:
        raise NotYet(
            f"Too short to tell: the excess at step {run.steps[-1]:,} is still more than a fifth "
            "of its start."
        )
    return run


def _gap(runs: Sequence[Run]) -> list[float]:
    """The full layer's final excess over that of the position-only student of the same seed."""
    position = {
        run.setting.seed: run
        for run in runs
        if run.setting is not None and run.setting.student.name == "position_attention"
    }
    return [
        final_excess(run) / final_excess(_learned(position[run.setting.seed]))
        for run in _full_runs(runs)
        if run.setting is not None
    ]


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    """What the paper's reduction of (2.5) to (2.4) assumes, at a setting."""
    student = setting.student.options
    apart = (
        student.get("mix", "concatenated") == "concatenated"
        and student.get("codes", "orthonormal") == "orthonormal"
    )
    return (
        Hypothesis("tokens iid N(0, I)", setting.inputs == Part("gaussian"), setting.inputs.name),
        Hypothesis("orthonormal codes, concatenated to the tokens", apart),
        Hypothesis(
            "a small start", None, f"entries of standard deviation {student.get('start', 0.01):g}"
        ),
        Hypothesis(
            "trained to convergence", None, f"{setting.steps:,} steps at a rate of {setting.rate:g}"
        ),
        Hypothesis(
            "gradients of the population risk",
            False,
            f"batches of {setting.objective.options.get('batch', 100)}",
        ),
    )


def _claim(
    case: str,
    name: str,
    kind: Callable[..., Claim],
    *given: Any,
    statement: str,
    source: str = PAPER,
    **more: Any,
) -> Claim:
    return kind(
        *given,
        id=f"{NAME}/{case}/{name}",
        statement=statement,
        source=source,
        hypotheses=hypotheses,
        **more,
    )


def stay_claims(case: str) -> list[Claim]:
    """What Fig. 1 shows: the other blocks stay near their start."""
    scores, values = (
        "the farthest of the blocks XX, XP, PX over PP",
        "the block of W_V on codes over that on tokens",
    )
    return [
        _claim(
            case,
            "scores-stay",
            Number,
            _largest_share,
            0.0,
            scores,
            0.02,
            "at most",
            statement="of W_KQ only the block (P, P) moves",
        ),
        _claim(
            case,
            "values-stay",
            Number,
            _share("VP", "VX"),
            0.0,
            values,
            0.05,
            "at most",
            statement="of W_V only the block on X moves",
        ),
    ]


def gap_claim(case: str, source: str = PAPER) -> Claim:
    return _claim(
        case, "gap", Number, _gap, 1.0, "final excess over that of position-only", 0.5, "at most",
        statement="the full layer gets as far as position-only attention, to half as much again",
        source=source,
    )  # fmt: skip


@dataclass(frozen=True)
class Blocks:
    """The study `teacher-models/blocks`."""

    name: str = NAME
    sentence: str = (
        "Full attention on [x; p], merged and with W_K, W_Q apart, and the textbook "
        "layer: which blocks move (Fig. 1)"
    )
    statement: str = (
        "The paper studies position-only attention because, trained in full, only the block of "
        "W_V on tokens and the block of W_KQ between "
        "codes move (Fig. 1). Trained online from a small random start: how far each block "
        "moves, how that falls with the batch, and "
        "what the full layer gives away against position-only attention."
    )
    equation: str = (
        "σ(W̃_V Z softmax(Zᵀ W̃_KQ Z/√D)), Z = [X; P];   moved: W̃_V = [W_V, ~0],  "
        "W̃_KQ = diag(~0, W_KQ)"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        "A convolution teacher with D = 8, K = 2, d = M = 4, ‖V*‖ = 10, batches of 100, no label "
        "noise; Fig. 1 does not give its sizes.",
        "Step size 0.01: the block between tokens has a curvature larger by the tokens' squared "
        "length than that between codes, and from "
        "0.05 on it makes the run unstable.",
        "Starts of 0.01 (merged) and 0.05 (W_K and W_Q apart, where zero is a saddle); for the "
        "law in N 0.0001, so that the start is "
        "not seen.",
        "The textbook layer: sinusoidal codes added to tokens of d = 16, scale 1/√d, W_K and W_Q "
        "apart.",
        "The excess is measured on 300 inputs held out, without noise.",
        "Limits of 2% and 5% for what 'stays', and of 1.5 for the gap: by eye, as Fig. 1 is "
        "read. Exponents in N to 0.15: three sizes and "
        "six seeds give no better.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 45.0, "full": 3000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/blocks/study.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The two forms of the paper; unless something was changed also the textbook layer, the law
        in N and the control.
        """
        cases = [
            _form(name, label, base, plan)
            for name, label, base in (
                ("merged", "(2.5), W_KQ merged", MERGED),
                ("separate", "(2.3), W_K and W_Q", SEPARATE),
            )
        ]
        if plan.changes:
            return cases
        return [*cases, _textbook(plan), _batches(plan), _shifted(plan)]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.blocks import figures as blocks_figures

        return blocks_figures.draw(answered, folder)


def _seeds(setting: Setting, plan: Plan) -> tuple[Setting, ...]:
    steps = plan.steps or LONGER[plan.preset] * setting.steps
    return tuple(
        replace(setting, steps=steps, seed=setting.seed + i)
        for i in range(plan.seeds or SEEDS[plan.preset])
    )


def _with_position(setting: Setting, plan: Plan) -> tuple[Setting, ...]:
    full = _seeds(setting, plan)
    return (*full, *(position_only(s) for s in full))


def _form(name: str, label: str, base: Setting, plan: Plan) -> Case:
    try:
        setting = changed(base, plan.changes, OPEN)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    return Case(name, label, _with_position(setting, plan), (*stay_claims(name), gap_claim(name)))


def _textbook(plan: Plan) -> Case:
    return Case(
        "textbook",
        "textbook layer",
        _with_position(TEXTBOOK, plan),
        (gap_claim("textbook", "not in the paper, which has no such layer"),),
    )


def _batches(plan: Plan) -> Case:
    """The blocks whose population gradient vanishes by parity move by noise alone, and so like
    N^-½.
    """
    # The identity, for which parity is exact; a smaller step, since here the curvature is twice
    # that of ReLU. Early, while noise adds up: later it feeds back on itself, and dies out with the
    # excess.
    start = MERGED.student.change(start=0.0001)
    base = replace(
        MERGED,
        teacher=TEACHER.change(activation="identity"),
        rate=0.005,
        steps=plan.steps or 300,
        student=start,
    )
    settings = [
        replace(base.change(**{"objective.batch": size}), seed=seed)
        for size in SIZES[plan.preset]
        for seed in range(plan.seeds or 2 * SEEDS[plan.preset])
    ]

    def moved(block: str) -> Callable[[Sequence[Run]], list[tuple[float, float, int]]]:
        return lambda runs: [
            (
                float(run.setting.objective.options["batch"]),
                block_norms(run.setting, run.student)[block],
                run.setting.seed,
            )
            for run in runs
            if run.setting is not None
        ]

    words = {
        "VP": "W_V on codes",
        "XP": "W_KQ between tokens (keys) and codes",
        "PX": "W_KQ between codes (keys) and tokens",
    }
    claims = tuple(
        _claim(
            "batches", f"{block}-exponent", Exponent, moved(block), -0.5, f"how far {said} moves, in N,", 0.15,
            statement=f"{said}: its movement is noise, ∝ N^-½", source=PARITY,
        )
        for block, said in words.items()
    )  # fmt: skip
    return Case("batches", "batches of different sizes", tuple(settings), claims)


def _shifted(plan: Plan) -> Case:
    """Tokens with a mean: parity is broken, and the blocks that pair tokens with codes have
    something to learn.
    """
    setting = replace(MERGED, steps=2500, inputs=Part("independent", law="normal", shift=1.0))
    claim = stay_claims("shifted")[1]
    return Case(
        "shifted",
        "tokens of mean 1",
        _seeds(setting, plan),
        (claim,),
        "tokens of mean zero: with a mean, the block of W_V on codes is of use",
    )


def attention_on(setting: Setting, student: Any, count: int = 64) -> Float[np.ndarray, "D D"]:
    """The layer's attention, averaged over held-out inputs."""
    import jax

    held = build(setting).objective.judge.tokens[:count]
    return np.asarray(jax.vmap(lambda x: student.weights(student.embed(x)))(held).mean(0))


BLOCKS = Blocks()
