"""Programs in threads: results in order, ready, and errors as they are."""

import threading

import jax.numpy as jnp
import pytest

from tutelage.numerics.threads import in_threads


def test_each_part_has_a_thread_and_results_are_in_order():
    both = threading.Barrier(2, timeout=10)  # broken, if one thread did one after the other

    def compute(part):
        both.wait()
        return {"square": jnp.asarray(part) ** 2}

    assert [float(found["square"]) for found in in_threads(compute, [3, 4])] == [9, 16]


def test_a_thread_waits_for_its_result():
    """A thread that is free again before its program has ended begins the next one behind it."""
    waited = []

    class Pending:
        def block_until_ready(self):
            waited.append(threading.get_ident())
            return self

    in_threads(lambda part: Pending(), [0, 1])
    assert len(waited) == 2
    assert threading.get_ident() not in waited


def test_an_error_in_a_thread_is_raised():
    def compute(part):
        raise ValueError(part)

    with pytest.raises(ValueError, match="7"):
        in_threads(compute, [7])
