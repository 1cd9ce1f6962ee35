"""The exact losses beside enumeration over roots of unity, finite differences and counting."""

from __future__ import annotations

import importlib
import tracemalloc

import jax.numpy as jnp
import numpy as np
import pytest
from planting import Fault, fresh_package

from tutelage.papers.in_context_autoregression.parts import measures
from tutelage.papers.in_context_autoregression.parts.attention import LinearAttention, used_entries
from tutelage.papers.in_context_autoregression.parts.loss import NextTokenLoss
from tutelage.papers.in_context_autoregression.parts.positions import PositionWeights
from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens
from tutelage.papers.in_context_autoregression.theory import gradient_step
from tutelage.papers.in_context_autoregression.theory.slepian import slepian_matrix
from tutelage.problem.build import build
from tutelage.problem.room import BYTES_PER_NUMBER, estimate_sizes
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.testing.examples import find_example

BASE = "papers.in_context_autoregression"


def random_attention(heads: int, dim: int, tokens: int, seed: int = 0) -> LinearAttention:
    drawn = np.random.default_rng(seed)
    shapes = ((heads, dim), (heads, dim), (tokens - 1, tokens))
    return LinearAttention(*(jnp.asarray(drawn.standard_normal(shape)) for shape in shapes))


def grid_of(angles: int, roots: int) -> np.ndarray:
    """All combinations of roots of unity, as complex numbers."""
    one = np.exp(2j * np.pi * np.arange(roots) / roots)
    return np.stack(np.meshgrid(*[one] * angles, indexing="ij"), -1).reshape(-1, angles)


