"""The shapes that annotations say are checked while the tests run."""

import ast
import os
import sys
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import shapes
from jaxtyping import Array, Float, TypeCheckError
from shapes import Loader, arrays_of

import tutelage as tt
from tutelage.calculations import Calculated
from tutelage.numerics.closed_forms import IDENTITY
from tutelage.numerics.geometry import bilinear_excess
from tutelage.numerics.softmax import softmax

SOURCE = Path(tt.__file__).parent
pytestmark = pytest.mark.skipif(
    os.environ.get("TUTELAGE_SHAPES", "on") == "off", reason="switched off by hand"
)


def test_a_wrong_rank_is_seen():
    with pytest.raises(TypeCheckError, match="scores"):
        softmax(jnp.ones(3))


@pytest.fixture
def every_call_is_checked(monkeypatch):
    """Other tests may have called these functions so often that only some calls are."""
    monkeypatch.setattr(shapes, "CALLS_PER_CHECK", 1)


@pytest.mark.usefixtures("every_call_is_checked")
def test_two_arrays_that_do_not_fit_are_seen():
    value, attention = jnp.ones((2, 3)), jnp.ones((4, 5))
    fitting = (value, attention, value, attention, value)
    bilinear_excess(IDENTITY, *fitting, attention)
    with pytest.raises(TypeCheckError):
        bilinear_excess(IDENTITY, *fitting, attention[:3])


@pytest.mark.usefixtures("every_call_is_checked")
def test_arrays_of_numpy_and_fields_are_seen():
    with pytest.raises(TypeCheckError, match="scores"):
        softmax(np.ones(3))
    with pytest.raises(TypeCheckError, match="axis"):
        Calculated(np.zeros((1, 1), int), {"square": np.zeros(1)})


def test_arrays_inside_of_tuples_unions_and_tables_are_looked_at():
    array = Float[Array, "n d"]
    either = array | Float[np.ndarray, "n d"]
    found = [tuple[array, int], tuple[array, ...], dict[str, array], array | None]
    looked_at = [tuple[either, Any], tuple[either, ...], dict[Any, either], either | None]
    assert [str(arrays_of(hint)) for hint in found] == [str(hint) for hint in looked_at]
    assert arrays_of(tuple[int, str]) is arrays_of(str | None) is Any


def test_every_paper_and_layer_is_under_the_hook():
    found = [name for name in sys.modules if name.partition(".")[0] == "tutelage"]
    plain = [name for name in found if not isinstance(sys.modules[name].__loader__, Loader)]
    # These are imported before anything else.
    assert set(plain) <= {"tutelage", "tutelage.precision", "tutelage.version"}


def test_every_shape_is_a_text():
    """One that is no text, as after `ruff` has taken the quotes away, cannot be read and so is
    never checked.
    """
    kinds = {"Bool", "Float", "Int", "Key", "Num", "UInt8"}
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in kinds
        and isinstance(node.slice, ast.Tuple)
        and not (
            isinstance(node.slice.elts[1], ast.Constant)
            and isinstance(node.slice.elts[1].value, str)
        )
    ]
    assert wrong == []


def test_words_of_users_are_left_to_the_refusals():
    with pytest.raises(tt.Refused):
        tt.convolution("no kernels", tokens=4, support=2)


@pytest.mark.usefixtures("shapes_unchecked")
def test_a_test_may_see_what_users_see():
    assert Calculated(np.zeros(1, int), {"square": [4]}).curves["square"] == [4.0]


def test_ranks_and_types_are_never_promoted_unasked():
    with pytest.raises(ValueError, match="rank_promotion"):
        jnp.ones(3) + jnp.ones((2, 3))
    with pytest.raises(ValueError, match="dtype promotion"):
        jnp.ones(3) + jnp.asarray(np.ones(3, np.float32))
