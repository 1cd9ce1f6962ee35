"""`tutelage animate`: every frame shows what was measured then, and what cannot be shown is refused
before any work.
"""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tutelage as tt
from tutelage.cli import main
from tutelage.figures import animation
from tutelage.papers.teacher_models import theory
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

TEACHER = tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3)
PLAIN = tt.Setting(TEACHER, rate=0.1, steps=60, measures=("excess_risk", "cosine"))
KEPT = tt.Setting(TEACHER, rate=0.2, steps=60, measures=("excess_risk", "attention_matrix"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that kept its attention and one that did not."""
    folder = tmp_path_factory.mktemp("out")
    for _ in tt.execute([PLAIN, KEPT], store=tt.Store(folder / "runs")):
        pass
    return folder


def animate(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["animate", *map(str, arguments)])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def test_a_run_that_kept_its_attention_is_read_and_not_trained(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(
        "tutelage.running.execute.execute", lambda *a, **k: pytest.fail("it was trained again")
    )
    out = tmp_path / "film.gif"
    code, said, err = animate(
        capsys, KEPT.identity()[:12], "--store", folder, "--out", out, "--seconds", 0.5, "--fps", 10
    )
    assert (code, err) == (0, "")
    assert said == f"5 frames of {KEPT.identity()}/60: {out}\n"
    with Image.open(out) as film:
        durations = []
        for k in range(film.n_frames):
            film.seek(k)
            durations.append(film.info["duration"])
        assert film.n_frames > 2
        assert sum(durations) == 500


def test_a_run_that_did_not_is_trained_again_to_the_same_numbers(
    folder, tmp_path, capsys, monkeypatch
):
    seen = {}
    monkeypatch.setattr(
        animation,
        "film",
        lambda run, teacher, path, **more: seen.update(run=run, teacher=teacher, **more) or 7,
    )
    monkeypatch.chdir(tmp_path)
    code, said, err = animate(capsys, PLAIN.identity(), "--store", folder)
    assert code == 0
    assert "trained again from its setting" in err
    assert said.endswith(f": {PLAIN.identity()[:8]}.gif\n")
    stored = tt.load(folder / "runs" / PLAIN.identity())
    assert seen["run"].curves["excess_risk"] == pytest.approx(
        stored.curves["excess_risk"], rel=1e-12
    )
    last = seen["run"].curves["attention_matrix"][-1].reshape(4, 4)
    assert last == pytest.approx(np.asarray(stored.student.attention()), rel=1e-10)
    assert seen["teacher"] == pytest.approx(tt.pooling(4, 2))
    assert seen["law"] == theory.counting_law(PLAIN) == 4 * 2 * (4 - 2) / 4


def test_frames_show_the_last_measured_step_and_reach_the_end():
    steps = tt.log_spaced(1000)
    shown = animation.frames_of(steps, 31)
    assert len(shown) == 31
    assert (shown[0], shown[1], shown[-1]) == (0, 1, len(steps) - 1)
    assert (np.diff(shown) >= 0).all()
    wanted = 10 ** (3 * np.arange(30) / 29)
    assert (steps[shown[1:]] <= wanted * (1 + 1e-9)).all()
    assert np.abs(np.log(steps[shown[20:]] / wanted[19:])).max() < np.log(10) / 24 + 1e-9
    assert animation.frames_of(np.array([0, 1]), 2).tolist() == [0, 1]


def test_each_frame_holds_the_matrix_and_the_curve_of_its_step(tmp_path, monkeypatch):
    teacher = np.eye(2)
    attention = np.array(
        [[[0.5, 0.5], [0.5, 0.5]], [[0.7, 0.3], [0.3, 0.7]], [[0.9, 0.1], [0.1, 0.9]]]
    )
    curves = {"excess_risk": np.array([4.0, 2.0, 1.0]), "attention_matrix": attention.reshape(3, 4)}
    run = Run(np.array([0, 1, 10]), curves, None, Outcome.FINISHED, rate=0.5)
    frames = []
    show = animation._Screen.show

    def looked(screen):
        show(screen)
        student, difference, words, line, _ = screen.moving
        frames.append(
            (
                np.array(student.get_array()),
                np.array(difference.get_array()),
                words.get_text(),
                line.get_ydata().tolist(),
            )
        )

    monkeypatch.setattr(animation._Screen, "show", looked)
    assert animation.film(run, teacher, tmp_path / "film.gif", seconds=1, fps=3, law=3.0) == 3
    for k, (student, difference, words, line) in enumerate(frames):
        assert student == pytest.approx(attention[k])
        assert difference == pytest.approx(attention[k] - teacher)
        assert words.startswith(f"step {(0, 1, 10)[k]} of 10 ")
        assert line == [2.0, 1.0][:k]
    with pytest.raises(Refused, match="nowhere above zero"):
        animation.film(
            Run(run.steps, {**curves, "excess_risk": np.zeros(3)}, None, Outcome.FINISHED),
            teacher,
            tmp_path / "film.gif",
        )


def test_what_cannot_be_shown_is_refused(folder, tmp_path, capsys, monkeypatch):
    def refused(*arguments, store=folder):
        code, out, err = animate(capsys, *arguments, "--store", store)
        assert (code, out) == (2, "")
        return err

    monkeypatch.chdir(tmp_path)
    run = KEPT.identity()
    assert "no run whose identity begins with 'zz'" in refused("zz")
    assert "Give more of it" in refused(_shared(folder))
    assert "`--store` must be a folder of runs" in refused(run, store=tmp_path / "absent")
    assert ".gif or .mp4" in refused(run, "--out", "film.avi")
    assert "folder that exists" in refused(run, "--out", "absent/film.gif")
    assert "at most 50 in a GIF" in refused(run, "--fps", 60)
    assert "`seconds`" in refused(run, "--seconds", 0)
    assert "3,600 frames" in refused(run, "--seconds", 1000)
    monkeypatch.setattr(animation, "_ffmpeg", lambda: False)
    assert "apt install ffmpeg" in refused(run, "--out", "film.mp4")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"student": tt.Part("two_layer", hidden=2)},
            "attend by position. Got the teacher 'convolution' and the student 'two_layer'",
        ),
        (
            {"student": tt.Part("multi_head_position", heads=2)},
            r"\(4, 4\). Got a student 'multi_head_position' with \(2, 4, 4\)",
        ),
        ({"teacher.tokens": 512}, "512 tokens × 512 queries"),
    ],
)
def test_students_without_one_small_attention_matrix_are_refused(changes, why):
    from tutelage.cli.animate import _find_selection

    with pytest.raises(Refused, match=why):
        _find_selection(PLAIN.change(**changes))


def test_the_law_is_drawn_only_where_it_is_one():
    from tutelage.cli.animate import _find_law

    assert _find_law(KEPT) == theory.counting_law(KEPT)
    assert _find_law(PLAIN.change(**{"teacher.support": 4})) is None  # no zeros in S*: exponential
    for changes in (
        {"objective": tt.Part("online", batch=4)},
        {"optimiser": tt.Part("gradient_descent", power=0.5)},
        {"inputs": tt.Part("independent", law="rademacher"), "teacher.activation": "identity"},
        {"inputs": tt.Part("gaussian", covariance=np.diag([1.0, 2.0, 3.0]))},
        {"student": "known_selection"},
    ):
        assert _find_law(PLAIN.change(**changes)) is None, changes


def _shared(folder):
    """A beginning that two runs share: the empty one is none, so that runs are stored until two
    begin alike.
    """
    store, seed = tt.Store(folder / "runs"), 1
    while len({name[0] for name in store.identities()}) == len(store.identities()):
        store.save_failure(PLAIN.change(seed=seed), ValueError("never run"))
        seed += 1
    names = [name[0] for name in store.identities()]
    return next(letter for letter in names if names.count(letter) > 1)


@pytest.mark.skipif(not animation._ffmpeg(), reason="ffmpeg is not installed, and makes the .mp4")
def test_an_mp4_is_written(folder, tmp_path, capsys):
    code, _, _ = animate(
        capsys, KEPT.identity(), "--store", folder, "--out", tmp_path / "film.mp4", "--seconds", 0.5
    )
    assert code == 0
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"
