"""Bad input is refused before any work, with a sentence that holds the rule and what was
received.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tutelage as tt
from tutelage.measures import excess_risk

NAN = float("nan")
VALUE = np.array([[1.0, -0.5, 2.0], [0.3, 0.7, -1.0]])
POOLED = tt.pooling(4, 2)


def refused(call: Callable[[], Any], *words: str) -> None:
    """The message holds each of the words."""
    with pytest.raises(tt.Refused) as caught:
        call()
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"


def teacher(
    selection: Any = POOLED, activation: Any = "relu", value: Any = VALUE, **options: Any
) -> tt.BilinearTeacher:
    return tt.BilinearTeacher(value, selection, activation, **options)


def test_a_refusal_is_a_value_error() -> None:
    assert issubclass(tt.Refused, ValueError)


# ---- teachers


@pytest.mark.parametrize(
    ("tokens", "support", "words"),
    [
        (36, 40, ("`support` must be between 1 and `tokens`", "support=40", "tokens=36")),
        (36, 5, ("multiple of `support`", "disjoint", "tokens=36", "support=5")),
        (36, 0, ("`support` must be a whole number of at least 1", "support=0")),
        (36, 2.5, ("whole number", "support=2.5")),
        (36, True, ("whole number", "support=True")),
        ("36", 4, ("`tokens` must be a whole number", "tokens='36'")),
        (NAN, 4, ("`tokens` must be a whole number", "tokens=nan")),
    ],
)
def test_pooling(tokens: Any, support: Any, words: tuple[str, ...]) -> None:
    refused(lambda: tt.pooling(tokens, support), *words)


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (
            0.9 * POOLED,
            (
                "Columns of `selection` must sum to 1",
                "softmax by columns",
                "sum of 0.9 in column 0",
            ),
        ),
        (
            [[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]],
            ("must sum to 1", "sum of 0.5 in column 2", "the rows do sum to 1", "transpose"),
        ),
        (np.full((3, 1), 0.333333), ("must sum to 1", "0.999999")),
        ([[1.5], [-0.5]], ("negative weights", "-0.5", "(1, 0)")),
        ([[NAN], [1.0]], ("`selection` must be finite", "nan at (0, 0)")),
        ([0.5, 0.5], ("`selection` must be a matrix", "(2,)")),
        (np.ones((1, 1, 1)), ("`selection` must be a matrix", "(1, 1, 1)")),
        (np.ones((1, 0)), ("not empty", "(1, 0)")),
        ([[0.5, 0.5], [1.0]], ("matrix of numbers", "[1.0]")),
        ("pooling", ("matrix of numbers", "'pooling'")),
        (None, ("matrix of numbers", "None")),
        ([["0.5"], ["0.5"]], ("matrix of numbers", "'0.5'")),
    ],
)
def test_selection(selection: Any, words: tuple[str, ...]) -> None:
    refused(lambda: teacher(selection), *words)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[1.0, NAN]], ("`value` must be finite", "nan at (0, 1)")),
        ([[1.0, float("inf")]], ("`value` must be finite", "inf")),
        ([1.0, 2.0], ("`value` must be a matrix", "two dimensions", "(2,)")),
        (np.ones((2, 3, 4)), ("`value` must be a matrix", "(2, 3, 4)")),
        (np.ones((0, 3)), ("not empty", "(0, 3)")),
        ({}, ("matrix of numbers", "{}")),
        (np.array([[1.0 + 2.0j]]), ("matrix of numbers", "1.+2.j")),
    ],
)
def test_value(value: Any, words: tuple[str, ...]) -> None:
    refused(lambda: teacher(value=value), *words)


@pytest.mark.parametrize(
    ("noise", "word"),
    [(-1, "noise=-1"), (NAN, "noise=nan"), ("0.1", "noise='0.1'"), (True, "noise=True")],
)
def test_noise(noise: Any, word: str) -> None:
    refused(
        lambda: teacher(noise=noise),
        "`noise` must be zero or a positive",
        "standard deviation",
        word,
    )


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ([[0.0, 1.0], [0.0, 0.0]], ("symmetric",)),
        ([[0.0, 0.5], [0.5, 0.0]], ("entries 0 or 1",)),
        (np.ones((2, 3)), ("square", "(2, 3)")),
        ([[NAN]], ("finite", "nan")),
    ],
)
def test_neighbourhoods(graph: Any, words: tuple[str, ...]) -> None:
    refused(lambda: tt.neighbourhoods(graph), "must be", *words)


def test_cycle_and_subsets() -> None:
    refused(lambda: tt.cycle(2), "at least 3", "tokens=2")
    refused(
        lambda: tt.random_subset(4, 5, np.random.default_rng(0)),
        "between 1 and `tokens`",
        "support=5",
        "tokens=4",
    )


@pytest.mark.parametrize("chosen", [[4], [-1], [1, 1]])
def test_a_subset_of_other_tokens(chosen: Any) -> None:
    refused(
        lambda: tt.same_subset(4, chosen),
        "`chosen` must be distinct token indices from 0 to 3",
        repr(np.array(chosen)),
    )


@pytest.mark.parametrize("chosen", [[0.5], [], 3, [[0, 1]], "01", [True, False, True, True]])
def test_a_subset_of_no_tokens(chosen: Any) -> None:
    refused(lambda: tt.same_subset(4, chosen), "`chosen` must be", repr(np.array(chosen)))


# ---- activations


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            "rleu",
            (
                "no activation named 'rleu'",
                "Did you mean 'relu'",
                "Known: elu, erf, gelu, gelu_tanh",
            ),
        ),
        ("tahn", ("Did you mean 'tanh'",)),
        ("xyzzy", ("no activation named 'xyzzy'", "Known:")),
        ("leaky_relu(2)", ("slope must be a number in [0, 1)", "slope=2.0")),
        ("leaky_relu(-0.1)", ("slope must be a number in [0, 1)", "slope=-0.1")),
        ("leaky_relu(1)", ("slope 1 is the identity", "slope=1.0")),
        ("leaky_relu(1e)", ("slope", "1e")),
        (3, ("registered name or a callable", "3")),
        (None, ("registered name or a callable", "None")),
    ],
)
def test_activations(given: Any, words: tuple[str, ...]) -> None:
    refused(lambda: tt.activation(given), *words)
    refused(lambda: teacher(activation=given), *words)


@pytest.mark.parametrize("slope", [1.0, -0.1, NAN, "0.1", None])
def test_slopes(slope: Any) -> None:
    refused(lambda: tt.LeakyReLU(slope), "[0, 1)", f"slope={slope!r}")


# ---- inputs


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ([[1.0, 0.5], [0.0, 1.0]], ("symmetric",)),
        ([[1.0, 2.0], [2.0, 1.0]], ("positive semidefinite", "from -1 to 3")),
        (-np.eye(2), ("positive semidefinite", "-1")),
        (np.zeros((2, 2)), ("not zero", "from 0 to 0")),
        (np.ones((2, 3)), ("square", "(2, 3)")),
        ([[NAN]], ("finite", "nan")),
        (1.0, ("matrix", "()")),
    ],
)
def test_moments(moments: Any, words: tuple[str, ...]) -> None:
    refused(
        lambda: tt.Gaussian(covariance=moments), "`covariance` must be", "second moments", *words
    )
    refused(
        lambda: tt.Gaussian(correlation=moments), "`correlation` must be", "second moments", *words
    )


def test_moments_of_another_size() -> None:
    refused(
        lambda: tt.PopulationRisk(teacher(), tt.Gaussian(np.eye(2))),
        "`covariance` must be 3×3",
        "3 features",
        "(2, 2)",
    )
    refused(
        lambda: tt.PopulationRisk(teacher(), tt.Gaussian(None, np.eye(3))),
        "`correlation` must be 4×4",
        "4 tokens",
        "(3, 3)",
    )
    refused(
        lambda: tt.Gaussian(np.eye(2)).sample(4, 3, key=tt.stream(0, "x")),
        "`covariance` must be 3×3",
        "(2, 2)",
    )


@pytest.mark.parametrize("largest", [0, -1.0, NAN, "3"])
def test_the_reach_of_quadrature(largest: Any) -> None:
    refused(
        lambda: tt.PopulationRisk(teacher(activation="tanh"), largest_std=largest),
        "`largest_std` must be a positive",
        f"largest_std={largest!r}",
    )


def test_a_reach_that_the_teacher_is_beyond() -> None:
    far = teacher([[1.0]], "tanh", [[3.0, 4.0]])
    refused(lambda: tt.PopulationRisk(far, largest_std=1.0), "`largest_std`", "teacher", "5")


# ---- students


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key_codes": np.eye(3)}, ("`key_codes` must have 4 columns", "(3, 3)")),
        (
            {"key_codes": np.eye(4), "query_codes": np.eye(3)},
            ("`query_codes` must have 4 columns", "(3, 3)"),
        ),
        ({"query_codes": np.eye(4)}, ("`query_codes` need `key_codes`", "alone")),
        ({"key_codes": np.full((4, 4), NAN)}, ("`key_codes` must be finite", "nan")),
        ({"key_codes": np.ones(4)}, ("`key_codes` must be a matrix", "(4,)")),
        ({"attention_scale": 0}, ("`attention_scale` must be a positive", "attention_scale=0")),
        ({"attention_scale": NAN}, ("`attention_scale` must be a positive", "attention_scale=nan")),
    ],
)
def test_students(options: dict[str, Any], words: tuple[str, ...]) -> None:
    refused(lambda: tt.PositionAttention.zeros(teacher(), **options), *words)
    refused(
        lambda: tt.PositionAttention.random(teacher(), key=tt.stream(0, "x"), **options), *words
    )


def test_query_codes_are_needed_when_queries_are_not_tokens() -> None:
    few = teacher(np.full((4, 2), 0.25))
    refused(
        lambda: tt.PositionAttention.zeros(few, key_codes=np.eye(4)),
        "`query_codes` must be given",
        "2 queries",
        "4 tokens",
    )


def test_the_spread_of_a_random_start() -> None:
    refused(
        lambda: tt.PositionAttention.random(teacher(), scale=-0.1, key=tt.stream(0, "x")),
        "`scale` must be zero or a positive",
        "scale=-0.1",
    )


# ---- training


def train_refused(*words: str, student: Any = None, objective: Any = None, **options: Any) -> None:
    seen: list[int] = []
    objective = tt.PopulationRisk(teacher()) if objective is None else objective
    student = tt.PositionAttention.zeros(teacher()) if student is None else student
    options = {
        "rate": 0.1,
        "steps": 10,
        "watch": lambda member, step, curves: seen.append(step),
        **options,
    }
    refused(lambda: tt.train(student, objective, **options), *words)
    assert seen == [], "it had begun to work"


@pytest.mark.parametrize("rate", [0, 0.0, -0.1, NAN, float("inf"), "0.1", True, [0.1]])
def test_rates(rate: Any) -> None:
    train_refused("`rate` must be a positive", "gradient descent", f"rate={rate!r}", rate=rate)


def test_no_rate() -> None:
    train_refused("`rate` must be given", "step size", rate=None)


@pytest.mark.parametrize("steps", [0, -1, 2.5, "10", None, True, NAN])
def test_steps(steps: Any) -> None:
    train_refused("`steps` must be a whole number of at least 1", f"steps={steps!r}", steps=steps)


def test_a_finished_transformation_with_a_rate() -> None:
    train_refused(
        "`rate` must be left out",
        "finished optax transformation",
        "rate=0.1",
        "optax.adam",
        optimiser=optax.adam(0.01),
    )


@pytest.mark.parametrize("optimiser", [None, "sgd", 0.1])
def test_an_optimiser_that_is_none(optimiser: Any) -> None:
    train_refused("`optimiser`", repr(optimiser), optimiser=optimiser)


@pytest.mark.parametrize("other", ["identity", "leaky_relu(0.1)", "erf", jnp.tanh])
def test_two_activations(other: Any) -> None:
    student = tt.PositionAttention.zeros(teacher(activation=other))
    train_refused("share one activation", "relu", tt.activation(other).name, student=student)
    refused(
        lambda: tt.PopulationRisk(teacher()).excess(student),
        "share one activation",
        "relu",
        tt.activation(other).name,
    )


@pytest.mark.parametrize(
    "other",
    [
        {"selection": np.full((4, 1), 0.25)},
        {"selection": tt.pooling(6, 2)},
        {"value": VALUE[:1]},
        {"value": VALUE[:, :1]},
    ],
    ids=["queries", "tokens", "outputs", "features"],
)
def test_a_student_of_another_shape(other: dict[str, Any]) -> None:
    """One query, output or feature would broadcast against many, and a wrong number come out."""
    risk = tt.PopulationRisk(teacher())
    refused(lambda: risk.excess(tt.PositionAttention.zeros(teacher(**other))), "shape")
    train_refused("shape", student=tt.PositionAttention.zeros(teacher(**other)))
    train_refused(
        "shape",
        student=tt.PositionAttention.zeros(teacher()),
        objective=tt.PopulationRisk(teacher(**other)),
    )


@pytest.mark.parametrize("block", ["value", "key_query"])
def test_a_student_that_is_not_finite(block: str) -> None:
    start = tt.PositionAttention.zeros(teacher())
    broken = eqx.tree_at(
        lambda s: getattr(s, block), start, jnp.full_like(getattr(start, block), NAN)
    )
    train_refused("finite", student=broken)


def test_batches_that_do_not_match() -> None:
    student, risk = tt.PositionAttention.zeros(teacher()), tt.PopulationRisk(teacher())
    refused(
        lambda: tt.train_batch([student, student], [risk, risk], rates=[0.1], steps=10), "rates"
    )
    refused(
        lambda: tt.train_batch([student, student], [risk], rates=[0.1, 0.1], steps=10), "objectives"
    )
    refused(lambda: tt.train_batch([], [], rates=[], steps=10), "at least one")


def test_batches_of_two_shapes() -> None:
    few = teacher(np.full((4, 2), 0.25))
    students = [tt.PositionAttention.zeros(teacher()), tt.PositionAttention.zeros(few)]
    risks = [tt.PopulationRisk(teacher()), tt.PopulationRisk(few)]
    refused(
        lambda: tt.train_batch(students, risks, rates=[0.1, 0.1], steps=10),
        "same shapes",
        "one compiled program",
    )


def test_two_measures_of_one_name() -> None:
    def measure(factor: float) -> Callable[..., jax.Array]:
        return lambda student, objective: factor * excess_risk(student, objective)

    train_refused("measure", "<lambda>", measures=[measure(1.0), measure(2.0)])
