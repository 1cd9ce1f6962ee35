"""The wheel has what the commands need, where there is no clone (`make test-wheel` installs it)."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="builds the wheel; part of the extra dev")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def call(unpacked, elsewhere, *words):
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    return subprocess.run(
        [sys.executable, "-m", "tutelage", *words],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_wheel_has_types_pages_results_and_the_template(unpacked):
    package = unpacked / "tutelage"
    for name in (
        "py.typed",
        "docs/verdicts.md",
        "papers/teacher_models/docs/rates.md",
        "papers/teacher_models/results/rates.json",
        "template/pyproject.toml",
    ):
        assert (package / name).is_file(), name
    assert not (package / "docs" / "conf.py").exists()


def test_pages_that_commands_name_are_printed_from_a_wheel(unpacked, tmp_path):
    listed = call(unpacked, tmp_path, "docs")
    assert "sweeps" in listed
    assert "teacher-models/rates" in listed
    assert call(unpacked, tmp_path, "docs", "sweeps") == (ROOT / "docs/sweeps.md").read_text()
