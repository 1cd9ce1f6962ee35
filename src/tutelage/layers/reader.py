"""A layer seen through its tokens: X in, Y out, and what is refused before any long work."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import jax
import numpy as np
from jaxtyping import Float, Int

from tutelage.inputs.base import Inputs
from tutelage.layers.adapters import Sizes, Tokens
from tutelage.layers.facts import Probes, find_ridges
from tutelage.layers.foreign import Layer, explain_failure
from tutelage.layers.numpy_layer import ShapesDiffer
from tutelage.numerics.streams import generator, stream
from tutelage.refuse import Refused
from tutelage.teachers.base import Shape

TokenBatch = Float[np.ndarray, "n d D"]
MOST_SLOPES = 2**25  # numbers of the Jacobians that are held: 268 MB
DRAWN_AT_ONCE = 256  # inputs of a law: one program for any number of them
SAME = 1e-9  # relative difference of two calls that rounding may make


class Reader:
    """A layer as a function of tokens."""

    def __init__(self, layer: Layer, tokens: Tokens, own: Sizes) -> None:
        self.layer, self.adapter, self.own = layer, tokens, own
        self.dim, self.tokens = tokens.shape_of(own)
        self._places: Int[np.ndarray, "M Q"] = np.zeros((0, 0), int)

    @property
    def shape(self) -> Shape:
        """(M, d, D, Q), once it was checked."""
        return Shape(self._places.shape[0], self.dim, self.tokens, self._places.shape[1])

    def labels(self, tokens: TokenBatch) -> Float[np.ndarray, "n M Q"]:
        """Y of each X."""
        return self.adapter.to_labels(self._call(tokens))

    def _call(self, tokens: TokenBatch, *, afresh: bool = False) -> Float[np.ndarray, "n ..."]:
        inputs = np.ascontiguousarray(self.adapter.to_own(tokens, self.own))
        try:
            found = (self.layer.call_afresh if afresh else self.layer.values)(inputs)
        except Refused:
            raise
        except ShapesDiffer as differ:
            raise _changes_shape(differ.shapes) from None
        except Exception as error:
            raise explain_failure(error, inputs) from error
        if found.ndim < 1 or len(found) != len(tokens):
            raise Refused(
                "A layer that takes batches must return one output per input, since outputs are "
                f"told apart by their first axis. Got {len(tokens)} inputs and an output of shape "
                f"{found.shape}; try batched=False."
            )
        return found

    def probe(self, tokens: TokenBatch, rows: np.ndarray, queries: np.ndarray) -> Probes:
        """Values and Jacobians of some outputs."""
        places = self._places[np.ix_(rows, queries)]
        inputs = np.ascontiguousarray(self.adapter.to_own(tokens, self.own))
        labels = self.labels(tokens)[:, rows][:, :, queries]
        slopes = self.layer.slopes(inputs, places.ravel())
        count, outputs = slopes.sound.shape
        flat = self.adapter.to_tokens(slopes.values.reshape(count * outputs, *self.own))
        sizes = (count, len(rows), len(queries))
        return Probes(
            tokens,
            labels,
            flat.reshape(*sizes, self.dim, self.tokens),
            slopes.sound.reshape(sizes),
            slopes.error,
        )

    def adds_its_input(self, probes: Probes) -> bool:
        """Whether f(X) − X moves along one direction per output, where f(X) does not."""
        M, d, D, Q = self.shape
        if (d, D) != (M, Q) or probes.labels.shape[1:] != (M, Q):
            return False
        left = find_ridges(without_input(probes)).shares.residual
        return left <= max(1e-12, (100 * probes.error) ** 2)

    def check(self, tokens: TokenBatch) -> None:
        """Refuses a layer that is no function of its input, from calls on three inputs."""
        three = tokens[:3]
        first = self._call(three)
        if not np.isfinite(first).all():
            count = int(np.sum(~np.isfinite(first)))
            raise Refused(
                "A layer must return finite numbers, since nothing is learned from others. Got "
                f"NaN or infinity in {count:,} of {first.size:,} outputs."
            )
        size = int(np.prod(first.shape[1:], dtype=int))
        if size == 0:
            raise Refused(f"A layer must return something. Got an output of shape {first.shape}.")
        self._check_repeatable(three)
        self._check_alone(three, first)
        numbers = np.arange(size, dtype=np.float64).reshape(1, *first.shape[1:])
        self._places = self.adapter.to_labels(numbers)[0].astype(int)
        if np.ptp(first, axis=0).max() == 0:
            raise Refused(
                "A layer must depend on its input, since there is nothing to learn otherwise. Got "
                "the same output for three inputs."
            )

    def _check_repeatable(self, three: TokenBatch) -> None:
        first = self._call(three, afresh=True)
        scale = SAME * (float(np.abs(first).max()) + 1e-300)
        again = self._call(three, afresh=True)
        if again.shape != first.shape:
            raise _changes_shape([first.shape[1:], again.shape[1:]])
        if np.abs(again - first).max() <= scale:
            self._call(three[::-1], afresh=True)
            if np.abs(self._call(three, afresh=True) - first).max() <= scale:
                return
            why = "it remembers earlier inputs: pass a fresh state, or a function without one"
        elif self._is_random(three):
            why = "it draws random numbers: switch dropout and noise off"
        else:
            why = "it keeps a state, or draws from a generator of its own: give one without"
        apart = float(np.abs(again - first).max())
        raise Refused(
            "A layer must give the same output for the same input, since its Jacobians are "
            f"compared over inputs. Got outputs that differ by up to {apart:.3g} between two "
            f"calls; {why}."
        )

    def _is_random(self, three: TokenBatch) -> bool:
        """Whether two calls agree once the usual generators begin alike."""
        with _seeded():
            one = self._call(three, afresh=True)
        with _seeded():
            two = self._call(three, afresh=True)
        return bool(np.array_equal(one, two))

    def _check_alone(self, three: TokenBatch, first: Float[np.ndarray, "n ..."]) -> None:
        """Each input by itself gives what it gives among others."""
        alone = [self._call(three[i : i + 1]) for i in range(len(three))]
        shapes = sorted({each.shape[1:] for each in (first, *alone)})
        if len(shapes) > 1:
            raise _changes_shape(shapes)
        apart = float(np.abs(np.concatenate(alone) - first).max())
        if apart > SAME * (float(np.abs(first).max()) + 1e-300) * 1e3:
            raise Refused(
                "A layer must treat the inputs of a batch apart, since each is one example. Got "
                f"outputs that differ by up to {apart:.3g} when an input stands alone: a batch "
                "normalisation in training mode does that, and so does a layer that takes one "
                "input; try batched=False."
            )


class Branch(Reader):
    """f(X) − X of a layer that adds its input to its output."""

    def __init__(self, whole: Reader) -> None:
        super().__init__(whole.layer, whole.adapter, whole.own)
        self._places = whole._places

    def labels(self, tokens: TokenBatch) -> Float[np.ndarray, "n M Q"]:
        return super().labels(tokens) - tokens

    def probe(self, tokens: TokenBatch, rows: np.ndarray, queries: np.ndarray) -> Probes:
        found = super().probe(tokens, rows, queries)  # its labels are this class's already
        return replace(found, jacobians=without_input(found).jacobians)


def without_input(probes: Probes) -> Probes:
    """The same of f(X) − X, where Y has the shape of X."""
    _, M, Q, d, D = probes.jacobians.shape
    own = np.einsum("mi,qj->mqij", np.eye(M, d), np.eye(Q, D))
    return replace(
        probes, labels=probes.labels - probes.tokens, jacobians=probes.jacobians - own[None]
    )


def _changes_shape(shapes: list[tuple[int, ...]]) -> Refused:
    return Refused(
        "A layer must return outputs of one shape, since output (m, q) is compared over inputs. "
        f"Got {' and '.join(map(str, shapes))}."
    )


@contextmanager
def _seeded() -> Iterator[None]:
    """The generators of Python, NumPy and PyTorch from one seed, and afterwards as they were."""
    plain, arrays = random.getstate(), np.random.get_state()
    torch = sys.modules.get("torch")
    tensors = None if torch is None else torch.get_rng_state()
    random.seed(0)
    np.random.seed(0)
    if torch is not None:
        torch.manual_seed(0)
    try:
        yield
    finally:
        random.setstate(plain)
        np.random.set_state(arrays)
        if torch is not None:
            torch.set_rng_state(tensors)


# ------------------------------------------------------------------------------- where X is from


class Source:
    """Tokens to look at a layer with: fresh ones of a law, or some of an array, each once."""

    def __init__(
        self, inputs: Inputs | Float[np.ndarray, "n ..."], tokens: Tokens, own: Sizes, seed: int
    ) -> None:
        self.law = inputs if isinstance(inputs, Inputs) else None
        self.dim, self.tokens = tokens.shape_of(own)
        self.seed, self._used = seed, 0
        self._drawn = 0
        if self.law is not None:
            self.law.check_shapes(self.tokens, self.dim)
            draw = self.law.sample
            self._sample = jax.jit(jax.vmap(lambda key: draw(self.tokens, self.dim, key=key)))
        else:
            array = np.asarray(inputs)
            order = generator(seed, "inputs of the layer").permutation(len(array))
            self._all = tokens.to_tokens(array[order])

    @property
    def size(self) -> int | None:
        """How many inputs there are; None where a law draws as many as are asked for."""
        return None if self.law is not None else len(self._all)

    def draw(self, count: int) -> TokenBatch:
        """The next inputs; of an array at most a half of what is left, once it runs short."""
        if self.law is None:
            left = len(self._all) - self._used
            taken = min(count, max(left // 2, 0))
            self._used += taken
            return self._all[self._used - taken : self._used] if taken else self._all[:count]
        self._drawn += 1
        blocks = -(-count // DRAWN_AT_ONCE)
        key = stream(self.seed, f"inputs of the layer {self._drawn}")
        keys = jax.random.split(key, (blocks, DRAWN_AT_ONCE))
        found = np.concatenate([np.asarray(self._sample(row)) for row in keys])
        return found[:count].astype(np.float64)
