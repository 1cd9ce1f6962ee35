"""With `sync` nothing counts as saved before it is on the disk: files, then their folder, then the
rename, then the folder above.
"""

import builtins
import os
from pathlib import Path

import pytest
from stored import TINY, a_run

import tutelage as tt
from tutelage.run import Outcome


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """What was done to the file system below the test's folder, in order: (what, path)."""
    seen = []

    def watch(module, name, path_of):
        real = getattr(module, name)

        def watched(*args, **options):
            path = path_of(*args)
            result = real(*args, **options)
            if path is not None and path.startswith(str(tmp_path)):
                seen.append((name, os.path.relpath(path, tmp_path)))
            return result

        monkeypatch.setattr(module, name, watched)

    watch(os, "fsync", lambda handle: os.readlink(f"/proc/self/fd/{handle}"))
    watch(os, "rename", lambda source, target: str(target))
    watch(os, "mkdir", lambda path, *_: str(path))
    watch(builtins, "open", lambda path, mode="r", *_: str(path) if "w" in mode else None)
    return seen


def saved(calls, store, run):
    calls.clear()
    return Path(store.save(run)).relative_to(Path(store.root).parent).as_posix()


@pytest.mark.skipif(
    not os.path.exists("/proc/self/fd"), reason="the paths of open files are read from /proc"
)
def test_every_file_and_folder_is_on_the_disk_before_what_relies_on_it(tmp_path, calls):
    store = tt.Store(tmp_path / "out" / "runs", sync=True)
    place = saved(calls, store, a_run()).replace("runs/", "out/runs/", 1)
    (renamed,) = [at for at, call in enumerate(calls) if call == ("rename", place)]
    before, after = calls[:renamed], calls[renamed + 1 :]
    files = [path for what, path in before if what == "open"]
    assert {Path(path).name for path in files} == {"curves.parquet", "end.safetensors", "run.json"}
    built = {str(Path(path).parent) for path in files}
    assert len(built) == 1
    (folder,) = built
    for path in files:
        assert (
            before.index(("open", path))
            < before.index(("fsync", path))
            < before.index(("fsync", folder))
        )
    assert after[0] == ("fsync", str(Path(place).parent))
    # Every folder that was made, but for what is built aside, is entered in the one above it before
    # the run is moved below it.
    for at, (what, path) in enumerate(calls):
        if what == "mkdir" and ".writing-" not in path:
            assert ("fsync", str(Path(path).parent)) in calls[at:renamed]


@pytest.mark.skipif(
    not os.path.exists("/proc/self/fd"), reason="the paths of open files are read from /proc"
)
def test_what_is_replaced_is_not_removed_before_the_new_is_on_the_disk(
    tmp_path, calls, monkeypatch
):
    store = tt.Store(tmp_path, sync=True)
    store.save(a_run())
    store.save(a_run(TINY.change(steps=900), Outcome.STOPPED, taken=700))
    removed = []
    real = os.unlink
    monkeypatch.setattr(
        os, "unlink", lambda *a, **k: (removed.append(len(calls)), real(*a, **k))[1]
    )
    store.save(a_run())
    settled = calls.index(("fsync", TINY.identity()))
    assert removed
    assert min(removed) > settled
    removed.clear()
    calls.clear()
    store.save(a_run(TINY.change(steps=900)))  # the checkpoint that it went on from goes
    assert min(removed) > calls.index(("fsync", TINY.identity()))


def test_without_sync_nothing_is_synced(tmp_path, calls):
    store = tt.Store(tmp_path)
    store.save(a_run())
    store.save_failure(TINY, ValueError("no"))
    assert [call for call in calls if call[0] == "fsync"] == []
    assert [call for call in calls if call[0] == "rename"]


@pytest.mark.skipif(
    not os.path.exists("/proc/self/fd"), reason="the paths of open files are read from /proc"
)
def test_a_note_of_a_failure_is_synced_too(tmp_path, calls):
    tt.Store(tmp_path, sync=True).save_failure(TINY, ValueError("no"))
    what = [name for name, path in calls if ".writing-" not in path or path.endswith("built")]
    assert what.index("fsync") < what.index("rename") < len(what) - 1
    assert calls[-1] == ("fsync", TINY.identity())
    assert ("fsync", ".") in calls  # which holds the new folder of that identity
