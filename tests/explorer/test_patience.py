"""Time limits cover preparation, and nothing more is prepared for someone who has left."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from server import PATIENCE, serving, wait

import tutelage as tt
from tutelage.explorer.limits import Limits
from tutelage.explorer.server import Explorer
from tutelage.problem.registry import register, registered

QUERY = "teacher=held_up&steps=10&rate=0.1"


class Gate:
    """A teacher that is not built until the gate opens, and what was built after it."""

    def __init__(self) -> None:
        self.reached, self.opened, self.after = threading.Event(), threading.Event(), list[str]()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()

    @register("teacher", "held_up", goes_with={"student": ("watched",)})
    def _held_up(seed: int) -> object:
        gate.reached.set()
        assert gate.opened.wait(PATIENCE)
        return tt.convolution([[1.0, 2.0]], tokens=4, support=2)

    usual = registered("student", "position_attention").factory

    @register("student", "watched")
    def _watched(teacher: object, seed: int) -> object:
        gate.after.append("student")
        return usual(teacher, seed)

    yield gate
    gate.opened.set()


@pytest.fixture
def slow(gate: Gate) -> Iterator[tuple[Explorer, str]]:
    """A server that gives each visitor a moment."""
    with serving(1, Limits(seconds=0.5)) as found:
        yield found
        gate.opened.set()


def test_a_description_that_takes_too_long_is_answered_all_the_same(gate, slow):
    explorer, address = slow
    answer = httpx.get(f"{address}/api/describe?{QUERY}", timeout=PATIENCE).json()
    assert not gate.opened.is_set()
    assert answer["ok"] is False
    assert "while it was still being prepared" in answer["sentence"]
    assert explorer.describing.running.total() == 1  # its thread cannot be stopped, and counts
    gate.opened.set()
    wait(lambda: explorer.describing.running.total() == 0)
    assert gate.after == []


def test_a_run_that_takes_too_long_to_prepare_ends_with_that_sentence(gate, slow):
    explorer, address = slow
    answer = httpx.get(f"{address}/api/run?{QUERY}", timeout=PATIENCE)
    last = json.loads(answer.text.splitlines()[-1])
    assert not gate.opened.is_set()
    assert last["outcome"] == "STOPPED"
    assert "while it was still being prepared" in last["sentence"]
    assert explorer.slots.running.total() == 1
    gate.opened.set()
    wait(lambda: explorer.slots.running.total() == 0)
    assert gate.after == []


@pytest.mark.parametrize("what", ["describe", "run"])
def test_nothing_more_is_built_for_someone_who_has_left(gate, what):
    with serving(1, Limits(seconds=PATIENCE)) as (explorer, address):
        slots = explorer.describing if what == "describe" else explorer.slots
        host = urlsplit(address)
        with socket.create_connection((host.hostname, host.port), PATIENCE) as visitor:
            asked = f"GET /api/{what}?{QUERY} HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n"
            visitor.sendall(asked.encode())
            wait(gate.reached.is_set)  # leaves in the midst of it, however slow the machine is
        assert httpx.get(f"{address}/saved", timeout=PATIENCE).status_code == 200  # has seen it
        gate.opened.set()
        wait(lambda: slots.running.total() == 0)
        assert gate.after == []


def test_a_description_waits_for_its_turn_and_gives_it_up_when_the_client_leaves(gate):
    with serving(1, Limits(seconds=PATIENCE)) as (explorer, address):
        each = explorer.describing.each
        with httpx.Client() as client:
            for _ in range(each + 1):
                with pytest.raises(httpx.ReadTimeout):
                    client.get(
                        f"{address}/api/describe?{QUERY}",
                        timeout=httpx.Timeout(PATIENCE, read=0.5),
                    )
        wait(lambda: explorer.describing.waiting == [])
        assert explorer.describing.running.total() <= each
        gate.opened.set()
        wait(lambda: explorer.describing.running.total() == 0)


def test_a_description_that_is_in_time_is_given(gate):
    gate.opened.set()
    with serving(1, Limits(seconds=PATIENCE)) as (_, address):
        answer = httpx.get(f"{address}/api/describe?{QUERY}", timeout=PATIENCE).json()
    assert answer["ok"] is True
    assert gate.after == ["student"]
