"""Optimisers by name: against updates written by hand, in batches and in pieces, and what is
refused.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tutelage as tt
from tutelage.optimisers.named import DRAWING, SEARCHING, numbers_of, transformations
from tutelage.problem.build import build_optimiser
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed

SETTING = Setting(
    Part("convolution", tokens=8, support=2, outputs=2, dim=3),
    rate=0.05,
    steps=300,
    measures=("excess_risk", "two_value_distance"),
)
PARAMETERS = {"a": jnp.array([1.0, -2.0]), "b": jnp.array([[0.5]])}
GRADIENTS = [
    {"a": np.array([0.3, -0.4]), "b": np.array([[1.2]])},
    {"a": np.array([-2.0, 0.1]), "b": np.array([[0.0]])},
]


def moves(part, rate=0.1, gradients=GRADIENTS):
    """The updates of an optimiser, one a gradient."""
    transformation = build_optimiser(SETTING.change(optimiser=part))(rate)
    state, found = transformation.init(PARAMETERS), []
    for gradient in gradients:
        update, state = transformation.update(
            jax.tree.map(jnp.asarray, gradient), state, PARAMETERS
        )
        found.append(jax.tree.map(np.asarray, update))
    return found


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])


def test_normalised_steps_have_the_length_of_the_rate():
    for move, gradient in zip(moves(Part("normalised")), GRADIENTS, strict=True):
        np.testing.assert_allclose(
            flat(move), -0.1 * flat(gradient) / np.linalg.norm(flat(gradient)), rtol=1e-14
        )
    still = [jax.tree.map(np.zeros_like, GRADIENTS[0])]
    assert not flat(moves(Part("normalised"), gradients=still)[0]).any()


def test_sign_steps_move_every_coordinate_by_the_rate():
    for move, gradient in zip(moves(Part("sign")), GRADIENTS, strict=True):
        np.testing.assert_array_equal(flat(move), -0.1 * np.sign(flat(gradient)))


@pytest.mark.parametrize(
    "part",
    [Part("gradient_descent"), Part("normalised"), Part("sign"), Part("momentum", decay=0.5)],
)
def test_decaying_steps_are_those_of_the_formula(part):
    """Step t of the same optimiser, times (1 + t/t₀)^-a."""
    gradients = GRADIENTS * 3
    constant, decaying = (
        moves(part, gradients=gradients),
        moves(part.change(power=0.7, onset=2.0), gradients=gradients),
    )
    for t, (one, other) in enumerate(zip(constant, decaying, strict=True)):
        np.testing.assert_allclose(flat(other), flat(one) * (1 + t / 2.0) ** -0.7, rtol=1e-14)


def test_a_transformation_of_optax_is_found_by_its_name_with_its_options():
    by_name = moves(Part("optax", transformation="lion", b1=0.7))
    lion = optax.lion(0.1, b1=0.7)
    state = lion.init(PARAMETERS)
    for move, gradient in zip(by_name, GRADIENTS, strict=True):
        update, state = lion.update(jax.tree.map(jnp.asarray, gradient), state, PARAMETERS)
        np.testing.assert_array_equal(flat(move), flat(update))
    np.testing.assert_array_equal(
        flat(moves(Part("optax", transformation="scale_by_sign"))[0]), flat(moves(Part("sign"))[0])
    )


def test_every_transformation_that_is_offered_can_be_made():
    assert {"adam", "lion", "adagrad", "rmsprop", "sgd", "scale_by_adam"} <= set(transformations())
    assert not set(transformations()) & {*SEARCHING, *DRAWING}
    for name in transformations():
        made = build_optimiser(SETTING.change(optimiser=Part("optax", transformation=name)))(0.1)
        assert jax.tree.leaves(made.init(PARAMETERS)) is not None
    assert "b1" in numbers_of("lion")
    assert "learning_rate" not in numbers_of("lion")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part("optax", transformation="lyon"), "'lion'"),
        (Part("optax", transformation="lbfgs"), "no transformation of optax"),
        (Part("optax", transformation="lion", momentum=0.5), "Known: .*b1"),
        (Part("optax", transformation="lion", b1="much"), "must be a number"),
        (Part("optax"), "needs `transformation`"),
        (Part("sign", power=-1.0), "`power` must be zero or a positive"),
        (Part("normalised", power=1.0, onset=0.0), "`onset` must be a positive"),
    ],
)
def test_what_makes_no_optimiser_is_refused(part, words):
    with pytest.raises(Refused, match=words):
        build_optimiser(SETTING.change(optimiser=part))


def test_options_are_changed_by_their_paths():
    lion = changed(
        SETTING,
        {
            "optimiser": "optax",
            "optimiser.transformation": "lion",
            "optimiser.b1": 0.8,
            "power": 0.5,
        },
        {},
    )
    assert lion.optimiser == Part("optax", transformation="lion", b1=0.8, power=0.5)
    with pytest.raises(NoSuchOption, match="b1"):
        changed(lion, {"optimiser.beta": 0.8}, {})


def test_a_batch_in_pieces_equals_one_run_alone(tmp_path):
    """Two seeds and two rates together, stopped and gone on with: the state of optax and the count
    of the decaying step are kept.
    """
    part = Part("optax", transformation="rmsprop", decay=0.8, power=0.5, onset=20.0)
    batch = [
        SETTING.change(optimiser=part, rate=rate, seed=seed)
        for rate in (0.01, 0.02)
        for seed in (0, 1)
    ]
    store = tt.Store(tmp_path)
    for steps in (90, 300):
        runs = {
            run.setting: run
            for run in tt.execute([s.change(steps=steps) for s in batch], store=store)
        }
    (alone,) = tt.execute(batch[-1:])
    for name, curve in alone.curves.items():
        np.testing.assert_allclose(runs[batch[-1]].curves[name], curve, rtol=1e-10, atol=1e-13)


def test_the_distance_from_two_values_is_that_of_the_nearest_such_column():
    """By least squares on the indicators of the support and of the rest."""
    teacher = tt.BilinearTeacher(np.eye(2), tt.pooling(6, 2))
    student = tt.PositionAttention.random(teacher, scale=2.0, key=tt.stream(0, "start"))
    found = tt.measures.MEASURES["two_value_distance"](student, tt.PopulationRisk(teacher))
    for i, column in enumerate(np.asarray(student.attention()).T):
        on = np.asarray(teacher.selection)[:, i] > 0
        indicators = np.stack([on, ~on], axis=1).astype(float)
        best = indicators @ np.linalg.lstsq(indicators, column, rcond=None)[0]
        assert found[i] == pytest.approx(np.linalg.norm(column - best), rel=1e-12)
