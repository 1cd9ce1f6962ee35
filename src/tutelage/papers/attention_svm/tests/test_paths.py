"""Flow and normalised descent against plain loops and another integrator."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tutelage.papers.attention_svm.parts.attention import descent_direction, weigh
from tutelage.papers.attention_svm.parts.descent import Data, take_steps
from tutelage.papers.attention_svm.parts.flow import AttentionFlow, follow_flow, multiply
from tutelage.papers.attention_svm.parts.sample import draw_sample
from tutelage.refuse import Refused
from tutelage.running.execute import execute
from tutelage.settings import Part, Setting

SAMPLE = draw_sample(0, 3, 4, 5, "sphere")
DATA = Data(jnp.asarray(SAMPLE.tokens), jnp.asarray(SAMPLE.queries), jnp.asarray(SAMPLE.scores))
DRAW = np.random.default_rng(1)
MATRIX = DRAW.uniform(-0.4, 0.4, (5, 5))
KEYS, QUERIES = DRAW.uniform(-0.4, 0.4, (2, 5, 5))


def test_flow_on_w_is_that_of_another_integrator_in_plain_time():
    def slopes(_: float, flat: np.ndarray) -> np.ndarray:
        return descent_direction(SAMPLE, flat.reshape(5, 5), 0.0).ravel()

    twin = solve_ivp(slopes, (0, 50), np.zeros(25), method="DOP853", rtol=1e-12, atol=1e-14)
    ((found,),) = follow_flow(SAMPLE, (np.zeros((5, 5)),), np.log([50.0]))
    np.testing.assert_allclose(found, twin.y[:, -1].reshape(5, 5), atol=1e-7)


@pytest.mark.depth
def test_flow_on_factors_is_that_of_another_integrator_in_plain_time():
    def slopes(_: float, flat: np.ndarray) -> np.ndarray:
        keys, queries = flat.reshape(2, 5, 5)
        toward = descent_direction(SAMPLE, keys @ queries.T, 0.0)
        return np.concatenate([(toward @ queries).ravel(), (toward.T @ keys).ravel()])

    start = np.concatenate([KEYS.ravel(), QUERIES.ravel()])
    twin = solve_ivp(slopes, (0, 50), start, method="DOP853", rtol=1e-12, atol=1e-14)
    (found,) = follow_flow(SAMPLE, (KEYS, QUERIES), np.log([50.0]))
    np.testing.assert_allclose(np.array(found), twin.y[:, -1].reshape(2, 5, 5), atol=1e-6)


@pytest.mark.depth
def test_flow_keeps_the_balance_of_its_factors():
    """KᵀK − QᵀQ is constant under flow, to the tolerance of the solver, over ten decades."""
    (found,) = follow_flow(SAMPLE, (KEYS, QUERIES), np.log([1e10]))
    balance = [k.T @ k - q.T @ q for k, q in ((KEYS, QUERIES), found)]
    np.testing.assert_allclose(balance[1], balance[0], atol=1e-5)


def plain_normalised(count: int, factors: list[np.ndarray], ridge: float) -> list[np.ndarray]:
    """Normalised descent in log domain by a loop."""
    for _ in range(count):
        matrix = multiply(tuple(factors))
        toward = descent_direction(SAMPLE, matrix, None)
        moves = [toward] if len(factors) == 1 else [toward @ factors[1], toward.T @ factors[0]]
        held = 2 * ridge * np.exp(-weigh(SAMPLE, matrix).logs.max())
        moves = [move - held * f for move, f in zip(moves, factors, strict=True)]
        factors = [f + 0.1 * m / np.linalg.norm(m) for f, m in zip(factors, moves, strict=True)]
    return factors


@pytest.mark.parametrize("start", [[MATRIX], [KEYS, QUERIES]], ids=["W", "K and Q"])
def test_compiled_steps_are_those_of_a_loop(start: list[np.ndarray]):
    given = tuple(jnp.asarray(factor) for factor in start)
    found = take_steps(given, DATA, 0.1, 1e-9, 30, plain=False)
    for ours, twin in zip(found, plain_normalised(30, start, 1e-9), strict=True):
        np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-12)


def test_both_arithmetics_agree_until_weights_saturate():
    given = (jnp.asarray(KEYS), jnp.asarray(QUERIES))
    plain, logs = (take_steps(given, DATA, 0.1, 0.0, 30, plain=plain) for plain in (True, False))
    for one, other in zip(plain, logs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)


def test_a_normalised_step_is_as_long_as_its_rate_in_any_depth():
    """At weights of e⁻²⁰⁰⁰, which no double holds."""
    deep = (jnp.asarray(3000 * MATRIX),)
    assert weigh(SAMPLE, np.asarray(deep[0])).logs.max() < -100
    (after,) = take_steps(deep, DATA, 0.1, 0.0, 1, plain=False)
    assert float(jnp.linalg.norm(after - deep[0])) == pytest.approx(0.1, rel=1e-9)
    (stalled,) = take_steps(deep, DATA, 0.1, 0.0, 1, plain=True)
    assert float(jnp.linalg.norm(stalled - deep[0])) < 1e-10


def small_setting(name: str, **options: int | float | np.ndarray) -> Setting:
    return Setting.of_calculation(
        Part(name, **options),
        teacher=Part("labelled_sequences", sequences=2, tokens=3, dim=3),
        student=Part("matrix_attention"),
    )


def starting_at(selection: list[float], length: float = 50.0) -> Setting:
    return small_setting(
        "normalised_attention_descent", steps=1, selection=np.array(selection), length=length
    )


def test_a_start_at_a_selection_is_that_many_times_its_matrix():
    (run,) = execute([starting_at([0.0, 2.0])])
    assert run.curves["selected"][0].tolist() == [0, 2]
    (twice,) = execute([starting_at([0.0, 2.0], 100.0)])
    np.testing.assert_allclose(twice.curves["matrix"][0], 2 * run.curves["matrix"][0], rtol=1e-14)


def test_a_long_flow_has_decades_for_its_axis():
    (run,) = execute([small_setting("attention_flow", decades=20)])
    assert run.steps.tolist() == list(range(1, 21))
    np.testing.assert_allclose(run.curves["log_time"], np.arange(1, 21) * np.log(10), rtol=1e-14)


@pytest.mark.parametrize("selection", [[0.0], [0.0, 3.0], [0.5, 1.0]])
def test_a_selection_that_is_none_is_refused(selection: list[float]):
    with pytest.raises(Refused, match="must name one of 3 tokens for each of 2 sequences"):
        list(execute([starting_at(selection)]))


def test_a_start_of_factors_at_a_selection_is_refused():
    with pytest.raises(Refused, match="its factors are not unique"):
        list(execute([starting_at([0.0, 1.0]).change(student="factored_attention")]))


def test_a_flow_of_no_decades_is_refused():
    with pytest.raises(Refused, match="flow begins before"):
        AttentionFlow(0)
