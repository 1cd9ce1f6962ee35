"""Runs as data frames, and their files as other tools read them."""

from pathlib import Path

import numpy as np
import pandas
import pytest
from stored import BY_HAND, TINY, a_run

import tutelage as tt
from tutelage.run import Outcome

OTHER = TINY.change(seed=1, **{"teacher.tokens": 6})


@pytest.fixture
def store(tmp_path):
    store = tt.Store(tmp_path / "runs")
    for run in (a_run(), a_run(OTHER, Outcome.DIVERGED, taken=30), a_run(BY_HAND)):
        store.save(run)
    store.save_failure(TINY.change(seed=9), ValueError("no"))
    return store


def test_a_run_as_a_table_has_a_row_a_step_and_a_column_an_entry():
    run = a_run()
    table = run.table()
    assert list(table.columns) == [
        "step",
        "excess_risk",
        *(f"support_mass.{i}" for i in range(4)),
        *(f"gram.{i}" for i in range(6)),
        "single",
        "count",
        "flag",
    ]
    np.testing.assert_array_equal(table["step"], run.steps)
    np.testing.assert_array_equal(table["support_mass.2"], run.curves["support_mass"][:, 2])
    np.testing.assert_array_equal(table["gram.5"], run.curves["gram"][:, 1, 2])
    assert table["single"].dtype == np.float32


def test_a_run_without_steps_has_an_empty_table_with_its_columns():
    run = a_run()
    empty = tt.Run(
        run.steps[:0],
        {name: curve[:0] for name, curve in run.curves.items()},
        None,
        Outcome.DIVERGED,
    )
    assert list(empty.table().columns) == list(run.table().columns)
    assert len(empty.table()) == 0


def test_a_table_of_runs_has_a_row_each(store):
    table = tt.table([a_run(), a_run(OTHER, Outcome.DIVERGED, taken=30)])
    assert list(table["outcome"]) == ["FINISHED", "DIVERGED"]
    assert list(table["teacher.tokens"]) == [4, 6]
    assert table["excess_risk"][0] == a_run().curves["excess_risk"][-1]
    assert table["support_mass"][0] == pytest.approx(
        a_run().curves["support_mass"][-1].mean(), rel=1e-15
    )


@pytest.mark.parametrize(
    "given", [lambda store: store, lambda store: store.root, lambda store: Path(store.root)]
)
def test_a_table_of_a_store_says_the_same_as_one_of_its_runs(store, given):
    table = tt.table(given(store)).set_index("run")
    assert len(table) == 4
    assert table.loc[f"{TINY.change(seed=9).identity()}/failed.json", "note"] == "ValueError: no"
    for run in (a_run(), a_run(OTHER, Outcome.DIVERGED, taken=30), a_run(BY_HAND)):
        stored, fresh = table.loc[store.name(run.setting)], tt.table([run]).iloc[0]
        for column in fresh.index:
            assert stored[column] == fresh[column], column
        assert stored["foreign"] == ""
        assert stored["precision"] == "float64"


def test_curves_of_many_runs_in_one_table(store):
    stored = tt.table(store, curves=True)
    fresh = tt.table(
        [a_run(), a_run(OTHER, Outcome.DIVERGED, taken=30), a_run(BY_HAND)], curves=True
    )
    assert (
        len(stored)
        == len(fresh)
        == sum(len(run.steps) for run in (a_run(), a_run(OTHER, taken=30), a_run(BY_HAND)))
    )
    mine = stored[stored["run"] == store.name(TINY)]
    pandas.testing.assert_frame_equal(
        mine[a_run().table().columns].reset_index(drop=True), a_run().table()
    )
    assert set(mine["teacher.tokens"]) == {4}


@pytest.mark.parametrize("curves", [False, True])
def test_no_runs_give_an_empty_table(tmp_path, curves):
    assert len(tt.table(tmp_path / "nothing", curves=curves)) == 0
    assert len(tt.table([], curves=curves)) == 0


def test_a_changed_number_never_reaches_a_table(store, caplog):
    """Parquet has no check of its own here: the flipped byte is another number, and only the hash
    knows.
    """
    path = Path(store.path(TINY), "curves.parquet")
    data = bytearray(path.read_bytes())
    at = bytes(data).index(
        np.asarray([1.0, 0.5]).tobytes()
    )  # the first two numbers of the excess risk
    data[at] ^= 1
    path.write_bytes(data)
    assert len(pandas.read_parquet(path)) == len(a_run().steps)  # readable as ever
    table = tt.table(store, curves=True)
    assert store.name(TINY) not in set(table["run"])
    assert f"{store.name(TINY)} is left out: curves.parquet" in caplog.text


def test_damaged_runs_are_named_and_left_out(store, caplog):
    Path(store.path(TINY), "end.safetensors").unlink()
    assert store.name(TINY) not in set(tt.table(store)["run"])
    assert f"{store.name(TINY)} is left out: end.safetensors" in caplog.text


# ---- other tools, on the files themselves


def expected():
    runs = [a_run(), a_run(OTHER, Outcome.DIVERGED, taken=30), a_run(BY_HAND)]
    return sum(len(run.steps) for run in runs), sum(run.curves["excess_risk"].sum() for run in runs)


def test_pandas_reads_the_curves(store):
    frames = [pandas.read_parquet(path) for path in Path(store.root).glob("*/*/curves.parquet")]
    table = pandas.concat(frames)
    rows, total = expected()
    assert len(table) == rows
    assert table["excess_risk"].sum() == pytest.approx(total, rel=1e-14)
    np.testing.assert_array_equal(
        np.stack(pandas.read_parquet(Path(store.path(TINY), "curves.parquet"))["support_mass"]),
        a_run().curves["support_mass"],
    )


def test_duckdb_reads_many_runs_at_once(store):
    duckdb = pytest.importorskip("duckdb")
    rows, total = expected()
    query = (
        "SELECT count(*), sum(excess_risk), max(len(support_mass)) FROM "
        f"read_parquet('{store.root}/*/*/curves.parquet')"
    )
    ((count, summed, queries),) = duckdb.sql(query).fetchall()
    assert (count, queries) == (rows, 4)
    assert summed == pytest.approx(total, rel=1e-14)
    seeds = duckdb.sql(
        f"SELECT DISTINCT setting.seed FROM read_json_auto('{store.root}/*/*/run.json')"
    ).fetchall()
    assert {seed for (seed,) in seeds} == {0, 1}


def test_polars_reads_many_runs_at_once(store):
    polars = pytest.importorskip("polars")
    rows, total = expected()
    table = polars.read_parquet(f"{store.root}/*/*/curves.parquet", include_file_paths="file")
    assert len(table) == rows
    assert table["excess_risk"].sum() == pytest.approx(total, rel=1e-14)
    assert table["file"].n_unique() == 3
