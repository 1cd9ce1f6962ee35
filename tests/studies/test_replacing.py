"""The files of a study and a report take the place of older ones whole: whenever the process is
killed, and whichever write the disk refuses.
"""

import builtins
import errno
import importlib
import io
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from killing import dies
from tiny_paper import write_paper

import tutelage as tt
from tutelage.cli import main
from tutelage.refuse import Refused
from tutelage.report import gather_studies, render_page
from tutelage.studies import outputs, reproduced
from tutelage.studies.planning import PlannedStudy
from tutelage.studies.reproduced import run_planned, write_outputs

report = importlib.import_module("tutelage.cli.report").report  # the function of the command


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    paper = write_paper(tmp_path_factory.mktemp("paper") / "replaced.py", "replaced")
    return tt.reproduce("replaced/pooling", imports=[str(paper)], steps=50)


@pytest.fixture(scope="module")
def new(old):
    """The same study with other `--steps`."""
    return tt.reproduce("replaced/pooling", steps=2000)


@pytest.fixture
def begin(old, tmp_path):
    """What lies there before: the old study with a file of the user's own, and its report."""
    folder = write_outputs(old, tmp_path / "begin").folder
    (folder / "notes.txt").write_text("mine")
    report(tmp_path / "begin")
    return tmp_path / "begin"


