"""Runs as they train, into W&B, MLflow or TensorBoard: `execute(…, watch=log_to("wandb"))`."""

from __future__ import annotations

import abc
import importlib
import json
import math
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from tutelage.evidence.event_files import write_beginning, write_scalars
from tutelage.refuse import Refused, one_of
from tutelage.running.store.tables import flat
from tutelage.settings import Setting, Value
from tutelage.training.batch import Curves, CurvesSoFar
from tutelage.version import __version__

Who = Setting | int  # whose curves these are: a setting of `execute`, or a member of `train`


class Destination(abc.ABC):
    """Where the points of one run go."""

    @abc.abstractmethod
    def log(self, step: int, values: Mapping[str, float]) -> None: ...

    @abc.abstractmethod
    def close(self) -> None: ...


class Backend(abc.ABC):
    """A tool that keeps runs."""

    @abc.abstractmethod
    def open(self, name: str, config: Mapping[str, Value]) -> Destination:
        """A new run of it, with what was asked."""


class Logger:
    """A watcher for `execute` and `train`: logs every measured point once, a run per setting.

    Runs of `execute` are closed when they end. Those of `train` are closed by `close`, or at the
    end of a `with` block.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._open: dict[Who, Destination] = {}
        self._logged: dict[Who, int] = {}  # points
        self._lock = threading.Lock()  # settings train in several threads

    def __call__(self, who: Who, step: int, curves: Curves) -> None:
        if not isinstance(curves, CurvesSoFar):
            raise Refused(
                "A logger watches `execute` or `train`, which say at which steps they measured. "
                f"Got curves of type {type(curves).__name__}."
            )
        with self._lock:
            self._log_new(who, curves)
            if isinstance(who, Setting) and step >= who.steps and who in self._open:
                self._open.pop(who).close()

    def _log_new(self, who: Who, curves: CurvesSoFar) -> None:
        seen, points = self._logged.get(who, 0), len(curves.steps)
        if points <= seen:
            return
        if who not in self._open:
            self._open[who] = self.backend.open(*_describe(who))
        for at in range(seen, points):
            # The mean of a measure that has one entry per query.
            values = {name: float(np.mean(curve[at])) for name, curve in curves.items()}
            finite = {name: value for name, value in values.items() if math.isfinite(value)}
            self._open[who].log(int(curves.steps[at]), finite)
        self._logged[who] = points

    def close(self) -> None:
        """Ends all runs that are open."""
        with self._lock:
            for destination in self._open.values():
                destination.close()
            self._open.clear()

    def __enter__(self) -> Logger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def log_to(where: str, *, project: str = "tutelage", folder: str | Path = "tensorboard") -> Logger:
    """A watcher that logs runs to `wandb`, `mlflow` or `tensorboard` as they train.

    `project` is the project of W&B or the experiment of MLflow. Where these keep their runs is
    theirs to say (WANDB_MODE, MLFLOW_TRACKING_URI). `folder` is where event files for TensorBoard
    are written, one folder per run; that needs no package.
    """
    one_of("place to log to", where, ("wandb", "mlflow", "tensorboard"))
    if where == "wandb":
        return Logger(_WandB(project))
    if where == "mlflow":
        return Logger(_MLflow(project))
    return Logger(_TensorBoard(Path(folder)))


def _describe(who: Who) -> tuple[str, dict[str, Value]]:
    """The name of a run, and what was asked."""
    if isinstance(who, int):
        return f"member-{who}", {"tutelage.version": __version__}
    identity = who.identity()
    about = {"tutelage.identity": identity, "tutelage.version": __version__}
    return identity, {**flat(who.plain()), **about}


class _WandB(Backend):
    def __init__(self, project: str) -> None:
        self.project = project
        self.wandb: Any = _import("wandb")

    def open(self, name: str, config: Mapping[str, Value]) -> Destination:
        # Several runs at a time, as settings train together.
        run = self.wandb.init(
            project=self.project, name=name, config=dict(config), reinit="create_new"
        )
        return _WandBRun(run)


class _WandBRun(Destination):
    def __init__(self, run: Any) -> None:
        self.run = run

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self.run.log(dict(values), step=step)

    def close(self) -> None:
        self.run.finish()


class _MLflow(Backend):
    def __init__(self, project: str) -> None:
        self.client: Any = _import("mlflow").MlflowClient()
        self.metric: Any = _import("mlflow.entities").Metric
        found = self.client.get_experiment_by_name(project)
        self.experiment = (
            self.client.create_experiment(project) if found is None else found.experiment_id
        )

    def open(self, name: str, config: Mapping[str, Value]) -> Destination:
        run = self.client.create_run(self.experiment, run_name=name).info.run_id
        for key, value in config.items():
            self.client.log_param(run, key, value)
        return _MLflowRun(self.client, self.metric, run)


class _MLflowRun(Destination):
    def __init__(self, client: Any, metric: Any, run: str) -> None:
        self.client, self.metric, self.run = client, metric, run

    def log(self, step: int, values: Mapping[str, float]) -> None:
        now = int(1000 * time.time())
        metrics = [self.metric(key, value, now, step) for key, value in values.items()]
        self.client.log_batch(self.run, metrics=metrics)

    def close(self) -> None:
        self.client.set_terminated(self.run)


class _TensorBoard(Backend):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, name: str, config: Mapping[str, Value]) -> Destination:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(dict(config), indent=1))
        return _EventFile(folder)


class _EventFile(Destination):
    def __init__(self, folder: Path) -> None:
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}"
        self.file = (folder / name).open("wb")
        self.file.write(write_beginning(time.time()))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self.file.write(write_scalars(time.time(), step, dict(values)))
        self.file.flush()

    def close(self) -> None:
        self.file.close()


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Refused(
            f"Logging to {name} needs that package, which is not installed: pip install {name}."
        ) from None
