"""One client a setting: of many that want it one gets it, the dead lose it, and clocks that differ
do not matter.
"""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from stored import TINY

import tutelage as tt
from tutelage.running import execute
from tutelage.running.store import lease
from tutelage.running.store.lease import Leases
from tutelage.running.store.owner import Owner

DAYS = 1e6  # seconds

HOLDER = """
import sys, time
from pathlib import Path
from tutelage.running.store.lease import Leases
leases = Leases(Path(sys.argv[1]), float(sys.argv[2]))
print(leases.take("x"), flush=True)
time.sleep(60)
"""


def age(leases, seconds):
    """As if there had been no sign of life for so long, by the file system's clock."""
    path = leases.folder / "x"
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def client(root):
    """One whose leases last for days: a machine may stand still for a minute in the middle of a
    test.
    """
    return Leases(root, DAYS)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds a lease and shows a sign of life four times a second."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def test_another_process_keeps_its_lease_while_it_lives_and_loses_it_when_it_dies(tmp_path, holder):
    leases = client(tmp_path)
    assert leases.owner("x").split()[1] == str(holder.pid)
    for _ in range(3):
        age(leases, 2 * DAYS)
        old = (leases.folder / "x").stat().st_mtime
        until = time.monotonic() + 300
        while (leases.folder / "x").stat().st_mtime == old:  # until the holder's next sign of life
            assert time.monotonic() < until
            time.sleep(0.02)
        assert not leases.take("x")
    holder.kill()
    holder.wait()
    assert leases.take("x")  # at once, since its process is gone from this machine
    assert leases.owner("x") == leases.me


def test_a_lease_is_taken_once_and_again_after_release(tmp_path):
    one, two = client(tmp_path), client(tmp_path)
    assert one.take("x")
    assert not one.take("x")  # nor by another thread of the same process
    assert not two.take("x")
    assert two.take("y")
    two.release("x")  # which is not its own
    assert one.owner("x") == one.me
    one.release("x")
    assert two.take("x")


def test_a_stale_lease_is_taken_over_and_its_owner_cannot_release_it_then(tmp_path):
    dead, heir = client(tmp_path), client(tmp_path)
    assert dead.take("x")
    age(dead, 0.9 * DAYS)
    assert not heir.take("x")
    age(dead, 0.2 * DAYS)
    assert heir.take("x")
    dead.release("x")
    assert heir.owner("x") == heir.me
    assert sorted(os.listdir(heir.folder)) == ["x"]


def test_this_machines_clock_does_not_matter(tmp_path, monkeypatch):
    holder, other = client(tmp_path), client(tmp_path)
    assert holder.take("x")
    for wrong in (0.0, 4e9):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: wrong)
        assert not other.take("x")


def test_a_client_that_died_while_taking_over_is_no_obstacle(tmp_path):
    dead, heir = client(tmp_path), client(tmp_path)
    assert dead.take("x")
    age(dead, 2 * DAYS)
    half = dead.folder / ".taking-x"
    half.write_text("who died")
    assert not heir.take("x")  # it may be alive
    os.utime(half, (0, 0))
    assert not heir.take("x")  # it is not: its file is removed
    assert heir.take("x")


def test_an_empty_lease_is_stale_in_time_like_any_other(tmp_path):
    """A process killed between making the file and writing its name into it."""
    heir = client(tmp_path)
    heir.folder.mkdir(parents=True)
    (heir.folder / "x").touch()
    assert not heir.take("x")
    age(heir, 2 * DAYS)
    assert heir.take("x")


