"""The job-array script with SLURM's programs played by three-line ones: what it runs, what it gives
back to the queue, how it ends.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "cluster" / "array.sbatch"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the script is one of bash")


def job(folder: Path, sweep: str, state: str = "RUNNING", **variables: str) -> subprocess.Popen:
    """The script as task 2 of four, with `sweep` in the place of tutelage; `calls` gets what
    scontrol is told and what ran.
    """
    played = {
        "tutelage": f'echo "tutelage $*" >>"{folder}/calls"\n{sweep}',
        "srun": 'while [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"',
        "squeue": f'case "$*" in *--jobs=70_2*) echo {state} ;; *) echo RUNNING; echo RUNNING ;; '
        "esac",
        "scontrol": f'echo "scontrol $*" >>"{folder}/calls"',
    }
    (folder / "bin").mkdir()
    for name, text in played.items():
        (folder / "bin" / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / "bin" / name).chmod(0o755)
    task = {
        "ARRAY_TASK_ID": "2",
        "ARRAY_TASK_MIN": "1",
        "ARRAY_TASK_MAX": "4",
        "ARRAY_TASK_COUNT": "4",
    }
    array = {"JOB_ID": "70", "ARRAY_JOB_ID": "70", "SUBMIT_DIR": str(folder), **task}
    told = {f"SLURM_{name}": value for name, value in array.items()}
    return subprocess.Popen(
        ["bash", str(SCRIPT), "sweep.toml", "out"],
        env={**told, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines() if (folder / "calls").exists() else []


RUN = "tutelage sweep sweep.toml --out out --shard 2/4"


@pytest.mark.parametrize(
    ("sweep", "state", "code", "requeued"),
    [
        ("exit 0", "RUNNING", 0, False),
        ("exit 3", "RUNNING", 3, False),
        ("exit 75", "RUNNING", 75, True),
        ("exit 75", "COMPLETING", 75, False),  # SLURM itself is cancelling or requeueing it
        ("kill -USR1 $$", "RUNNING", 75, True),  # the warning came before the program could hear it
        ("kill -KILL $$", "RUNNING", 137, False),
    ],
)
def test_only_a_saved_stop_of_a_running_job_goes_back_to_the_queue(
    tmp_path, sweep, state, code, requeued
):
    assert job(tmp_path, sweep, state).wait(20) == code
    # By the name of the task: 70 is the id of this task's job and of the whole array.
    assert calls(tmp_path) == [RUN] + ["scontrol requeue 70_2"] * requeued


def test_a_signal_to_the_script_does_not_cut_the_saving_short(tmp_path):
    """At a requeue SLURM signals the shell and the program alike; the shell has to wait for what
    the program saves.
    """
    saving = (
        f"trap 'sleep 0.5; touch {tmp_path}/saved; exit 75' TERM\ntouch "
        f"{tmp_path}/begun\nwhile :; do sleep 0.05; done"
    )
    process = job(tmp_path, saving, "COMPLETING")
    for _ in range(400):
        if (tmp_path / "begun").exists():
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(20) == 75
    assert (tmp_path / "saved").exists()
    assert calls(tmp_path) == [RUN]


def test_part_of_an_array_needs_the_number_of_shares(tmp_path):
    for part in (
        {"SLURM_ARRAY_TASK_COUNT": "3"},
        {"SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "3"},
    ):
        assert job(tmp_path, "exit 0", **part).wait(20) == 2
        assert calls(tmp_path) == []
        shutil.rmtree(tmp_path / "bin")
    assert job(tmp_path, "exit 0", SHARDS="9", **part).wait(20) == 0
    assert calls(tmp_path) == ["tutelage sweep sweep.toml --out out --shard 2/9"]


def test_a_job_that_is_stopped_for_ever_is_given_up(tmp_path):
    assert job(tmp_path, "exit 75", SLURM_RESTART_COUNT="5", MAX_RESTARTS="5").wait(20) == 75
    assert calls(tmp_path) == [RUN]
