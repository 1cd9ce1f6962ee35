"""A real server on a real socket: events as they come, runs that stop when no one listens, the
queue, and how it starts and ends.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from server import PATIENCE, serving, wait

from tutelage.cli import main
from tutelage.explorer.serving import listen
from tutelage.explorer.slots import Slots

TINY = "teacher.tokens=4&teacher.support=2&teacher.outputs=1&teacher.dim=2&teacher.norm=4&rate=0.1"
# On its plateau to the end, and so neither converged nor done soon
LONG = f"{TINY}&rate=1e-6&steps=1000000"


def until(lines: Iterator[str], name: str) -> dict:
    """The first event of that name."""
    return next(event for event in map(json.loads, lines) if event["event"] == name)


def test_points_come_while_it_runs_and_closing_stops_it():
    with serving(1) as (explorer, address), httpx.Client(timeout=PATIENCE) as client:
        with client.stream("GET", f"{address}/api/run?{LONG}") as answer:
            points = until(answer.iter_lines(), "points")
            assert points["at"] < 1_000_000
            assert explorer.slots.running.total() == 1
        wait(lambda: explorer.slots.running.total() == 0)
        assert not explorer.held.runs  # it did not finish


def test_a_second_visitor_waits_in_the_queue_and_then_runs():
    with serving(1) as (explorer, address), httpx.Client(timeout=PATIENCE) as client:
        with client.stream("GET", f"{address}/api/run?{LONG}&visitor=one") as first:
            until(first.iter_lines(), "points")
            with client.stream("GET", f"{address}/api/run?{TINY}&steps=10&visitor=two") as second:
                lines = second.iter_lines()
                assert until(lines, "queued")["ahead"] == 1
                first.close()
                assert until(lines, "end")["outcome"] == "FINISHED"
        wait(lambda: explorer.slots.running.total() == 0)


def test_a_visitors_new_run_replaces_their_old_one():
    with (
        serving(2) as (_, address),
        httpx.Client(timeout=PATIENCE) as client,
        client.stream("GET", f"{address}/api/run?{LONG}&visitor=me") as old,
    ):
        lines = old.iter_lines()
        until(lines, "points")
        with client.stream("GET", f"{address}/api/run?{TINY}&steps=10&visitor=me") as new:
            assert until(lines, "end")["outcome"] == "STOPPED"
            assert until(new.iter_lines(), "end")["outcome"] == "FINISHED"


def test_the_server_ends_though_a_run_goes_on():
    with serving(1) as (explorer, address), httpx.Client(timeout=PATIENCE) as client:
        stream = client.stream("GET", f"{address}/api/run?{LONG}")
        until(stream.__enter__().iter_lines(), "points")
    assert explorer.slots.running.total() == 0


def test_no_visitor_takes_more_than_half_of_the_slots():
    async def scene() -> None:
        slots = Slots(4)
        mine = [slots.enter("me") for _ in range(3)]
        assert [ticket.ready for ticket in mine] == [True, True, False]
        other = slots.enter("you")
        assert other.ready  # before my third, which came first
        assert slots.ahead(mine[2]) == 1
        slots.leave(mine[0])
        assert mine[2].ready
        waiting = [slots.enter("me"), slots.enter("you"), slots.enter("her")]
        assert [ticket.ready for ticket in waiting] == [False, True, False]
        slots.leave(waiting[0])  # it gave up
        slots.leave(mine[1])
        assert waiting[2].ready
        assert Slots(1).enter("alone").ready

    asyncio.run(scene())


def test_a_port_in_use_is_refused(capsys):
    with listen("127.0.0.1", 0) as taken, pytest.raises(SystemExit) as ended:
        main(["explore", "--no-open", "--port", str(taken.getsockname()[1])])
    assert ended.value.code == 2
    assert "must be an address that is free here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--tokens=0", "`tokens` must"),
        ("--seconds=-1", "`seconds` must"),
        ("--port=-1", "`port` must"),
        ("--port=99999", "free here"),
    ],
)
def test_bad_options_are_refused(given, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["explore", "--no-open", given])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_the_command_says_its_address_warns_and_ends_cleanly():
    command = [sys.executable, "-m", "tutelage", "explore", "--no-open", "--host", "0.0.0.0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            line = process.stdout.readline()
            address = re.search(r"(http://\S+)(\?token=\S+)", line)
            assert address is not None, line
            asked = f"{address[1]}api/catalogue"
            assert httpx.get(asked, timeout=PATIENCE).status_code == 401  # without its token
            found = httpx.get(asked + address[2], timeout=PATIENCE, follow_redirects=True)
            assert found.status_code == 200
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "not loopback" in said
    assert said.strip().endswith("the explorer has ended.")
