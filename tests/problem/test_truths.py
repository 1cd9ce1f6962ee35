"""Options that are true or false: no word and no number is taken for either, however it comes in.

A word would be true in Python, so that `nesterov=False` would turn Nesterov's form on.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from asking import Client

import tutelage as tt
from tutelage.cli import main
from tutelage.explorer.server import Explorer
from tutelage.problem import build as building
from tutelage.problem.build import build, build_calculation
from tutelage.problem.registry import options_of, parse_options, registered_names
from tutelage.settings import KINDS, Part, Setting
from tutelage.testing.examples import beginning

WORDS = ("False", "True", "no", "yes", "off", "0", "1", "0.0", '"false"', "")
TRUTHS = [
    (kind, name, option)
    for kind in (*KINDS, "calculation")
    for name in registered_names(kind)
    for option, declared in options_of(kind, name).items()
    if bool in declared.types
]
IDS = [".".join(each) for each in TRUTHS]
every_truth = pytest.mark.parametrize(("kind", "name", "option"), TRUTHS, ids=IDS)


@pytest.fixture(autouse=True)
def _nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting is refused before any of its parts is built: a teacher of images takes minutes."""
    monkeypatch.setattr(building, "make", lambda *_: pytest.fail("a part was built"))


def setting_with(kind: str, name: str, **options: object) -> Setting:
    """A setting with the part in it. Its companions may be others than it needs, since nothing is
    built.
    """
    part = beginning(kind, name).change(**options)
    if kind == "calculation":
        return Setting.of_calculation(part)
    usual = Setting(beginning("teacher", "convolution"), rate=0.1, steps=5)
    return usual.change(**{kind: part})


def plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def sweep_file(folder: Path, kind: str, name: str, more: str = "") -> Path:
    """A sweep of one setting with the part in it."""
    lines = [] if kind == "calculation" else ["rate = 0.1", "steps = 5"]
    for each, part in setting_with(kind, name).parts.items():
        if kind == "calculation" and each != kind:
            continue
        options = {"name": part.name, **{k: plain(v) for k, v in part.options.items()}}
        written = ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
        lines.append(f"{each} = {{ {written} }}")
    path = folder / "truths.toml"
    path.write_text("\n".join(["[setting]", *lines, more]))
    return path


def sweep(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, str]]:
    """The rows of a sweep, as the command prints them."""
    with pytest.raises(SystemExit):
        main(["sweep", str(path), "--out", str(path.parent / "out"), "--json", *options])
    rows: list[dict[str, str]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


def test_there_are_such_options():
    assert ("optimiser", "momentum", "nesterov") in TRUTHS
    assert ("inputs", "images", "shuffled") in TRUTHS
    assert len(TRUTHS) >= 10


@every_truth
@pytest.mark.parametrize("word", [*WORDS, 0, 1, 0.0, 2])
def test_python_refuses_words_and_numbers(kind, name, option, word):
    given = setting_with(kind, name, **{option: word})
    with pytest.raises(tt.Refused, match=f"`{option}` of {kind} .* must be true or false") as said:
        (build_calculation if kind == "calculation" else build)(given)
    assert f"Got {option}={word!r}" in str(said.value)


@every_truth
@pytest.mark.parametrize("truth", [True, False, np.True_, np.False_])
def test_true_and_false_are_themselves(kind, name, option, truth):
    parsed = parse_options(kind, setting_with(kind, name, **{option: truth}).part(kind))
    assert parsed[option] is bool(truth)


@pytest.mark.brief(3)
@every_truth
def test_the_command_line_refuses_words(kind, name, option, tmp_path, capsys):
    path = sweep_file(tmp_path, kind, name)
    for word in WORDS:
        (row,) = sweep(path, capsys, "--set", f"{kind}.{option}={word}")
        assert row["outcome"] == "FAILED"
        assert f"`{option}` of {kind} {name!r} must be true or false" in row["reason"]


@every_truth
def test_a_sweep_file_refuses_words_as_a_row_each(kind, name, option, tmp_path, capsys):
    axis = f'[axes]\n"{kind}.{option}" = ["False", "no", 0]'
    rows = sweep(sweep_file(tmp_path, kind, name, axis), capsys)
    assert [row["outcome"] for row in rows] == ["FAILED"] * 3
    assert all(f"`{option}` of {kind} {name!r} must be" in row["reason"] for row in rows)


@every_truth
def test_a_link_refuses_words(kind, name, option, tmp_path):
    client = Client(Explorer(store=str(tmp_path)).app())
    for word in WORDS:
        if word == "":
            continue  # an option that is left open has its default, here as for every other
        query = {kind: name, f"{kind}.{option}": word}
        answer = client.get("/api/describe", params=query).json()
        assert answer["ok"] is False
        hidden = "does not show" in answer["sentence"]
        assert (
            hidden or f"`{option}` of {kind} {name!r} must be true or false" in answer["sentence"]
        )


@pytest.mark.parametrize("given", [{"nesterov": "False"}, {"nesterov": 1}, {"momentum": True}])
def test_options_of_optax_are_of_their_types_too(given, monkeypatch):
    monkeypatch.undo()  # nothing tells before it is asked for
    sgd = Part("optax", transformation="sgd", **{"momentum": 0.9, **given})
    setting = Setting(beginning("teacher", "convolution"), rate=0.1, steps=5, optimiser=sgd)
    (name,) = given
    with pytest.raises(tt.Refused, match=f"`{name}`.* must be (true or false|a number)"):
        build(setting)
