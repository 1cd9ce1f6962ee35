"""Folders and object stores keep one promise: every place passes the same table of tests."""

import os
import time
import uuid
from pathlib import Path

import pytest

from tutelage.refuse import Refused
from tutelage.running.store.places import LEFT_BEHIND, Folders, place_of

PLACES = ["folder", "synced folder", "memory://", "file://"]


@pytest.fixture(params=PLACES)
def place(request, tmp_path):
    if request.param.endswith("folder"):
        return place_of(tmp_path / "deep" / "root", sync=request.param == "synced folder")
    pytest.importorskip("fsspec")
    root = uuid.uuid4().hex if request.param == "memory://" else str(tmp_path / "deep" / "root")
    return place_of(request.param + root, sync=False)


def put_then_read(place):
    place.put("a/10", {"one": b"1", "last": b"22"})
    assert place.names("a/10") == ["last", "one"]
    assert place.sizes("a/10") == {"one": 1, "last": 2}
    assert place.read("a/10/last") == b"22"
    assert place.names("") == ["a"]
    assert place.names("a") == ["10"]


def put_replaces_all_that_was_there(place):
    place.put("a/10", {"old": b"1", "last": b"22"})
    place.put("a/10", {"new": b"333", "last": b"4"})
    assert place.sizes("a/10") == {"new": 3, "last": 1}
    assert place.names("a") == ["10"]


def write_is_one_file_and_replaces_it(place):
    place.write("a/failed.json", b"first")
    place.write("a/failed.json", b"again")
    assert place.read("a/failed.json") == b"again"
    assert place.names("a") == ["failed.json"]


def write_adds_to_a_run(place):
    place.put("a/10", {"last": b"4"})
    place.write("a/10/verdicts.json", b"[]")
    assert place.names("a/10") == ["last", "verdicts.json"]


def what_is_not_there_is_empty_or_not_found(place):
    for _ in range(2):  # before the root exists, and after
        assert place.names("") in ([], ["b"])
        assert place.names("a") == []
        assert place.sizes("a/10") == {}
        assert not place.exists("a")
        for name in ("a/10/last", "a"):
            with pytest.raises(FileNotFoundError):
                place.read(name)
        place.remove("a/10")
        place.put("b/1", {"last": b""})


def a_file_is_no_folder_and_a_folder_no_file(place):
    place.write("a/10", b"a stray file")
    assert place.names("a/10") == []
    assert place.sizes("a/10") == {}
    for name in ("a", "a/10/last"):
        with pytest.raises(FileNotFoundError):
            place.read(name)


def remove_takes_all_of_it_and_nothing_else(place):
    place.put("a/10", {"last": b"4"})
    place.put("a/20", {"last": b"4"})
    place.write("a/failed.json", b"x")
    place.remove("a/10")
    place.remove("a/failed.json")
    assert place.names("a") == ["20"]
    place.remove("a")
    assert place.names("a") == []
    assert not place.exists("a/20")


def nothing_is_left_aside(place):
    place.put("a/10", {"last": b"4"})
    place.put("a/10", {"last": b"5"})
    place.write("a/failed.json", b"x")
    place.remove("a/failed.json")
    place.tidy()
    if isinstance(place, Folders):
        assert os.listdir(place.root) == ["a"]


TABLE = [
    put_then_read,
    put_replaces_all_that_was_there,
    write_is_one_file_and_replaces_it,
    write_adds_to_a_run,
    what_is_not_there_is_empty_or_not_found,
    a_file_is_no_folder_and_a_folder_no_file,
    remove_takes_all_of_it_and_nothing_else,
    nothing_is_left_aside,
]


@pytest.mark.parametrize("promise", TABLE, ids=lambda promise: promise.__name__)
def test_every_place(place, promise):
    promise(place)


def test_what_the_dead_left_is_tidied_and_what_the_living_build_is_not(tmp_path):
    place = Folders(tmp_path, sync=False)
    dead, alive = tmp_path / ".writing-dead", tmp_path / ".writing-alive"
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "built").mkdir()
    old = time.time() - LEFT_BEHIND - 60
    os.utime(dead, (old, old))
    place.tidy()
    assert not dead.exists()
    assert alive.exists()


def test_tidying_goes_by_the_file_systems_clock(tmp_path, monkeypatch):
    place = Folders(tmp_path, sync=False)
    (tmp_path / ".writing-alive").mkdir()
    monkeypatch.setattr(time, "time", lambda: 4e9)  # this machine's clock is decades ahead
    place.tidy()
    assert (tmp_path / ".writing-alive").exists()


def test_a_full_disk_leaves_what_was_there_and_nothing_aside(tmp_path, monkeypatch):
    place = Folders(tmp_path, sync=False)
    place.put("a/10", {"one": b"1", "last": b"2"})

    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place, "_fill", full)
    with pytest.raises(OSError, match="No space"):
        place.put("a/10", {"one": b"3", "last": b"4"})
    assert place.read("a/10/one") == b"1"
    assert os.listdir(tmp_path) == ["a"]


def test_a_rename_that_fails_for_another_reason_leaves_what_was_there(tmp_path, monkeypatch):
    place = Folders(tmp_path, sync=False)
    place.put("a/10", {"last": b"2"})
    real = os.rename

    def broken(source, target):
        if Path(target).name == "10":
            raise PermissionError(13, "Permission denied")
        pytest.fail(f"{source} was moved away")

    monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(PermissionError):
        place.put("a/10", {"last": b"4"})
    monkeypatch.setattr(os, "rename", real)
    assert place.read("a/10/last") == b"2"


@pytest.mark.parametrize(
    "meanwhile",
    [lambda two: two.put("a/10", {"last": b"whole"}), lambda two: two.remove("a/10")],
    ids=["put", "removed"],
)
def test_two_clients_that_replace_one_run_both_succeed(tmp_path, monkeypatch, meanwhile):
    """What the other does between this one's failed rename and its moving the old run away."""
    one, two = Folders(tmp_path, sync=False), Folders(tmp_path, sync=False)
    one.put("a/10", {"last": b"damaged"})
    real, waiting = os.rename, [meanwhile]

    def rename(source, target):
        if str(target).endswith("old-0") and waiting:
            waiting.pop()(two)
        return real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    one.put("a/10", {"last": b"whole"})
    assert one.read("a/10/last") == b"whole"


def test_a_file_in_the_way_of_a_run_is_replaced(tmp_path):
    place = Folders(tmp_path, sync=False)
    place.write("a/10", b"in the way")
    place.put("a/10", {"last": b"4"})
    assert place.read("a/10/last") == b"4"


def test_the_permissions_are_those_of_the_umask(tmp_path):
    Folders(tmp_path, sync=False).put("a/10", {"last": b"2"})
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "file").write_bytes(b"")
    assert (tmp_path / "a" / "10").stat().st_mode == plain.stat().st_mode
    assert (tmp_path / "a" / "10" / "last").stat().st_mode == (plain / "file").stat().st_mode


def test_addresses_that_fsspec_does_not_know_are_refused():
    pytest.importorskip("fsspec")
    with pytest.raises(Refused, match="fsspec knows"):
        place_of("nosuch://bucket/runs", sync=False)
