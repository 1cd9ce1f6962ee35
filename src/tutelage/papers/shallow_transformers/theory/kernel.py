"""What the tangent kernel says of a setting from its start alone: descent in its own kernel, in the
limit kernel, and their distance.

From the symmetric start K_m is a mean over m/2 independent heads. So to first order every smooth
function of it fluctuates about its limit by √(2/m) times the spread of what one head does to it,
and a limit taken from P heads by √(1/P) times the same.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from tutelage.numerics.kernel_descent import KernelDescent, ridge
from tutelage.papers.shallow_transformers.theory.approximation import sizes
from tutelage.settings import Part, Setting

SPREAD_HEADS = (
    1024  # heads for the spread of one: it enters by its root, and its own error then by half
)


@dataclass(frozen=True)
class Reference:
    """Descent in one kernel, on the training inputs and seen from the held-out ones."""

    descent: KernelDescent
    cross: Float[np.ndarray, "k n"]
    held_labels: Float[np.ndarray, "k"]

    def validation(self, steps: Int[np.ndarray, "times"]) -> Float[np.ndarray, "times"]:
        """The loss on the held-out inputs after so many steps."""
        return np.mean((self.descent.predict(self.cross, steps) - self.held_labels) ** 2, axis=1)

    def ridgeless(self) -> float:
        """The same for kernel regression without a penalty: descent without end."""
        said = ridge(self.descent.kernel, self.descent.labels, self.cross)
        return float(np.mean((said - self.held_labels) ** 2))


@lru_cache(maxsize=32)  # a reference holds three matrices of the sample
def own(setting: Setting) -> Reference:
    """Descent in K_m, the kernel of the setting's own start."""
    from tutelage.numerics.tangent_kernel import gram
    from tutelage.problem.build import build

    problem = build(setting)
    heads, inputs = problem.student.start, _inputs(problem)
    kernel = gram(heads.attention, heads.reading, *inputs, activation=problem.student.activation)
    return _reference(np.asarray(kernel), problem, setting.rate)


def limit(setting: Setting, heads: int) -> Reference:
    """Descent in K, the limit of wide students, with `heads` heads for the expectation: the same
    for every width.
    """
    return _limit(replace(setting, student=setting.student.change(heads=2), measures=()), heads)


@lru_cache(maxsize=32)
def _limit(setting: Setting, heads: int) -> Reference:
    from tutelage.problem.build import build

    return _reference(limit_parts(setting, heads).sum(0), build(setting), setting.rate)


def limit_parts(setting: Setting, heads: int) -> Float[np.ndarray, "3 n_and_k n"]:
    """K_c, K_u and K_w between the training inputs (first) and held-out ones (after them), and the
    training inputs.
    """
    from tutelage.numerics.limit_kernel import limit_kernel

    def found() -> Any:
        problem, key = _built(setting, "limit")
        parts = limit_kernel(
            *_inputs(problem), heads=heads, key=key, activation=problem.student.activation
        ).parts
        return np.stack([np.asarray(part) for part in parts])

    return _kept(("parts", _inputs_alone(setting), heads), found)


def kernel_gap(setting: Setting, heads: int) -> float:
    """The root of E‖K_m − K_P‖_F²/‖K‖_F² = (2/m + 1/P)·Σ_ij Var k_ij/‖K‖_F², on the inputs of
    `probe_kernel`.
    """
    import jax.numpy as jnp

    from tutelage.measures.kernel import PROBE
    from tutelage.numerics.limit_kernel import head_spread

    def spread() -> Any:
        problem, key = _built(setting, "spread")
        tokens, queries, *_ = _inputs(problem)
        probe, activation = min(PROBE, len(problem.objective.labels)), problem.student.activation
        kernel = limit_parts(setting, heads).sum(0)[:probe, :probe]
        square = head_spread(
            tokens[:probe],
            queries[:probe],
            jnp.asarray(kernel),
            heads=SPREAD_HEADS,
            key=key,
            activation=activation,
        )
        return math.sqrt(float(square)) / float(np.linalg.norm(kernel))

    return math.sqrt(2 / sizes(setting).m + 1 / heads) * _kept(
        ("spread", _inputs_alone(setting), heads), spread
    )


def output_gap(setting: Setting, heads: int) -> float:
    """The root of E‖f_t − f_t^K‖²/‖y‖² at the last step, to first order in K_m − K."""
    import jax.numpy as jnp

    from tutelage.numerics.limit_kernel import head_response

    def response() -> Any:
        problem, key = _built(setting, "response")
        descent = limit(setting, heads).descent
        _, _, tokens, queries = _inputs(problem)
        given = (
            jnp.asarray(a) for a in (descent.kernel, descent.basis, descent.response(setting.steps))
        )
        square = head_response(
            tokens,
            queries,
            *given,
            heads=SPREAD_HEADS,
            key=key,
            activation=problem.student.activation,
        )
        return math.sqrt(float(square)) / float(np.linalg.norm(descent.labels))

    narrow = replace(setting, student=setting.student.change(heads=2))
    return math.sqrt(2 / sizes(setting).m + 1 / heads) * _kept(
        ("response", narrow, heads), response
    )


_KEPT: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def _kept(name: tuple[Any, ...], found: Callable[[], Any]) -> Any:
    """What was found under this name before; the widths of a sweep ask for the limit of the same
    inputs again and again.
    """
    if name not in _KEPT:
        _KEPT[name] = found()
        while len(_KEPT) > 128:
            _KEPT.popitem(last=False)
    return _KEPT[name]


def _built(setting: Setting, name: str) -> tuple[Any, Any]:
    """The problem of a setting, and a random key of its seed that nothing else uses."""
    from tutelage.numerics.streams import stream
    from tutelage.problem.build import build

    return build(setting), stream(setting.seed, name)


def _inputs_alone(setting: Setting) -> Setting:
    """A name for the inputs: the setting with all that their limit kernel does not depend on
    (labels, width, steps) made alike.
    """
    teacher = setting.teacher.change(pool=2, anchors=1, nu_c=1.0, nu_u=1.0, nu_w=1.0)
    optimiser = Part("projected_descent")
    return replace(
        setting,
        teacher=teacher,
        student=setting.student.change(heads=2),
        optimiser=optimiser,
        rate=1.0,
        steps=1,
        measures=(),
    )


def _inputs(problem: Any) -> tuple[Any, Any, Any, Any]:
    """Training and held-out inputs with their queries, and the training inputs with theirs."""
    import jax
    import jax.numpy as jnp

    trained, held = problem.objective.tokens, problem.objective.validation_tokens
    both = trained if held is None else jnp.concatenate([trained, held])
    ask = jax.vmap(problem.student.ask)
    return both, ask(both), trained, ask(trained)


def _reference(kernel: Float[np.ndarray, "n_and_k n"], problem: Any, rate: float) -> Reference:
    labels, held = problem.objective.labels, problem.objective.validation_labels
    n = len(labels)
    square = (kernel[:n] + kernel[:n].T) / 2  # symmetric but for rounding
    return Reference(
        KernelDescent(square, np.asarray(labels), rate),
        kernel[n:],
        np.zeros(0) if held is None else np.asarray(held),
    )
