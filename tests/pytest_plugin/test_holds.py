"""The fixture `holds`, in a test suite of its own."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SUITE = """
import numpy as np
import pandas as pd
import pytest

import tutelage as tt

STEPS = np.unique(np.rint(np.geomspace(1, 1e6, 145))).astype(int)


def curve(power, last=1e6):
    kept = STEPS <= last
    return pd.DataFrame({"step": STEPS, "loss": (1 + STEPS / 50) ** power})[kept]


def test_true(holds):
    assert holds(tt.Rate("loss", -1), curve(-1.0)).measured == pytest.approx(-1, abs=0.01)


def test_false(holds):
    holds(tt.Rate("loss", -1), curve(-0.5))


def test_short(holds):
    holds(tt.Rate("loss", -1), curve(-1.0, last=200))


def test_control(holds):
    holds(tt.Rate("loss", -1), curve(-0.5), control="zeros in S*")


def test_broken_control(holds):
    holds(tt.Rate("loss", -1), curve(-1.0), control="zeros in S*")


def test_measurement(holds):
    holds(tt.Slope("loss"), curve(-1.0))
"""


def write_suite(folder, ini):
    (folder / "test_theorem.py").write_text(SUITE)
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}\n")


def run_suite(folder, ini, *words, loaded=("-p", "pytest_tutelage")):
    """In a process of its own, as users run theirs."""
    write_suite(folder, ini)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *loaded, "-rA", "--color=no", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)])},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout + done.stderr


def run_here(pytester, ini, *words):
    """In this process, which has imported all that it needs."""
    write_suite(pytester.path, ini)
    done = pytester.runpytest_inprocess("-p", "pytest_tutelage", "-rA", "--color=no", *words)
    return "\n".join(done.outlines + done.errlines)


def outcomes(shown):
    """The outcome of each test by its name, as the summary says."""
    found = {}
    for line in shown.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED") and "::" in rest:
            found[rest.partition("::")[2].split()[0]] = word
    return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return run_suite(tmp_path_factory.mktemp("suite"), "")


def test_a_claim_that_holds_passes_and_one_that_fails_says_its_sentence(shown):
    found = outcomes(shown)
    assert (found["test_true"], found["test_false"]) == ("PASSED", "FAILED")
    assert "FAILS: " in shown
    assert "the local slope of loss goes from" in shown


def test_a_control_passes_where_its_claim_fails_and_fails_where_it_holds(shown):
    found = outcomes(shown)
    assert (found["test_control"], found["test_broken_control"]) == ("PASSED", "FAILED")
    assert "This is a control, which breaks zeros in S*, and must fail." in shown


def test_a_measurement_cannot_hold(shown):
    assert outcomes(shown)["test_measurement"] == "FAILED"
    assert "A measurement predicts nothing" in shown


def test_undecided_is_skipped_unless_the_project_says_otherwise(shown):
    assert "test_short" not in outcomes(shown)
    assert "SKIPPED [1]" in shown
    assert "UNDECIDED: " in shown


@pytest.mark.parametrize(("word", "outcome"), [("fail", "FAILED"), ("pass", "PASSED")])
def test_undecided_fails_or_passes_as_configured(pytester, word, outcome):
    shown = run_here(pytester, f"tutelage_undecided = {word}", "-k", "short")
    assert outcomes(shown) == {"test_short": outcome}


@pytest.mark.parametrize(
    "loaded", [(), pytest.param(("-p", "pytest_tutelage"), marks=pytest.mark.depth)]
)
def test_an_installation_brings_it_and_naming_it_too_does_no_harm(tmp_path, loaded):
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]
    ((name, module),) = project["entry-points"]["pytest11"].items()
    about = tmp_path / "installed-1.dist-info"  # as an installation leaves it
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: installed\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[pytest11]\n{name} = {module}\n")
    shown = run_suite(tmp_path, "", "-k", "test_true", loaded=loaded)
    assert outcomes(shown) == {"test_true": "PASSED"}, shown


def test_another_word_is_refused(pytester):
    shown = run_here(pytester, "tutelage_undecided = ignore", "-k", "short")
    assert "`tutelage_undecided` must be skip, fail, pass" in shown
    assert "Got 'ignore'" in shown


def test_a_suite_that_does_not_ask_for_it_does_not_import_tutelage(tmp_path):
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_alone():\n    assert 'tutelage' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_tutelage", "-q", "test_other.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
