"""What a newer version wrote is told apart from damage, is refused with a sentence, and is never
written over.
"""

import json
from pathlib import Path

import pytest
from recorded import a_record
from stored import TINY, a_run

import tutelage as tt
from tutelage.claims import verdict
from tutelage.cli import main
from tutelage.explorer import saved
from tutelage.explorer.site import find_site
from tutelage.running.store.about import ABOUT, FAILED, FORMAT, opened, sealed
from tutelage.running.work import Work
from tutelage.studies import outputs, record

OLD = TINY.change(steps=100)
NEW = OLD.change(seed=1)  # the one of which a newer version keeps a run
SWEEP = """
seeds = 2
[setting]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 2, dim = 3 }
rate = 0.1
steps = 100
"""


def newer(path):
    """As a version to come may write it: a higher format, and other entries."""
    about = opened(path.read_bytes(), path.name)
    made = [{**about["made"][-1], "tutelage": "9.0"}]
    return {"format": FORMAT + 1, "identity": about["identity"], "made": made, "curves": "lie here"}


def with_our_seal(path):
    path.write_bytes(sealed(newer(path)))


def with_another_seal(path):
    path.write_text(json.dumps({"signed": "by someone", **newer(path)}))


def as_a_failure(path):
    tt.Store(path.parents[2]).save_failure(NEW, ValueError("no"))
    note = path.parents[1] / FAILED
    note.write_bytes(sealed(newer(note)))
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()


@pytest.fixture(scope="module")
def trained():
    (run,) = tt.execute([OLD])
    return run