def contents(folder):
    """Every file below a folder by its relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def shown(root):
    """Which study a report shows: its command, and the sentence of its verdicts."""
    (study,) = gather_studies([root])
    return study.study["command"].partition(" --out ")[0], study.verdicts


def whole(reproduced):
    command = "tutelage run replaced/pooling"
    return f"{command} --steps {reproduced.plan.steps}", list(reproduced.verdicts)


@pytest.mark.depth
def test_death_at_every_write_leaves_the_old_study_or_the_new_one(old, new, begin, tmp_path):
    assert whole(old) != whole(new)
    point, died, seen = 0, True, []
    while died:
        root = shutil.copytree(begin, tmp_path / str(point))
        died = dies(lambda root=root: write_outputs(new, root), point)
        found = shown(root)
        seen.append(found == whole(new))
        assert found in (whole(old), whole(new))
        folder = root / "replaced" / "pooling"
        assert (folder / "notes.txt").read_text() == "mine"
        assert sorted(path.name for path in folder.iterdir()) == sorted(
            [*outputs.OUTPUTS, "notes.txt"]
        )
        write_outputs(new, root)  # and the next process mends it
        assert shown(root) == whole(new)
        shutil.rmtree(root)
        point += 1
    assert point > 12, "too few points of death were seen"
    assert seen == sorted(seen)  # the old one up to some point, and the new one from there on
    assert set(seen) == {False, True}


@pytest.mark.depth
def test_death_at_the_first_of_its_kind_leaves_all_or_nothing(new, tmp_path):
    point, died = 0, True
    while died:
        root = tmp_path / str(point)
        root.mkdir()
        died = dies(lambda root=root: write_outputs(new, root), point)
        try:
            assert shown(root) == whole(new)
        except Refused as refused:
            assert "no finished study" in str(refused)  # noqa: PT017  nothing is there yet
            assert died
        point += 1


def test_death_at_every_write_leaves_the_old_page_or_the_new_one(new, begin, tmp_path):
    before = (begin / "report.html").read_text()
    write_outputs(new, begin)
    after = render_page(gather_studies([begin]))
    assert before != after
    point, died = 0, True
    while died:
        root = shutil.copytree(begin, tmp_path / str(point))
        died = dies(lambda root=root: report(root), point)
        page = (root / "report.html").read_text()
        assert page in (before, after)
        assert died or page != before
        point += 1
    assert point > 3


class Full:
    """A disk on which the n-th change fails: a file opened or written, a folder made, a rename."""

    def __init__(self, monkeypatch, point):
        self.left, self.hit = point, False
        real = builtins.open

        def opening(file, mode="r", *args, **options):
            if not set(mode) & set("wax+"):
                return real(file, mode, *args, **options)
            self.tick()
            return Failing(real(file, mode, *args, **options), self)

        for module in (builtins, io):
            monkeypatch.setattr(module, "open", opening)
        for name in ("mkdir", "rename", "replace"):
            act = getattr(os, name)
            monkeypatch.setattr(os, name, lambda *given, act=act: (self.tick(), act(*given)))

    def tick(self):
        self.left -= 1
        if self.left == -1:
            self.hit = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Failing:
    """A file of which half is written when the disk is full."""

    def __init__(self, handle, disk):
        self.handle, self.disk = handle, disk

    def write(self, data):
        self.handle.write(data[: len(data) // 2])
        self.handle.flush()
        self.disk.tick()
        return self.handle.write(data[len(data) // 2 :])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.handle.close()

    def __getattr__(self, name):
        return getattr(self.handle, name)


def each_failure(act):
    """Does `act` on a disk that fails at one change after the other, until none is left."""
    point, hit = 0, True
    while hit:
        with pytest.MonkeyPatch.context() as patch:
            disk = Full(patch, point)
            try:
                act()
            except OSError as error:
                assert error.errno == errno.ENOSPC  # noqa: PT017  it is not always raised
            hit = disk.hit
        yield hit
        point += 1
    assert point > 3


def test_a_full_disk_leaves_the_old_study_as_it_was(new, begin):
    before = contents(begin)
    for hit in each_failure(lambda: write_outputs(new, begin)):
        if hit and shown(begin)[0].endswith("--steps 50"):
            assert contents(begin) == before
        else:  # all was written before, and only what was needless could not be removed
            assert shown(begin) == whole(new)
            assert contents(begin).keys() == before.keys()
            shutil.rmtree(begin / "replaced")
            for name, data in before.items():
                (begin / name).parent.mkdir(parents=True, exist_ok=True)
                (begin / name).write_bytes(data)


@pytest.mark.parametrize("ending", ["html", "md", "csv", "tex"])
def test_a_full_disk_leaves_the_old_page_as_it_was(new, begin, ending, capsys):
    target = begin / f"page.{ending}"
    report(begin, out=target)
    before = contents(begin)
    write_outputs(new, begin)
    changed = contents(begin) | {target.name: before[target.name]}
    codes = []

    def command():
        with pytest.raises(SystemExit) as ended:
            main(["report", str(begin), "--out", str(target)])
        codes.append(ended.value.code)

    for hit in each_failure(command):
        said = capsys.readouterr().err
        assert codes[-1] == (2 if hit else 0)
        assert ("cannot be written to" in said and "is unchanged" in said) is hit
        assert (contents(begin) == changed) is hit
    assert target.read_bytes() != before[target.name]


def test_a_sweeps_table_and_verdicts_are_whole_or_as_they_were(tmp_path, capsys):
    path, out = tmp_path / "small.toml", tmp_path / "out"
    text = """
    seeds = 1
    [setting]
    teacher = { name = "convolution", tokens = 4, support = 2, outputs = 2, dim = 3 }
    rate = 0.1
    steps = 20
    measures = ["excess_risk"]
    [[claims]]
    kind = "number"
    measure = "excess_risk"
    value = 1
    """
    path.write_text(text)
    with pytest.raises(SystemExit):
        main(["sweep", str(path), "--out", str(out)])
    before = contents(out / "small")
    assert set(before) == {"table.csv", "verdicts.json"}
    path.write_text(text.replace("value = 1", "value = 2").replace("seeds = 1", "seeds = 2"))
    with pytest.raises(SystemExit):
        main(["sweep", str(path), "--out", str(tmp_path / "other")])
    after = contents(tmp_path / "other" / "small")
    files = {out / "small" / name: data.decode() for name, data in after.items()}
    for hit in each_failure(lambda: outputs.write_files(files)):
        found = contents(out / "small")
        assert found.keys() == before.keys()
        for name, data in found.items():
            assert data in (before[name], after[name])
        if not hit:
            assert found == after
    capsys.readouterr()


def test_a_swap_that_fails_puts_the_old_study_back(old, new, begin, monkeypatch):
    before, real = contents(begin), os.rename

    def rename(source, target):
        if outputs.NEW in str(source):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(OSError, match="Input/output"):
        write_outputs(new, begin)
    assert contents(begin) == before


@pytest.mark.parametrize("way", ["it ends what this one began", "it knows nothing of this one"])
def test_of_two_processes_one_wins_whole(old, new, begin, monkeypatch, way, tmp_path):
    """Another writes the same study between the two renames of this one."""
    real, met = os.rename, []
    copy = write_outputs(old, tmp_path / "copy").folder
    ends = way == "it ends what this one began"

    def rename(source, target):
        if outputs.NEW in str(source) and not met:
            met.append(source)
            if ends:
                write_outputs(old, begin)
            else:
                shutil.copytree(copy, begin / "replaced" / "pooling")
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    write_outputs(new, begin)
    assert met
    assert shown(begin) == whole(old if ends else new)  # whoever came last
    assert (begin / "replaced" / "pooling" / "notes.txt").read_text() == "mine"
    assert not list(begin.rglob(f"{outputs.ASIDE}*"))


def test_a_reader_that_finds_a_study_half_replaced_ends_it(old, new, begin, monkeypatch):
    real, met = os.rename, []

    def rename(source, target):
        if outputs.NEW in str(source) and not met:
            met.append(source)
            assert shown(begin) == whole(new)
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    write_outputs(new, begin)
    assert shown(begin) == whole(new)
    assert (begin / "replaced" / "pooling" / "notes.txt").read_text() == "mine"
    assert not list(begin.rglob(f"{outputs.ASIDE}*"))


def test_a_link_stays_a_link_and_what_the_dead_left_is_tidied(begin, tmp_path, monkeypatch):
    target = tmp_path / "elsewhere.html"
    target.write_text("old")
    link = begin / "linked.html"
    link.symlink_to(target)
    left = tmp_path / f"{outputs.ASIDE}left"
    left.write_text("half")
    report(begin, out=link)
    assert link.is_symlink()
    assert "<title>" in target.read_text()
    assert left.exists()  # it may still be written to
    monkeypatch.setattr(outputs, "LEFT_BEHIND_SECONDS", -1.0)
    report(begin, out=link)
    assert not left.exists()


def test_a_study_that_cannot_be_written_is_still_answered(new, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(reproduced, "answer_cases", lambda *given, **more: new.answered)
    planned = PlannedStudy(new.study, new.plan, (), ())
    (tmp_path / "replaced").write_text("in the way")
    found = run_planned(planned, out=tmp_path)
    assert replace(found, folder=None) == replace(new, folder=None)
    assert found.folder is None
    assert "cannot be written" in caplog.text
    assert json.dumps(found.plain_verdicts())
    assert Path(tmp_path / "replaced").read_text() == "in the way"
