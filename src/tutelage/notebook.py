"""How runs and verdicts draw themselves in a notebook: small pieces of HTML with inline SVG, which
need nothing else.

Text and axes take the colour of the notebook's own text, and nothing has a background, so that they
read in the light and in the dark.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape

BLUE, GREEN, RED, AMBER = (
    "#2E8BC0",
    "#1E9E77",
    "#D1603D",
    "#B8860B",
)  # each told from white and from black
MARKS = {
    "HOLDS": (GREEN, "✓"),
    "FAILS": (RED, "✗"),
    "UNDECIDED": (AMBER, "?"),
    "MEASURED": (BLUE, "•"),
    "OUTSIDE": (BLUE, "○"),
    "VACUOUS": (BLUE, "∅"),
    "FINISHED": (GREEN, "✓"),
    "CONVERGED": (GREEN, "✓"),
    "CALCULATED": (GREEN, "✓"),
    "DIVERGED": (RED, "✗"),
    "FAILED": (RED, "✗"),
    "UNSTEADY": (AMBER, "?"),
    "STUCK": (AMBER, "?"),
    "STOPPED": (AMBER, "?"),
}
WIDE, HIGH, LEFT, BELOW = 380, 190, 58, 34  # of a curve, and the room for its labels


def card(
    word: str, title: str, sentences: Sequence[str], rows: Mapping[str, str], picture: str
) -> str:
    """A status word, what it is about, sentences, a picture, and a table of names and values."""
    colour, mark = MARKS.get(word, (BLUE, "•"))
    head = f'<b style="color:{colour}">{mark} {escape(word)}</b> {escape(title)}'
    said = "".join(
        f'<p style="margin:.3em 0">{escape(sentence)}</p>' for sentence in sentences if sentence
    )
    cell = (
        'style="text-align:left;padding:.1em 1.2em .1em '
        '0;background:none;border:none;color:inherit"'
    )
    table = "".join(
        f"<tr><td {cell}>{escape(name)}</td><td {cell}>{escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    style = (
        f"border-left:3px solid {colour};padding:.2em "
        ".9em;max-width:46em;font-size:13px;line-height:1.4"
    )
    return (
        f'<div style="{style}"><div>{head}</div>{said}{picture}'
        "<table "
        'style="border-collapse:collapse;font-size:12px;color:inherit;background:none;margin:.3em '
        f'0">{table}</table></div>'
    )


def log_log(x: Sequence[float], y: Sequence[float], xlabel: str, ylabel: str) -> str:
    """A curve on log-log axes, "" where fewer than two points lie on them."""
    points = [
        (math.log10(a), math.log10(b))
        for a, b in zip(x, y, strict=True)
        if a > 0 and b > 0 and math.isfinite(b)
    ]
    if len(points) < 2:
        return ""
    (left, right), (low, high) = ((min(axis), max(axis)) for axis in zip(*points, strict=True))
    right, high = max(right, left + 1e-9), max(high, low + 0.1)

    def across(u: float) -> float:
        return LEFT + (WIDE - LEFT - 12) * (u - left) / (right - left)

    def up(v: float) -> float:
        return HIGH - BELOW - (HIGH - BELOW - 12) * (v - low) / (high - low)

    path = " ".join(f"{across(u):.1f},{up(v):.1f}" for u, v in points)
    parts = [
        f'<path d="M{LEFT},8V{HIGH - BELOW}H{WIDE - 8}" fill="none" stroke="currentColor" '
        'stroke-width="1" opacity=".6"/>'
    ]
    for k in _decades(left, right):
        parts.append(_text(across(k), HIGH - BELOW + 14, _power(k), "middle"))
    for k in _decades(low, high):
        parts.append(_text(LEFT - 5, up(k) + 4, _power(k), "end"))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="1.8"/>')
    parts.append(_text((LEFT + WIDE) / 2, HIGH - 4, escape(xlabel), "middle"))
    parts.append(
        f'<g transform="translate(11,{(HIGH - BELOW) / 2}) '
        f'rotate(-90)">{_text(0, 0, escape(ylabel), "middle")}</g>'
    )
    return _svg(WIDE, HIGH, f"{ylabel} against {xlabel}, log-log", parts)


def bar(predicted: float | None, measured: float, ends: tuple[float, float], word: str) -> str:
    """The measured value with its interval as a bar, across what was predicted."""
    marks = [measured, *ends, *((predicted,) if predicted is not None else ())]
    if not all(map(math.isfinite, marks)):
        return ""
    low, high = min(marks), max(marks)
    room = 0.08 * (high - low) or abs(high) * 0.01 or 1.0
    low, high = low - room, high + room

    def across(value: float) -> float:
        return 10 + (WIDE - 20) * (value - low) / (high - low)

    colour, _ = MARKS.get(word, (BLUE, ""))
    parts = []
    if predicted is not None:
        at = across(predicted)
        parts.append(f'<path d="M{at:.1f},4V42" stroke="currentColor" stroke-width="1.5"/>')
        parts.append(_text(min(max(at, 70), WIDE - 70), 56, f"predicted {predicted:.5g}", "middle"))
    first, last = (across(end) for end in ends)
    parts.append(
        f'<path d="M{first:.1f},23H{last:.1f}M{first:.1f},17V29M{last:.1f},17V29" '
        f'stroke="{colour}" stroke-width="2.4" fill="none"/>'
    )
    parts.append(f'<circle cx="{across(measured):.1f}" cy="23" r="4" fill="{colour}"/>')
    return _svg(WIDE, 60, f"measured {measured:.5g} in [{ends[0]:.5g}, {ends[1]:.5g}]", parts)


def _svg(width: int, height: int, words: str, parts: Sequence[str]) -> str:
    style = "display:block;max-width:100%;background:none"
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(words)}" style="{style}">'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" '
        f'fill="currentColor">{words}</text>'
    )


def _power(k: int) -> str:
    return f'10<tspan dy="-4" font-size="8">{str(k).replace("-", "−")}</tspan>'


def _decades(low: float, high: float) -> range:
    """Whole powers of ten in a range, at most six of them."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    return (
        range(first, last + 1, max(1, -(-(last - first + 1) // 6))) if first <= last else range(0)
    )


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    known = sys.modules.get("IPython")
    shell = None if known is None else known.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


def show_bar() -> Callable[[float, str], None]:
    """A bar below the cell, and how to change it: by the share that is done and what is said."""
    from IPython.display import HTML, display

    handle = display(HTML(format_bar(0.0, "")), display_id=True)
    return lambda share, words: handle.update(HTML(format_bar(share, words)))


def format_bar(share: float, words: str) -> str:
    """A bar of which a share is filled, beside a sentence."""
    label = f"{share:.0%}"
    return (
        f'<div style="font-size:13px"><progress value="{share:.4f}" max="1" aria-label="{label}" '
        f'style="vertical-align:middle;width:14em"></progress> {label} {escape(words)}</div>'
    )
