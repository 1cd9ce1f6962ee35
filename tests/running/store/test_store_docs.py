"""docs/store.md stays true: its code runs in order, its commands exist, and a run's folder holds
what it says.
"""

import re
import shlex
from pathlib import Path

import pytest

import tutelage as tt
from tutelage.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "store.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the page's first example was run, with what it printed."""
    import contextlib
    import io

    home, printed = tmp_path_factory.mktemp("docs"), io.StringIO()
    with contextlib.chdir(home), contextlib.redirect_stdout(printed):
        exec(BLOCKS[0], {})
    return home, printed.getvalue()


def test_the_first_example_stores_loads_and_tables(folder):
    _, printed = folder
    assert printed.count("Finished all steps.") == 2
    assert "support_mass.7" in printed or "..." in printed  # pandas shortens
    assert "FINISHED" in printed


def test_pandas_reads_what_it_stored(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder[0])
    exec(BLOCKS[1], {})
    printed = capsys.readouterr().out
    assert "last.excess_risk" in printed
    assert printed.count("FINISHED") == 2


def test_duckdb_reads_what_it_stored(folder, monkeypatch, capsys):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(folder[0])
    exec(BLOCKS[2], {})
    assert capsys.readouterr().out.startswith("[(0.05, 300, ")


def test_there_are_no_other_examples():
    assert len(BLOCKS) == 3


def test_the_commands_work(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder[0])
    identities = iter(tt.Store("out/runs").identities() * 3)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        words = [next(identities) if re.fullmatch("[0-9a-f]{4}", word) else word for word in words]
        with pytest.raises(SystemExit) as ended:
            main(words[1:])
        assert ended.value.code == 0, line
    assert "all checksums match" in capsys.readouterr().out


def test_a_folder_holds_what_the_page_says(folder):
    named = set(
        re.findall(r"^ +([\w.]+\.(?:json|parquet|safetensors)) ", PAGE.split("```")[1], re.M)
    )
    assert named == {
        "curves.parquet",
        "end.safetensors",
        "given.safetensors",
        "run.json",
        "verdicts.json",
        "failed.json",
    }
    for run in (folder[0] / "out" / "runs").glob("*/300"):
        assert {path.name for path in run.iterdir()} == {
            "curves.parquet",
            "end.safetensors",
            "run.json",
        }
