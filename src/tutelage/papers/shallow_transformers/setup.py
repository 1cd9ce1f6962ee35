"""What the studies of this paper share: a setting by the paper's letters, and the choices that all
of them make.
"""

from __future__ import annotations

from collections.abc import Mapping

from tutelage.settings import Part, Setting
from tutelage.studies.study import NoSuchOption

LETTERS: Mapping[str, str] = {
    "d": "teacher.dim",
    "T": "teacher.tokens",
    "n": "objective.samples",
    "m": "student.heads",
    "R": "teacher.anchors",
    "tau": "steps",
    "eta": "rate",
}
CHOICES = (
    "Tokens are standard normal, clipped to norm at most 1. The teacher averages R = 16 anchors "
    "with weight +1 (the text's form; the "
    "authors' code gives them random signs) and uses the whole W of its heads (their code keeps "
    "only its diagonal).",
    "All n samples are trained on (their code: 80%); the step is 1/√τ as in the theorem (their "
    "code: 1.75/√τ). Of the linearisation error "
    "both sup and mean are given, at random and at bad points (their code logs the mean at a bad "
    "one).",
    "Losses are divided by (1/n)Σy², which differs severalfold between draws of the anchors; δ = "
    "δ′ = 0.05 in the bounds.",
)


def refuse_swept(changes: Mapping[str, object], *options: str) -> None:
    """A study that sets an option itself cannot be asked for another value of it."""
    for key in changes:
        if LETTERS.get(key, key).rpartition(".")[2] in options:
            raise NoSuchOption(
                f"`{key}` is what this study varies or sets itself, so that it cannot be "
                "changed. Change another option."
            )


def setting_at(
    *,
    heads: int,
    samples: int,
    steps: int,
    measures: tuple[str, ...],
    dim: int = 8,
    tokens: int = 16,
    pool: int = 8192,
    seed: int = 0,
    radii: tuple[float, float, float] = (3.0, 3.0, 3.0),
    teacher: Mapping[str, object] | None = None,
) -> Setting:
    """The paper's first experiment at a size: projected descent with step 1/√τ on n samples of the
    transported teacher.
    """
    rho_c, rho_u, rho_w = radii
    return Setting(
        Part("transported", dim=dim, tokens=tokens, pool=pool, **dict(teacher or {})),
        rate=steps**-0.5,
        steps=steps,
        seed=seed,
        inputs=Part("clipped_gaussian"),
        student=Part("shallow_transformer", heads=heads),
        objective=Part("squared_loss", samples=samples),
        optimiser=Part("projected_descent", rho_c=rho_c, rho_u=rho_u, rho_w=rho_w),
        measures=measures,
    )
