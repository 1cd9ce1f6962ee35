"""A position-only student that learns a layer from its labels alone."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tutelage.activations import Activation
from tutelage.layers.found import Explained, Found
from tutelage.objectives.sample import Sample
from tutelage.run import Run
from tutelage.running.execute import execute
from tutelage.running.store import Store
from tutelage.settings import Part, Setting

RATE = 0.03  # of Adam, relative to the size of V


def with_constant(tokens: Float[np.ndarray, "n d D"]) -> Float[np.ndarray, "n e D"]:
    """Tokens with one feature more that is always 1: V's last column is then the bias, as columns
    of S sum to 1.
    """
    ones = np.ones((len(tokens), 1, tokens.shape[2]))
    return np.concatenate([tokens, ones], axis=1)


def train_on_samples(
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    sigma: Activation,
    *,
    steps: int,
    size: float,
    constant: bool,
    store: Store | None = None,
) -> Explained:
    """Full-batch Adam on three quarters of the inputs from the theorem's start, judged on the
    others. `size` is that of the entries of V, as far as it is known.

    The setting of the run holds the inputs and their labels, so that a stored one can be read, and
    run again, without the layer.
    """
    given = with_constant(tokens) if constant else tokens
    held = max(1, len(given) // 4)
    setting = Setting(
        Part("recorded", inputs=given, labels=labels, activation=sigma.name),
        rate=RATE * max(size, 0.1),
        steps=steps,
        student=Part("position_attention", attention_scale=1.0),
        objective=Part("recorded", held_out=held),
        optimiser=Part("adam"),
        measures=("excess_risk", "training_risk"),
    )
    (run,) = execute([setting], store=store)
    judge = Sample(jnp.asarray(given[:held]), jnp.asarray(labels[:held]))
    losses = np.asarray(judge.losses(run.student))
    spread = 0.5 * np.mean(np.sum((labels[:held] - labels[held:].mean(0)) ** 2, (1, 2)))
    return _explained(run, losses, float(spread), constant)


def _explained(
    run: Run, losses: Float[np.ndarray, "n"], spread: float, constant: bool
) -> Explained:
    left = float(losses.mean()) / spread if spread > 0 else 0.0
    error = 2 * float(losses.std()) / (max(len(losses), 1) ** 0.5 * spread) if spread > 0 else 0.0
    return Explained(
        1 - left, (1 - left - error, 1 - left + error), run, exact=False, constant=constant
    )


def train_exactly(found: Found, spread: float, *, steps: int, store: Store | None) -> Explained:
    """Gradient descent on the population risk of the layer as a teacher, through `execute`.
    `spread` is ½E‖Y − EY‖².
    """
    (run,) = execute([found.setting(steps=steps)], store=store)
    share = 1 - float(run.curves["excess_risk"][-1]) / spread
    return Explained(share, (share, share), run, exact=True, constant=False)


def explain(
    found: Found,
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    *,
    steps: int,
    size: float,
    store: Store | None,
) -> Found:
    """The same answer with a trained student: on the exact risk where there is one."""
    from tutelage.activations import Identity

    exact = found.counting_constant is not None and not found.biased and found.gaussian is not None
    if exact:
        spread = 0.5 * float(np.mean(np.sum((labels - labels.mean(0)) ** 2, (1, 2))))
        trained = train_exactly(found, spread, steps=steps, store=store)
        return replace(found, explained=trained)
    sigma = found.activation or Identity()
    if isinstance(sigma, Identity):  # a constant per output says nothing about what is read
        labels = labels - labels.mean(0)[None]
    trained = train_on_samples(
        tokens, labels, sigma, steps=steps, size=size, constant=True, store=store
    )
    return replace(found, explained=trained)
