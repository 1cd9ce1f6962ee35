"""What is known of a layer: the answer of `tutelage.learn`."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from tutelage.activations import Activation
from tutelage.claims.verdict import Ends, Status
from tutelage.forms import Json
from tutelage.layers.gap import Gap
from tutelage.notebook import card
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.teachers.base import Shape
from tutelage.teachers.bilinear import BilinearTeacher

if TYPE_CHECKING:
    from tutelage.run import Run

ROUNDING = 1e-12  # a share below it is zero
STEPS, RATE_OF_STABLE = 100_000, 0.5  # of `Found.setting`, unless given


def equal_within(tolerance: float) -> float:
    """How far column sums may differ and be equal, relative to their mean."""
    return max(1e-6, tolerance**0.5)


class Kind(enum.Enum):
    """How a layer reads its tokens; the value is a sentence."""

    POSITION = "Each output reads fixed tokens with fixed weights, as one head does."
    HEADS = "Outputs read fixed tokens, with several heads."
    SWITCHING = (
        "Which tokens are read switches with the tokens' content; the layer is linear in between."
    )
    CONTENT = "Which tokens are read depends on the tokens' content."
    NONLINEAR = "Fixed tokens are read, but not through one linear form per output."


@dataclass(frozen=True)
class Fact:
    """One of the four: how much is left of what it says, as a share of squares."""

    name: str
    says: str
    residual: float | None  # None where an earlier fact fails, so that it is not asked
    interval: Ends | None  # 95%, over probes
    status: Status | None

    def plain(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "says": self.says,
            "residual": self.residual,
            "interval": None if self.interval is None else list(self.interval),
            "status": None if self.status is None else self.status.value,
        }


@dataclass(frozen=True)
class Explained:
    """How much of a layer a trained position-only student explains, on inputs held out."""

    share: float  # of E‖Y − EY‖²
    interval: Ends
    run: Run = field(repr=False)
    exact: bool  # whether it was trained on the population risk of the layer itself
    constant: bool  # whether tokens had a constant feature, for the bias


@dataclass(frozen=True)
class Found:
    """What was found about a layer.

    `value` is V (M×d) and `selection` is S (D×Q), where it has one head; `values` and `selections`
    hold all its heads, each up to a factor and a mixture among them. The mean column of S sums to 1
    where that can be.
    """

    framework: str
    shape: Shape
    law: str  # of the inputs, in words
    probes: int
    looked_at: tuple[int, int]  # how many outputs and queries
    tolerance: float  # of residuals
    error: float  # of slopes
    facts: tuple[Fact, ...]
    kind: Kind
    member: Status
    answer: str  # a few words
    heads: int | None
    left_by_heads: tuple[float, ...]  # of the forms' squares, after one head, two, …
    values: Float[np.ndarray, "H M d"] | None
    selections: Float[np.ndarray, "H D Q"] | None
    activation: Activation | None
    bias: Float[np.ndarray, "M Q"] | None
    gain: Float[np.ndarray, "M Q"] | None
    offset: Float[np.ndarray, "M Q"] | None
    biased: bool  # whether there is a bias inside of σ, or a gain or an offset after it
    residual_connection: str
    positional: float
    gap: Gap
    fresh: int  # inputs on which the form was compared with the layer
    differing: int  # of these
    mass: float | None  # the most of the input law that may differ, with confidence 95%
    explained: Explained | None
    gaussian: Part | None  # the input law, where the population risk is known for it
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> Float[np.ndarray, "M d"] | None:
        return self.values[0] if self.values is not None and self.heads == 1 else None

    @property
    def selection(self) -> Float[np.ndarray, "D Q"] | None:
        return self.selections[0] if self.selections is not None and self.heads == 1 else None

    @property
    def column_sums(self) -> Ends | None:
        """The least and the largest sum of a column of S."""
        if self.selection is None:
            return None
        sums = self.selection.sum(0)
        return float(sums.min()), float(sums.max())

    @property
    def support(self) -> tuple[int, ...] | None:
        """K_i: how many tokens each query reads."""
        if self.selection is None:
            return None
        return tuple(int(count) for count in np.count_nonzero(self.selection, axis=0))

    @cached_property
    def teacher(self) -> BilinearTeacher:
        """The layer as a teacher of the class, without its bias: exact risk, sharp constants and
        any horizon. Refused, with the reason, where it is none.
        """
        reason = self._why_no_teacher()
        if reason:
            raise Refused(
                "A layer becomes a teacher only where it is σ(VXS) with weights S ≥ 0, since that "
                f"is what the theory is about. Got {reason}."
            )
        assert self.value is not None
        assert self.selection is not None
        assert self.activation is not None
        return BilinearTeacher(
            self.value, self.selection, self.activation, outside=not self.equal_sums
        )

    def _why_no_teacher(self) -> str:
        if self.value is None or self.selection is None:
            return f"{self.answer}: {self.kind.value}"
        if self.activation is None:
            return "an activation of no known name (tutelage.register makes one known)"
        if (self.selection < 0).any():
            return f"a weight of {self.selection.min():.3g}"
        if any(fact.status is not Status.HOLDS for fact in self.facts):
            return self.answer
        return ""

    @property
    def equal_sums(self) -> bool:
        """Whether all columns of S have the same sum, as those of a softmax do."""
        sums = self.column_sums
        return sums is not None and sums[1] - sums[0] <= equal_within(self.tolerance)

    @property
    def counting_constant(self) -> float | None:
        """Σ_i K_i(D−K_i)/4, which ηT·excess tends to on the layer as a teacher (without label
        noise; docs/derivations.md): known where columns of S sum to 1 and have zeros.
        """
        if self._why_no_teacher() or not self.equal_sums or self.support is None:
            return None
        tokens = self.shape.tokens
        constant = sum(count * (tokens - count) for count in self.support) / 4
        return constant if constant > 0 else None

    def setting(self, *, steps: int = STEPS, rate: float | None = None, seed: int = 0) -> Setting:
        """The layer as the teacher of a run on its exact population risk, from the theorem's start:
        `tutelage.execute([found.setting(steps=10**12)])`.
        """
        from tutelage.objectives.population import PopulationRisk
        from tutelage.students.position_attention import PositionAttention

        teacher = self.teacher
        if self.gaussian is None:
            raise Refused(
                "The population risk is known for Gaussian tokens. Got a layer that was looked at "
                f"on {self.law}; learn it on tutelage.Gaussian() for this."
            )
        if teacher.outside:
            raise Refused(
                "A setting needs a teacher whose columns sum to 1, since every column of an "
                "attention does. "
                f"Got column sums from {teacher.selection.sum(0).min():.3g} to "
                f"{teacher.selection.sum(0).max():.3g}; use PopulationRisk(found.teacher)."
            )
        name = teacher.activation.name
        if rate is None:
            risk = PopulationRisk(teacher)
            stable = risk.stable_rate(PositionAttention.zeros(teacher))
            rate = RATE_OF_STABLE * (stable or 0.1)
        part = Part(
            "bilinear", value=self.value, selection=np.asarray(teacher.selection), activation=name
        )
        return Setting(part, rate=rate, steps=steps, seed=seed, inputs=self.gaussian)

    @property
    def sentence(self) -> str:
        """The answer in a few sentences."""
        return _tell(self)

    def __repr__(self) -> str:
        M, d, D, Q = self.shape
        return (
            f"Found({self.answer}; {self.framework}, {D} tokens of {d} features → {M}×{Q}; "
            f"member {self.member.value})"
        )

    def _repr_html_(self) -> str:
        rows = {
            fact.name: "not asked"
            if fact.residual is None or fact.status is None
            else f"{fact.residual:.2g} {fact.status.value}"
            for fact in self.facts
        }
        rows |= {"heads": str(self.heads or "–"), "how positional": f"{self.positional:.3f}"}
        return card(self.member.value, self.answer, [self.sentence], rows, "")

    def plain(self) -> dict[str, Json]:
        """As JSON-ready data, without the matrices."""
        return {
            "answer": self.answer,
            "member": self.member.value,
            "kind": self.kind.name.lower(),
            "sentence": self.sentence,
            "framework": self.framework,
            "shape": dict(zip(self.shape._fields, self.shape, strict=True)),
            "inputs": self.law,
            "probes": self.probes,
            "looked_at": list(self.looked_at),
            "tolerance": self.tolerance,
            "slope_error": self.error,
            "facts": [fact.plain() for fact in self.facts],
            "heads": self.heads,
            "left_by_heads": list(self.left_by_heads),
            "activation": None if self.activation is None else self.activation.name,
            "column_sums": None if self.column_sums is None else list(self.column_sums),
            "support": None if self.support is None else list(self.support),
            "residual_connection": self.residual_connection,
            "positional": self.positional,
            "gap": {
                "left_by_heads": list(self.gap.left),
                "one_head": [self.gap.low, self.gap.high],
                "linear": self.gap.linear,
            },
            "fresh": self.fresh,
            "differing": self.differing,
            "mass": self.mass,
            "counting_constant": self.counting_constant,
            "explained": None
            if self.explained is None
            else {
                "share": self.explained.share,
                "interval": list(self.explained.interval),
                "exact": self.explained.exact,
                "steps": int(self.explained.run.steps[-1]),
                "outcome": self.explained.run.outcome.name,
            },
            "notes": list(self.notes),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """The matrices that were found, by name."""
        given = {
            "values": self.values,
            "selections": self.selections,
            "bias": self.bias,
            "gain": self.gain,
            "offset": self.offset,
        }
        return {name: array for name, array in given.items() if array is not None}


def _tell(found: Found) -> str:
    """What it is, how sure that is, and what follows."""
    return " ".join(
        said
        for said in (
            _tell_answer(found),
            _tell_mass(found),
            found.residual_connection,
            _tell_gap(found),
            _tell_explained(found),
            *found.notes,
        )
        if said
    )


def _tell_answer(found: Found) -> str:
    failing = next((fact for fact in found.facts if fact.status not in (Status.HOLDS, None)), None)
    sigma = found.activation.name if found.activation is not None else "an unknown function"
    if failing is not None and failing.interval is not None and failing.residual is not None:
        low, high = failing.interval
        word = "Not in" if failing.status is Status.FAILS else "Perhaps in"
        head = (
            f"It has {found.heads} heads, and the best single one leaves "
            f"{_share(found.left_by_heads[0])} of their squares. "
            if found.heads and found.heads > 1
            else ""
        )
        return (
            f"{word} the class σ(VXS): that {failing.says} ({failing.name}) leaves "
            f"{_share(failing.residual)} of the squared slopes unexplained (95% interval over "
            f"probes: {_share(low)} to {_share(high)}). {head}{found.kind.value}"
        )
    worst = max((f.residual or 0.0 for f in found.facts), default=0.0)
    form = f"{sigma}(VXS)" + (" up to a bias" if found.biased else "")
    said = f"It is {form}: none of the four facts leaves more than {worst:.1g} of the squares."
    if found.selection is not None and (found.selection < 0).any():
        least = found.selection.min()
        return f"{said} But S has weights down to {least:.2g}, and a softmax has none below 0."
    if found.column_sums is not None and not found.equal_sums:
        low, high = found.column_sums
        return (
            f"{said} But the columns of S sum to {low:.2f}–{high:.2f}, and those of a softmax to "
            "1, so that no student of the class equals it."
        )
    return said


def _share(value: float) -> str:
    """A share as a percentage of two or three digits; tiny ones as powers of ten."""
    return f"{value:.1e}" if 0 < abs(value) < 1e-4 else f"{100 * value:.3g}%"


def _tell_mass(found: Found) -> str:
    if found.mass is None:
        return ""
    if found.differing:
        return (
            f"The form that was found differs from the layer on {found.differing} of "
            f"{found.fresh:,} fresh inputs: with 95% confidence, on at most {found.mass:.1%} of "
            "the input law."
        )
    return (
        f"The form that was found agrees with the layer on all of {found.fresh:,} fresh inputs: "
        f"with 95% confidence it differs on at most {found.mass:.2%} of the input law."
    )


def _tell_gap(found: Found) -> str:
    gap = found.gap
    if not np.isfinite(gap.one_head):
        return ""
    said = (
        f"The best linear position-only head leaves {_share(gap.one_head)} of the outputs' variance"
    )
    if max(gap.low, gap.high) < ROUNDING:
        return f"{said}."
    return (
        f"{said} ({_share(gap.low)} on the inputs that it is fitted to; on others at most "
        f"{_share(gap.high)}, within two standard errors)."
    )


def _tell_explained(found: Found) -> str:
    explained = found.explained
    if explained is None:
        return ""
    low, high = explained.interval
    steps = int(explained.run.steps[-1])
    if explained.exact:
        return (
            f"A position-attention student, trained on the exact risk for {steps:,} steps, "
            f"explains {_precise(explained.share)} of the outputs' variance."
        )
    return (
        f"A position-attention student, trained on samples for {steps:,} steps, explains "
        f"{_precise(explained.share)} of the outputs' variance on inputs held out "
        f"({_precise(low)} to {_precise(high)}, two standard errors)."
    )


def _precise(share: float) -> str:
    return f"{100 * share:.4g}%"