@pytest.mark.depth
@pytest.mark.parametrize("stale", [False, True], ids=["free", "stale"])
def test_of_many_threads_one_wins(tmp_path, stale):
    """Thirty rounds of sixteen clients that start together, each looking several times, as a sweep
    does.
    """
    for number in range(30):
        root = Path(tmp_path) / str(number)
        if stale:
            dead = client(root)
            assert dead.take("x")
            age(dead, 2 * DAYS)
        winners, start = [], threading.Barrier(16)

        def want(leases, winners=winners, start=start):
            start.wait()
            for _ in range(3):
                if leases.take("x"):
                    winners.append(leases)

        threads = [threading.Thread(target=want, args=(client(root),)) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(winners) == 1
        assert winners[0].owner("x") == winners[0].me


def test_who_judged_a_lease_stale_before_another_took_it_over_loses(tmp_path, monkeypatch):
    """The slow client has found the dead one's lease stale; then the quick one takes it over; only
    then the slow one goes on.
    """
    dead, quick, slow = (client(tmp_path) for _ in range(3))
    assert dead.take("x")
    age(dead, 2 * DAYS)
    real = slow._stale

    def judged(path, owner):
        verdict = real(path, owner)
        if path.name == "x" and quick.owner("x") == dead.me:
            assert quick.take("x")
        return verdict

    monkeypatch.setattr(slow, "_stale", judged)
    assert not slow.take("x")
    assert quick.owner("x") == quick.me


def test_the_pulse_ends_with_the_last_lease(tmp_path):
    leases = Leases(tmp_path, 0.04)
    assert leases.take("x")
    pulse = leases._pulse
    leases.release("x")
    pulse.join(300)
    assert not pulse.is_alive()
    assert leases.take("x")
    assert leases._pulse.is_alive()
    leases.release("x")


def test_the_pulse_survives_a_server_that_is_away(tmp_path, monkeypatch):
    leases = Leases(tmp_path)
    leases.held.add("x")
    beats, asked = [], []

    def sleep(seconds):
        assert seconds < lease.LASTS / 2  # one lost beat is no death
        beats.append(seconds)
        if len(beats) == 4:
            leases.held.clear()

    def away(path):
        asked.append(path)
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr(lease.time, "sleep", sleep)
    monkeypatch.setattr(os, "utime", away)
    leases._beat()
    assert asked == [leases.folder / "x"] * 3


class Clock:
    """A clock of this process that stands where it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


ELSEWHERE = "elsewhere 4711 word realm"


def lease_of(leases, text, ahead=0.0):
    """A lease that another client left, dated so many seconds in the future."""
    leases.folder.mkdir(parents=True, exist_ok=True)
    path = leases.folder / "x"
    path.write_text(text)
    then = path.stat().st_mtime + ahead
    os.utime(path, (then, then))
    return path


def test_a_lease_dated_in_the_future_is_waited_for_as_long_as_one_lasts(tmp_path):
    clock = Clock()
    leases = Leases(tmp_path, clock=clock)
    lease_of(leases, ELSEWHERE, ahead=DAYS)
    for waited in (0.0, lease.LASTS / 2, lease.LASTS):
        clock.now = 1000.0 + waited
        assert not leases.take("x")
        # A worker opens the store anew for each batch, and does not begin to wait again.
        leases = Leases(tmp_path, clock=clock)
    said = leases.describe("x")
    assert "process 4711 on elsewhere" in said
    assert "in the future" in said
    assert "taken over in at most 60 s" in said
    clock.now += 0.1
    assert leases.take("x")
    assert leases.owner("x") == leases.me


def test_a_sign_of_life_of_a_wrong_clock_counts(tmp_path):
    clock = Clock()
    leases = Leases(tmp_path, clock=clock)
    path = lease_of(leases, ELSEWHERE, ahead=DAYS)
    assert not leases.take("x")
    for later in (DAYS + 15, DAYS + 30, DAYS + 45):
        clock.now += 0.9 * lease.LASTS
        os.utime(path, (time.time() + later,) * 2)
        assert not leases.take("x")
    clock.now += 1.1 * lease.LASTS
    assert leases.take("x")


def test_who_is_waited_for_is_told(tmp_path, monkeypatch, caplog):
    """And the run is made in the end, by a client whose clock goes on while it waits."""
    setting = TINY.change(steps=5)
    store, clock = tt.Store(tmp_path), Clock()
    store.leases = Leases(tmp_path, clock=clock)
    lease_of(store.leases, ELSEWHERE, ahead=DAYS).rename(store.leases.folder / setting.identity())
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        clock.now += 25.0
        assert len(slept) < 5, "it waits for ever"

    monkeypatch.setattr(execute, "time", SimpleNamespace(sleep=sleep))
    (run,) = tt.execute([setting], store=store, threads=1)
    assert run.complete
    assert len(slept) == 3
    assert caplog.text.count("process 4711 on elsewhere") == 1


def test_only_a_process_of_this_machine_is_known_to_be_gone(tmp_path, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    mine = Owner.of_this_process("word")
    gone = replace(mine, pid=process.pid)
    assert gone.is_gone
    assert Owner.read(str(gone)) == gone
    assert Owner.read(f"{gone.host} {gone.pid} word").is_gone  # as the oldest leases are written
    for other in (
        mine,
        replace(gone, host="elsewhere"),
        replace(gone, realm="another boot"),
        Owner.read(""),
        Owner.read(f"{gone.host} 0 word"),
        Owner.read(f"{gone.host} -{gone.pid} word"),
        Owner.read(f"{gone.host} {'9' * 400} word"),
        Owner.read(f"{gone.host} ² word"),
    ):
        assert not other.is_gone
    setting = TINY.change(steps=5)
    store = tt.Store(tmp_path)
    lease_of(store.leases, str(gone)).rename(store.leases.folder / setting.identity())
    waits = SimpleNamespace(sleep=lambda seconds: pytest.fail("it waits"))
    monkeypatch.setattr(execute, "time", waits)
    (run,) = tt.execute([setting], store=store, threads=1)
    assert run.complete


def test_whatever_lies_in_a_leases_place_is_no_obstacle_for_long(tmp_path, caplog):
    clock = Clock()
    odd = {
        "bytes": lambda path: path.write_bytes(bytes(range(256)) * 100),
        "a loop": lambda path: path.symlink_to(path.name),
        "a pipe": os.mkfifo,
        "a folder": lambda path: path.mkdir(),
    }
    for name, make in odd.items():
        leases = Leases(tmp_path / name, clock=clock)
        leases.folder.mkdir(parents=True)
        make(leases.folder / "x")
        assert not leases.take("x")
        assert "a client without a name" in leases.describe("x")
        clock.now += lease.LASTS + 1
        assert leases.take("x")
        leases.release("x")
        assert not [path for path in leases.folder.iterdir() if path.name != "x"]
    assert "another client may compute the same" in caplog.text  # a folder cannot be replaced


def test_a_lease_that_cannot_be_written_keeps_no_one_from_working(tmp_path, monkeypatch, caplog):
    leases = Leases(tmp_path)

    def full(handle, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    assert leases.take("x")
    assert leases.take("y")
    monkeypatch.undo()
    assert not list(leases.folder.iterdir())  # no lease without a name is left behind
    assert caplog.text.count("No space left on device") == 1
    leases.release("x")
