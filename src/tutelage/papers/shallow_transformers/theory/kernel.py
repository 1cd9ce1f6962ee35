"""What the tangent kernel says about a setting from its start alone: descent in its own kernel, in
the limit kernel, and their distance.

From the symmetric start K_m is a mean over m/2 independent heads. So to first order every smooth
function of it fluctuates about its limit by √(2/m) times the spread of what one head does to it,
and a limit taken from P heads by √(1/P) times the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tutelage.measures.kernel import PROBE
from tutelage.numerics.kernel_descent import KernelDescent, ridge
from tutelage.numerics.limit_kernel import head_response, head_spread, limit_kernel
from tutelage.numerics.streams import stream
from tutelage.numerics.tangent_kernel import gram
from tutelage.papers.shallow_transformers.theory.approximation import sizes
from tutelage.papers.shallow_transformers.theory.start import Start, build_start
from tutelage.settings import Part, Setting

# Heads for the spread of one. It enters by its root, and its own error then by half.
SPREAD_HEADS = 1024


@dataclass(frozen=True)
class Reference:
    """Descent in one kernel, on the training inputs and seen from the held-out ones."""

    descent: KernelDescent
    cross: Float[np.ndarray, "k n"]
    held_labels: Float[np.ndarray, "k"]

    def validation(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times"]:
        """The loss on the held-out inputs after some steps."""
        squares = (self.descent.predict(self.cross, steps) - self.held_labels) ** 2
        return np.asarray(squares.mean(axis=1))

    def ridgeless(self) -> float:
        """The same for kernel regression without a penalty: descent without end."""
        said = ridge(self.descent.kernel, self.descent.labels, self.cross)
        return float(np.mean((said - self.held_labels) ** 2))


@lru_cache(maxsize=32)  # a reference holds three matrices of the sample
def own(setting: Setting) -> Reference:
    """Descent in K_m, the kernel of the setting's own start."""
    start = build_start(setting)
    heads, inputs = start.student.start, _inputs(start)
    kernel = gram(heads.attention, heads.reading, *inputs, activation=start.student.activation)
    return _reference(np.asarray(kernel), start, setting.rate)


def limit(setting: Setting, heads: int) -> Reference:
    """Descent in K, the limit of wide students, with `heads` heads for the expectation: the same
    for every width.
    """
    return _limit(_narrow(setting), heads)


@lru_cache(maxsize=32)
def _limit(setting: Setting, heads: int) -> Reference:
    return _reference(limit_parts(setting, heads).sum(0), build_start(setting), setting.rate)


def limit_parts(setting: Setting, heads: int) -> Float[np.ndarray, "3 n_and_k n"]:
    """K_c, K_u and K_w between the training inputs (first) and held-out ones (after them), and the
    training inputs.
    """
    return _limit_parts(_inputs_alone(setting), heads)


@lru_cache(maxsize=128)  # all widths of a sweep need the limit of the same inputs
def _limit_parts(setting: Setting, heads: int) -> Float[np.ndarray, "3 n_and_k n"]:
    start, key = build_start(setting), stream(setting.seed, "limit")
    found = limit_kernel(*_inputs(start), heads=heads, key=key, activation=start.student.activation)
    return np.stack([np.asarray(part) for part in found.parts])


def kernel_gap(setting: Setting, heads: int) -> float:
    """The root of E‖K_m − K_P‖_F²/‖K‖_F² = (2/m + 1/P)·Σ_ij Var k_ij/‖K‖_F², on the inputs of
    `probe_kernel`.
    """
    return _root_of_heads(setting, heads) * _spread(_inputs_alone(setting), heads)


@lru_cache(maxsize=128)
def _spread(setting: Setting, heads: int) -> float:
    """√(Σ_ij Var k_ij)/‖K‖_F of one head's kernel k."""
    start, key = build_start(setting), stream(setting.seed, "spread")
    tokens, queries, *_ = _inputs(start)
    probe = min(PROBE, len(start.sample.labels))
    kernel = limit_parts(setting, heads).sum(0)[:probe, :probe]
    square = head_spread(
        tokens[:probe],
        queries[:probe],
        jnp.asarray(kernel),
        heads=SPREAD_HEADS,
        key=key,
        activation=start.student.activation,
    )
    return math.sqrt(float(square)) / float(np.linalg.norm(kernel))


def output_gap(setting: Setting, heads: int) -> float:
    """The root of E‖f_t − f_t^K‖²/‖y‖² at the last step, to first order in K_m − K."""
    return _root_of_heads(setting, heads) * _response(_narrow(setting), heads)


@lru_cache(maxsize=128)
def _response(setting: Setting, heads: int) -> float:
    """The root mean square of what one head does to the outputs at the last step, over ‖y‖."""
    start, key = build_start(setting), stream(setting.seed, "response")
    descent = limit(setting, heads).descent
    _, _, tokens, queries = _inputs(start)
    square = head_response(
        tokens,
        queries,
        jnp.asarray(descent.kernel),
        jnp.asarray(descent.basis),
        jnp.asarray(descent.response(setting.steps)),
        heads=SPREAD_HEADS,
        key=key,
        activation=start.student.activation,
    )
    return math.sqrt(float(square)) / float(np.linalg.norm(descent.labels))


def _root_of_heads(setting: Setting, heads: int) -> float:
    """√(2/m + 1/P): how far a mean over m/2 heads is from one over P, in spreads of one."""
    return math.sqrt(2 / sizes(setting).m + 1 / heads)


def _narrow(setting: Setting) -> Setting:
    """The setting with all made alike that descent in the limit kernel does not depend on."""
    return replace(setting, student=setting.student.change(heads=2), measures=())


def _inputs_alone(setting: Setting) -> Setting:
    """The setting with all made alike that the limit kernel of its inputs does not depend on:
    labels, width and steps.
    """
    teacher = setting.teacher.change(pool=2, anchors=1, nu_c=1.0, nu_u=1.0, nu_w=1.0)
    optimiser = Part("projected_descent")
    return replace(_narrow(setting), teacher=teacher, optimiser=optimiser, rate=1.0, steps=1)


def _inputs(
    start: Start,
) -> tuple[
    Float[Array, "n_and_k d T"],
    Float[Array, "n_and_k d"],
    Float[Array, "n d T"],
    Float[Array, "n d"],
]:
    """Training and held-out inputs with their queries, and the training inputs with theirs."""
    trained, held = start.sample.tokens, start.sample.validation_tokens
    both = trained if held is None else jnp.concatenate([trained, held])
    ask = jax.vmap(start.student.ask)
    return both, ask(both), trained, ask(trained)


def _reference(kernel: Float[np.ndarray, "n_and_k n"], start: Start, rate: float) -> Reference:
    labels, held = start.sample.labels, start.sample.validation_labels
    n = len(labels)
    square = (kernel[:n] + kernel[:n].T) / 2  # symmetric but for rounding
    return Reference(
        KernelDescent(square, np.asarray(labels), rate),
        kernel[n:],
        np.zeros(0) if held is None else np.asarray(held),
    )
