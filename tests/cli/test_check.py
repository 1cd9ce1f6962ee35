"""`tutelage check`: from a log to a verdict, a figure and an exit code."""

import json

import numpy as np
import pandas as pd
import pytest

from tutelage.cli import main

STEPS = np.unique(np.rint(np.geomspace(1, 1e6, 145))).astype(int)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["check", *map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


@pytest.fixture
def log(tmp_path):
    frame = pd.DataFrame({"step": STEPS, "loss": (1 + STEPS / 50) ** -1.0})
    frame.to_csv(tmp_path / "losses.csv", index=False)
    return tmp_path / "losses.csv"


def test_a_claim_is_answered_with_what_it_rests_on(log, capsys):
    code, out, _ = call(capsys, log, "--slope", "-1")
    assert code == 0
    assert "HOLDS" in out
    assert "measured   -1" in out
    for word in ("class", "plateau    over after step", "noise"):
        assert word in out


@pytest.mark.parametrize("floor", ["0", "-1", "nan"])
def test_a_floor_that_has_no_logarithm_is_refused(log, capsys, floor):
    code, _, err = call(capsys, log, "--floor", floor)
    assert code == 2
    assert "`--floor` must be a positive finite number" in err
    assert "is claimed with --slope or --bound" in err


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (["--slope", "-0.5"], "FAILS"),
        (["--slope=-1"], "HOLDS"),
        (["--order", "-1"], "HOLDS"),
        (["--bound", "-0.5"], "HOLDS"),
        (["--slope", "-1", "--constant", "50"], "HOLDS"),
        (["--slope", "-1", "--constant", "5", "--rate", "0.1"], "HOLDS"),
        (["--floor", "0.1"], "FAILS"),
        ([], "MEASURED"),
    ],
)
def test_every_claim_has_its_option(log, capsys, claim, status):
    code, out, _ = call(capsys, log, *claim, "--json")
    assert code == 0
    assert json.loads(out)["verdicts"][-1]["status"] == status


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (["--floor", "0"], "`--floor` must be a positive finite number"),
        (["--floor=-0.5"], "`--floor` must be a positive finite number"),
        (["--slope", "-1", "--constant=-2"], "`value` must be a positive finite number"),
        (["--order", "1e300"], "What a curve is divided by must be positive"),
        (["--order=-inf"], "`exponent` must be a finite number"),
    ],
)
def test_what_a_curve_cannot_be_divided_by_is_refused(log, capsys, claim, said):
    code, _, err = call(capsys, log, *claim)
    assert code == 2
    assert said in err


def test_a_claim_that_fails_ends_with_1_where_that_is_asked(log, capsys):
    assert call(capsys, log, "--slope", "-0.5")[0] == 0
    assert call(capsys, log, "--slope", "-0.5", "--strict")[0] == 1
    assert call(capsys, log, "--slope", "-1", "--strict")[0] == 0


def test_too_short_a_curve_says_what_would_decide(tmp_path, capsys):
    pd.DataFrame({"step": STEPS, "loss": (1 + STEPS / 50) ** -1.0}).head(60).to_csv(
        tmp_path / "short.csv", index=False
    )
    code, out, _ = call(capsys, tmp_path / "short.csv", "--slope", "-1")
    assert code == 0
    assert "UNDECIDED" in out
    assert "decide" in out


def test_json_is_all_that_is_printed(log, capsys):
    document = json.loads(call(capsys, log, "--slope", "-1", "--forms", "--json")[1])
    assert document["read"]["x"] == "step"
    assert document["read"]["points"] == len(STEPS)
    assert set(document["assumed"]) == {"class", "plateau", "noise"}
    assert [form["excluded"] for form in document["forms"]["forms"]] == [False] * 3 + [True] * 2


def test_the_figure_says_which_command_made_it(log, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["tutelage", "check", "losses.csv", "--slope", "-1"])
    code, out, _ = call(capsys, log, "--slope", "-1", "--forms", "--figure", tmp_path / "out.png")
    assert code == 0
    assert "out.png" in out
    from PIL import Image

    with Image.open(tmp_path / "out.png") as picture:
        assert picture.text["Command"] == "tutelage check losses.csv --slope -1"
        assert picture.text["Software"].startswith("tutelage ")


def test_a_figure_beside_a_log_of_the_same_name_leaves_it_alone(log, capsys):
    before = log.read_bytes()
    assert call(capsys, log, "--slope", "-1", "--figure", log.with_suffix(".png"))[0] == 0
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--y", "los"], "Did you mean 'loss'"),
        (["--x", "stepp"], "Did you mean 'step'"),
        (["--by", "seed"], "no column"),
        (["--constant", "5"], "without --slope"),
        (["--figure", "out.gif"], "says by its ending"),
        (["--noise", "none"], "noise"),
        (["--rate", "0"], "`rate` must be a positive"),
    ],
)
def test_bad_use_ends_with_2_and_a_sentence(log, capsys, arguments, said):
    code, _, err = call(capsys, log, *arguments)
    assert code == 2
    assert said in err


def test_several_columns_need_a_name(tmp_path, capsys):
    pd.DataFrame({"step": STEPS, "loss": 1.0, "accuracy": 1.0}).to_csv(
        tmp_path / "two.csv", index=False
    )
    code, _, err = call(capsys, tmp_path / "two.csv")
    assert code == 2
    assert "Got loss, accuracy" in err
