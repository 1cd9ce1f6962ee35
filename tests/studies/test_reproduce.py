"""`tutelage.reproduce`: the same work as the command, for a notebook; its files are whole or not
there.
"""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tiny_paper import write_paper

import tutelage as tt
from tutelage import plugins
from tutelage.claims import Status
from tutelage.refuse import Refused
from tutelage.studies import outputs, planning
from tutelage.studies.discovery import find_study
from tutelage.studies.reproduced import write_outputs


@pytest.fixture(scope="module", autouse=True)
def _imported(tmp_path_factory):
    plugins.import_all([str(write_paper(tmp_path_factory.mktemp("paper") / "tiny.py"))])
    yield
    plugins._FILES.clear()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tt.reproduce("tiny/pooling", out=tmp_path_factory.mktemp("out"), seeds=2)


def test_a_study_is_run_answered_and_written(made):
    assert made.name == "tiny/pooling"
    assert made.plan.seeds == 2
    assert [verdict.id for verdict in made.verdicts] == [
        "tiny/pooling/pooling/rate",
        "tiny/pooling/all-tokens/rate",
    ]
    assert made.verdicts[1].status is not Status.HOLDS
    assert (made.counts.claims, made.counts.controls, made.counts.sound) == (1, 1, 1)
    assert made.figures == (made.folder / "figures" / "excess.svg",)
    assert made.figures[0].exists()
    written = outputs.read_verdicts(made.folder / "verdicts.json")
    assert [tt.Verdict.from_plain(one) for one in written] == list(made.verdicts)
    assert {one["preset"] for one in written} == {"quick"}
    assert json.loads((made.folder / "study.json").read_text())["name"] == "tiny/pooling"
    assert not list(made.folder.parent.glob(".*"))


def test_it_draws_itself_in_a_notebook(made):
    card = ElementTree.fromstring(made._repr_html_())
    words = "".join(card.itertext())
    for said in ("tiny/pooling (quick)", "pooling/rate", "FAILS (control)"):
        assert said in words
    assert "1 claim:" in repr(made)


def test_nothing_is_printed_unless_asked(capfd):
    found = tt.reproduce("tiny/pooling", seeds=1, steps=60)
    assert (found.folder, found.figures) == (None, ())
    assert capfd.readouterr() == ("", "")
    tt.reproduce("tiny/pooling", seeds=1, steps=60, progress=True)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "tiny/pooling, pooling: 1 run done" in shown.err


def test_a_paper_gives_its_own_studies_by_name():
    found = tt.reproduce("tiny", seeds=1, steps=60)
    assert list(found) == ["tiny/pooling"]
    assert isinstance(found["tiny/pooling"], tt.Reproduced)


def test_changes_cases_and_presets():
    found = tt.reproduce(
        "tiny/pooling", preset="full", steps=50, changes={"D": 6}, cases=["pooling"]
    )
    (answered,) = found.answered
    assert answered.case.settings[0].teacher.options["tokens"] == 6
    assert len(answered.runs) == 3
    for wrong, words in (
        ({"preset": "fll"}, "full"),
        ({"seeds": 0}, "seeds=0"),
        ({"cases": ["poling"]}, "pooling"),
        ({"changes": {"tokns": 3}}, "tokens"),
    ):
        with pytest.raises(Refused, match=words):
            tt.reproduce("tiny/pooling", **wrong)


def test_stored_runs_are_used_again(made, monkeypatch):
    from tutelage.running import work

    monkeypatch.setattr(work, "train_batch", lambda *a, **k: pytest.fail("trained again"))
    again = tt.reproduce("tiny/pooling", out=made.folder.parents[1], seeds=2)
    assert again.verdicts == made.verdicts


def test_what_cannot_run_here_is_refused_by_name_and_left_out_of_a_paper(monkeypatch):
    study = replace(find_study("tiny/pooling"), missing=lambda plan: "It needs a package.")
    monkeypatch.setattr(planning, "load_studies", lambda names: ({"tiny/pooling": study}, {}))
    with pytest.raises(Refused, match="needs a package"):
        tt.reproduce("tiny/pooling")
    assert tt.reproduce("tiny") == {}
    planned, missing = planning.plan_studies([], planning.Plan(), also=["tiny/pooling"])
    assert (planned, list(missing)) == ([], ["tiny/pooling"])


def test_files_appear_together_or_not_at_all(made, tmp_path):
    folder = tmp_path / "tiny" / "pooling"

    def fail(answered, place):
        place.mkdir()
        (place / "half.svg").touch()
        raise RuntimeError("no ink")

    broken = replace(made, study=replace(made.study, figures=fail))
    with pytest.raises(Refused, match="no ink"):
        write_outputs(broken, tmp_path)
    assert not folder.exists()
    write_outputs(made, tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(Refused, match="no ink"):
        write_outputs(broken, tmp_path)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert [path.name for path in folder.parent.iterdir()] == ["pooling"]


def test_old_figures_go_and_files_of_the_users_own_stay(made, tmp_path):
    folder = write_outputs(made, tmp_path).folder
    (folder / "figures" / "old.svg").touch()
    (folder / "notes.txt").write_text("mine")
    write_outputs(made, tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == [
        "figures",
        "notes.txt",
        "study.json",
        "verdicts.json",
    ]
    assert not (folder / "figures" / "old.svg").exists()


def test_half_written_folders_are_no_studies_and_old_ones_are_tidied(made, tmp_path, monkeypatch):
    write_outputs(made, tmp_path)
    left = tmp_path / "tiny" / f"{outputs.ASIDE}left"
    left.mkdir()
    (left / "study.json").write_text("{}")
    (left / "notes.txt").write_text("mine")
    assert outputs.find_outputs(tmp_path) == [tmp_path / "tiny" / "pooling" / "study.json"]
    write_outputs(made, tmp_path)
    assert (left / "study.json").exists()  # it may still be written to
    monkeypatch.setattr(outputs, "LEFT_BEHIND_SECONDS", -1.0)
    write_outputs(made, tmp_path)
    assert [path.name for path in left.iterdir()] == ["notes.txt"]


def test_the_store_of_a_folder_is_decided_in_one_place(tmp_path):
    assert outputs.open_store(tmp_path).root == f"{tmp_path}/runs"
    with pytest.raises(Refused, match="has no `runs` in it"):
        outputs.open_existing_store(tmp_path)
    with pytest.raises(Refused, match=r"`--store`.*is not there"):
        outputs.open_existing_store(tmp_path / "absent")
    setting = tt.Setting(tt.Part("convolution", tokens=4), rate=0.1, steps=5)
    tt.Store(tmp_path).save_failure(setting, ValueError("never run"))
    assert outputs.open_store(f"{tmp_path}/").root == str(tmp_path)  # runs lie in it
    (tmp_path / "runs").mkdir()
    assert outputs.open_store(tmp_path).root == f"{tmp_path}/runs"
    assert outputs.open_store("memory://bucket/out/").root == "memory://bucket/out/runs"
