"""The look of figures: formats that repeat to the byte, and bands, windows and heatmaps that show
the numbers they are given.
"""

import numpy as np
import pytest

from tutelage.claims.verdict import Status, Verdict
from tutelage.figures import look


def drawn_once(folder):
    with look.figure(look.COLUMN, 2.0) as (drawn, axis):
        axis.plot([1, 2], [3, 4])
        return look.write(drawn, folder, "line", {"x": [1, 2], "y": [3]})


def test_every_format_is_written_and_repeats_to_the_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(look, "FORMATS", ("png", "svg", "pdf"))
    paths = drawn_once(tmp_path / "one")
    assert [path.name for path in paths] == ["line.png", "line.svg", "line.pdf", "line.csv"]
    for path, start in zip(
        paths, (b"\x89PNG", b"<?xml", b"%PDF-1.4", b"x,y\r\n1,3\r\n2,\r\n"), strict=True
    ):
        assert path.read_bytes().startswith(start)
    for first, again in zip(paths, drawn_once(tmp_path / "two"), strict=True):
        assert first.read_bytes() == again.read_bytes()
        assert b"date" not in first.read_bytes().lower()
    width = int.from_bytes(
        paths[0].read_bytes()[16:20]
    )  # in pixels: a column at the resolution that is set
    assert width == pytest.approx(look.COLUMN * look._RC["savefig.dpi"], abs=1)


def test_a_band_spans_its_seeds_around_their_middle():
    seeds = np.array([[1.0, 10.0], [100.0, 10.0]])
    with look.figure(look.COLUMN, 2.0) as (_, axis):
        middle, least, most = look.band(
            axis, np.array([1.0, 2.0]), seeds, 1, middle=look.geometric, label="two"
        )
        (line,), (shade,) = axis.get_lines(), axis.collections
        assert line.get_ydata() == pytest.approx([10.0, 10.0])
        assert line.get_color() == look.COLOURS[1]
        assert shade.get_paths()[0].get_extents().ymax == 100.0
    assert (least[0], most[0]) == (1.0, 100.0)
    assert middle == pytest.approx([10.0, 10.0])
    assert look.mean(seeds) == pytest.approx([50.5, 10.0])


def test_a_window_is_shaded_and_its_words_begin_or_end_with_it():
    with look.figure(look.COLUMN, 2.0) as (_, axis):
        look.window(axis, 3.0, 7.0, "read", side="left")
        look.window(axis, 3.0, 7.0, "read")
        assert [(p.get_x(), p.get_x() + p.get_width()) for p in axis.patches] == [(3.0, 7.0)] * 2
        assert [(t.get_position()[0], t.get_ha()) for t in axis.texts] == [
            (3.0, "left"),
            (7.0, "right"),
        ]


def test_the_teacher_and_student_share_their_colours_and_the_difference_has_a_zero():
    teacher, student = np.array([[0.5, 0.0]]), np.array([[0.8, 0.1]])
    with look.figure(look.PAGE, 2.0, ncols=3) as (drawn, axes):
        first, second, third = look.beside(drawn, axes, teacher, student)
        assert first.get_clim() == second.get_clim() == (0.0, 0.8)
        assert third.get_clim() == pytest.approx((-0.3, 0.3))
        assert np.asarray(third.get_array()) == pytest.approx(student - teacher)


def test_a_legend_says_the_interval():
    plain = {
        "id": "",
        "statement": "",
        "source": "",
        "predicted": -1.0,
        "tolerance": 0.02,
        "status": Status.HOLDS,
        "sentence": "",
    }
    assert (
        look.said(Verdict(measured=-1.0002, interval=(-1.0039, -0.9979), **plain))
        == "−1.000 [−1.004, −0.998]"
    )
    assert look.said(Verdict(measured=None, interval=None, **plain)) == "–"
