"""Losses on a finite set of images: a random batch at every step, the held-out images for what is
measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, UInt8

from tutelage.inputs.images import Images, scaled
from tutelage.objectives.base import Objective
from tutelage.refuse import Refused, whole
from tutelage.students.base import Student
from tutelage.students.classifier import read_out
from tutelage.teachers.image_cnn import ImageCNN

Label = Float[Array, "M G"] | Int[Array, ""]  # what an image is taught with
Logits = Callable[[Float[Array, "d D"]], Float[Array, "classes"]]
CHUNK = 100  # held-out images looked at together: all 10,000 of MNIST would need some 300 MB


@runtime_checkable
class Classifier(Protocol):
    """A student that tells digits apart by itself."""

    def logits(self, tokens: Float[Array, "d D"]) -> Float[Array, "classes"]: ...


class ImageLoss(Objective):
    """What both losses share: the split images, a batch of them drawn with replacement at every
    step, and the accuracy.

    With `shift` 1 every image of a batch is taught by the label of its neighbour in the batch: a
    control.
    """

    teacher: ImageCNN
    train: Images
    test: Images
    batch: int = eqx.field(static=True)
    shift: Int[Array, ""] | int = eqx.field(
        default=0, converter=lambda given: jnp.asarray(given, jnp.int64)
    )  # traced: it never recompiles

    stochastic: ClassVar[bool] = True
    points_per_decade: ClassVar[int | None] = 12  # one measurement looks at every held-out image

    def __check_init__(self) -> None:
        whole("batch", self.batch, least=1, reason="a step averages that many images")

    def label(self, tokens: Float[Array, "d D"], digit: Int[Array, ""]) -> Label:
        """What this image is taught with."""
        raise NotImplementedError

    def loss(self, student: Student, tokens: Float[Array, "d D"], label: Label) -> Float[Array, ""]:
        raise NotImplementedError

    def logits(self, student: Student) -> Logits:
        """How this student, as it is trained here, tells digits apart."""
        raise NotImplementedError

    def draw(self, student: Student, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of one batch."""
        which = jax.random.randint(key, (self.batch,), 0, len(self.train))
        tokens = scaled(self.train.pixels[which])
        labels = jnp.roll(
            jax.vmap(self.label)(tokens, self.train.digits[which]), self.shift, axis=0
        )
        return jnp.mean(jax.vmap(lambda x, y: self.loss(student, x, y))(tokens, labels))

    def __call__(self, student: Student) -> Float[Array, ""]:
        """The loss on the held-out images: `draw` is of the others."""
        return self.excess(student)

    def excess(self, student: Student) -> Float[Array, ""]:
        """The loss on the held-out images, each with its own label."""
        return self._mean(
            lambda tokens, digit: self.loss(student, tokens, self.label(tokens, digit))
        )

    def share_right(self, logits: Logits) -> Float[Array, ""]:
        """The share of the held-out images whose digit has the largest logit."""
        return self._mean(
            lambda tokens, digit: (logits(tokens).argmax() == digit).astype(jnp.float64)
        )

    def _mean(
        self, number: Callable[[Float[Array, "d D"], Int[Array, ""]], Float[Array, ""]]
    ) -> Float[Array, ""]:
        def one(image: tuple[UInt8[Array, "d D"], Int[Array, ""]]) -> Float[Array, ""]:
            return number(scaled(image[0]), image[1])

        return jnp.mean(jax.lax.map(one, (self.test.pixels, self.test.digits), batch_size=CHUNK))


class Distillation(ImageLoss):
    r"""½ mean ‖f*(X) − f(X)‖_F²: the teacher's hidden layer is the label, no digit is used."""

    def label(self, tokens: Float[Array, "d D"], digit: Int[Array, ""]) -> Float[Array, "M G"]:
        return self.teacher.groups(tokens)

    def loss(
        self, student: Student, tokens: Float[Array, "d D"], label: Float[Array, "M G"]
    ) -> Float[Array, ""]:
        return 0.5 * jnp.sum(
            (jnp.repeat(label, self.teacher.support, axis=1) - student(tokens)) ** 2
        )

    def logits(self, student: Student) -> Logits:
        """The student in the teacher's place: before the teacher's own classifier."""
        return lambda tokens: read_out(student(tokens), self.teacher.readout, self.teacher.bias)


class Classification(ImageLoss):
    r"""mean −log softmax(logits)[digit]: the digits are the labels."""

    def label(self, tokens: Float[Array, "d D"], digit: Int[Array, ""]) -> Int[Array, ""]:
        return digit

    def loss(
        self, student: Student, tokens: Float[Array, "d D"], label: Int[Array, ""]
    ) -> Float[Array, ""]:
        logits = self.logits(student)(tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits, label)

    def logits(self, student: Student) -> Logits:
        assert isinstance(student, Classifier)  # as was checked
        return student.logits

    def check(self, student: Student) -> None:
        if not isinstance(student, Classifier):
            raise Refused(
                "A student that learns digits must have `logits`, one number per digit, since "
                f"that is what the digits are compared with. Got {type(student).__name__}."
            )
