"""Logs of every format give the same curve, and what is wrong with one is said."""

import json
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from tutelage.evidence.event_files import masked_crc, read_scalars, write_beginning, write_scalars
from tutelage.evidence.files import read_table
from tutelage.evidence.selecting import Choice, select
from tutelage.refuse import Refused

STEPS = np.array([0, 1, 10, 100, 1000])
LOSS = 2.0 ** -np.arange(5.0)  # whole in single precision, too


def write_csv(folder):
    pd.DataFrame({"step": STEPS, "loss": LOSS}).to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def write_semicolons(folder):
    pd.DataFrame({"Step": STEPS, "loss": LOSS}).to_csv(folder / "log.csv", index=False, sep=";")
    return folder / "log.csv"


def write_parquet(folder):
    pd.DataFrame({"step": STEPS, "loss": LOSS}).to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def write_lines(folder):
    """As W&B's history: not every record has every metric."""
    rows = [{"_step": int(s), "loss": v, "_runtime": 0.1} for s, v in zip(STEPS, LOSS, strict=True)]
    rows.insert(2, {"_step": 5, "val/accuracy": 0.5})
    (folder / "history.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "history.jsonl"


def write_list(folder):
    rows = [{"step": int(s), "loss": v} for s, v in zip(STEPS, LOSS, strict=True)]
    (folder / "log.json").write_text(json.dumps(rows))
    return folder / "log.json"


def write_trainer(folder):
    rows = [{"step": int(s), "loss": v} for s, v in zip(STEPS, LOSS, strict=True)]
    state = {"best_metric": None, "log_history": [*rows, {"step": 1000, "train_runtime": 3.0}]}
    (folder / "trainer_state.json").write_text(json.dumps(state))
    return folder / "trainer_state.json"


def write_npz(folder):
    np.savez(folder / "log.npz", step=STEPS, loss=LOSS, weights=np.zeros((2, 2)))
    return folder / "log.npz"


def write_history(folder):
    """As W&B exports a run's history: an empty cell where a metric was not logged."""
    lines = [f'{s},0.1,"{v}",""' for s, v in zip(STEPS, LOSS, strict=True)]
    text = "\n".join(['"_step","_runtime","loss","val_loss"', *lines, '2000,0.2,"","0.5"'])
    (folder / "wandb.csv").write_text(text)
    return folder / "wandb.csv"


def write_panel(folder):
    """As W&B exports a panel of one run."""
    columns = {
        "Step": STEPS,
        "brave-sea-1 - loss": LOSS,
        "brave-sea-1 - loss__MIN": LOSS / 2,
        "brave-sea-1 - loss__MAX": LOSS * 2,
    }
    pd.DataFrame(columns).to_csv(folder / "panel.csv", index=False)
    return folder / "panel.csv"


def write_metric(folder):
    metrics = folder / "metrics"
    metrics.mkdir()
    lines = [f"17000000 {v} {s}" for s, v in zip(STEPS, LOSS, strict=True)]
    (metrics / "loss").write_text("\n".join(lines) + "\n")
    return metrics / "loss"


def write_mlflow_csv(folder):
    rows = {"run_id": "ab", "key": "loss", "value": LOSS, "timestamp": 17, "step": STEPS}
    pd.DataFrame(rows).to_csv(folder / "metrics.csv", index=False)
    return folder / "metrics.csv"


def write_database(folder, runs=(("ab", "active"),)):
    """As much of MLflow's database as a curve needs."""
    with closing(sqlite3.connect(folder / "mlflow.db")) as database:
        database.execute("CREATE TABLE runs (run_uuid TEXT, lifecycle_stage TEXT)")
        database.execute(
            "CREATE TABLE metrics (key TEXT, value REAL, run_uuid TEXT, step INT, is_nan BOOLEAN)"
        )
        database.executemany("INSERT INTO runs VALUES (?, ?)", runs)
        rows = [
            ("loss", v, run, int(s), 0) for run, _ in runs for s, v in zip(STEPS, LOSS, strict=True)
        ]
        database.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
    return folder / "mlflow.db"


def event_bytes(values, tag="loss"):
    records = [
        write_scalars(0.0, int(s), {tag: v, "lr": 0.5}) for s, v in zip(STEPS, values, strict=True)
    ]
    return write_beginning(0.0) + b"".join(records)


def write_events(folder):
    path = folder / "events.out.tfevents.1.host"
    path.write_bytes(event_bytes(LOSS))
    return path


def write_event_folder(folder):
    write_events(folder)
    return folder


WRITERS = [
    write_csv, write_semicolons, write_parquet, write_lines, write_list, write_trainer, write_npz,
    write_history, write_panel, write_metric, write_mlflow_csv, write_events, write_event_folder,
    write_database,
]  # fmt: skip


@pytest.mark.parametrize("write", WRITERS)
def test_every_format_gives_the_curve(write, tmp_path):
    (run,) = select(read_table(write(tmp_path)), Choice(y=("loss",))).runs
    assert run.steps.tolist() == STEPS.tolist()
    assert run.curves["loss"].tolist() == LOSS.tolist()


def test_rows_in_which_nothing_was_logged_are_counted(tmp_path):
    assert select(read_table(write_history(tmp_path)), Choice(y=("loss",))).left_out == 1


def test_a_nan_that_was_logged_is_refused_while_an_empty_cell_is_left_out(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("step,loss\n1,1.0\n2,\n3,nan\n")
    with pytest.raises(Refused, match="Got nan in row 2 at step 3"):
        select(read_table(path), Choice())


def test_a_panel_of_several_runs_has_one_run_per_column(tmp_path):
    columns = {"Step": STEPS, "a - loss": LOSS, "b - loss": 2 * LOSS}
    pd.DataFrame(columns).to_csv(tmp_path / "panel.csv", index=False)
    found = select(read_table(tmp_path / "panel.csv"), Choice(y=("loss",)))
    assert found.labels == ("a", "b")
    assert found.runs[1].curves["loss"].tolist() == (2 * LOSS).tolist()


def test_folders_below_one_of_event_files_are_runs(tmp_path):
    for number, name in enumerate(("a", "b"), 1):
        (tmp_path / name).mkdir()
        data = event_bytes(number * LOSS)
        (tmp_path / name / "events.out.tfevents.1.host").write_bytes(data)
    found = select(read_table(tmp_path), Choice(y=("loss",), by="run"))
    assert found.labels == ("a", "b")
    with pytest.raises(Refused, match="`--by run`"):
        select(read_table(tmp_path), Choice(y=("loss",)))


def test_runs_of_mlflow_are_told_apart_by_their_folders(tmp_path):
    for name in ("run1", "run2"):
        (tmp_path / name).mkdir()
        write_metric(tmp_path / name)
        (tmp_path / name / "meta.yaml").write_text("name: x")
    found = select(read_table(tmp_path), Choice(y=("loss",), by="run"))
    assert found.labels == ("run1", "run2")


def test_runs_of_a_database_are_told_apart_and_deleted_ones_left_out(tmp_path):
    runs = (("a", "active"), ("b", "active"), ("c", "deleted"))
    found = select(read_table(write_database(tmp_path, runs)), Choice(y=("loss",), by="run"))
    assert found.labels == ("a", "b")


def test_a_nan_in_a_database_is_one_that_was_measured(tmp_path):
    path = write_database(tmp_path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE metrics SET value = 0, is_nan = 1 WHERE step = 10")
        database.commit()
    with pytest.raises(Refused, match="Got nan in row 3 at step 10"):
        select(read_table(path), Choice(y=("loss",)))


def test_a_checksum_is_castagnolis():
    value = (masked_crc(b"123456789") - 0xA282EAD8) & 0xFFFFFFFF
    assert ((value << 15 | value >> 17) & 0xFFFFFFFF) == 0xE3069283  # RFC 3720's test value


def test_an_event_file_that_is_cut_off_is_read_as_far_as_it_goes():
    whole = event_bytes(LOSS)
    scalars = read_scalars(whole[:-3], "log")
    assert [one.step for one in scalars if one.tag == "loss"] == STEPS[:-1].tolist()


def test_a_changed_byte_of_an_event_file_is_refused():
    data = bytearray(event_bytes(LOSS))
    data[-8] ^= 1
    with pytest.raises(Refused, match="the right checksums"):
        read_scalars(bytes(data), "log")


def test_scalars_that_are_tensors_are_read():
    from tutelage.evidence import event_files as ef

    tensor = ef._key(1, 0) + ef._varint(2) + ef._bytes(6, struct.pack("<d", 0.1))
    value = ef._bytes(1, b"loss") + ef._bytes(8, tensor)
    event = ef._key(2, 0) + ef._varint(300) + ef._bytes(5, ef._bytes(1, value))
    assert read_scalars(ef.write_record(event), "log") == [("loss", 300, 0.1)]


WRONG = {
    "empty.csv": ("", "which is empty"),
    "header.csv": ("step,loss\n", "at least one row"),
    "bare.csv": ("1,0.5\n2,0.25\n", "names its columns"),
    "empty.jsonl": ("", "which is empty"),
    "broken.jsonl": ('{"step": 1}\n{"step": \n', "in line 2"),
    "number.json": ("3", "Got int"),
    "broken.parquet": ("PAR?", "cannot be read"),
    "other.db": ("SQLite?", "must be a database of MLflow"),
    "notes.txt": ("hello", "says by its ending"),
    "words.csv": ("step,loss\n1,low\n", "Got the text 'low' in row 1"),
    "alone.csv": ("step\n1\n", "a column of values beside `step`"),
    "blank.csv": ("step,loss\n1,\n2,\n", "empty cells"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_file_is_refused_in_a_sentence(name, tmp_path):
    text, said = WRONG[name]
    (tmp_path / name).write_text(text)
    y = ("loss",) if name in ("words.csv", "blank.csv") else ()
    with pytest.raises(Refused) as refused:
        select(read_table(tmp_path / name), Choice(y=y))
    assert said in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Refused, match="that exists"):
        read_table(tmp_path / "none.csv")


def test_several_metrics_need_a_name(tmp_path):
    with pytest.raises(Refused, match=r"One metric must be named.*loss, lr"):
        select(read_table(write_events(tmp_path)), Choice())
    with pytest.raises(Refused, match="Did you mean 'loss'"):
        select(read_table(write_events(tmp_path)), Choice(y=("los",)))


def test_numbers_in_quotes_are_refused_with_their_row(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"step": 1, "loss": "2"}\n{"step": 2, "loss": "1"}\n')
    with pytest.raises(Refused, match=r"must be a column of numbers.*Got the text '2' in row 1"):
        select(read_table(tmp_path / "log.jsonl"), Choice(y=("loss",)))
