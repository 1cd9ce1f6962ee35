"""Importing tutelage makes JAX compute in double precision, in its own process only."""

import os
import subprocess
import sys

import pytest

SHOW = "print(jax.numpy.ones(1).dtype)"
CHILD = "import jax.numpy; print(jax.numpy.ones(1).dtype)"


def run(code, **extra):
    environment = {name: value for name, value in os.environ.items() if name != "JAX_ENABLE_X64"}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**environment, **extra},
    )


def test_jax_imported_later_is_double_in_this_process_and_not_in_its_children():
    # Looking whether JAX is installed does not use up the hook.
    code = (
        "import inspect, subprocess, sys, tutelage, importlib.util as u; u.find_spec('jax'); "
        f"import jax; inspect.getsource(jax); {SHOW}; "
        f"sys.stdout.flush(); subprocess.run([sys.executable, '-c', {CHILD!r}])"
    )
    found = run(code)
    assert found.stdout == "float64\nfloat32\n"
    assert found.stderr == ""  # and no warning


@pytest.mark.depth
def test_jax_imported_before_in_single_precision_is_switched_with_a_warning():
    found = run(f"import jax, tutelage; {SHOW}")
    assert found.stdout == "float64\n"
    assert "needs double precision and has set jax_enable_x64" in found.stderr
    assert "<string>:1" in found.stderr  # the warning points at the import of the user


@pytest.mark.depth
def test_jax_imported_before_in_double_precision_is_left_alone_in_silence():
    found = run(f"import jax, tutelage; {SHOW}", JAX_ENABLE_X64="1")
    assert (found.stdout, found.stderr) == ("float64\n", "")
