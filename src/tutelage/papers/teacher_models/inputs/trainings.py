"""What `teacher-models/inputs` trains on: teachers, input laws and objectives, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tutelage.papers.teacher_models.setup import LEAKY
from tutelage.settings import Part

TOKENS, DIM = 6, 3
# Steps: where σ is smooth most of them by gradient flow. Across the kinks of a sample there is no
# flow, and all are taken one by one.
LONG, ONE_BY_ONE = 10**8, 120_000
NEAR = np.abs(np.subtract.outer(np.arange(TOKENS), np.arange(TOKENS)))
UNEQUAL = Part("gaussian", covariance=np.diag([0.1, 0.65, 4.2]))
# For a control: far from I for every V*.
WIDER, WIDER_RATE = Part("gaussian", covariance=np.diag([1.0, 4.0, 9.0])), 0.05
CORRELATED = Part("gaussian", correlation=0.5**NEAR)
EXPONENTIAL = Part("independent", law="exponential")
SIGNS = Part("independent", law="rademacher")
STUDENT = Part("independent", law="student_t", freedom=5.0)
SAMPLE = Part("empirical", samples=64, held_out=1000)
# For σ with a kink: the fewer the inputs, the more each crossing of it shows.
LARGER = SAMPLE.change(samples=256)
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


@dataclass(frozen=True)
class Training:
    """One teacher on one law of inputs. Laws with a mean have a longer V*, which shortens the
    plateau.
    """

    label: str
    teacher: Part
    inputs: Part
    objective: Part
    rate: float  # 0.4 of the largest stable one near the teacher, the least of five seeds
    steps: int = LONG


EXACT: dict[str, Training] = {
    "covariance": Training(
        "ReLU, variances 0.1 to 4.2",
        pooling("relu", 8.0),
        UNEQUAL,
        POPULATION,
        0.12,
    ),
    "correlation": Training(
        "ReLU, positions correlated",
        pooling("relu", 8.0),
        CORRELATED,
        POPULATION,
        0.35,
    ),
    "erf": Training("erf, normal", pooling("erf", 4.0), Part("gaussian"), POPULATION, 0.33),
    "mean": Training(
        "identity, exponential", pooling("identity", 18.0), EXPONENTIAL, POPULATION, 0.038
    ),
    "tanh-exact": Training(
        "tanh, by quadrature",
        # One query of four tokens: each pair of a row and a query costs a grid of nodes per step.
        Part(
            "bilinear", selection=np.eye(4)[:, :1], outputs=1, dim=DIM, norm=1.5, activation="tanh"
        ),
        Part("gaussian", covariance=np.diag([0.5, 1.0, 1.5])),
        Part("population", largest_std=2.0),
        1.8,
    ),
}
INPUT_LAWS: dict[str, Training] = {
    "normal": Training("normal", pooling("identity", 8.0), Part("independent"), SAMPLE, 0.2),
    "student-5": Training("Student t, 5 degrees", pooling("identity", 8.0), STUDENT, SAMPLE, 0.12),
    "student-3": Training(
        "Student t, 3 degrees",
        pooling("identity", 8.0),
        STUDENT.change(freedom=3.0),
        SAMPLE,
        0.031,
    ),
    "gumbel": Training(
        "Gumbel",
        pooling("identity", 18.0),
        Part("independent", law="gumbel"),
        SAMPLE,
        0.026,
    ),
    "rademacher": Training("Rademacher", pooling("identity", 8.0), SIGNS, SAMPLE, 0.21),
    "exponential": Training("exponential", pooling("identity", 18.0), EXPONENTIAL, SAMPLE, 0.036),
    "shifted": Training(
        "normal, mean 1",
        pooling("identity", 18.0),
        Part("independent", shift=1.0),
        SAMPLE,
        0.036,
    ),
    "correlated": Training(
        "positions correlated", pooling("identity", 8.0), CORRELATED, SAMPLE, 0.14
    ),
    "few": Training(
        "normal, n = 8",
        pooling("identity", 8.0),
        Part("independent"),
        SAMPLE.change(samples=8),
        0.11,
    ),
}
ACTIVATIONS: dict[str, Training] = {
    "tanh": Training("tanh, Student t", pooling("tanh", 4.0), STUDENT, SAMPLE, 0.29),
    "gelu": Training("GELU, Student t", pooling("gelu", 8.0), STUDENT, SAMPLE, 0.21),
    "relu": Training(
        "ReLU, normal, n = 256", pooling("relu", 8.0), Part("independent"), LARGER, 0.43, ONE_BY_ONE
    ),
    "leaky": Training(
        "leaky ReLU, normal, n = 256",
        pooling(LEAKY, 8.0),
        Part("independent"),
        LARGER,
        0.42,
        ONE_BY_ONE,
    ),
    "at-the-kink": Training(
        "leaky ReLU, Rademacher, n = 256", pooling(LEAKY, 8.0), SIGNS, LARGER, 0.44, ONE_BY_ONE
    ),
    "silent-row": Training(
        "ReLU, exponential, a silent row",
        Part("bilinear", selection=POOLED, value=SILENT, activation="relu"),
        EXPONENTIAL,
        LARGER,
        0.037,
        ONE_BY_ONE,
    ),
}
ALL = EXACT | INPUT_LAWS | ACTIVATIONS
