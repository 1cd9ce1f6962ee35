"""Figures say in their metadata which command made them, of which runs, by which version."""

import pytest

from tutelage.figures import look
from tutelage.provenance import current_provenance, made_by
from tutelage.version import __version__

COMMAND = "tutelage run paper/study"


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(look, "FORMATS", ("png", "svg", "pdf"))
    with made_by(COMMAND, ["aa", "bb", "aa"]), look.figure(2, 2) as (drawn, axis):
        axis.plot([1, 2], [1, 2])
        look.write(drawn, tmp_path, "line", {"x": [1, 2]})
    return tmp_path


def test_a_png_has_them_as_texts(written):
    from PIL import Image

    with Image.open(written / "line.png") as picture:
        texts = picture.text
    assert texts["Command"] == COMMAND
    assert texts["Runs"] == "aa bb"
    assert texts["Software"] == f"tutelage {__version__}"


def test_an_svg_has_them_as_source_and_identifier(written):
    text = (written / "line.svg").read_text()
    assert f"<dc:source>{COMMAND}</dc:source>" in text
    assert "<dc:identifier>aa bb</dc:identifier>" in text


def test_a_pdf_has_them_as_subject_and_keywords(written):
    data = (written / "line.pdf").read_bytes()
    assert f"/Subject ({COMMAND})".encode() in data
    assert b"/Keywords (aa bb)" in data


def test_a_command_is_forgotten_when_it_is_done(written):
    assert current_provenance().command == ""
