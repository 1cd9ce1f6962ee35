"""`tutelage runs` as a person uses it, on runs that were made without training."""

import csv
import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from stored import BY_HAND, TINY, a_run

import tutelage as tt
from tutelage.cli import main, runs_screen
from tutelage.run import Outcome
from tutelage.running.store.encoding import environment

OTHER = TINY.change(seed=1, **{"teacher.tokens": 6})
WILD = TINY.change(rate=50.0)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["runs", *map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Seven entries: two horizons of one setting, another setting, a divergence, a foreign run, a
    failure, a damaged one.
    """
    folder = tmp_path_factory.mktemp("made")
    store = tt.Store(folder / "runs")
    old = environment() | {"jax": "0.1.0"}
    for run in (
        a_run(),
        a_run(TINY.change(steps=800)),
        a_run(OTHER),
        a_run(WILD, Outcome.DIVERGED, 30),
    ):
        store.save(run)
    store.save(replace(a_run(TINY.change(seed=7)), made=(old,)))
    store.save_failure(TINY.change(seed=9), ValueError("no such thing"))
    Path(store.save(a_run(TINY.change(seed=8))), "end.safetensors").write_bytes(b"cut")
    return folder


@pytest.fixture
def out(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def listed(text):
    """The rows of the table, as lists of words."""
    lines = text.splitlines()
    return [
        line.split()
        for line in lines[1 : lines.index("") if "" in lines else None]
        if line[:8].isalnum()
    ]


def test_list_shows_what_tells_runs_apart_how_they_ended_and_what_is_wrong(out, capsys):
    code, text, _ = call(capsys, "--store", out)
    assert code == 0
    header = text.splitlines()[0].split()
    assert header == [
        "run",
        "rate",
        "tokens",
        "steps",
        "seed",
        "outcome",
        "excess_risk",
        "made",
        "by",
    ]
    assert "support" not in header  # alike in all
    foreign = next(
        line for line in text.splitlines() if line.startswith(TINY.change(seed=7).identity()[:8])
    )
    assert foreign.endswith("jax 0.1.0")
    assert "could not be run: ValueError: no such thing" in text
    assert f"{TINY.change(seed=8).identity()}/400 is damaged and not used: end.safetensors" in text
    assert f"7 runs under {out / 'runs'}." in text
    assert call(capsys, "list", "--store", out) == (0, text, "")
    assert call(capsys, "--store", str(out / "runs"))[1] == text  # a folder of runs itself


def test_an_object_store_is_listed_alike(out, capsys):
    pytest.importorskip("fsspec")
    here = call(capsys, "--store", out)[1].replace(str(out), "")
    assert call(capsys, "--store", f"file://{out}")[1].replace(f"file://{out}", "") == here


@pytest.mark.parametrize(
    ("conditions", "seeds"),
    [
        (["tokens>4"], {1}),
        (["teacher.tokens=4", "seed<7"], {0}),
        (["seed!=0"], {1, 7, 9}),
        (["outcome=diverged"], {0}),
        (["outcome==FAILED"], {9}),
        (["excess_risk<0.025", "seed>=1"], {1, 7}),
        (["steps > 400"], {0}),
        (["teacher=convolution", "foreign=jax 0.1.0"], {7}),
        (["teacher=nobody"], set()),
    ],
)
def test_where_filters(out, capsys, conditions, seeds):
    code, text, _ = call(
        capsys,
        "--store",
        str(out),
        "--json",
        *(word for condition in conditions for word in ("--where", condition)),
    )
    assert code == 0
    assert {row["seed"] for row in json.loads(text)} == seeds


def test_a_condition_that_only_one_run_can_meet_does_not_meet_the_others(out, capsys):
    """An option that a run does not have neither is nor is not equal to anything."""
    tt.Store(out / "runs").save(a_run(BY_HAND))
    rows = json.loads(call(capsys, "--store", out, "--json", "--where", "activation!=tanh")[1])
    assert [row["teacher"] for row in rows] == ["bilinear"]


def test_json_and_csv_have_everything_and_columns_choose(out, capsys):
    rows = json.loads(call(capsys, "--store", out, "--json")[1])
    assert len(rows) == 7
    table = list(csv.DictReader(io.StringIO(call(capsys, "--store", out, "--csv")[1])))
    assert [row["run"] for row in table] == [row["run"] for row in rows]
    assert float(table[0]["excess_risk"]) == rows[0]["excess_risk"]
    few = call(capsys, "--store", out, "--csv", "--columns", "run,tokens", "--columns", "rate")[1]
    assert few.splitlines()[0] == "run,teacher.tokens,rate"
    shown = call(capsys, "--store", out, "--columns", "tokens,support")[1]
    assert shown.splitlines()[0].split() == ["tokens", "support"]


def test_sort(out, capsys):
    def seeds(*how):
        return [
            row.get("seed") for row in json.loads(call(capsys, "--store", out, "--json", *how)[1])
        ]

    assert seeds("--sort", "seed") == [0, 0, 0, 1, 7, 9, None]
    assert seeds("--sort=-seed") == [9, 7, 1, 0, 0, 0, None]


def test_a_long_list_says_how_many_there_are_and_how_to_see_all(out, capsys, monkeypatch):
    monkeypatch.setattr(runs_screen, "SHOWN_ROWS", 2)
    _, text, _ = call(capsys, "--store", out)
    assert len(listed(text)) - text.count("is damaged") - text.count("could not be run") == 2
    assert "7 runs under" in text
    assert "2 of them shown: --all shows all" in text
    everything = call(capsys, "--store", out, "--all")[1]
    assert "--all" not in everything
    monkeypatch.undo()
    rich = call(capsys, "--store", out)[1]
    assert [line.rstrip() for line in everything.splitlines()] == [
        line.rstrip() for line in rich.splitlines()
    ]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_no_row_of_the_table_is_broken(out, capsys, monkeypatch, width):
    """Columns that there is no room for are named below, instead."""
    from rich.console import Console

    store = tt.Store(out / "runs")
    for number in range(4):
        store.save(a_run(BY_HAND.change(rate=0.1 + number * 0.012345)))
    monkeypatch.setattr(runs_screen, "_make_console", lambda: Console(highlight=False, width=width))
    _, text, _ = call(capsys, "--store", out)
    rows = text.splitlines()[: text.splitlines().index("") - 2]
    assert len(rows) == 11
    assert all(len(line.rstrip()) <= width for line in rows)
    assert "…" not in "".join(rows).replace("sha256:", "").replace("…", "", 8)
    assert all("outcome" in line or line.split()[0].isalnum() for line in rows)
    assert ("No room for" in text) is (width < 160)


def test_show_tells_everything_of_all_horizons(out, capsys):
    code, text, _ = call(capsys, "show", TINY.identity()[:6], "--store", out)
    assert code == 0
    told = (
        "400 steps",
        "800 steps",
        "Finished all steps. Said so.",
        "teacher.tokens",
        "curves.parquet",
        "precision float64",
        "excess_risk",
    )
    for words in (*told, str(out / "runs" / TINY.identity() / "800")):
        assert words in text
    assert "800 steps" not in call(capsys, "show", f"{TINY.identity()[:6]}/400", "--store", out)[1]
    assert (
        "made by jax 0.1.0"
        in call(capsys, "show", TINY.change(seed=7).identity(), "--store", out)[1]
    )
    assert (
        "DAMAGED  end.safetensors"
        in call(capsys, "show", TINY.change(seed=8).identity(), "--store", out)[1]
    )
    assert (
        "ValueError: no such thing"
        in call(capsys, "show", TINY.change(seed=9).identity(), "--store", out)[1]
    )


@pytest.mark.parametrize(
    "setting",
    [
        TINY.change(steps=800),
        OTHER.change(
            optimiser=tt.Part("momentum", decay=0.9),
            measures=("excess_risk",),
            **{"student.start": 0.25},
        ),
        BY_HAND,
    ],
    ids=["plain", "all fields", "arrays by hand"],
)
def test_the_python_that_show_prints_gives_the_setting_back(out, capsys, setting, monkeypatch):
    tt.Store(out / "runs").save(a_run(setting))
    text = call(capsys, "show", f"{setting.identity()}/{setting.steps}", "--store", out)[1]
    code = text[text.index("import tutelage") :]
    monkeypatch.setattr(tt, "execute", lambda settings: settings)
    names: dict = {}
    exec(code, names)
    assert names["again"] == names["setting"] == names["run"].setting == setting


def test_compare_shows_what_differs_and_by_how_much(out, capsys):
    near = a_run(TINY.change(seed=2))
    curves = {name: curve.copy() for name, curve in near.curves.items()}
    curves["excess_risk"][3] *= 1 + 1e-6
    curves["support_mass"][2, 1] *= -1
    tt.Store(out / "runs").save(replace(near, curves=curves))
    code, text, _ = call(
        capsys, "compare", f"{TINY.identity()}/400", near.setting.identity(), "--store", out
    )
    assert code == 0
    lines = {" ".join(line.split()[:-4]) or line: line for line in text.splitlines()}
    assert any(line.split() == ["seed", "0", "2"] for line in lines.values())
    assert "tokens" not in text
    assert "off by, excess_risk" in text
    assert f"1e-06, step {near.steps[3]}" in text
    assert f"2, step {near.steps[2]}" in text  # a changed sign
    assert any(
        line.split()[:2] == ["off", "by,"] and line.split()[-1] == "0" for line in lines.values()
    )


def test_relative_difference():
    nan, inf = np.nan, np.inf
    one, two = (
        np.asarray([0.0, 1.0, nan, inf, 1.0, nan, 0.0]),
        np.asarray([0.0, 1.5, nan, inf, -1.0, 1.0, 2.0]),
    )
    np.testing.assert_array_equal(
        runs_screen.relative_difference(one, two), [0, 0.5 / 1.5, 0, 0, 2, nan, 1]
    )


def test_remove_asks_and_says_what(out, capsys, monkeypatch):
    identity, store = TINY.identity(), tt.Store(out / "runs")
    code, text, _ = call(capsys, "remove", identity[:6], "--store", out, "--dry-run")
    assert (code, text.count(identity)) == (0, 2)
    assert "2 runs would be removed" in text
    code, _, err = call(capsys, "remove", identity[:6], "--store", out)
    assert code == 2
    assert "`--yes`" in err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert call(capsys, "remove", identity[:6], "--store", out)[0] == 1
    assert len(list(store.entries())) == 7
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert call(capsys, "remove", f"{identity}/400", "--store", out)[0] == 0
    assert store.find(TINY) is None
    assert store.find(TINY.change(steps=800)) is not None
    code, text, _ = call(capsys, "remove", "--where", "outcome=DAMAGED", "--store", out, "--yes")
    assert "1 run removed" in text
    assert not (out / "runs" / TINY.change(seed=8).identity()).exists()
    assert (
        "No run meets" in call(capsys, "remove", "--where", "seed=77", "--store", out, "--yes")[1]
    )
    assert len(list(store.entries())) == 5


def test_check_reads_every_byte(out, capsys):
    code, text, _ = call(capsys, "check", "--store", out)
    assert code == 1
    assert "1 of 7 runs are damaged" in text
    path = out / "runs" / OTHER.identity() / "400" / "curves.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1  # which no size gives away
    path.write_bytes(data)
    assert OTHER.identity() not in call(capsys, "--store", out, "--where", "outcome=DAMAGED")[1]
    code, text, _ = call(capsys, "check", "--store", out)
    assert f"{OTHER.identity()}/400: curves.parquet does not have the bytes" in text
    call(
        capsys,
        "remove",
        OTHER.identity(),
        TINY.change(seed=8).identity(),
        "--store",
        str(out),
        "--yes",
    )
    assert call(capsys, "check", "--store", out)[:2] == (0, "5 runs, all checksums match.\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--where", "tokns>3"], "Did you mean 'teacher.tokens'"),
        (["--where", "tokens"], "A condition is KEY"),
        (["--where", ">3"], "A condition is KEY"),
        (["--where", "teacher<convolution"], "Only numbers have an order"),
        (["--columns", "nothing"], "no column named 'nothing'"),
        (["--sort", "nothing"], "no column named 'nothing'"),
        (["--json", "--csv"], "exclude each other"),
        (["show"], "Which run?"),
        (["show", "zzz"], "no run whose identity begins with 'zzz'"),
        (["show", TINY.identity()[:3]], "begins the identities of 2 runs"),
        (["show", f"{TINY.identity()}/7"], "has these horizons: 400, 800"),
        (["compare", TINY.identity()], "two runs or more"),
        (["compare", TINY.identity(), TINY.change(seed=9).identity()], "Only complete runs"),
        (["remove"], "needs to know which"),
        (["chekc"], "Did you mean 'check'"),
        (["list", TINY.identity()], "no command of `tutelage runs`"),
    ],
)
def test_bad_use_exits_with_2_and_says_why(out, capsys, arguments, words):
    (out / "runs" / f"{TINY.identity()[:3]}{'0' * 17}").mkdir()
    code, _, err = call(capsys, *arguments, "--store", out)
    assert code == 2
    assert words in " ".join(err.replace("│", " ").split())


def test_an_option_that_two_parts_have_needs_its_path(out, capsys):
    tt.Store(out / "runs").save(replace(a_run(TINY), setting=TINY.change(**{"inputs.tokens": 3})))
    code, _, err = call(capsys, "--store", out, "--where", "tokens>3")
    assert code == 2
    assert "say teacher.tokens or inputs.tokens" in err


def test_no_such_folder_and_no_runs_in_it(tmp_path, capsys):
    code, _, err = call(capsys, "--store", str(tmp_path / "none"))
    assert code == 2
    assert "which is not there" in err
    assert "has no `runs` in it" in call(capsys, "--store", str(tmp_path))[2]
    (tmp_path / "runs").mkdir()
    assert call(capsys, "--store", str(tmp_path))[:2] == (0, f"No run under {tmp_path / 'runs'}.\n")


def test_nothing_of_it_imports_jax(out):
    """In a process of its own, where nothing else has."""
    one, two = TINY.identity(), OTHER.identity()
    commands = [[], ["show", one], ["compare", one, two], ["check"], ["remove", one, "--dry-run"]]
    code = (
        "import sys\nfrom tutelage.cli import main\nfor words in eval(sys.argv[1]):\n    try:\n  "
        "      main(['runs', *words])\n"
        "    except SystemExit as e:\n        assert e.code in (0, 1), e.code\n"
        "    assert 'jax' not in sys.modules, words"
    )
    given = repr([[*words, "--store", str(out)] for words in commands])
    done = subprocess.run(
        [sys.executable, "-c", code, given], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_calculations_are_listed_and_shown_without_steps(tmp_path, capsys):
    from tutelage.calculations import Calculated, Calculation

    class Half(Calculation):
        def __call__(self, given):
            return Calculated.numbers(half=0.5)

    tt.register("calculation", "half-of-a-list")(lambda: Half())
    setting = tt.Setting.of_calculation(tt.Part("half-of-a-list"))
    list(tt.execute([setting], store=tt.Store(tmp_path / "runs")))
    code, text, _ = call(capsys, "--store", str(tmp_path))
    assert code == 0
    assert "CALCULATED" in text
    assert "excess_risk" not in text
    code, text, _ = call(capsys, "show", setting.identity(), "--store", str(tmp_path))
    assert code == 0
    assert "half 0.5" in text
    assert "0 steps" not in text
    assert "tt.Setting.of_calculation(" in text
