"""`log_to` with the tools themselves: W&B without a network, MLflow's database and its folders."""

import json

import pytest

import tutelage as tt
from tutelage.evidence.files import read_table
from tutelage.evidence.selecting import Choice, select

# Warnings inside of these packages are theirs.
pytestmark = [pytest.mark.loggers, pytest.mark.filterwarnings("default")]
SETTING = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2, norm=2.0, activation="identity"),
    rate=0.1,
    steps=30,
    measures=("excess_risk", "cosine"),
)
BOTH = [SETTING, SETTING.change(seed=1)]  # train together, so that two runs are open at a time


def records_of(path):
    """The records of an offline run of W&B: a log of LevelDB, in blocks of 32 kB after a header of
    seven bytes; each piece has a checksum of four bytes, a length of two and a kind of one.
    """
    data, at, pieces, found = path.read_bytes(), 7, b"", []
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # no room for a piece: the block is filled up
            at += 32768 - at % 32768
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        pieces += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last of several
            found.append(pieces)
            pieces = b""
    return found


def history_of(path):
    """The name of an offline run, its settings and its points."""
    proto = pytest.importorskip("wandb.proto.wandb_internal_pb2")
    name, config, points = "", {}, {}
    for data in records_of(path):
        record = proto.Record.FromString(data)
        if record.HasField("run"):
            name = record.run.display_name
            updates = record.run.config.update
            config = {one.key: json.loads(one.value_json) for one in updates}
        if record.HasField("history"):
            items = {
                (one.key or one.nested_key[0]): json.loads(one.value_json)
                for one in record.history.item
            }
            points[items["_step"]] = items
    return name, config, points


def test_wandb_keeps_every_point_of_every_run(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    runs = list(tt.execute(BOTH, watch=tt.log_to("wandb", project="mine")))
    kept = {found[0]: found for found in map(history_of, tmp_path.glob("wandb/offline-*/*.wandb"))}
    for run in runs:
        _, config, points = kept[run.setting.identity()]
        assert config["teacher.tokens"] == 4
        assert sorted(points) == run.steps.tolist()
        for name, curve in run.curves.items():
            assert [points[step][name] for step in run.steps.tolist()] == curve.tolist()


@pytest.mark.parametrize("kept_in", ["database", "folders"])
def test_what_mlflow_keeps_is_read_back_as_evidence(kept_in, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    if kept_in == "database":
        pytest.importorskip("sqlalchemy")
    place = tmp_path / ("mlflow.db" if kept_in == "database" else "mlruns")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"sqlite:///{place}" if kept_in == "database" else place.as_uri())
    runs = list(tt.execute(BOTH, watch=tt.log_to("mlflow", project="mine")))
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("mine")
    named = {
        one.info.run_name: one for one in client.search_runs([experiment.experiment_id])
    }  # by the identity of the setting
    found = select(read_table(place), Choice(y=("excess_risk",), by="run"))
    for run in runs:
        theirs = named[run.setting.identity()]
        assert theirs.data.params["teacher.tokens"] == "4"
        assert theirs.info.status == "FINISHED"
        (number,) = [i for i, name in enumerate(found.labels) if theirs.info.run_id in name]
        assert found.runs[number].steps.tolist() == run.steps.tolist()
        assert (
            found.runs[number].curves["excess_risk"].tolist() == run.curves["excess_risk"].tolist()
        )


def test_tensorboard_reads_the_event_files(tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for run in tt.execute(BOTH, watch=tt.log_to("tensorboard", folder=tmp_path)):
        found = loader.EventAccumulator(str(tmp_path / run.setting.identity()))
        found.Reload()
        scalars = found.Scalars("excess_risk")
        assert [scalar.step for scalar in scalars] == run.steps.tolist()
        expected = run.curves["excess_risk"]
        assert [scalar.value for scalar in scalars] == pytest.approx(expected, rel=1e-6)
