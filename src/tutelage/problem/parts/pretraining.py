"""Teachers that are trained themselves before they teach."""

from __future__ import annotations

import math
from functools import lru_cache

import jax.numpy as jnp
import numpy as np
import optax

from tutelage.activations import activation
from tutelage.inputs.images import CLASSES, DIM, TOKENS, Images, split
from tutelage.numerics.streams import generator, stream
from tutelage.objectives.images import Classification
from tutelage.refuse import positive, whole
from tutelage.students.image_cnn import ImageCNNStudent
from tutelage.teachers.bilinear import support_within
from tutelage.teachers.convolution import pooling
from tutelage.teachers.image_cnn import ImageCNN
from tutelage.training.loop import train


def untrained(
    data: str, outputs: int, support: int, sigma: str, draw: np.random.Generator
) -> ImageCNN:
    """A network with iid uniform entries up to 1/√(fan-in), as libraries start them, and no
    bias.
    """
    whole("outputs", outputs, least=1, reason="V* has at least one row")
    support_within(TOKENS, support)
    pooling(TOKENS, support)
    groups = TOKENS // support
    wide, narrow = DIM**-0.5, (outputs * groups) ** -0.5
    return ImageCNN(
        value=jnp.asarray(draw.uniform(-wide, wide, (outputs, DIM))),
        readout=jnp.asarray(draw.uniform(-narrow, narrow, (CLASSES, outputs, groups))),
        bias=jnp.zeros(CLASSES),
        support=support,
        activation=activation(sigma),
        data=data,
    )


@lru_cache(maxsize=64)
def trained_cnn(
    seed: int,
    data: str,
    outputs: int,
    support: int,
    sigma: str,
    epochs: int,
    rate: float,
    batch: int,
) -> ImageCNN:
    """The network after `epochs` times as many Adam steps as there are batches in the training
    images, on cross-entropy.
    """
    positive("rate", rate, reason="a step of Adam moves by about that much")
    whole("epochs", epochs, least=1, reason="the teacher is trained")
    learning, held_out = split(data, seed)
    few = Images(
        held_out.pixels[:100], held_out.digits[:100]
    )  # enough to notice a divergence, which is all that is measured here
    start = untrained(data, outputs, support, sigma, generator(seed, "teacher"))
    objective = Classification(start, learning, few, batch)
    steps = epochs * math.ceil(len(learning) / batch)
    run = train(
        ImageCNNStudent.of(start),
        objective,
        rate=rate,
        steps=steps,
        optimiser=optax.adam,
        measures=(),
        key=stream(seed, "teacher's batches"),
    )
    return run.student.network()
