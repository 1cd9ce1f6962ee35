"""Figures in a page: colours follow its theme, but not those on an image."""

import colorsys

import pytest

from tutelage.figures.look import COLOURS
from tutelage.refuse import Refused
from tutelage.report.drawing import find_dark_twin, read_drawing, write_colours

# A heat map from (10, 40) to (60, 90), drawn upside down as Matplotlib does, and a colour bar.
SVG = """<?xml version="1.0"?>
<!DOCTYPE svg>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  viewBox="0 0 100 120.5">
<metadata>who made it</metadata>
<defs><style>* { stroke: red }</style><clipPath id="clip"/><path id="mark"/></defs>
<g>
  <image x="10px" y="-40px" width="50" height="50" transform="scale(1 -1) translate(0 -50)"/>
  <image x="80" y="0" width="10" height="100"/>
  <text x="20" y="50" style="fill: #0072b2">on</text>
  <text x="5" y="50" style="fill: #0072b2">beside</text>
  <text x="85" y="50" style="fill: #d55e00">bar</text>
  <path d="M 30.126 60 L 31 61" style="stroke: #009e73"/>
  <g transform="translate(40 70)"><path d="M 0 0" style="fill: #cc79a7"/></g>
  <use x="50" y="80" href="#mark"/>
  <use x="70" y="80" xlink:href="#mark" style="fill: #56b4e9; clip-path: url(#clip)"/>
</g>
</svg>"""


@pytest.fixture
def drawn(tmp_path):
    path = tmp_path / "figure.svg"
    path.write_text(SVG)
    return read_drawing(path, "rates-1", "What it shows")


def test_colours_become_variables_but_on_an_image(drawn):
    assert drawn.colours == {"#0072b2", "#d55e00", "#56b4e9"}
    assert '<text x="20" y="50" style="fill: #0072b2">on</text>' in drawn.svg
    assert '<text x="5" y="50" style="fill: var(--c0072b2)">beside</text>' in drawn.svg
    assert 'style="fill: var(--cd55e00)">bar' in drawn.svg  # a colour bar is too narrow to write on
    assert '<path d="M 30.12 60 L 31 61" style="stroke: #009e73; fill: #000000" />' in drawn.svg
    assert 'style="fill: #cc79a7"' in drawn.svg  # in a group that begins on the image
    assert '<use x="50" y="80" href="#rates-1-mark" style="fill: #000000" />' in drawn.svg


def test_ids_are_those_of_one_figure_and_styles_of_the_page_are_dropped(drawn):
    assert 'id="rates-1-clip"' in drawn.svg
    assert "clip-path: url(#rates-1-clip)" in drawn.svg
    assert "stroke: red" not in drawn.svg
    assert "who made it" not in drawn.svg
    assert drawn.svg.startswith('<svg viewBox="0 0 100 120.5" width="187" height="225" role="img"')
    assert 'aria-label="What it shows"' in drawn.svg
    assert drawn.width == pytest.approx(100 * 1.4 * 96 / 72)


@pytest.mark.parametrize("text", ["<svg", "<svg/>", '<svg viewBox="0 0 wide high"/>'])
def test_what_is_no_figure_is_refused(tmp_path, text):
    (tmp_path / "broken.svg").write_text(text)
    with pytest.raises(Refused, match=r"^broken\.svg is not an SVG file with a view box"):
        read_drawing(tmp_path / "broken.svg", "a", "b")


def contrast(colour, ground="#16181c"):
    """Of two colours as WCAG 2.1 defines it, written out anew."""

    def luminance(text):
        shares = [int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.03928 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05

    bright, dim = sorted((luminance(colour), luminance(ground)), reverse=True)
    return bright / dim


def test_greys_are_inverted_between_ink_and_ground():
    assert find_dark_twin("#000000") == "#e8e8e8"
    assert find_dark_twin("#ffffff") == "#16181c"
    assert find_dark_twin("#808080") == "#7f8082"  # halfway, and a little nearer to the ground


def test_pale_backgrounds_become_dark_and_keep_their_hue():
    was = colorsys.rgb_to_hls(0xCC / 255, 0xE5 / 255, 1.0)
    found = find_dark_twin("#cce5ff")
    now = colorsys.rgb_to_hls(*(int(found[k : k + 2], 16) / 255 for k in (1, 3, 5)))
    assert now[0] == pytest.approx(was[0], abs=0.01)
    assert now[1] == pytest.approx(1.1 - was[1], abs=0.003)
    assert now[2] == pytest.approx(was[2] / 2, abs=0.02)


def test_lines_can_be_seen_on_a_dark_page_and_other_colours_stay():
    assert contrast("#0072b2") < 4  # which is why it changes
    for colour in COLOURS:
        assert contrast(find_dark_twin(colour.lower())) >= 4
    assert find_dark_twin("#e69f00") == "#e69f00"  # bright enough as it is
    assert find_dark_twin("#400080") == "#400080"  # none of ours: of a colour map, say


def test_every_colour_is_declared_once_for_each_theme():
    light, dark = write_colours(["#ffffff", "#000000", "#ffffff"])
    assert light == "--c000000: #000000; --cffffff: #ffffff;"
    assert dark == "--c000000: #e8e8e8; --cffffff: #16181c;"
