"""Tasks in processes of their own: one that errs or dies ends no other, and none outlives the
program.
"""

import os
import signal
import subprocess
import sys
import time

import jax
import pytest
from small_tasks import answer, die, err, refuse, wait_for_the_end
from watchdog import give_up_after

from tutelage.cores import cores
from tutelage.problem import room
from tutelage.running.engines import processes
from tutelage.running.engines.processes import (
    Begun,
    Done,
    Failed,
    Processes,
    Task,
    Told,
    describe_end,
    make_environment,
)


def task(function, seconds=0.0, size=0.0, makes=frozenset(), **given):
    name = f"{function.__name__} {seconds:g}"
    return Task(name, "small_tasks", function.__name__, given, seconds, size, makes)


def wait_until(true, seconds=30.0):
    with give_up_after(seconds):
        while not true():
            time.sleep(0.05)


def test_the_longest_goes_first_and_one_that_errs_or_dies_ends_no_other(caplog, capfd):
    tasks = [
        task(answer, 1, number=3),
        task(answer, 5, number=1),
        task(die, 4),
        task(err, 3),
        task(refuse, 2),
    ]
    with Processes(1) as pool:
        pool.add(tasks)
        events = list(pool.run())
    begun = [event.task.name for event in events if isinstance(event, Begun)]
    assert begun == ["answer 5", "die 4", "err 3", "refuse 2", "answer 1"]
    failed = {event.task.name: event for event in events if isinstance(event, Failed)}
    assert {name: (one.refused, one.died) for name, one in failed.items()} == {
        "die 4": (False, True),
        "err 3": (False, False),
        "refuse 2": (True, False),
    }
    assert "SIGKILL" in failed["die 4"].why
    assert failed["err 3"].why == "ValueError: no ink"
    assert failed["refuse 2"].why == "`number` must be odd. Got number=2."
    first, last = (event.result for event in events if isinstance(event, Done))
    assert (first["number"], last["number"]) == (1, 3)
    assert first["process"] != last["process"]  # another took the place of the dead
    assert first["pool"] == ("1" if cores() > 1 else os.environ.get("NPROC"))
    told = [event.message for event in events if isinstance(event, Told)]
    assert told == [{"half": 1}, {"half": 3}]
    assert "number 1 is odd" in caplog.text
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("free", "at_once"), [(10.0, 2), (3.0, 1)])
def test_tasks_wait_for_the_memory_that_they_need(monkeypatch, free, at_once):
    """No process is started: a task is begun and done by hand."""
    monkeypatch.setattr(processes, "free_bytes", lambda: free)
    pool = Processes(2)
    pool.add([task(answer, 2, size=4.0), task(answer, 1, size=4.0)])
    for _ in range(at_once):
        pool._children.append(Busy(pool._choose()))
        pool._waiting.remove(pool._children[-1].task)
    assert pool._choose() is None  # two are at work, or there is no memory for the second
    assert len(pool._waiting) == 2 - at_once


class Busy:
    """What a process that has just begun is to the pool."""

    def __init__(self, task):
        self.task, self.promised_bytes = task, task.bytes


def test_two_that_make_the_same_run_go_one_after_the_other_where_another_can_go_first():
    pool = Processes(2)
    same = frozenset({"run"})
    pool.add([task(answer, 3, makes=same), task(answer, 2, makes=same), task(answer, 1)])
    pool._children.append(Busy(pool._waiting.pop(0)))
    assert pool._choose().seconds == 1
    pool._waiting.pop()
    assert pool._choose().seconds == 2


@pytest.mark.depth
def test_what_is_under_way_is_saved_when_the_block_ends(tmp_path):
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupt(task(wait_for_the_end, folder=str(tmp_path)))
    assert time.monotonic() - begin < 30
    assert (tmp_path / "saved").exists()
    assert not is_alive(int((tmp_path / "process").read_text()))


def interrupt(endless):
    """What Ctrl-C does while a task runs."""
    with Processes(1) as pool:
        pool.add([endless])
        for event in pool.run():
            if isinstance(event, Told):
                time.sleep(0.5)  # until it waits
                raise KeyboardInterrupt


PROGRAM = """
import sys
from small_tasks import wait_for_the_end
from tutelage.running.engines.processes import Processes, Task

with Processes(1) as pool:
    pool.add([Task("a", "small_tasks", "wait_for_the_end", {"folder": sys.argv[1]})])
    list(pool.run())
"""


@pytest.mark.depth
def test_a_process_ends_with_the_program_that_started_it(tmp_path):
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    wait_until((tmp_path / "process").exists)
    wait_until(lambda: (tmp_path / "process").read_text())
    program.send_signal(signal.SIGKILL)
    program.wait()
    wait_until((tmp_path / "saved").exists)
    wait_until(lambda: not is_alive(int((tmp_path / "process").read_text())))


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as state:  # a dead one that no one has asked for is "Z"
        return state.read().rpartition(")")[2].split()[0] != "Z"


def test_a_process_has_its_share_of_threads_and_the_programs_that_are_kept(monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    found = make_environment(2)
    assert (found["NPROC"], found["OPENBLAS_NUM_THREADS"]) == ("2", "2")
    assert found["OMP_NUM_THREADS"] == "3"  # what the user says holds
    monkeypatch.delenv("NPROC", raising=False)
    assert "NPROC" not in make_environment(4)
    before = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", "/kept")
        assert make_environment(1)["JAX_COMPILATION_CACHE_DIR"] == "/kept"
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


@pytest.mark.parametrize(
    ("code", "words"),
    [(-9, "memory ran out"), (-11, "SIGSEGV"), (-40, "the signal 40"), (3, "the code 3")],
)
def test_how_a_process_ended_is_said(code, words):
    assert words in describe_end(code)


def test_free_memory_is_what_the_system_and_the_control_group_leave(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(room, "CONTROL_GROUP", tmp_path / "max")
    monkeypatch.setattr(room, "IN_CONTROL_GROUP", tmp_path / "current")
    assert room.free_bytes() == room._physical_bytes()  # a system that does not say
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    5 kB\n")
    (tmp_path / "max").write_text("max\n")
    (tmp_path / "current").write_text("1000\n")
    assert room.free_bytes() == 5 * 1024
    (tmp_path / "max").write_text("3000\n")
    assert room.free_bytes() == 2000
    assert room.resident_bytes(os.getpid()) > 2**20
    assert room.resident_bytes(2**30) == 0