def enumerated_loss(student: LinearAttention, process: str) -> float:
    """The expected loss from the definition alone, by NumPy."""
    matrix, weights = np.asarray(student.values.T @ student.scores), np.asarray(student.positions)
    dim, tokens = len(matrix), weights.shape[1]
    turns = grid_of(dim if process == "unitary" else dim // 2, 4 * tokens + 1)
    if process == "orthogonal":
        turns = np.stack([turns, turns.conj()], -1).reshape(len(turns), dim)
    total = 0.0
    for m in range(2, tokens + 1):
        answer = np.zeros_like(turns)
        for t in range(m):
            matches = np.conj(turns ** (m - 2)) * turns**t
            answer += weights[m - 2, t] * turns**t * (matches @ matrix.T)
        total += np.mean(np.sum(np.abs(answer - turns**m) ** 2, axis=1))
    return float(total)


@pytest.mark.brief(2)
@pytest.mark.parametrize(("process", "dim"), [("unitary", 2), ("unitary", 3), ("orthogonal", 4)])
def test_the_formula_is_the_expectation(process: str, dim: int):
    student = random_attention(3, dim, 4)
    formula = float(NextTokenLoss(RotatingTokens(dim, 4, process))(student))
    assert formula == pytest.approx(enumerated_loss(student, process), rel=1e-12)


def test_the_published_loss_counts_one_term_twice():
    student = random_attention(3, 3, 4)
    teacher = RotatingTokens(3, 4, "unitary")
    surplus = float(NextTokenLoss(teacher, "twice")(student) - NextTokenLoss(teacher)(student))
    matrix, weights = np.asarray(student.matrix), np.asarray(student.positions)
    assert surplus == pytest.approx(np.sum(np.diagonal(weights) ** 2) * np.sum(matrix**2))


def test_the_student_answers_as_the_definition_says():
    """Through `__call__`, on tokens that are no process at all."""
    student = random_attention(2, 3, 5, seed=1)
    drawn = np.random.default_rng(2).standard_normal((2, 3, 4))
    tokens = drawn[0] + 1j * drawn[1]
    matrix = np.asarray(student.values.T @ student.scores)
    expected = sum(
        float(student.positions[2, t])
        * tokens[:, t]
        * (matrix @ (np.conj(tokens[:, 2]) * tokens[:, t]))
        for t in range(4)
    )
    found = np.asarray(student(jnp.asarray(np.concatenate(list(drawn)))))
    np.testing.assert_allclose(found, np.concatenate([expected.real, expected.imag]), rtol=1e-12)


def test_unused_position_weights_do_not_matter():
    student = random_attention(2, 2, 4)
    moved = LinearAttention(
        student.scores, student.values, student.positions + jnp.where(used_entries(4), 0.0, 7.0)
    )
    loss = NextTokenLoss(RotatingTokens(2, 4, "unitary"))
    assert float(loss(moved)) == float(loss(student))


def enumerated_moments(dim: int, prefixes: int) -> tuple[np.ndarray, np.ndarray]:
    """Moments of the eight terms of one coordinate, by enumeration."""
    turns = grid_of(dim, 4 * prefixes + 5)
    form, linear = np.zeros((8, 8)), np.zeros(8)
    for n in range(1, prefixes + 1):
        terms = [
            sum(
                turns[:, 0] ** (t - e) * np.sum(turns ** (n - q - t + k), axis=1)
                for t in range(1, n + 1)
            )
            for e, k, q in gradient_step.TERMS
        ]
        every = np.stack(terms)
        form += (every.conj() @ every.T).real / len(turns)
        linear += (every.conj() @ turns[:, 0] ** (n + 1)).real / len(turns)
    return form, linear


@pytest.mark.parametrize(("dim", "prefixes"), [(1, 3), (2, 4), (3, 3)])
def test_moments_of_augmented_tokens_are_counted(dim: int, prefixes: int):
    form, linear = enumerated_moments(dim, prefixes)
    np.testing.assert_allclose(gradient_step.gram(dim, prefixes), form, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(gradient_step.pull(prefixes), linear, rtol=1e-12, atol=1e-11)


def test_the_best_size_and_loss_solve_the_counted_form():
    form, linear = gradient_step.gram(5, 50), gradient_step.pull(50)
    best = np.linalg.lstsq(form, linear, rcond=None)[0]
    assert best[gradient_step.STEP] == pytest.approx(gradient_step.best_size(5, 50), rel=1e-12)
    assert np.abs(np.delete(best, gradient_step.STEP)).max() < 1e-14
    least = 1 - linear @ best / 50
    assert least == pytest.approx(gradient_step.least_loss(5, 50), rel=1e-12)
    assert gradient_step.least_loss(5, 10**9) == pytest.approx(0.25, abs=1e-8)


def test_slepian_moments_are_those_of_slow_angles():
    """E Re λ^{2k}, θ uniform on (0, 2π), by Gauss–Legendre quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    angles = np.pi * (nodes + 1) / 50.0
    expected = [np.sum(weights * np.cos(2 * k * angles)) / 2 for k in range(6)]
    np.testing.assert_allclose(slepian_matrix(6, 50.0)[0], expected, rtol=1e-12)


def test_what_does_not_fit_is_refused():
    with pytest.raises(Refused, match="must be even"):
        RotatingTokens(3, 4, "orthogonal")
    with pytest.raises(Refused, match="'twice' for the unitary process"):
        NextTokenLoss(RotatingTokens(4, 4, "orthogonal"), "twice")


FAULTS = [
    Fault(
        f"{BASE}.parts.loss",
        "older = jnp.sum(weights.older**2) * jnp.sum(matrix**2)",
        "older = jnp.sum(weights.older) ** 2 * jnp.sum(matrix**2)",
        "unitary",
    ),
    Fault(
        f"{BASE}.parts.loss",
        "jnp.sum(common**2) + older",
        "jnp.sum(common) ** 2 + older",
        "orthogonal",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.check)
def test_a_planted_fault_is_seen(fault: Fault):
    process, dim = fault.check, 2
    with fresh_package(fault):
        loss = importlib.import_module(f"tutelage.{BASE}.parts.loss")
        attention = importlib.import_module(f"tutelage.{BASE}.parts.attention")
        rotations = importlib.import_module(f"tutelage.{BASE}.parts.rotations")
        sound = random_attention(3, dim, 4)
        student = attention.LinearAttention(sound.scores, sound.values, sound.positions)
        found = float(loss.NextTokenLoss(rotations.RotatingTokens(dim, 4, process))(student))
    assert found != pytest.approx(enumerated_loss(sound, process), rel=1e-6)


def test_measures_of_pairs_refuse_odd_sizes_and_other_students():
    """An odd feature has no partner, and the weights of another student mean another thing."""
    objective = NextTokenLoss(RotatingTokens(3, 4, "unitary"))
    with pytest.raises(Refused, match="`dim` must be even"):
        measures.partner_ratios(random_attention(3, 3, 4), objective)
    with pytest.raises(Refused, match=r"'linear_attention'\. Got PositionWeights"):
        measures.lag_ratios(PositionWeights(jnp.ones((3, 4))), objective)


def test_counting_moments_takes_no_more_memory_than_was_estimated():
    setting = find_example("objective", "augmented").change(**{"teacher.prefixes": 200_000})
    estimated = BYTES_PER_NUMBER * estimate_sizes(setting).held
    tracemalloc.start()
    build(setting)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.2 * estimated < most < estimated


@pytest.mark.parametrize(
    ("teacher", "others", "said"),
    [
        (
            Part("augmented_tokens", dim=10**400, prefixes=4),
            {"inputs": "rotations", "student": "scalar_attention", "objective": "augmented"},
            "`dim` must be at most 67,108,864",
        ),
        (
            Part("slow_rotation", tokens=1e300),
            {"student": "position_weights", "objective": "position_loss"},
            "an estimate of inf TB",
        ),
    ],
)
def test_sizes_that_no_float_holds_are_refused(teacher, others, said):
    parts = {kind: Part(name) for kind, name in others.items()}
    with pytest.raises(Refused, match=said):
        build(Setting(teacher, rate=0.01, steps=5, measures=("excess_risk",), **parts))