@pytest.fixture(params=[with_our_seal, with_another_seal, as_a_failure])
def out(request, tmp_path, trained):
    store = tt.Store(tmp_path / "out" / "runs")
    store.save(trained)
    request.param(Path(store.save(a_run(NEW))) / ABOUT)
    (tmp_path / "small.toml").write_text(SWEEP)
    return tmp_path / "out"


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def contents(folder):
    """Every file, by its path."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def kept(out):
    """What the newer version wrote."""
    return contents(out / "runs" / NEW.identity())


WAYS = (("--extend", "150"), ("--sync",), ("--rerun-foreign",), ("--shard", "2/2"))


@pytest.mark.parametrize("more", [(), *WAYS], ids=str)
def test_a_sweep_goes_on_beside_a_newer_run_and_never_writes_there(out, capsys, more):
    before = kept(out)
    code, text, _ = call(capsys, "sweep", out.parent / "small.toml", "--out", out, "--json", *more)
    row = json.loads(text)["rows"][-1]
    assert (code, row["outcome"]) == (1, "FAILED")
    assert f"has format {FORMAT + 1}" in row["reason"]
    assert "tutelage 9.0 wrote it" in row["reason"]
    assert f"runs remove {NEW.identity()} --newer" in row["reason"]
    assert kept(out) == before
    others = [row["outcome"] for row in json.loads(text)["rows"][:-1]]
    assert others == ([] if "--shard" in more else ["FINISHED"])


def test_it_is_listed_as_newer_and_not_as_damaged(out, capsys):
    _, text, _ = call(capsys, "runs", "--store", out)
    assert "is a newer version's, and left alone" in text
    assert "damaged" not in text
    code, text, _ = call(capsys, "runs", "check", "--store", out)
    assert code == 0
    assert "1 of 2 runs are a newer version's" in text
    assert "NEWER" in call(capsys, "runs", "show", NEW.identity(), "--store", out)[1]
    sweep = out.parent / "small.toml"
    for command in (["sweep", sweep, "--dry-run", "--out"], ["runs", "lacking", sweep, "--store"]):
        text = call(capsys, *command, out)[1]
        assert "tutelage 9.0" in text  # the rest may stand in the next line of a narrow table
    rows = saved.listed(str(out), "", find_site())["runs"]
    outcomes = {row["identity"]: row["outcome"] for row in rows}
    assert outcomes.pop(NEW.identity(), "NEWER") == "NEWER"  # the page lists no failures
    assert outcomes == {OLD.identity(): "FINISHED"}


def test_it_is_removed_only_where_that_is_said(out, capsys):
    before = kept(out)
    code, text, _ = call(capsys, "runs", "remove", NEW.identity(), "--store", out, "--yes")
    assert "1 of a newer version of tutelage are left alone; --newer" in text
    assert kept(out) == before
    store = tt.Store(out / "runs")
    (entry,) = store.entries([NEW.identity()])
    with pytest.raises(tt.Refused, match="only on demand"):
        store.remove(entry.name)
    assert kept(out) == before
    code, _, _ = call(capsys, "runs", "remove", NEW.identity(), "--store", out, "--newer", "--yes")
    assert (code, kept(out)) == (0, {})
    (run,) = tt.execute([NEW], store=store)
    assert run.complete


def test_nothing_in_python_writes_there(out):
    before, store = kept(out), tt.Store(out / "runs")
    assert not store.holds(NEW)
    for act in (
        lambda: store.save(a_run(NEW)),
        lambda: store.save(a_run(NEW.change(steps=200))),
        lambda: store.save_failure(NEW, ValueError("no")),
        lambda: list(tt.execute([NEW], store=store)),
        lambda: Work(store)([NEW]),
    ):
        with pytest.raises(tt.Refused, match=r"tutelage 9\.0 wrote it"):
            act()
    (run,) = Work(store, keep_going=True)([NEW]).runs
    assert "tutelage 9.0 wrote it" in run.note
    assert kept(out) == before


def test_loading_says_which_version_reads_it(tmp_path):
    path = Path(tt.Store(tmp_path).save(a_run(NEW)))
    with_our_seal(path / ABOUT)
    with pytest.raises(tt.Refused, match=r"tutelage 9\.0 wrote it, and reads it"):
        tt.load(path)


def test_newer_verdicts_beside_a_run_stay(tmp_path, caplog):
    store = tt.Store(tmp_path)
    file = Path(store.save(a_run(OLD))) / "verdicts.json"
    file.write_text(json.dumps({"format": verdict.FORMAT + 1, "verdicts": {}}))
    before = file.read_bytes()
    store.attach(OLD, [])
    assert file.read_bytes() == before
    assert "are left alone" in caplog.text


NEWER_OUTPUTS = {
    "study.json": {
        **a_record("paper/study"),
        "format": record.FORMAT + 1,
        "made": {"tutelage": "9.0"},
    },
    "verdicts.json": {"format": verdict.FORMAT + 1, "verdicts": {}},
}


@pytest.mark.parametrize("name", NEWER_OUTPUTS)
def test_a_study_of_a_newer_version_is_refused_before_anything_runs(name, tmp_path, capsys):
    from tutelage.running import execute

    folder = tmp_path / "teacher-models" / "rates"
    folder.mkdir(parents=True)
    outputs.write_json(folder / "study.json", a_record("teacher-models/rates"))
    outputs.write_verdicts(folder / "verdicts.json", [])
    outputs.write_json(folder / name, NEWER_OUTPUTS[name])
    before = contents(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "build", lambda setting: pytest.fail("it was run"))
        code, _, said = call(
            capsys, "run", "teacher-models/rates", "--steps", "100", "--out", tmp_path
        )
    assert code == 2
    assert "never overwritten" in said
    with pytest.raises(tt.Refused, match="never overwritten"), outputs.replace_outputs(folder):
        pytest.fail("it was begun")
    assert contents(tmp_path) == before
    whole = a_record("paper/whole")
    (tmp_path / "paper" / "whole").mkdir(parents=True)
    outputs.write_json(tmp_path / "paper" / "whole" / "study.json", whole)
    outputs.write_verdicts(tmp_path / "paper" / "whole" / "verdicts.json", [])
    code, _, said = call(capsys, "report", tmp_path)
    assert code == 1
    assert "newer version" in said or "tutelage 9.0 wrote it" in said
    assert "<strong>NEWER</strong>" in (tmp_path / "report.html").read_text()


def test_the_verdicts_of_a_sweep_are_not_written_over(tmp_path, capsys):
    (tmp_path / "small.toml").write_text(SWEEP)
    folder = tmp_path / "out" / "small"
    folder.mkdir(parents=True)
    outputs.write_json(folder / "verdicts.json", NEWER_OUTPUTS["verdicts.json"])
    before = contents(tmp_path)
    code, _, said = call(capsys, "sweep", tmp_path / "small.toml", "--out", tmp_path / "out")
    assert (code, "never overwritten" in said) == (2, True)
    assert contents(tmp_path) == before
    with pytest.raises(tt.Refused, match="never overwritten"):
        outputs.write_verdicts(folder / "verdicts.json", [])


def test_an_older_run_beside_it_is_still_read(out):
    """What this version wrote stays readable, whatever lies beside it."""
    store = tt.Store(out / "runs")
    assert store.find(OLD) is not None
    store.save(a_run(OLD.change(steps=200)))
    assert store.holds(OLD.change(steps=200))
