"""One client a setting: of many that want it one gets it, the dead lose it, and clocks that differ
do not matter.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tutelage.running.store import lease
from tutelage.running.store.lease import Leases

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
    assert not leases.take("x")  # it may be alive
    age(leases, 2 * DAYS)
    assert leases.take("x")
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

    def judged(path):
        verdict = real(path)
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
