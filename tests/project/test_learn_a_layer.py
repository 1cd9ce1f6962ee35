"""docs/learn-a-layer.md, followed from an empty folder; and the table of docs/layers.md."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from tools.mathematics import write_formulas

from tutelage.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "learn-a-layer.md").read_text()
TABLE = (ROOT / "docs" / "layers.md").read_text()
BLOCKS = re.findall(r"```([\w ]+)\n(.*?)```", PAGE, re.S)
pytestmark = pytest.mark.usefixtures("adam_allowed")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def code_of(language):
    return [code for kind, code in BLOCKS if kind == language]


def test_the_file_of_the_page_is_answered_as_the_page_says(tmp_path, capsys):
    (tmp_path / "my.py").write_text(code_of("python")[0])
    (command,) = code_of("sh")
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(command)[1:], "--fresh", "200", "--steps", "50"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("member up to a bias")
    assert (tmp_path / "out" / "found.safetensors").exists()


@pytest.mark.docs
def test_the_python_of_the_page_runs_and_its_law_holds(capsys):
    names = {}
    for code in code_of("python")[1:]:
        exec(code, names)
    shown = capsys.readouterr().out
    assert "It is relu(VXS)" in shown
    assert "HOLDS" in shown
    assert "1 relu" in shown


@pytest.mark.torch
def test_the_pytorch_of_the_page_runs(capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed: see `make test-torch`.")
    for code in code_of("python torch"):
        exec(code, {})
    assert "member up to a bias" in capsys.readouterr().out


def make_layers():
    spec = importlib.util.spec_from_file_location("make_layers", ROOT / "docs" / "make_layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROWS = {
    cells[0]: cells
    for line in TABLE.splitlines()
    if line.startswith("| ")
    and len(cells := [cell.strip() for cell in line[2:-2].split(" | ")]) > 5
}


def test_the_table_has_every_layer():
    module = make_layers()
    assert list(ROWS)[2:] == [write_formulas(name) for name in module.LAYERS]
    assert ROWS["layer"] == [write_formulas(name) for name in module.COLUMNS]


@pytest.mark.brief(1)
@pytest.mark.parametrize(
    "name", ["depthwise convolution, 3 taps", "graph convolution, karate club, symmetric"]
)
def test_rows_made_again_agree(name):
    module = make_layers()
    again = module.row(name, module.look(name, student=False))
    assert again[:-1] == ROWS[name][:-1]  # but for the student, which is not trained here
