"""Figures inside a page: the SVG that a study wrote, in colours that follow the page's theme.

Colours become CSS variables, with a twin for dark pages. What lies on a raster image (numbers on a
heat map) keeps its colours, since the image does.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tutelage.figures.look import COLOURS
from tutelage.refuse import Refused

PIXELS_PER_POINT = 1.4 * 96 / 72  # of a figure on the page: its type is small
GROUND, INK = (0x16, 0x18, 0x1C), (0xE8, 0xE8, 0xE8)  # of a dark page, as in page.css
BLACK = "#000000"
PALE = 0.8  # lightness from which a colour is a background
LEAST_CONTRAST = 4.0  # of a line with a dark page; text asks for 4.5, marks for 3
COLOUR = re.compile(r"#[0-9a-f]{6}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
DRAWN = ("path", "use", "line", "rect", "polygon", "circle")

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Drawing:
    """A figure as one <svg> element, its width in pixels, and the colours it asks for."""

    svg: str
    width: float
    colours: frozenset[str]


@dataclass(frozen=True)
class _Box:
    """Where a raster image lies."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, x: float, y: float) -> bool:
        return self.left + 0.5 < x < self.right - 0.5 and self.top + 0.5 < y < self.bottom - 0.5


def read_drawing(path: Path, name: str, label: str) -> Drawing:
    """The figure of an SVG file; `name` tells its ids from those of others on the page."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<!DOCTYPE[^>]*>", "", text)
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    try:
        root = ElementTree.fromstring(text.encode())
        *_, width, height = map(float, root.attrib["viewBox"].split())
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise Refused(f"{path.name} is not an SVG file with a view box ({error})") from None
    _drop_styles(root)
    _keep_colours_on_images(root)
    colours = _follow_theme(root)
    _rename_ids(root, name)
    root.attrib.clear()
    root.attrib |= {
        "viewBox": f"0 0 {width:g} {height:g}",
        "width": f"{width * PIXELS_PER_POINT:.0f}",
        "height": f"{height * PIXELS_PER_POINT:.0f}",
        "role": "img",
        "aria-label": label,
    }
    drawn = ElementTree.tostring(root, encoding="unicode")
    drawn = re.sub(r"(\.\d\d)\d+", r"\1", drawn)  # hundredths of a point are enough
    return Drawing(re.sub(r"\s*\n\s*", " ", drawn), width * PIXELS_PER_POINT, colours)


def write_colours(colours: Iterable[str]) -> tuple[str, str]:
    """The CSS declarations of colours on a light page and on a dark one."""
    known = sorted(set(colours))
    light = " ".join(f"--c{colour[1:]}: {colour};" for colour in known)
    dark = " ".join(f"--c{colour[1:]}: {find_dark_twin(colour)};" for colour in known)
    return light, dark


def find_dark_twin(colour: str) -> str:
    """What stands for a colour on a dark page: greys and pale backgrounds are inverted, lines in
    the house's colours are lightened until they can be seen; any other is kept.
    """
    rgb = _parse(colour)
    hue, light, strong = colorsys.rgb_to_hls(*(part / 255 for part in rgb))
    if max(rgb) - min(rgb) < 12:
        share = sum(rgb) / 765
        return _format(tuple(round(i + (g - i) * share) for i, g in zip(INK, GROUND, strict=True)))
    if light > PALE:
        return _format(
            tuple(round(255 * part) for part in colorsys.hls_to_rgb(hue, 1.1 - light, strong / 2))
        )
    if colour in {known.lower() for known in COLOURS}:
        while _contrast(rgb, GROUND) < LEAST_CONTRAST:
            rgb = (rgb[0] + (255 - rgb[0]) // 8, rgb[1] + (255 - rgb[1]) // 8, rgb[2])
            rgb = (rgb[0], rgb[1], rgb[2] + (255 - rgb[2]) // 8)
    return _format(rgb)


def _drop_styles(root: ElementTree.Element) -> None:
    """Those that would be of the whole page; page.css has them for figures alone."""
    for parent in root.iter():
        for child in [child for child in parent if child.tag == "style"]:
            parent.remove(child)


def _keep_colours_on_images(root: ElementTree.Element) -> None:
    """Marks with `data-fixed` what is drawn on an image, and gives its black a name."""
    boxes = [_find_box(image) for image in root.iter("image")]
    boxes = [box for box in boxes if box.right - box.left > 20]  # colour bars have nothing on them
    if not boxes:
        return
    for group in root.iter("g"):
        for child in group:
            place = _find_place(child)
            if place is not None and any(box.holds(*place) for box in boxes):
                child.set("data-fixed", "")
                style = child.get("style", "")
                if "fill:" not in style:
                    child.set("style", f"{style}; fill: {BLACK}".lstrip("; "))


def _find_box(image: ElementTree.Element) -> _Box:
    x, y, width, height = (
        float(image.get(key, "0").removesuffix("px")) for key in ("x", "y", "width", "height")
    )
    if "scale(1 -1)" in image.get("transform", ""):  # drawn upside down
        shift = re.search(r"translate\(0 (-?[\d.]+)\)", image.get("transform", ""))
        y = -(y + (float(shift[1]) if shift else 0.0)) - height
    return _Box(x, y, x + width, y + height)


def _find_place(element: ElementTree.Element) -> tuple[float, float] | None:
    """Where an element begins, if it is drawn."""
    if element.tag == "text" and "x" in element.attrib:
        return float(element.attrib["x"]), float(element.attrib["y"])
    if moved := re.match(r"translate\((-?[\d.]+) (-?[\d.]+)\)", element.get("transform", "")):
        return float(moved[1]), float(moved[2])
    if element.tag in DRAWN and (numbers := NUMBER.findall(element.get("d", ""))):
        return float(numbers[0]), float(numbers[1])
    if element.tag == "use" and "x" in element.attrib:
        return float(element.attrib["x"]), float(element.attrib["y"])
    return None


def _follow_theme(root: ElementTree.Element) -> frozenset[str]:
    """Makes the colours of all styles variables, but of what is fixed; which they are."""
    found: set[str] = set()

    def name(colour: re.Match[str]) -> str:
        found.add(colour.group())
        return f"var(--c{colour.group()[1:]})"

    def visit(element: ElementTree.Element, fixed: bool) -> None:
        fixed = fixed or "data-fixed" in element.attrib
        element.attrib.pop("data-fixed", None)
        if not fixed and "style" in element.attrib:
            element.set("style", COLOUR.sub(name, element.attrib["style"]))
        for child in element:
            visit(child, fixed)

    visit(root, False)
    return frozenset(found)


def _rename_ids(root: ElementTree.Element, name: str) -> None:
    """Keeps the ids that something refers to, each with the figure's name before it."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    for element in root.iter():
        if (given := element.attrib.pop("id", None)) in used:
            element.set("id", f"{name}-{given}")
        for key, value in element.attrib.items():
            if key == "href" and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))


def _parse(colour: str) -> RGB:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _format(rgb: Iterable[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in rgb)


def _contrast(first: RGB, second: RGB) -> float:
    """As WCAG 2 defines it."""

    def luminance(rgb: RGB) -> float:
        parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in _share(rgb)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _share(rgb: RGB) -> tuple[float, float, float]:
    return rgb[0] / 255, rgb[1] / 255, rgb[2] / 255
