"""The process is killed at every write of the store, one by one, and no state that it leaves is
ever taken for a whole run.

A child is forked for every point of death: before each folder made, file opened, rename and
removal, and before and in the middle of each write to a file. Saving in it touches neither JAX nor
its threads: the run is made of NumPy arrays, and its bytes were made before.
"""

import json
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from killing import dies
from stored import TINY, a_run, assert_equal

import tutelage as tt
from tutelage.run import Outcome
from tutelage.running.store import store as store_module
from tutelage.running.store.encoding import encode, opened

SHORT, LONG = TINY.change(steps=100), TINY
NAME = {"short": "100", "long": "400", "stopped": "50", "later": "80"}


@cache
def runs():
    stopped = {
        name: a_run(LONG, Outcome.STOPPED, taken=int(NAME[name])) for name in ("stopped", "later")
    }
    return {"short": a_run(SHORT), "long": a_run(LONG), **stopped}


@cache
def pieces():
    return {
        name: encode(run, run.setting.change(steps=int(NAME[name]))) for name, run in runs().items()
    }


@dataclass
class Scene:
    """What is there before, what is done, what must be whole afterwards whatever happens, and what
    when it is done.
    """

    before: tuple[str, ...]
    act: object
    always: tuple[str, ...] = ()  # each of these is whole at every point
    one_of: tuple[str, ...] = ()  # of these at least one is
    done: tuple[str, ...] = ("long",)
    harm: str = ""  # the file of the long run that is damaged before


def save(name):
    return lambda store: store.save(runs()[name])


class Verdict:
    def plain(self):
        return {"status": "HOLDS"}


SCENES = {
    "a new run": Scene((), save("long")),
    "over a cut run": Scene(("long",), save("long"), harm="curves.parquet"),
    "over a run without its last file": Scene(("long",), save("long"), harm="run.json"),
    "over the same run": Scene(("long",), save("long")),
    "an extension": Scene(("short",), save("long"), always=("short",), done=("short", "long")),
    "going on from a checkpoint": Scene(("stopped",), save("long"), one_of=("stopped", "long")),
    "a later checkpoint": Scene(
        ("stopped",), save("later"), one_of=("stopped", "later"), done=("later",)
    ),
    "verdicts beside it": Scene(
        ("long",), lambda store: store.attach(runs()["long"].setting, [Verdict()]), always=("long",)
    ),
    "a failure": Scene(
        ("short",),
        lambda store: store.save_failure(LONG, ValueError("no")),
        always=("short",),
        done=("short",),
    ),
    "removal": Scene(
        ("short", "long"),
        lambda store: store.remove(f"{LONG.identity()}/400"),
        always=("short",),
        done=("short",),
    ),
}


@pytest.fixture(autouse=True)
def _bytes_made_before(monkeypatch):
    made = {NAME[name]: made for name, made in pieces().items()}
    monkeypatch.setattr(store_module, "encode", lambda run, setting: made[str(setting.steps)])


def whole(store, root):
    """The runs that a fresh store takes for whole; each must have the very bytes that were saved,
    and all others a named trouble.
    """
    found = set()
    for entry in store.entries():
        if entry.name.endswith("failed.json"):
            continue
        name = next(name for name in NAME if entry.name.endswith(f"/{NAME[name]}"))
        if store.verify(entry.name) == "":
            found.add(name)
            for file, data in pieces()[name].items():
                assert Path(root, entry.name, file).read_bytes() == data
    return found


@pytest.mark.brief(5)
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("kind", ["folders", "objects"])
def test_death_at_every_write(kind, scene, tmp_path, capsys):
    if kind == "objects":
        pytest.importorskip("fsspec")
    scene = SCENES[scene]

    def fresh(root):
        return tt.Store(f"file://{root}" if kind == "objects" else root)

    begin = tmp_path / "begin"
    for name in scene.before:
        fresh(begin).save(runs()[name])
    if scene.harm:
        harmed = begin / LONG.identity() / "400" / scene.harm
        harmed.write_bytes(harmed.read_bytes()[:-3])
    point, died = 0, True
    while died:
        root = tmp_path / str(point)
        if begin.exists():
            shutil.copytree(begin, root)
        died = dies(lambda root=root: scene.act(fresh(root)), point)
        store = fresh(root)
        found = whole(store, root)
        assert set(scene.always) <= found
        if (
            kind == "folders"
        ):  # whole or not there, notes too; an object store sees to the latter by itself
            assert scene.harm or not any(entry.trouble for entry in store.entries())
            assert all(opened(path.read_bytes()) for path in root.glob("*/failed.json"))
            assert all(json.loads(path.read_text()) for path in root.glob("*/*/verdicts.json"))
        assert not scene.one_of or set(scene.one_of) & found
        assert ("long" in found) or not store.holds(LONG)
        if not died:
            assert found == set(scene.done)
        elif "long" in scene.done:  # and the next process mends it
            store.save(runs()["long"])
            assert whole(fresh(root), root) == set(scene.done)
        point += 1
    assert point > (2 if scene.before else 12), "too few points of death were seen"
    capsys.readouterr()  # what was named


def test_a_run_that_outlived_its_process_is_equal_to_the_one_saved(tmp_path):
    """That bytes which are whole are the run, decoded: once, since it takes JAX."""
    store = tt.Store(tmp_path)
    store.save(runs()["long"])
    assert_equal(tt.Store(tmp_path).find(LONG), runs()["long"])
