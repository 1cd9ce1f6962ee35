"""The cluster engine: on workers in this process always, and on processes of their own that are
killed (make test-cluster).
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import tutelage as tt
from tutelage.calculations import Calculated, Calculation
from tutelage.cli.engines import NO_PAGES
from tutelage.run import Outcome
from tutelage.running import work
from tutelage.running.engines import Work
from tutelage.running.engines.cluster import CLOSING, Cluster, packed, remote, unpacked
from tutelage.studies.sweep_files import read_sweep

distributed = pytest.importorskip(
    "distributed", reason="the cluster engine needs pip install 'tutelage[cluster]'"
)

BASE = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
    rate=0.1,
    steps=200,
    measures=("excess_risk",),
)
BY_HAND = tt.Setting(tt.Part("bilinear", value=np.eye(2), selection=np.eye(2)), rate=0.1, steps=50)


@pytest.fixture(scope="module")
def client():
    CLOSING.clear()  # by which workers that were threads of this process have ended before
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            scheduler_kwargs=NO_PAGES,  # port 8787 may be another's
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        warnings.simplefilter("ignore")  # sockets that Python finds open while the cluster closes
        yield made
    CLOSING.clear()


def test_settings_travel_as_plain_data():
    batch = [BASE, BY_HAND]
    text, data = packed(batch)
    assert isinstance(text, str)
    assert isinstance(data, bytes)
    assert unpacked(text, data) == batch


def test_workers_give_what_threads_give(client, tmp_path):
    settings = [*(BASE.change(seed=seed) for seed in range(5)), BY_HAND]
    here = {run.setting: run for run in tt.execute(settings)}
    store = tt.Store(tmp_path)
    there = {
        run.setting: run for run in tt.execute(settings, store=store, engine=Cluster(client, 2))
    }
    assert set(there) == set(here)
    for setting, run in there.items():
        for name, curve in run.curves.items():
            np.testing.assert_allclose(curve, here[setting].curves[name], rtol=1e-10, atol=1e-14)
        assert store.find(setting) is not None


def test_a_failure_on_a_worker_is_a_row(client, tmp_path, monkeypatch):
    bad, real = BASE.change(rate=0.3), work.train_batch

    def sometimes(*given, **more):
        if 0.3 in more["rates"]:
            raise MemoryError("no room")
        return real(*given, **more)

    monkeypatch.setattr(work, "train_batch", sometimes)  # the workers are threads of this process
    runs = {
        run.setting: run
        for run in tt.execute(
            [BASE, bad], store=tt.Store(tmp_path), engine=Cluster(client, 2), keep_going=True
        )
    }
    assert runs[BASE].outcome is Outcome.FINISHED
    assert runs[bad].outcome is Outcome.FAILED
    assert runs[bad].note == "MemoryError: no room"


def test_a_second_client_does_not_stop_the_workers(client, tmp_path):
    for part in ("a", "b"):
        (run,) = tt.execute([BASE], store=tt.Store(tmp_path / part), engine=Cluster(client, 2))
        assert run.outcome is Outcome.FINISHED
    assert not CLOSING.is_set()


def test_a_cluster_needs_a_store(client):
    with pytest.raises(tt.Refused, match="need a store"):
        list(tt.execute([BASE], engine=Cluster(client, 1)))


def test_runs_that_cannot_be_seen_are_told(client, tmp_path, monkeypatch):
    monkeypatch.setattr(tt.Store, "find", lambda self, setting: None)
    monkeypatch.setattr("tutelage.running.engines.cluster.LOOKS", 1)
    with pytest.raises(tt.Refused, match="cannot be seen from here"):
        list(Cluster(client, 1).run([[BASE]], Work(tt.Store(tmp_path))))


def test_a_setting_that_another_client_holds_is_reported_as_held(tmp_path):
    other = tt.Store(tmp_path)
    assert other.leases.take(BASE.identity())
    how = {
        "root": str(tmp_path),
        "sync": False,
        "rerun_foreign": False,
        "keep_going": True,
        "client": "me",
    }
    how |= {"method": asdict(tt.Method()), "imports": [], "any_size": False}
    assert remote(*packed([BASE]), how)["held"] == [0]
    other.leases.release(BASE.identity())
    assert remote(*packed([BASE]), how)["held"] == []


def test_a_client_that_stops_has_its_workers_save(client, tmp_path):
    store, long = tt.Store(tmp_path), BASE.change(steps=10**9, seed=5)
    going = Cluster(client, 2).run([[long], [BASE]], Work(store))
    assert [run.setting for run in next(going).runs] == [BASE]
    going.close()
    (entry,) = [entry for entry in store.entries() if entry.identity == long.identity()]
    assert entry.outcome == "STOPPED"
    assert not list((tmp_path / ".leases").glob("[!.]*"))
    assert next(
        tt.execute([BASE.change(seed=7)], store=store, engine=Cluster(client, 2))
    ).complete  # the workers serve the next client


SWEEP = """
[setting]
rate = 0.1
steps = 30000
teacher = { name = "convolution", tokens = 16, support = 4, outputs = 4, dim = 6 }
[axes]
tokens = [8, 12, 16, 20, 24, 28, 32, 36]
seed = [0, 1, 2]
"""  # eight shapes, and so eight batches one after the other: there is a middle in which to kill


def test_a_stop_reaches_the_workers_and_what_they_saved_is_yielded(client, tmp_path):
    store, stop = tt.Store(tmp_path), threading.Event()
    long = [BASE.change(steps=10**9, objective="online", seed=seed) for seed in range(5)]
    long = [setting.change(**{"objective.batch": 2}, rate=0.01) for setting in long]
    threading.Timer(1.5, stop.set).start()
    runs = list(tt.execute(long, store=store, engine=Cluster(client, 2), stop=stop))
    assert {run.setting for run in runs} == set(long)
    assert {run.outcome for run in runs} == {Outcome.STOPPED}
    begun = [run for run in runs if run.rest is not None]
    assert begun  # two are under way, the others have not begun
    assert all(store.begun(run.setting) is not None for run in begun)
    engine = Cluster(client, 2)
    (run,) = tt.execute([BASE], store=store, engine=engine)  # the workers serve on
    assert run.outcome is Outcome.FINISHED


def test_a_calculation_is_done_by_a_worker(client, tmp_path):
    @tt.register("calculation", "on-a-worker")
    def made(*, size: int):
        return Doubled(size)

    store = tt.Store(tmp_path)
    settings = [tt.Setting.of_calculation(tt.Part("on-a-worker", size=n)) for n in range(3)]
    runs = {
        run.setting: run for run in tt.execute(settings, store=store, engine=Cluster(client, 2))
    }
    assert [runs[setting].curves["double"].tolist() for setting in settings] == [[0], [2], [4]]
    assert all(store.holds(setting) for setting in settings)


class Doubled(Calculation):
    def __init__(self, size):
        self.size = size

    def __call__(self, given):
        return Calculated.numbers(double=2 * self.size)


def started(log, *command, until):
    """A process that writes to a log, and the match of what it says there once it is up."""
    with open(log, "w") as file:
        process = subprocess.Popen([sys.executable, "-m", *command], stderr=file, stdout=file)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(until, log.read_text()):
            return process, found
        time.sleep(0.1)
    raise AssertionError(f"{command} did not start: {log.read_text()}")


def wait_for_runs(store, count):
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        if sum(entry.outcome == "FINISHED" for entry in store.entries()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"{count} runs were not done in time")


@pytest.mark.cluster
def test_a_sweep_survives_the_death_of_a_worker_and_of_the_client(tmp_path):
    """Scheduler, two workers and client are processes of their own; a worker and then the client
    are killed in the middle.
    """
    path, out = tmp_path / "sweep.toml", tmp_path / "out"
    path.write_text(SWEEP)
    settings, store = read_sweep(path).settings(), tt.Store(out / "runs")
    everyone = []
    try:
        here = (
            "distributed.cli.dask_scheduler",
            "--port",
            "0",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
        )
        scheduler, found = started(tmp_path / "scheduler", *here, until=r"(tcp://[\d.:]+)")
        everyone.append(scheduler)
        address = found.group(1)
        worker = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard")
        everyone += [
            started(tmp_path / f"worker{i}", *worker, until="Registered to")[0] for i in range(2)
        ]
        command = [
            sys.executable,
            "-m",
            "tutelage",
            "sweep",
            str(path),
            "--out",
            str(out),
            "--scheduler",
            address,
        ]
        client = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        everyone.append(client)
        wait_for_runs(store, 2)
        subprocess.run(
            ["pkill", "-KILL", "-P", str(everyone[1].pid)], check=False
        )  # the worker's own process, below its nanny
        everyone[1].send_signal(signal.SIGKILL)
        wait_for_runs(store, 7)
        client.send_signal(signal.SIGKILL)
        client.wait()
        done = sum(entry.outcome == "FINISHED" for entry in store.entries())
        assert 7 <= done < len(settings)
        assert (
            subprocess.run(command, check=False, capture_output=True, timeout=300).returncode == 0
        )
    finally:
        for process in everyone:
            subprocess.run(["pkill", "-KILL", "-P", str(process.pid)], check=False)
            process.kill()
            process.wait()
    whole = [entry for entry in store.entries() if entry.outcome == "FINISHED"]
    assert sorted(entry.identity for entry in whole) == sorted(
        setting.identity() for setting in settings
    )
    assert not [entry for entry in store.entries() if entry.trouble]
    undisturbed = {run.setting: run for run in tt.execute(settings)}
    for setting in settings:
        run = store.find(setting)
        for name, curve in run.curves.items():
            np.testing.assert_allclose(
                curve, undisturbed[setting].curves[name], rtol=1e-10, atol=1e-13
            )


@pytest.mark.cluster
@pytest.mark.skipif(
    shutil.which("slurmctld") is None,
    reason="needs SLURM: apt-get install --no-install-recommends slurm-wlm munge",
)
def test_a_sweep_on_a_real_slurm_of_one_node(tmp_path):
    """As a job array that is requeued, preempted and killed, and through Dask workers of which one
    is cancelled: ten minutes.
    """
    root = Path(__file__).parents[2]
    command = [
        "bash",
        str(root / "cluster" / "try_slurm.sh"),
        str(root / "cluster" / "try.toml"),
        str(tmp_path / "slurm"),
    ]
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    tried = subprocess.run(
        command,
        env=os.environ | {"PATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert "both ways, and equal to the undisturbed run" in tried.stdout
