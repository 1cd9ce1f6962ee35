"""Formulas in Markdown: finds those that stand in plain text, and writes them in LaTeX.

The terminal shows formulas in Unicode, and so do verdicts and docstrings. In Markdown the star of
`V*` becomes emphasis and the bar of a norm the border of a table. So pages have `$…$`, and whatever
writes a page from verdicts or docstrings sends its sentences through `write_formulas`.

python -m tools.mathematics          rewrites the formulas of all pages of the repository
python -m tools.mathematics --check  lists those that are not yet in LaTeX
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.latex import BRACKETS, FRACTIONS, FUNCTIONS, GREEK, LOWERED, RAISED, to_latex

ROOT = Path(__file__).parents[1]
# What is no plain text: code, formulas in LaTeX, pictures, targets of links, HTML.
KEPT = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|\$\$.*?\$\$|``[^\n]+?``|`[^`\n]+`|(?<![\\$])\$[^$\n]+?\$"
    r"|!\[[^\]]*\]\([^)]*\)|\]\([^)\s]*\)|<!--.*?-->|</?[a-z][^>\n]*>|https?://\S+"
    r"|^\([\w-]+\)=$|^\{[^}\n]*\}$",
    re.S | re.M,
)
ESCAPED_STAR = "\ue000"  # stands for a star that Markdown was told to leave alone
ALWAYS = {
    ESCAPED_STAR,
    *GREEK,
    *FRACTIONS,
    *RAISED,
    *LOWERED,
    *"ΣΣ∑√≤≥≈∝≠≫≪≲→←↦·×±∞∂∇∫⟨⟩⊙⊗⊥⟂∨∧∘∈‖∥⋆−′",
}
STARRED = re.compile(r"(?<![*\w])[A-Za-z]\\?\*(?!\*)|[)\w]\\\*|(?<=[^\W\d_]\*)[A-Za-z]\*(?!\*)")
SCRIPT = re.compile(r"(?<![A-Za-z_])[A-Za-z]_[A-Za-z{(⋆\d]|\w\)?\^[-(\w{]")
MAYBE = re.compile(rf"[{''.join(sorted(ALWAYS - {'-'}))}]|\\*|_|\^| [=<>] |[^\x00-\xff]")
LETTER = re.compile(r"[B-HJ-Zb-z]|[A-Za-z]\(\w\)")
PLAIN_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:/\d+)?|[-+]?\d*[A-Za-z](?:/[A-Za-z\d]+)?")
PRODUCT = re.compile(r"\d*[A-Za-z]{1,4}(?:/[A-Za-z]{1,2})?")
OPERATORS = {*"=<>+-/|≤≥≈∝≠≫≪≲→←↦·×±−∈⊗⊙∨∘…*"}
RELATIONS = {"=", "<", ">"}
OPENING, CLOSING = set(BRACKETS), set(BRACKETS.values())
LEADING = re.compile(r"^[*(\[\"'“_]*")
TRAILING = re.compile(r"[*)\].,;:!?\"'”_]*$")


@dataclass(frozen=True)
class Chunk:
    """What stands between two spaces: signs before, a core, signs behind."""

    text: str
    strong: bool  # a formula by its signs
    weak: bool  # may be part of one

    @property
    def product(self) -> bool:
        """Letters side by side, such as CKp or 4pq: a formula only beside an operator."""
        core = self.text.strip("(),.;:")
        return PRODUCT.fullmatch(core) is not None and bool(
            re.search("[A-Z].", core) or not re.search("[aeiouy]", core)
        )

    @property
    def operator(self) -> bool:
        return self.text in OPERATORS

    @property
    def ends(self) -> bool:
        """Whether a sentence or a part of it ends here."""
        return self.text.endswith((".", ";", ":", "!", "?", ",")) and self.text != "…"


@cache
def read_chunk(text: str) -> Chunk:
    core = text.strip("*()[].,;:!?\"'“”")
    strong = bool(
        any(sign in ALWAYS for sign in text)
        or STARRED.search(text)
        or SCRIPT.search(text)
        or is_accented_letter(core)
    )
    weak = (
        text in OPERATORS
        or LETTER.fullmatch(core) is not None
        or PLAIN_NUMBER.fullmatch(core) is not None
        or core in FUNCTIONS
        or (
            re.fullmatch(r"[\w()\[\]{}/+|.,=<>-]*[()/+|=][\w()\[\]{}/+|.,=<>-]*", text) is not None
            and not re.search(r"[A-Za-z]{4,}", text)
        )
    )
    if re.search(r"[A-Za-z]{3,}[-/:][A-Za-z]{2,}|\w{3,}@", text) and not any(
        sign in ALWAYS for sign in text
    ):
        strong = weak = False
    return Chunk(text, strong, weak)


def is_accented_letter(core: str) -> bool:
    marks = unicodedata.normalize("NFD", core)
    return len(marks) == 2 and unicodedata.category(marks[1]) == "Mn"


def write_formulas(text: str) -> str:
    """Markdown with its formulas in LaTeX. What is LaTeX or code already stays, so that a second
    time changes nothing.
    """
    return "".join(
        part if kept else "".join(write_line(line) for line in part.splitlines(keepends=True))
        for part, kept in split_kept(write_displays(text))
    )


def split_kept(text: str) -> Iterator[tuple[str, bool]]:
    last = 0
    for found in KEPT.finditer(text):
        yield text[last : found.start()], False
        yield found[0], True
        last = found.end()
    yield text[last:], False


def write_displays(text: str) -> str:
    """Indented blocks of formulas as displays."""

    def write(block: re.Match[str]) -> str:
        lines = [line.strip() for line in block[0].strip("\n").replace("**", "").splitlines()]
        if not any(sign in ALWAYS for line in lines for sign in line):
            return block[0]
        rows = [r" \qquad ".join(to_latex(p) for p in re.split(r" {3,}", row)) for row in lines]
        inside = rows[0]
        if len(rows) > 1:
            body = " \\\\\n".join(f"& {row}" for row in rows)
            inside = f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"
        return f"\n$$\n{inside}\n$$\n"

    return re.sub(r"(?<=\n)\n(?:    [^\n]+\n)+(?=\n)", write, text)


def write_line(line: str) -> str:
    """A line of plain text, or what stands between two pieces of code in it."""
    if line.lstrip().startswith("|") or " | " in line:
        cells = re.split(r"(?<!\\)(\|)", line)
        return "".join(
            cell if cell == "|" else write_cell(cell.replace("\\|", "|")) for cell in cells
        )
    return write_text(line)


def write_cell(text: str) -> str:
    """A cell of a table, in which no bar stands outside formulas."""
    return re.sub(r"(?<!\\)\|", r"\\|", write_text(text))


@cache
def write_text(text: str) -> str:
    if not MAYBE.search(text):
        return text
    parts = re.split(r"(\s+)", re.sub(r"(?<=[\w)])\\\*", ESCAPED_STAR, text))
    chunks = [read_chunk(part) for part in parts[::2]]
    gaps = parts[1::2]
    written, at = [], 0
    while at < len(chunks):
        first, last = find_span(chunks, at)
        if first is None:
            written += parts[2 * at : 2 * last]
            at = last
            continue
        written += parts[2 * at : 2 * first]
        inside = " ".join(chunk.text for chunk in chunks[first : last + 1])
        written.append(write_span(inside))
        written += gaps[last : last + 1]
        at = last + 1
    return "".join(written)


def find_span(chunks: list[Chunk], at: int) -> tuple[int | None, int]:
    """The next formula from `at` on: its first and last chunk; none, and the end, if there is
    none.
    """
    for place in range(at, len(chunks)):
        if chunks[place].strong or is_equation(chunks, place):
            first = last = place
            while first > at and joins(chunks, first - 1, first, depth=closes(chunks, first, last)):
                first -= 1
            while last + 1 < len(chunks) and joins(
                chunks, last, last + 1, depth=opens(chunks, first, last)
            ):
                last += 1
            return first, last
    return None, len(chunks)


def is_equation(chunks: list[Chunk], place: int) -> bool:
    """A letter beside a sign and a number or letter, such as D = 36."""
    return (
        0 < place < len(chunks) - 1
        and chunks[place].text in RELATIONS
        and LETTER.fullmatch(chunks[place - 1].text.lstrip("(*")) is not None
        and chunks[place + 1].weak
    )


def opens(chunks: list[Chunk], first: int, last: int) -> int:
    """How many brackets are open behind these chunks."""
    text = "".join(chunk.text for chunk in chunks[first : last + 1])
    return sum(text.count(a) - text.count(b) for a, b in BRACKETS.items())


def closes(chunks: list[Chunk], first: int, last: int) -> int:
    return -opens(chunks, first, last)


def joins(chunks: list[Chunk], left: int, right: int, *, depth: int) -> bool:
    """Whether two neighbours belong to one formula."""
    a, b = chunks[left], chunks[right]
    beside = (a.operator and b.product) or (b.operator and a.product)
    if not beside and not ((a.strong or a.weak) and (b.strong or b.weak)):
        return False
    if a.text.endswith(("**", ".", ";", ":", "?", "!")) or b.text.startswith("*"):
        return False
    if a.text.endswith(","):
        return depth > 0
    if a.operator or b.operator or depth > 0:
        return True
    if a.text.strip("(") in FUNCTIONS or (b.text in FUNCTIONS and a.strong):
        return True
    if a.strong and b.strong:
        return not b.text.startswith("(") or "," not in b.text
    if re.fullmatch(r"\d[\d.,]*", a.text):
        return False
    if re.fullmatch(r"\d+[A-Z]", a.text) and b.strong:
        return True
    single = LETTER.fullmatch(a.text.lstrip("(")) or LETTER.fullmatch(b.text.rstrip(".,;:)"))
    return bool(single and (a.strong or b.strong) and not a.text.endswith(")"))


def write_span(text: str) -> str:
    """A formula between dollars, with the punctuation and the emphasis around it outside."""
    before, after = LEADING.match(text)[0], ""  # type: ignore[index]
    core = text[len(before) :]
    after = TRAILING.search(core)[0]  # type: ignore[index]
    core = core[: len(core) - len(after)]
    while after.startswith("*") and not after.startswith("**") and ends_in_star(core, before):
        core, after = core + "*", after[1:]
    while before and before[-1] in OPENING and lowest(core, before[-1]) < 0:
        core, before = before[-1] + core, before[:-1]
    for close in list(after):  # brackets that the formula itself opened
        if close in CLOSING and excess(core, close) > 0:
            core, after = core + close, after[1:]
            while after.startswith("*") and not after.startswith("**") and not before:
                core, after = core + "*", after[1:]
        elif close == "." and core.endswith("…"):
            core, after = core + close, after[1:]
        else:
            break
    if re.fullmatch(r"[-=<>+/|*→←]*", core):  # an arrow between two names is no formula
        return text
    return f"{before}${to_latex(core.replace(ESCAPED_STAR, '*'))}${after}"


def ends_in_star(core: str, before: str) -> bool:
    """Whether a star behind the core is that of V*, and does not end an emphasis."""
    return bool(re.search(r"(?<![A-Za-z]{2})[A-Za-z]$", core)) and not before.endswith("*")


def lowest(text: str, opening: str) -> int:
    """The lowest depth of brackets of a kind on the way through a text."""
    depth = least = 0
    for sign in text:
        depth += (sign == opening) - (sign == BRACKETS[opening])
        least = min(least, depth)
    return least


def excess(text: str, close: str) -> int:
    opening = next(a for a, b in BRACKETS.items() if b == close)
    return text.count(opening) - text.count(close)


def find_unwritten(text: str) -> list[str]:
    """Formulas that stand in plain text."""
    found = []
    for part, kept in split_kept(text):
        for word in () if kept else re.split(r"[\s|]+", part):
            star = STARRED.search(word)
            signs = any(sign in ALWAYS for sign in word) and word not in ("→", "←")
            if signs or star or SCRIPT.search(word):
                found.append(word)
    return found


def pages() -> list[Path]:
    """Every Markdown page of the repository but the template's, which is a paper of its own."""
    found = (path.relative_to(ROOT) for path in sorted(ROOT.rglob("*.md")))
    return [
        ROOT / path
        for path in found
        if not any(part.startswith(".") or part in ("out", "build") for part in path.parts)
    ]


def main() -> None:
    checking = "--check" in sys.argv[1:]
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if not checking:
            page.write_text(write_formulas(text), encoding="utf-8")
        elif found := find_unwritten(text):
            print(f"{page.relative_to(ROOT)}: {' '.join(dict.fromkeys(found))}")


if __name__ == "__main__":
    main()
