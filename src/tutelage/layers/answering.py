"""From what the Jacobians say to an answer: member or not, kind, V, S and σ."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from tutelage.claims.verdict import Status
from tutelage.inputs.base import Inputs
from tutelage.inputs.gaussian import Gaussian
from tutelage.layers.analysis import Analysis
from tutelage.layers.bounds import bootstrap, most_mass
from tutelage.layers.facts import Shares
from tutelage.layers.found import Fact, Found, Kind, equal_within
from tutelage.layers.gap import Gap
from tutelage.layers.heads import Heads, split_residual
from tutelage.layers.reader import Reader
from tutelage.settings import Part

SAYS = {
    "ridge": "each output moves along one direction of X",
    "pair": "that direction is an outer product of features and tokens",
    "shared": "features are common to all queries, and tokens to all outputs",
    "link": "each output is one known function of its form",
}
SAME_TOKENS = 0.999  # `positional` from which fixed tokens are read
NEARLY = 1e-4  # the squared residual of a ridge that fails by little


def answer(
    analysis: Analysis,
    reader: Reader,
    *,
    law: Inputs | None,
    tolerance: float,
    differing: int,
    fresh: int,
    looked_at: tuple[int, int],
    positional: float,
    linear_pieces: bool,
    gap: Gap,
    seed: int,
) -> Found:
    """All of it but the student."""
    facts = _facts(analysis, tolerance, seed)
    heads, count = analysis.heads, None
    if heads is not None:
        count = heads.count(tolerance)
        count = count if 0 < count <= len(heads.values) else None
    residual, notes = "", list(reader.layer.mentions())
    if heads is not None and count is not None and count > 1:
        residual = _residual_sentence(heads, tolerance)
    form = _form(analysis, heads, count, tolerance)
    kind = _kind(facts, positional, linear_pieces)
    member, words = _judge(facts, form, differing, count, kind, equal_within(tolerance))
    whole = looked_at == (reader.shape.outputs, reader.shape.queries)
    if not whole:
        notes.append(
            f"Looked at {looked_at[0]} of {reader.shape.outputs} outputs and {looked_at[1]} of "
            f"{reader.shape.queries} queries, drawn at random; V and S are of these."
        )
    still = int(np.sum(~analysis.seen))
    if still:
        notes.append(f"{still} of {analysis.seen.size} outputs never moved: their bias is a guess.")
    if not reader.layer.differentiates:
        notes.append(
            f"Slopes are central differences, with a relative error of {analysis.probes.error:.0e}."
        )
    return Found(
        framework=reader.layer.framework,
        shape=reader.shape._replace(outputs=looked_at[0], queries=looked_at[1]),
        law="an array of inputs" if law is None else f"{type(law).__name__} tokens",
        probes=len(analysis.probes.tokens),
        looked_at=looked_at,
        tolerance=tolerance,
        error=analysis.probes.error,
        facts=facts,
        kind=kind,
        member=member,
        answer=words,
        heads=count,
        left_by_heads=()
        if heads is None
        else tuple(heads.left_after(h) for h in range(1, min(5, len(heads.singular) + 1))),
        values=form.values,
        selections=form.selections,
        activation=None if analysis.link is None else analysis.link.activation,
        bias=form.bias,
        gain=form.gain,
        offset=form.offset,
        biased=form.biased,
        residual_connection=residual,
        positional=positional,
        gap=gap,
        fresh=fresh,
        differing=differing,
        mass=most_mass(differing, fresh) if count is not None and form.known else None,
        explained=None,
        gaussian=_law_part(law),
        notes=tuple(notes),
    )


def _facts(analysis: Analysis, tolerance: float, seed: int) -> tuple[Fact, ...]:
    """The four, in order; what comes after one that fails is asked only where it still says
    something (the link, of several heads).
    """
    link = None if analysis.link is None else analysis.link.shares
    found: list[Fact] = []
    for name, shares in (
        ("ridge", analysis.ridge.shares),
        ("pair", analysis.pair.shares),
        ("shared", analysis.shared),
        ("link", link),
    ):
        failed = any(fact.status is Status.FAILS for fact in found)
        if shares is None or (failed and name != "link"):
            found.append(Fact(name, SAYS[name], None, None, None))
            continue
        found.append(_fact(name, shares, tolerance, seed))
    if analysis.link is not None and analysis.link.activation is None:
        found[-1] = replace(found[-1], status=Status.UNDECIDED)
    return tuple(found)


def _fact(name: str, shares: Shares, tolerance: float, seed: int) -> Fact:
    low, high = bootstrap(shares, seed)
    if high <= tolerance:
        status = Status.HOLDS
    else:
        status = Status.FAILS if low > tolerance else Status.UNDECIDED
    return Fact(name, SAYS[name], shares.residual, (low, high), status)


@dataclass(frozen=True)
class Form:
    """V, S, b, a and e in a common scale; nothing where the layer has none."""

    values: Float[np.ndarray, "H M d"] | None = None
    selections: Float[np.ndarray, "H D Q"] | None = None
    bias: Float[np.ndarray, "M Q"] | None = None
    gain: Float[np.ndarray, "M Q"] | None = None
    offset: Float[np.ndarray, "M Q"] | None = None
    biased: bool = False

    @property
    def known(self) -> bool:
        return self.values is not None


def _form(analysis: Analysis, heads: Heads | None, count: int | None, tolerance: float) -> Form:
    link = analysis.link
    if link is None or heads is None or count is None or link.activation is None:
        return Form()
    _, M, _ = heads.values.shape
    Q = heads.selections.shape[2]
    cut = max(1e-8, 100 * analysis.probes.error, tolerance**0.5)
    scaled = [
        _scale_head(V, S, cut, equal_within(tolerance))
        for V, S in zip(heads.values[:count], heads.selections[:count], strict=True)
    ]
    bias, gain, offset = (each.reshape(M, Q) for each in (link.bias, link.gain, link.offset))
    alive = analysis.seen
    bias = _fill_rows(bias, alive)
    size = float(np.abs(analysis.probes.labels).max()) + 1e-300
    biased = bool(
        (np.abs(np.where(alive, bias, 0.0)) > cut * size).any()
        or (np.abs(np.where(alive, gain, 1.0) - 1.0) > cut).any()
        or (np.abs(offset) > cut * size).any()
    )
    return Form(
        np.stack([V for V, _ in scaled]),
        np.stack([S for _, S in scaled]),
        bias,
        gain,
        offset,
        biased,
    )


def _fill_rows(
    bias: Float[np.ndarray, "M Q"], seen: Bool[np.ndarray, "M Q"]
) -> Float[np.ndarray, "M Q"]:
    """Outputs that never moved have the bias of their row, as far as the row was seen."""
    known = np.where(seen, bias, np.nan)
    middle = [np.nanmedian(row) if np.isfinite(row).any() else 0.0 for row in known]
    return np.where(seen, bias, np.asarray(middle)[:, None])


def _scale_head(
    V: Float[np.ndarray, "M d"], S: Float[np.ndarray, "D Q"], cut: float, equal: float
) -> tuple[Float[np.ndarray, "M d"], Float[np.ndarray, "D Q"]]:
    """The mean column of S sums to 1, where columns have sums; weights that are rounding are 0,
    and equal sums are exactly 1.
    """
    mean = float(S.sum(0).mean())
    typical = float(np.abs(S).sum(0).mean())
    factor = mean if abs(mean) > 1e-3 * typical else typical
    V, S = V * factor, S / factor
    S = np.where(np.abs(S) <= cut * np.abs(S).max(), 0.0, S)
    sums = S.sum(0)
    if (S >= 0).all() and np.ptp(sums) <= equal and (sums > 0).all():
        S = S / sums
        S = S / S.sum(0)
    return V, S


def _kind(facts: tuple[Fact, ...], positional: float, linear_pieces: bool) -> Kind:
    ridge, pair, shared = facts[0], facts[1], facts[2]
    if ridge.status is not Status.FAILS:
        one = pair.status is not Status.FAILS and shared.status is not Status.FAILS
        return Kind.POSITION if one else Kind.HEADS
    if positional >= SAME_TOKENS:
        return Kind.NONLINEAR
    return Kind.SWITCHING if linear_pieces else Kind.CONTENT


def _judge(
    facts: tuple[Fact, ...], form: Form, differing: int, count: int | None, kind: Kind, equal: float
) -> tuple[Status, str]:
    if any(fact.status is Status.FAILS for fact in facts):
        words = {
            Kind.HEADS: f"{count} heads" if count else "many heads",
            Kind.SWITCHING: "switching",
            Kind.CONTENT: "reads by content",
            Kind.NONLINEAR: "nearly by position"
            if (facts[0].residual or 0) <= NEARLY
            else "nonlinear",
            Kind.POSITION: "of another link",
        }[kind]
        return Status.FAILS, words
    if any(fact.status is not Status.HOLDS for fact in facts) or not form.known:
        return Status.UNDECIDED, "undecided"
    assert form.selections is not None
    S = form.selections[0]
    ending = " up to a bias" if form.biased else ""
    if differing:
        return Status.FAILS, "differs on some inputs"
    if (S < 0).any():
        return Status.FAILS, "of the form, with negative weights" + ending
    if np.ptp(S.sum(0)) > equal:
        return Status.FAILS, "of the form, with other column sums" + ending
    return Status.HOLDS, "member" + ending


def _residual_sentence(heads: Heads, tolerance: float) -> str:
    found = split_residual(heads, tolerance)
    if found is None:
        return ""
    factor, rest = found
    others = len(rest.values)
    noun = "head" if others == 1 else "heads"
    return f"One of them is a residual connection, {factor:.3g}·X before σ, beside {others} {noun}."


def _law_part(law: Inputs | None) -> Part | None:
    """The law as a part of a setting, where it is Gaussian."""
    if not isinstance(law, Gaussian):
        return None
    moments = {}
    for name, root in (("covariance", law.feature_root), ("correlation", law.position_root)):
        if root is not None:
            square = np.asarray(root)
            moments[name] = square @ square
    return Part("gaussian", **moments)
