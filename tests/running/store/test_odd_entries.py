"""One odd entry of a store, whoever made it, is a row with its reason; all else goes on."""

import builtins
import contextlib
import copy
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from stored import BY_HAND, TINY, a_run, assert_equal

import tutelage as tt
import tutelage.cli.runs
from tutelage.cli import main, runs_screen
from tutelage.explorer import saved
from tutelage.explorer.site import find_site
from tutelage.forms import read_json
from tutelage.running.store.about import ABOUT, Damaged, opened, sealed
from tutelage.running.store.tables import row

runs_module = sys.modules["tutelage.cli.runs"]
SOUND = TINY.change(seed=1)
ODD = TINY.change(seed=2)
VALUES = (None, True, -1, 2**70, 10**400, 0.5, float("nan"), "", "²", "[/]", [], [[]], {}, {"a": 1})
HARD_TO_PRINT = (10**400, "[/]")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with one sound run, and one that each test makes odd."""
    root = tmp_path_factory.mktemp("made") / "runs"
    store = tt.Store(root)
    for setting in (SOUND, ODD):
        store.save(a_run(setting))
    return root.parent


@pytest.fixture
def out(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def call(capsys, *arguments):
    """The exit code and what was printed; anything but an exit is an error of the test."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out + shown.err


def forge(folder, about):
    (folder / ABOUT).write_bytes(sealed(about))


def loop(path):
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def fifo(path):
    path.unlink()
    os.mkfifo(path)


def locked(monkeypatch, path):
    """As a folder or file of mode 000 is to everyone but root."""
    inside = f"{path}/"
    for module, name in ((os, "listdir"), (os, "scandir"), (os, "stat"), (builtins, "open")):
        real = getattr(module, name)

        def refuse(given, *args, real=real, itself=name != "stat", **more):
            if str(given).startswith(inside) or (itself and str(given) == str(path)):
                raise PermissionError(13, "Permission denied", str(given))
            return real(given, *args, **more)

        monkeypatch.setattr(module, name, refuse)


ODDITIES = {
    "a folder that cannot be entered": lambda run, patch: locked(patch, run.parent),
    "a run that cannot be entered": lambda run, patch: locked(patch, run),
    "a run.json that cannot be read": lambda run, patch: locked(patch, run / ABOUT),
    "a folder that leads to itself": lambda run, patch: loop(run.parent),
    "a run that leads to itself": lambda run, patch: loop(run),
    "a run.json that leads to itself": lambda run, patch: loop(run / ABOUT),
    "curves that lead to themselves": lambda run, patch: loop(run / "curves.parquet"),
    "a pipe": lambda run, patch: fifo(run / ABOUT),
    "a folder named ²": lambda run, patch: run.rename(run.with_name("²")),
    "a folder named 0400": lambda run, patch: run.rename(run.with_name("0400")),
    "a list": lambda run, patch: forge(run, {"seal": 1, "format": []}),
    "nothing": lambda run, patch: (run / ABOUT).write_bytes(b""),
    "deep": lambda run, patch: reseal(run, b'"a": ' + b"[" * 10**5 + b"]" * 10**5 + b"}"),
    "half a character": lambda run, patch: change(run, "note", "\\ud800"),
    "a digit too many": lambda run, patch: reseal(run, b'"format": ' + b"2" * 5000 + b"}"),
    "an outcome of a measure's name": lambda run, patch: change(run, "last", {"outcome": 1.0}),
    "a run that could not be run": lambda run, patch: change(run, "outcome", "FAILED"),
}


def reseal(run, rest):
    """Any bytes under a right seal."""
    seal = b'{"seal": "' + hashlib.sha256(rest).hexdigest().encode() + b'", '
    (run / ABOUT).write_bytes(seal + rest)


def change(run, key, value):
    about = opened((run / ABOUT).read_bytes())
    text = json.dumps(about | {key: value}).replace("\\\\ud", "\\ud")
    reseal(run, text.encode()[1:])


SWEEP = """
seeds = [1, 2]
[setting]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 2, dim = 3 }
rate = 0.1
steps = 400
"""


