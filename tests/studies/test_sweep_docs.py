"""docs/sweeps.md stays true: its file is the example, its code runs, its options and commands
exist.
"""

import re
from pathlib import Path

import pytest

import tutelage as tt
from tutelage.cli.app import app
from tutelage.cli.engines import SLURM, read_slurm_options
from tutelage.studies.sweep_claims import CLAIMS
from tutelage.studies.sweep_files import FIELDS, read_sweep

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sweeps.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


@pytest.fixture
def short(monkeypatch, tmp_path):
    """The folder of the docs with the same example, ten steps of it."""
    (tmp_path / "examples").mkdir()
    text = (ROOT / "examples" / "dimension.toml").read_text().replace("1e5", "10")
    (tmp_path / "examples" / "dimension.toml").write_text(
        re.sub(r"tokens = \[.*\]", "tokens = [4, 8, 12]", text).replace(
            "[4, 6, 8, 12]", "[2, 4, 6]"
        )
    )
    monkeypatch.chdir(tmp_path)


def test_the_file_on_the_page_is_the_example(tmp_path):
    (tmp_path / "dimension.toml").write_text(blocks("toml")[0])
    here, there = (
        read_sweep(tmp_path / "dimension.toml"),
        read_sweep(ROOT / "examples" / "dimension.toml"),
    )
    assert here.settings() == there.settings()
    assert here.claims[0] in there.claims


@pytest.mark.usefixtures("short")
def test_the_python_of_the_page_runs_in_order(capsys):
    for code in blocks("python"):
        exec(code, {})
    said = capsys.readouterr().out
    assert "FINISHED" in said
    assert "mean" in said
    assert len(tt.table(tt.Store("out/runs"))) == 9


def test_the_options_of_slurm_are_all_there(tmp_path):
    (tmp_path / "slurm.toml").write_text(blocks("toml")[1])
    assert read_slurm_options(tmp_path / "slurm.toml")["jobs"] == 8
    table = PAGE[PAGE.index("| option |") : PAGE.index("A job that is cancelled")]
    assert set(re.findall(r"`([a-z]+)`", table)) == set(SLURM)
    (tmp_path / "slurm.toml").write_text("job = 3")
    with pytest.raises(tt.Refused, match="jobs"):
        read_slurm_options(tmp_path / "slurm.toml")


def test_every_field_and_claim_is_on_the_page():
    for name in (*FIELDS, *CLAIMS):
        assert name in PAGE


def test_the_commands_of_the_page_parse():
    lines = [
        line.partition("#")[0].strip()
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("tutelage")
    ]
    assert len(lines) >= 10
    for line in lines:
        app.parse_args(line.split()[1:], exit_on_error=False, print_error=False)


def test_missing_dask_is_told(monkeypatch, tmp_path):
    import sys

    from tutelage.cli.engines import open_engine

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(tt.Refused, match=r"tutelage\[cluster\]"), open_engine(2, None, None, ()):
        pass
    with (
        pytest.raises(tt.Refused, match="exclude each other"),
        open_engine(2, "tcp://localhost:1", None, ()),
    ):
        pass
