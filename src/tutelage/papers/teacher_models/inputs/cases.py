"""The cases of `teacher-models/inputs`: teachers, input laws and objectives, by name."""

from __future__ import annotations

import numpy as np

from tutelage.settings import MEASURES, Part

SAMPLED = (*MEASURES, "training_risk")
LEAKY = "leaky_relu(0.1)"

TOKENS, DIM = 6, 3
NEAR = np.abs(np.subtract.outer(np.arange(TOKENS), np.arange(TOKENS)))
UNEQUAL = Part("gaussian", covariance=np.diag([0.1, 0.65, 4.2]))
WIDER = Part(
    "gaussian", covariance=np.diag([1.0, 4.0, 9.0])
)  # for a control: far from I for every V*
CORRELATED = Part("gaussian", correlation=0.5**NEAR)
EXPONENTIAL = Part("independent", law="exponential")
SIGNS = Part("independent", law="rademacher")
STUDENT = Part("independent", law="student_t", freedom=5.0)
SAMPLE = Part("empirical", samples=64, held_out=1000)
LARGER = SAMPLE.change(
    samples=256
)  # for σ with a kink: the fewer the inputs, the more each crossing of it shows
POPULATION = Part("population")

# A row whose ReLU is silent on positive inputs, one that always speaks, and one that does both.
SILENT = np.array([[-5.0, -7.0, -3.0], [4.0, 6.0, 5.0], [6.0, -5.0, 3.0]])
POOLED = np.kron(np.eye(3), np.full((2, 2), 0.5))


def pooling(activation: str, norm: float) -> Part:
    return Part(
        "convolution",
        tokens=TOKENS,
        support=2,
        outputs=3,
        dim=DIM,
        norm=norm,
        activation=activation,
    )


# name -> label, teacher, inputs, objective, steps of the quick preset. Laws with a mean have a
# longer V*, which shortens the plateau.
Row = tuple[str, Part, Part, Part, int]
EXACT: dict[str, Row] = {
    "covariance": (
        "ReLU, variances 0.1 to 4.2",
        pooling("relu", 8.0),
        UNEQUAL,
        POPULATION,
        100_000,
    ),
    "correlation": (
        "ReLU, positions correlated",
        pooling("relu", 8.0),
        CORRELATED,
        POPULATION,
        100_000,
    ),
    "erf": ("erf, normal", pooling("erf", 4.0), Part("gaussian"), POPULATION, 100_000),
    "mean": ("identity, exponential", pooling("identity", 18.0), EXPONENTIAL, POPULATION, 100_000),
    "tanh-exact": (
        "tanh, by quadrature",
        # One query of four tokens: every pair of a row and a query costs a grid of nodes a step.
        Part(
            "bilinear", selection=np.eye(4)[:, :1], outputs=1, dim=DIM, norm=1.5, activation="tanh"
        ),
        Part("gaussian", covariance=np.diag([0.5, 1.0, 1.5])),
        Part("population", largest_std=2.0),
        6_000,
    ),
}
LAWS: dict[str, Row] = {
    "normal": ("normal", pooling("identity", 8.0), Part("independent"), SAMPLE, 50_000),
    "student-5": ("Student t, 5 degrees", pooling("identity", 8.0), STUDENT, SAMPLE, 50_000),
    "student-3": (
        "Student t, 3 degrees",
        pooling("identity", 8.0),
        STUDENT.change(freedom=3.0),
        SAMPLE,
        50_000,
    ),
    "gumbel": (
        "Gumbel",
        pooling("identity", 18.0),
        Part("independent", law="gumbel"),
        SAMPLE,
        50_000,
    ),
    "rademacher": ("Rademacher", pooling("identity", 8.0), SIGNS, SAMPLE, 50_000),
    "exponential": ("exponential", pooling("identity", 18.0), EXPONENTIAL, SAMPLE, 50_000),
    "shifted": (
        "normal, mean 1",
        pooling("identity", 18.0),
        Part("independent", shift=1.0),
        SAMPLE,
        50_000,
    ),
    "correlated": ("positions correlated", pooling("identity", 8.0), CORRELATED, SAMPLE, 50_000),
    "few": (
        "normal, n = 8",
        pooling("identity", 8.0),
        Part("independent"),
        SAMPLE.change(samples=8),
        50_000,
    ),
}
ACTIVATIONS: dict[str, Row] = {
    "tanh": ("tanh, Student t", pooling("tanh", 4.0), STUDENT, SAMPLE, 40_000),
    "gelu": ("GELU, Student t", pooling("gelu", 8.0), STUDENT, SAMPLE, 40_000),
    "relu": ("ReLU, normal, n = 256", pooling("relu", 8.0), Part("independent"), LARGER, 30_000),
    "leaky": (
        "leaky ReLU, normal, n = 256",
        pooling(LEAKY, 8.0),
        Part("independent"),
        LARGER,
        30_000,
    ),
    "at-the-kink": ("leaky ReLU, Rademacher, n = 256", pooling(LEAKY, 8.0), SIGNS, LARGER, 30_000),
    "silent-row": (
        "ReLU, exponential, a silent row",
        Part("bilinear", selection=POOLED, value=SILENT, activation="relu"),
        EXPONENTIAL,
        LARGER,
        30_000,
    ),
}
ALL = EXACT | LAWS | ACTIVATIONS
