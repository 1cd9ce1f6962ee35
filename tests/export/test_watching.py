"""Runs are logged as they train, every measured point once, to tools that may not be installed."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

import tutelage as tt
from tutelage.evidence.files import read_table
from tutelage.evidence.selecting import Choice, select
from tutelage.refuse import Refused

SETTING = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2, norm=2.0, activation="identity"),
    rate=0.1,
    steps=30,
    measures=("excess_risk", "cosine"),
)


class Recorded:
    """A run of W&B, or the client of MLflow, that remembers what it was told."""

    def __init__(self):
        self.points, self.config, self.ended = [], {}, 0

    def log(self, values, step):
        self.points.append((step, values))

    def finish(self):
        self.ended += 1

    def get_experiment_by_name(self, name):
        self.experiment = name

    def create_experiment(self, name):
        assert name == self.experiment
        return "7"

    def create_run(self, experiment, run_name):
        assert experiment == "7"
        return SimpleNamespace(info=SimpleNamespace(run_id=run_name))

    def log_param(self, run, key, value):
        self.config[key] = value

    def log_batch(self, run, metrics):
        self.points.append((metrics[0].step, {m.key: m.value for m in metrics}))

    def set_terminated(self, run):
        self.ended += 1


@pytest.fixture
def wandb(monkeypatch):
    recorded, module = Recorded(), ModuleType("wandb")

    def init(project, name, config, reinit):
        assert (project, reinit) == ("mine", "create_new")
        recorded.config = config
        return recorded

    module.init = init
    monkeypatch.setitem(sys.modules, "wandb", module)
    return recorded


@pytest.fixture
def mlflow(monkeypatch):
    recorded, module, entities = Recorded(), ModuleType("mlflow"), ModuleType("mlflow.entities")
    module.MlflowClient = lambda: recorded
    entities.Metric = lambda key, value, now, step: SimpleNamespace(key=key, value=value, step=step)
    monkeypatch.setitem(sys.modules, "mlflow", module)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    return recorded


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_every_point_is_logged_once_and_the_run_is_ended(name, request):
    recorded = request.getfixturevalue(name)
    (run,) = tt.execute([SETTING], watch=tt.log_to(name, project="mine"))
    assert [step for step, _ in recorded.points] == run.steps.tolist()
    for name, curve in run.curves.items():
        assert [values[name] for _, values in recorded.points] == curve.tolist()
    assert recorded.ended == 1
    assert recorded.config["tutelage.identity"] == SETTING.identity()
    assert recorded.config["teacher.tokens"] == 4


def test_a_stored_run_is_logged_as_well(wandb, tmp_path):
    store = tt.Store(tmp_path)
    (run,) = tt.execute([SETTING], store=store)
    list(tt.execute([SETTING], store=store, watch=tt.log_to("wandb", project="mine")))
    assert [step for step, _ in wandb.points] == run.steps.tolist()


def test_event_files_are_read_back_as_evidence(tmp_path):
    folder = tmp_path / "events"
    settings = [SETTING, SETTING.change(seed=1)]
    runs = {
        run.setting: run
        for run in tt.execute(settings, watch=tt.log_to("tensorboard", folder=folder))
    }
    found = select(read_table(folder), Choice(y=("excess_risk",), by="run"))
    for setting in settings:
        read = found.runs[found.labels.index(setting.identity())]
        assert read.steps.tolist() == runs[setting].steps.tolist()
        expected = runs[setting].curves["excess_risk"]
        assert read.curves["excess_risk"] == pytest.approx(expected, rel=1e-6)  # single precision
    config = json.loads((folder / SETTING.identity() / "config.json").read_text())
    assert config["tutelage.version"] == tt.__version__


def test_training_by_hand_is_logged_too(tmp_path):
    teacher = tt.BilinearTeacher([[1.0, 2.0]], tt.pooling(tokens=4, support=2), "identity")
    with tt.log_to("tensorboard", folder=tmp_path) as watch:
        run = tt.train(
            tt.PositionAttention.zeros(teacher), tt.PopulationRisk(teacher), rate=0.1, steps=20,
            watch=watch,
        )  # fmt: skip
    found = select(read_table(tmp_path), Choice(y=("cosine",)))
    assert found.runs[0].steps.tolist() == run.steps.tolist()


def test_a_tool_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(Refused, match="Logging to wandb needs that package"):
        tt.log_to("wandb")


def test_an_unknown_place_is_refused():
    with pytest.raises(Refused, match="Did you mean 'tensorboard'"):
        tt.log_to("tensor-board")


def test_curves_without_steps_are_refused(tmp_path):
    with pytest.raises(Refused, match="at which steps they measured"):
        tt.log_to("tensorboard", folder=tmp_path)(0, 1, {})
