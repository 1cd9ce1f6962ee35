"""Devices and precision: runs spread over several devices, single precision, and what is said when
there is no such device.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from small_settings import SHALLOW

import tutelage as tt
from tutelage.cli import main
from tutelage.running.batches import Load, batches, mostly_python
from tutelage.running.engines.threads import cores

BASE = tt.Setting(
    tt.Part("convolution", tokens=8, support=2, outputs=2, dim=3),
    rate=0.1,
    steps=300,
    measures=("excess_risk",),
)
ONLINE = BASE.change(objective="online", rate=0.02, steps=50, **{"objective.batch": 8})
SPREAD = [BASE.change(seed=seed) for seed in range(4)] + [
    ONLINE.change(seed=seed) for seed in range(2)
]

ELSEWHERE = """
import json, sys
import jax
import tutelage as tt
sys.path[:0] = {tests!r}
from test_devices import SPREAD
assert len(jax.devices()) == 3
found = {{run.setting: run for run in tt.execute(SPREAD)}}
print(json.dumps([found[setting].curves["excess_risk"].tolist() for setting in SPREAD]))
"""


@pytest.mark.depth
def test_runs_spread_over_devices_give_the_same_numbers():
    """Four runs on three simulated devices: two of the shares are filled up, and nothing of that
    shows.
    """
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=3"
    code = ELSEWHERE.format(
        tests=[os.path.dirname(__file__), str(Path(__file__).parents[1] / "support")]
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    here = {run.setting: run for run in tt.execute(SPREAD)}
    for setting, curve in zip(SPREAD, json.loads(child.stdout), strict=True):
        np.testing.assert_allclose(
            curve, here[setting].curves["excess_risk"], rtol=1e-10, atol=1e-14
        )


@pytest.mark.brief(1)
@pytest.mark.parametrize(
    "setting",
    [BASE, ONLINE, pytest.param(SHALLOW, marks=pytest.mark.depth)],
    ids=["exact", "online", "heads"],
)
def test_single_precision_is_single_throughout_and_close(setting):
    (double,) = tt.execute([setting])
    (single,) = tt.execute([setting], method=tt.Method(precision="float32"))
    floating = [
        leaf
        for leaf in jax.tree.leaves((single.student, single.rest.state))
        if np.issubdtype(leaf.dtype, np.floating)
    ]
    assert {leaf.dtype for leaf in floating} == {np.dtype("float32")}
    # A few hundred steps, each rounded at 6e-8: far below 1e-3 of the excess, far above what double
    # precision would differ by.
    np.testing.assert_allclose(
        single.curves["excess_risk"], double.curves["excess_risk"], rtol=1e-3
    )
    assert np.abs(single.curves["excess_risk"] / double.curves["excess_risk"] - 1).max() > 1e-10


def test_precision_is_recorded_and_not_hashed(tmp_path):
    store = tt.Store(tmp_path)
    single = tt.Store(tmp_path, method=tt.Method(precision="float32"))
    with pytest.raises(tt.Refused, match="float32"):
        next(tt.execute([BASE], store=store, method=tt.Method(precision="float32")))
    list(tt.execute([BASE], store=single))
    again = store.find(BASE)
    assert again.made[-1]["precision"] == "float32"
    assert again.student.value.dtype == np.float32
    assert len(store.foreign) == 1  # used, and said to be of another precision
    assert tt.Store(tmp_path, rerun_foreign=True).find(BASE) is None
    longer = BASE.change(steps=400)
    assert (
        store.begun(longer) is None
    )  # a run in double precision does not go on from a rounded one
    (run,) = tt.execute([longer], store=store)
    assert run.student.value.dtype == np.float64
    assert single.begun(longer) is not None


def test_unknown_devices_and_precisions_are_refused_before_work(tmp_path, capsys):
    with pytest.raises(tt.Refused, match=r"Got 'quantum'.*tutelage\[cuda12\]"):
        next(tt.execute([BASE], method=tt.Method(device="quantum")))
    with pytest.raises(tt.Refused, match="cpu"):
        next(tt.execute([BASE], method=tt.Method(device="cpu:7")))
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "teacher-models/rates", "--precision", "float8", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "float32" in capsys.readouterr().err


def test_a_device_by_name():
    (run,) = tt.execute([BASE], method=tt.Method(device="cpu:0"))
    assert run.complete


def test_batches_fill_a_devices_memory():
    class Gpu:
        platform = "gpu"

        def memory_stats(self):
            return {"bytes_limit": 2 * 1_000_000}

    problem = tt.build(BASE)
    load = Load.of(BASE, problem, [Gpu()])
    assert load.largest == min(64, 1_000_000 // (8 * 10 * load.size + load.bytes))
    assert Load.of(BASE, problem, [Gpu(), Gpu()]).largest == 2 * load.largest
    settings = [BASE.change(seed=seed) for seed in range(2 * load.largest + 1)]
    sizes = [len(batch) for batch in batches(dict.fromkeys(settings, load), 1)]
    assert sizes == [load.largest, load.largest, 1]


def test_many_tiny_runs_get_one_thread():
    problem = tt.build(BASE)
    load = Load.of(BASE, problem, jax.devices())

    def many(count, steps):
        return {BASE.change(seed=seed, steps=steps): load for seed in range(count)}

    enough = 8 * load.largest + 1
    assert mostly_python(many(enough, 10))
    assert not mostly_python(many(enough - 1, 10))  # compilation counts
    assert not mostly_python(many(enough, 10**6))  # training counts
    assert not mostly_python(
        dict.fromkeys(many(enough, 10), Load.of(ONLINE, tt.build(ONLINE), jax.devices()))
    )


def test_the_cores_of_a_job_are_those_it_was_given(monkeypatch):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "3")
    assert cores() == 3
    monkeypatch.delenv("SLURM_CPUS_PER_TASK")
    assert 1 <= cores() <= os.cpu_count()


@pytest.mark.accelerator
@pytest.mark.skipif(
    jax.default_backend() == "cpu",
    reason="needs an accelerator: pip install 'tutelage[cuda12]' on a machine with one",
)
def test_an_accelerator_gives_what_a_cpu_gives():
    (there,) = tt.execute([BASE], method=tt.Method(device=jax.default_backend()))
    (here,) = tt.execute([BASE], method=tt.Method(device="cpu"))
    np.testing.assert_allclose(there.curves["excess_risk"], here.curves["excess_risk"], rtol=1e-8)
