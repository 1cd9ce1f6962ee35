"""minimal.py: short, self-contained, and in agreement with the library."""

import ast
import importlib.util
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt

PATH = Path(__file__).parents[2] / "minimal.py"


def loaded():
    spec = importlib.util.spec_from_file_location("minimal", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_short_and_needs_only_jax_and_numpy():
    text = PATH.read_text()
    assert len(text.splitlines()) < 150
    imported = {
        n.name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import)
        for n in node.names
    }
    assert imported == {"jax", "numpy"}


@pytest.mark.depth
def test_its_verdicts_hold(capsys):
    statuses, ratio, cosine = loaded().main()
    assert statuses == ["HOLDS"] * 3
    assert abs(ratio - 1) < 0.01
    assert cosine > 1 - 1e-12
    assert capsys.readouterr().out.count("HOLDS") == 3


def test_its_risk_and_gradient_are_the_librarys():
    minimal = loaded()
    V, T = minimal.teacher(seed=3)
    teacher = tt.BilinearTeacher(V, T, "relu")
    student = tt.PositionAttention.random(teacher, scale=0.7, key=jax.random.key(0))
    risk = tt.PopulationRisk(teacher)
    # Compiled whole: operation by operation each would be a program of its own, a hundred of them.
    ours, gradient = eqx.filter_jit(lambda s: (risk.excess(s), jax.grad(risk)(s)))(student)
    theirs = jax.jit(lambda W, Z, S: (minimal.excess(W, S, V, T), minimal.gradients(W, Z, V, T)))
    excess, (to_W, to_Z) = theirs(student.value, student.key_query, student.attention())
    np.testing.assert_allclose(excess, ours, rtol=1e-12)
    np.testing.assert_allclose(
        to_W, gradient.value, rtol=1e-11, atol=1e-12 * float(jnp.abs(to_W).max())
    )
    np.testing.assert_allclose(
        to_Z, gradient.key_query, rtol=1e-10, atol=1e-12 * float(jnp.abs(to_Z).max())
    )
