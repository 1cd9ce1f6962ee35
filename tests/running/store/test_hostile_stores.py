"""What someone else put into a store, a sweep's name or a file of images leads nowhere outside,
commands no terminal and fills no memory.
"""

import gzip
import json
import struct

import pytest
from stored import TINY, a_run

import tutelage as tt
from tutelage.cli import main
from tutelage.forms import read_json
from tutelage.inputs import idx
from tutelage.running.store.about import ABOUT, opened, sealed
from tutelage.studies.sweep_files import read_sweep

COMMANDS = "\x1b\x07\x9b\x7f\x08\r"
FORGED = "\x1b]0;mine\x07\x1b[2J\x9b31m\x7f\x08\r a note"


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out + shown.err


@pytest.fixture
def store(tmp_path):
    store = tt.Store(tmp_path / "out" / "runs")
    store.save(a_run(TINY))
    return store


def test_a_run_that_is_reached_by_a_link_is_not_removed(store, tmp_path, capsys):
    inside, outside = tmp_path / "out" / "runs" / TINY.identity(), tmp_path / "elsewhere"
    inside.rename(outside)
    inside.symlink_to(outside)
    before = sorted(outside.rglob("*"))
    asked = ("runs", "remove", TINY.identity(), "--store", tmp_path / "out", "--yes")
    code, said = call(capsys, *asked)
    assert code == 1
    assert "may lie outside of the store" in said
    assert sorted(outside.rglob("*")) == before


def test_a_link_to_a_run_is_removed_and_not_what_it_leads_to(store, tmp_path, capsys):
    run = tmp_path / "out" / "runs" / TINY.identity() / str(TINY.steps)
    outside = tmp_path / "elsewhere"
    run.rename(outside)
    run.symlink_to(outside)
    asked = ("runs", "remove", TINY.identity(), "--store", tmp_path / "out", "--yes")
    assert call(capsys, *asked)[0] == 0
    assert not run.is_symlink()
    assert (outside / ABOUT).exists()


@pytest.mark.parametrize("name", ["...toml", "..toml"])
def test_a_sweep_writes_below_the_folder_that_was_asked_for(tmp_path, name):
    (tmp_path / name).write_text('study = "teacher-models/rates"\n')
    with pytest.raises(tt.Refused, match="this must be a name"):
        read_sweep(tmp_path / name)


def test_a_forged_note_commands_no_terminal(store, tmp_path, capsys):
    path = tmp_path / "out" / "runs" / TINY.identity() / str(TINY.steps) / ABOUT
    about = opened(path.read_bytes())
    about["note"] = FORGED
    path.write_bytes(sealed(about))
    for words in (("list",), ("show", TINY.identity())):
        _, said = call(capsys, "runs", *words, "--store", tmp_path / "out")
        assert not set(COMMANDS) & set(said)
    assert "a note" in said


@pytest.mark.parametrize("name", ["x=1), __import__('os').system('echo in'), #", "two words", "if"])
def test_a_forged_name_of_an_option_becomes_no_code(name, store, tmp_path, capsys):
    """`runs show` writes a setting as Python, which a reader may run."""
    with pytest.raises(tt.Refused, match="The name of an option is a word"):
        tt.Part("convolution", **{name: 4})
    path = tmp_path / "out" / "runs" / TINY.identity() / str(TINY.steps) / ABOUT
    about = opened(path.read_bytes())
    about["setting"]["teacher"][name] = 4
    path.write_bytes(sealed(about))
    _, said = call(capsys, "runs", "show", TINY.identity(), "--store", tmp_path / "out")
    assert f"{name}=4" not in said
    assert "Traceback" not in said


def test_text_without_commands_stays_as_it_is():
    plain = {"note": "η → 0,\tthen\nmore — naïve", "ü": ["é", 1]}
    for ascii_only in (True, False):
        assert read_json(json.dumps(plain, ensure_ascii=ascii_only).encode()) == plain


def test_sizes_of_an_idx_file_do_not_overflow(tmp_path):
    path = tmp_path / "images"
    path.write_bytes(struct.pack(">4I", 0x0803, 2**32 - 1, 2**32 - 1, 2**32 - 1))
    with pytest.raises(tt.Refused, match="truncated: its header promises 4294967295"):
        idx.read(path, 3)
    # 2^16 · 2^24 · 2^24 is 2^64, which 64 bits take for nothing.
    path.write_bytes(struct.pack(">4I", 0x0803, 2**16, 2**24, 2**24))
    with pytest.raises(tt.Refused, match="truncated"):
        idx.read(path, 3)


def test_a_packed_file_is_unpacked_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(idx, "MOST_BYTES", 1000)
    path = tmp_path / "labels.gz"
    path.write_bytes(gzip.compress(bytes(10**6)))
    with pytest.raises(tt.Refused, match="at most 1,000 bytes once it is unpacked"):
        idx.read(path, 1)
