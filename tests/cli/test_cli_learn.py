"""`tutelage learn`: from a file to an answer, to files, and refusals."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from tutelage.cli import main

pytestmark = pytest.mark.usefixtures("adam_allowed")
MY = """
import jax
import numpy as np

V = np.random.default_rng(0).normal(size=(2, 3))
S = np.kron(np.eye(2), np.full((2, 2), 0.5))


def net(X):
    return jax.nn.relu(V @ X @ S)


def heads(X):
    return V @ X @ S + V[::-1] @ X


class Model:
    def __init__(self):
        self.layers = [net]


model = Model()
data = np.random.default_rng(1).normal(size=(100, 3, 4))
"""
QUICK = ["--fresh", "64", "--probes", "8", "--steps", "0"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    (tmp_path / "my.py").write_text(MY)
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["learn", *arguments])
    return ended.value.code


def test_an_answer_is_printed(capsys):
    assert call("my.py:net", "--shape", "3,4", *QUICK) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("member  my.py:net")
    for word in ("ridge", "pair", "shared", "link", "✓ HOLDS", "relu", "ηT·excess tends to"):
        assert word in shown


def test_files_are_written(capsys, tmp_path):
    assert call("my.py:net", "--shape", "3x4", "--out", "out", *QUICK) == 0
    assert "found.json" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "found.json").read_text())["answer"] == "member"
    selections = load_file(tmp_path / "out" / "found.safetensors")["selections"]
    np.testing.assert_allclose(selections[0], np.kron(np.eye(2), np.full((2, 2), 0.5)), atol=1e-12)
    assert (tmp_path / "out" / "found.png").exists()


def test_json_an_array_and_a_path_inside_of_a_model(capsys, tmp_path):
    assert call("my.py:model.layers.0", "--inputs", "my.py:data", "--json", *QUICK) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == "an array of inputs"
    np.save(tmp_path / "data.npy", np.random.default_rng(2).normal(size=(50, 3, 4)))
    assert call("my.py:net", "--inputs", "data.npy", "--json", *QUICK) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "member"


def test_strict_fails_unless_it_is_a_member(capsys):
    assert call("my.py:net", "--shape", "3,4", "--strict", *QUICK) == 0
    assert call("my.py:heads", "--shape", "3,4", "--strict", *QUICK) == 1
    assert "2 heads" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["my.py"], "such as my.py:net"),
        (["none.py:net"], "there is no such file"),
        (["my.py:nets"], "Did you mean 'net'"),
        (["my.py:net"], "`shape` must be given"),
        (["my.py:net", "--shape", "3,four"], "`--shape` takes whole numbers"),
        (["my.py:net", "--shape", "3,²"], "`--shape` takes whole numbers"),
        (["my.py:net", "--shape", "3,4", "--tokens", "patch"], "Did you mean 'patches'"),
        (["my.py:net", "--inputs", "data.csv"], "a .npy or .npz file"),
        (["my.py:net", "--inputs", "none.npy"], "names a file that exists"),
        (["my.py:model", "--shape", "3,4"], "must be something that can be called"),
    ],
)
def test_wrong_use_is_refused_in_a_sentence(arguments, words, capsys):
    assert call(*arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "--import" not in said  # which was not given
