"""`check_part` finds what is wrong with a part: each fault is planted once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jaxtyping import Array, Float

import tutelage as tt
from tutelage import activations, settings
from tutelage.calculations import Calculated, Calculation, Ingredients
from tutelage.problem import registry
from tutelage.problem.options import Option
from tutelage.testing import check_part
from tutelage.testing.parts import wrong_values

NAME = "planted"
VALUE = np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -1.0]])
GOES_WITH = {
    "inputs": ("gaussian",),
    "student": ("position_attention",),
    "objective": ("population",),
    "optimiser": ("gradient_descent",),
}


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is not there for the next."""
    for kind, known in registry._REGISTERED.items():
        monkeypatch.setitem(registry._REGISTERED, kind, dict(known))
    monkeypatch.setattr(settings, "ORIGINS", dict(settings.ORIGINS))
    monkeypatch.setattr(registry, "ORIGINS", settings.ORIGINS)
    monkeypatch.setattr(activations, "REGISTERED", dict(activations.REGISTERED))


def plant(factory: Callable[..., object], kind: str = "teacher", **more: object) -> list[str]:
    registry.register(kind, NAME, **{"goes_with": GOES_WITH, **more})(factory)
    return check_part(kind, NAME)


def sound(seed: int, *, size: Annotated[float, Option("size")] = 1.0) -> tt.BilinearTeacher:
    return tt.BilinearTeacher(size * VALUE + seed, np.full((4, 2), 1 / 4), "identity")


def test_a_sound_part_has_no_troubles() -> None:
    assert plant(sound) == []


def test_a_teacher_that_names_no_companions_is_tried_with_the_usual_ones() -> None:
    assert plant(sound, goes_with={}) == []


def test_an_option_without_a_label() -> None:
    def unlabelled(seed: int, *, size: float = 1.0) -> tt.BilinearTeacher:
        return sound(seed, size=size)

    (trouble,) = plant(unlabelled)
    assert "the option `size` has no label" in trouble


def test_a_slider_that_ends_before_it_begins() -> None:
    def backwards(
        seed: int, *, size: Annotated[float, Option("size", "", 5, 1)] = 1.0
    ) -> tt.BilinearTeacher:
        return sound(seed, size=size)

    (trouble,) = plant(backwards)
    assert "the slider of `size` ends at 1 and begins at 5" in trouble


def test_companions_and_values_that_are_not_there() -> None:
    goes_with = {**GOES_WITH, "student": ("position_attention", "nobody")}
    companion, value, option = plant(sound, goes_with=goes_with, begin={"sise": 1.0})
    assert "names the student 'nobody', which is not registered" in companion
    assert "`begin` has a value for `sise`" in value
    assert "cannot be tried" in option


def test_values_of_a_wrong_type_that_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutelage.problem.options.Declared.parse", lambda self, value, part: value)

    def careless(*, size: Annotated[float, Option("size")] = 1.0) -> object:
        return optax.sgd

    taken = plant(careless, "optimiser", goes_with={})
    assert ["size='many' is taken" in taken[0], "size=True is taken" in taken[1]] == [True, True]


def test_wrong_values_are_of_none_of_the_types() -> None:
    options = registry.options_of("teacher", "graph_convolution")
    assert wrong_values(options["tokens"]) == ["many", True]
    assert wrong_values(options["collapse"]) == ["no", 3]
    assert wrong_values(options["graph"]) == [True, 3]


def test_gradients_that_are_not_finite() -> None:
    class Broken(tt.PopulationRisk):
        def __call__(self, student: tt.PositionAttention) -> Float[Array, ""]:
            return jnp.sqrt(jnp.sum(student.value**2))  # from zero: 0/0

    troubles = plant(
        lambda teacher, inputs, seed: Broken(teacher, inputs), "objective", goes_with={}
    )
    assert any("gradients are not sound" in trouble for trouble in troubles)


def test_steps_that_move_nothing() -> None:
    class Flat(tt.PopulationRisk):
        def __call__(self, student: tt.PositionAttention) -> Float[Array, ""]:
            return 0.0 * jnp.sum(student.value)

    troubles = plant(lambda teacher, inputs, seed: Flat(teacher, inputs), "objective", goes_with={})
    assert any("a few steps move nothing" in trouble for trouble in troubles)


def test_another_seed_that_compiles_again() -> None:
    def longer(teacher: object, seed: int) -> tt.PositionAttention:
        """Codes of another length for the third seed."""
        size = 4 if seed < 2 else 5
        codes = np.eye(size)[:, : teacher.shape.tokens]
        return tt.PositionAttention.zeros(teacher, key_codes=codes)

    troubles = plant(longer, "student", goes_with={})
    assert any("another seed and rate compile" in trouble for trouble in troubles)


def test_an_activation_and_a_measure_of_ones_own() -> None:
    assert plant(lambda x: x**3, "activation", goes_with={}) == []
    broken = plant(lambda x: jnp.log(x), "activation", goes_with={})
    assert "its values are not finite" in broken[0]

    def label_size(student: tt.PositionAttention, objective: tt.PopulationRisk) -> Array:
        return jnp.linalg.norm(objective.teacher.value)

    assert plant(label_size, "measure", goes_with={}) == []


def test_a_calculation_that_gives_other_numbers_each_time() -> None:
    class Drawn(Calculation):
        def __call__(self, given: Ingredients) -> Calculated:
            return Calculated.numbers(drawn=np.random.default_rng().random())

    (trouble,) = plant(Drawn, "calculation", goes_with={})
    assert "gives other numbers when it is calculated again" in trouble
