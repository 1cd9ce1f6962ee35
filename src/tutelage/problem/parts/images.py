"""A network trained on images, and what learns from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.problem.options import Matrix, Option
from tutelage.problem.parts.companions import PLAIN_OPTIMISERS
from tutelage.problem.parts.estimates import size_image_loss, size_images, size_position_attention
from tutelage.problem.parts.requiring import require
from tutelage.problem.parts.vocabulary import ACTIVATION, BATCH, OUTPUTS, SUPPORT
from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.inputs.images import Images
    from tutelage.objectives.base import Objective
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher
    from tutelage.teachers.image_cnn import ImageCNN


def require_network(teacher: Teacher, part: str) -> ImageCNN:
    """The teacher, if it is a network that was trained on images."""
    from tutelage.teachers.image_cnn import ImageCNN

    return require(
        teacher,
        ImageCNN,
        part=part,
        needed="a teacher trained on images, such as 'image_cnn'",
        reason="it learns from that network",
    )


@register(
    "teacher",
    "image_cnn",
    label="a network trained on images",
    sentence="A small convolutional network, trained on images first.",
    goes_with={
        "inputs": ("images",),
        "student": ("image_classifier", "image_cnn"),
        "objective": ("distillation", "classification"),
        "optimiser": PLAIN_OPTIMISERS,
    },
    slow=True,
    estimate=size_images,
)
def _image_cnn(
    seed: int,
    *,
    data: Annotated[str, Option("images")] = "mnist-5000",
    outputs: Annotated[int, OUTPUTS] = 16,
    support: Annotated[int, SUPPORT] = 9,
    activation: Annotated[str, ACTIVATION] = "relu",
    epochs: Annotated[int, Option("epochs of its training", "", 1, 100, log=True)] = 20,
    rate: Annotated[float, Option("step size of its training", "", 1e-5, 0.1, log=True)] = 0.001,
    batch: Annotated[int, BATCH] = 64,
) -> Teacher:
    """Trained when first needed, once per process: the same options and seed give the same
    network.
    """
    from tutelage.problem.parts.pretraining import trained_cnn

    return trained_cnn(seed, data, outputs, support, activation, epochs, rate, batch)


@register("inputs", "images")
def _images(
    teacher: Teacher, *, shuffled: Annotated[bool, Option("pixels are shuffled")] = False
) -> Inputs:
    """The images that the teacher was trained on."""
    from tutelage.inputs.images import ImageSet
    from tutelage.teachers.image_cnn import ImageCNN

    if not isinstance(teacher, ImageCNN):
        raise Refused(
            "The inputs 'images' need a teacher that was trained on some, such as 'image_cnn'. "
            "Got another."
        )
    return ImageSet(teacher.data, shuffled)


@register("student", "image_classifier", estimate=size_position_attention)
def _image_classifier(
    teacher: Teacher,
    seed: int,
    *,
    start: Annotated[str, Option("start", choices=("fresh", "teacher"))] = "fresh",
    value: Annotated[Matrix | None, Option("W_V at the start", "W_V", shape=True)] = None,
    scores: Annotated[Matrix | None, Option("W_KQ at the start", "W_KQ", shape=True)] = None,
) -> Student:
    """Attention before a classifier. Both begin as a fresh network would, or as the teacher's; W_V
    and W_KQ may be given.
    """
    import equinox as eqx
    import jax.numpy as jnp

    from tutelage.numerics.streams import generator
    from tutelage.problem.parts.pretraining import untrained
    from tutelage.students import AttentionClassifier, PositionAttention

    teacher = require_network(teacher, "student 'image_classifier'")
    one_of("start of a classifier", start, ("fresh", "teacher"))
    outputs, sigma = teacher.shape[0], teacher.activation.name
    network = (
        teacher
        if start == "teacher"
        else untrained(teacher.data, outputs, teacher.support, sigma, generator(seed, "start"))
    )
    zeros = PositionAttention.zeros(teacher)
    given = (
        network.value if value is None else value,
        zeros.key_query if scores is None else scores,
    )
    for name, ours, theirs in zip(
        ("value", "scores"), given, (zeros.value, zeros.key_query), strict=True
    ):
        if ours.shape != theirs.shape:
            raise Refused(
                f"`{name}` must have shape {theirs.shape}, that of the teacher's student. Got "
                f"{ours.shape}."
            )
    body = eqx.tree_at(
        lambda s: (s.value, s.key_query), zeros, tuple(jnp.asarray(g) for g in given)
    )
    return AttentionClassifier(body, network.readout, network.bias)


@register("student", "image_cnn")
def _longer(teacher: Teacher, seed: int) -> Student:
    """The teacher itself, trained on."""
    from tutelage.students.image_cnn import ImageCNNStudent

    return ImageCNNStudent.of(require_network(teacher, "student 'image_cnn'"))


@register("objective", "distillation", estimate=size_image_loss)
def _distillation(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    batch: Annotated[int, BATCH] = 32,
    strangers: Annotated[bool, Option("labels are those of other images")] = False,
) -> Objective:
    """With `strangers` each image is taught by what the teacher makes of another."""
    from tutelage.objectives.images import Distillation

    train, test = _split(inputs, seed)
    teacher = require_network(teacher, "objective 'distillation'")
    return Distillation(teacher, train, test, batch, int(strangers))


@register("objective", "classification", estimate=size_image_loss)
def _classification(
    teacher: Teacher, inputs: Inputs, seed: int, *, batch: Annotated[int, BATCH] = 32
) -> Objective:
    from tutelage.objectives.images import Classification

    train, test = _split(inputs, seed)
    teacher = require_network(teacher, "objective 'classification'")
    return Classification(teacher, train, test, batch)


def _split(inputs: Inputs, seed: int) -> tuple[Images, Images]:
    from tutelage.inputs.images import ImageSet

    if not isinstance(inputs, ImageSet):
        raise Refused(
            "This objective needs the inputs 'images', since it draws from a finite set of them. "
            "Got another law."
        )
    return inputs.split(seed)
