r"""Formulas as the studies write them (‖W_V − V*‖_F = Θ(1/√T)), as MathML, which browsers draw
without any library.

The notation is that of plain text: _x and _{…} below, ^x, ^{…}, ^(…), ², ᵀ and * above, √x and √(…)
a root. A run of letters is a word if it has three or more, or is the name of a function; else each
letter is a symbol. After _ a run of letters stays together: W_KQ.
"""

from __future__ import annotations

import re
from html import escape

_FUNCTIONS = {"ln", "tr", "or", "in", "is", "by", "to", "of"}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀ′*", "0123456789−+T′*", strict=True))
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:[.,]\d+)*)|(?P<word>[A-Za-z]{2,})"
    r"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀ′*]+)|(?P<root>√)|(?P<below>_)|(?P<above>\^)"
    r"|(?P<letter>[^\W\d_][\u0300-\u036f]?)|(?P<other>.)",
    re.S,
)
# What _ and ^ take without braces: letters, or a signed number or fraction.
_BELOW = re.compile(r"[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ]+[\u0300-\u036f]?′?|\d+|[∞]")
_ABOVE = re.compile(r"[-−]?(?:\d+(?:\.\d+)?(?:/\d+)?|[½¼¾]|[^\W\d_])")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
# In a sentence only the index of a single letter is one (W_V, Σ_i): excess_risk is a name.
_INDEX = re.compile(
    r"(?<!\w)([^\W\d_])_(?:\{([^{}]*)\}|([^\W_⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ]{1,4})(?![^\W⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ]))"
)
_POWER = re.compile(
    r"(?<=\S)\^(?:\{([^{}]*)\}|\(((?:[^()]|\([^()]*\))*)\)"
    r"|([-−]?(?:\d+(?:\.\d+)?(?:/\d+)?|[½¼¾⅓⅔])|[A-Za-z]{1,2}(?!\w)))"
)
RELATIONS = "=≤≥→∝≈∼≲≳<>+"  # signs before which a line may break
LONGEST = 1000  # characters of a formula; a search for closing brackets is quadratic in them


def split_lines(formula: str) -> list[str]:
    """A formula's parts, which the studies keep apart by three spaces."""
    return [part.strip(" ;") for part in re.split(r" {3,}", formula) if part.strip(" ;")]


def split_pieces(line: str) -> list[str]:
    """A line in pieces that begin with a relation or follow a comma outside of brackets, so that a
    narrow screen can break it there.
    """
    pieces, depth, begin = [], 0, 0
    for at, sign in enumerate(line):
        depth += (sign in "([{") - (sign in ")]}")
        related = sign in RELATIONS and line[at - 1 : at] == " "
        listed = line[at - 1 : at] == " " and line[at - 2 : at - 1] in (",", ";")
        if depth == 0 and (related or listed) and line[begin:at].strip():
            pieces.append(line[begin:at])
            begin = at
    return [piece.strip() for piece in [*pieces, line[begin:]] if piece.strip()]


def render_mathml(formula: str) -> str:
    """The formula as one <math> element; one too long to be a formula, as plain text in it."""
    if len(formula) > LONGEST:
        return f"<math><mrow><mtext>{escape(formula)}</mtext></mrow></math>"
    return f"<math><mrow>{_row(formula)}</mrow></math>"


def render_words(text: str) -> str:
    """A sentence as HTML, with indices below and powers above the line."""
    lowered = _INDEX.sub(lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", escape(text))
    return _POWER.sub(lambda m: f"<sup>{(m[1] or m[2] or m[3]).replace('-', '−')}</sup>", lowered)


def _row(text: str) -> str:
    atoms: list[tuple[str, str, str]] = []  # of each its base, what is below and what is above
    at = 0

    def add(base: str, below: str = "", above: str = "") -> None:
        atoms.append((base, below, above))

    def script(place: int, taken: str) -> None:
        base, below, above = atoms.pop() if atoms else ("<mrow></mrow>", "", "")
        add(base, below + taken, above) if place == 1 else add(base, below, above + taken)

    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None
        kind, found, at = str(token.lastgroup), token.group(), token.end()
        if kind == "space":
            if len(found) > 1:
                add('<mspace width="1.2em"/>')
        elif kind == "number":
            add(f"<mn>{found}</mn>")
        elif kind == "word" and (len(found) > 2 or found in _FUNCTIONS):
            add(f"<mtext>{' ' if atoms else ''}{found} </mtext>")
        elif kind == "word":
            for letter in found:
                add(f"<mi>{letter}</mi>")
        elif kind == "raised":
            script(2, "".join(_leaf(_RAISED[sign]) for sign in found))
        elif kind == "root":
            inside, at = _argument(text, at, _ABOVE)
            add(f"<msqrt><mrow>{_row(inside)}</mrow></msqrt>")
        elif kind in ("below", "above"):
            inside, at = _argument(
                text, at, *((_BELOW, "{") if kind == "below" else (_ABOVE, "{("))
            )
            together = kind == "below" and _BELOW.fullmatch(inside)
            script(
                1 if kind == "below" else 2,
                f"<mtext>{escape(inside)}</mtext>"
                if together and len(inside) > 1
                else _row(inside),
            )
        elif kind == "letter":
            add(f"<mi>{found}</mi>")
        else:
            add(f'<mo stretchy="false">{escape(found)}</mo>')
    return "".join(_scripted(*atom) for atom in atoms)


def _argument(
    text: str, at: int, bare: re.Pattern[str], brackets: str = "".join(_BRACKETS)
) -> tuple[str, int]:
    """What a sign is about: the inside of one of these brackets, or what follows without one."""
    opened = text[at : at + 1]
    if opened and opened in brackets:
        closed = _BRACKETS[opened]
        depth = 0
        for i in range(at, len(text)):
            depth += (text[i] == opened) - (text[i] == closed)
            if depth == 0:
                return text[at + 1 : i], i + 1
    found = bare.match(text, at)
    if found is not None:
        return found.group(), found.end()
    return text[at : at + 1], at + 1


def _scripted(base: str, below: str, above: str) -> str:
    if below and above:
        return f"<msubsup>{base}<mrow>{below}</mrow><mrow>{above}</mrow></msubsup>"
    if below:
        return f"<msub>{base}<mrow>{below}</mrow></msub>"
    return f"<msup>{base}<mrow>{above}</mrow></msup>" if above else base


def _leaf(sign: str) -> str:
    return (
        f"<mn>{sign}</mn>"
        if sign.isdigit()
        else f"<mi>{sign}</mi>"
        if sign.isalpha()
        else f"<mo>{sign}</mo>"
    )