@pytest.mark.brief(5)
@pytest.mark.parametrize("oddity", ODDITIES)
def test_every_command_goes_on_beside_it(oddity, out, capsys, monkeypatch, tmp_path):
    store = tt.Store(out / "runs")
    run = Path(store.path(ODD))
    ODDITIES[oddity](run, monkeypatch)
    sound, odd = SOUND.identity(), ODD.identity()
    whole = oddity == "an outcome of a measure's name"  # which is odd, and no damage

    code, text = call(capsys, "runs", "--store", out)
    assert (code, sound[:8] in text) == (0, True)
    assert (f"{odd}" in text and "is damaged and not used" in text) is not whole
    code, text = call(capsys, "runs", "--store", out, "--json", "--sort", "seed")
    assert code == 0
    assert call(capsys, "runs", "show", sound, "--store", out)[0] == 0
    code, text = call(capsys, "runs", "show", odd, "--store", out)
    assert (code, "DAMAGED" in text) == (0, not whole)
    code, text = call(capsys, "runs", "compare", sound, odd, "--store", out)
    assert code == (0 if whole else 2)
    code, text = call(capsys, "runs", "check", "--store", out)
    assert (code, odd in text) == ((0, False) if whole else (1, True))
    file = tmp_path / "small.toml"
    file.write_text(SWEEP)
    code, text = call(capsys, "runs", "lacking", file, "--store", out)
    assert code == (0 if whole else 1)
    listed = saved.listed(str(out), "", find_site())
    assert {row["identity"] for row in listed["runs"]} == {sound, odd}
    table = tt.table(store)
    assert set(table["run"].str[:20]) == ({sound, odd} if whole else {sound})
    assert_equal(tt.load(store.path(SOUND)), a_run(SOUND))
    if not whole:
        with pytest.raises(tt.Refused):
            tt.load(run)
    if not whole:
        assert call(capsys, "animate", odd, "--store", out)[0] == 2
    code, text = call(capsys, "runs", "remove", odd, "--store", out, "--yes")
    monkeypatch.undo()
    assert (code == 0 and not (out / "runs" / odd).exists()) or "cannot be removed" in text
    assert tt.Store(out / "runs").verify(f"{sound}/400") == ""


@pytest.mark.parametrize("oddity", ["a folder that leads to itself", "a list", "a folder named ²"])
def test_a_sweep_goes_on_beside_it(oddity, out, capsys, monkeypatch, tmp_path):
    """The odd one is run again where that is possible, and is otherwise a row with the reason."""
    ODDITIES[oddity](Path(tt.Store(out / "runs").path(ODD)), monkeypatch)
    file = tmp_path / "small.toml"
    file.write_text(SWEEP)
    code, text = call(capsys, "sweep", file, "--out", out, "--json")
    rows = json.loads(text[text.index('{\n "rows"') : text.rindex("}") + 1])["rows"]
    assert [row["seed"] for row in rows] == [1, 2]
    assert rows[0]["outcome"] == "FINISHED"
    if oddity == "a folder that leads to itself":
        assert code == 1
        assert "could not be saved" in rows[1]["reason"]
    else:
        assert (code, rows[1]["outcome"]) == (0, "FINISHED")


def fields(value, path=()):
    """The path of every entry of plain data, down to the last."""
    if path:
        yield path
    inside = {dict: lambda: value.items(), list: lambda: enumerate(value)}
    for key, item in inside.get(type(value), tuple)():
        yield from fields(item, (*path, key))


def put(about, path, value):
    changed = copy.deepcopy(about)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def drop(about, path):
    changed = copy.deepcopy(about)
    at = changed
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return changed


@pytest.mark.parametrize(
    "failed",
    [pytest.param(False, id="a run", marks=pytest.mark.depth), pytest.param(True, id="a failure")],
)
def test_whatever_stands_in_a_field_is_a_value_or_a_named_damage(failed, tmp_path, capsys):
    """Every field of `run.json` and of `failed.json` with a value of every type, and without it."""
    store, given = tt.Store(tmp_path / "runs"), ODD if failed else BY_HAND
    sound = Path(store.save(a_run(SOUND)))
    path = Path(store.path(given)) / ABOUT
    if failed:
        store.save_failure(given, ValueError("no"))
        path = path.parents[1] / "failed.json"
    else:
        store.save(a_run(given))
    about = read_json(path.read_bytes())
    del about["seal"]
    name = str((path if failed else path.parent).relative_to(store.root))
    forged = [(value, put(about, where, value)) for where in fields(about) for value in VALUES]
    forged += [(None, drop(about, where)) for where in fields(about)]
    usable = 0
    for value, each in forged:
        path.write_bytes(sealed(each))
        entries = {entry.name: entry for entry in store.entries()}
        assert set(entries) == {str(sound.relative_to(store.root)), name}
        entry = entries[name]
        assert isinstance(store.holds(given), bool)
        if entry.trouble:
            assert row(entry)["note"] == entry.trouble
            continue
        usable += 1
        rows = runs_module._sort_rows([row(entry) for entry in entries.values()], None)
        if value in HARD_TO_PRINT:  # since printing takes most of the time
            runs_screen.print_list(rows, (), store.root, everything=True, filtered=False)
            runs_screen.print_run(store, [entry])
        assert isinstance(store.verify(name), str)
        for read in (store.setting, store.curves):
            with contextlib.suppress(Damaged):
                read(entry)
    capsys.readouterr()
    assert len(forged) > 300
    assert 0 < usable < len(forged) / 2  # such as a note of other words


def test_arrays_that_are_gone_are_told_and_not_animated(tmp_path, capsys):
    """Its `run.json` and all sizes are right, so that only the bytes give it away."""
    store = tt.Store(tmp_path / "runs")
    file = Path(store.save(a_run(BY_HAND))) / "given.safetensors"
    file.write_bytes(bytes(file.stat().st_size))
    code, text = call(capsys, "animate", BY_HAND.identity(), "--store", tmp_path)
    assert code == 2
    assert "given.safetensors does not have the bytes" in text
