"""Phrases that were rewritten in plain English do not come back, in code, on pages or in docs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What was written, and what to write instead.
PHRASES = {
    r"again and again": "repeatedly, repeatable, or in every …",
    r"against loss of power": "so that results survive a power failure",
    r"are here whole|is here whole": "are fully reproduced",
    r"found again by what was asked": "stored under a hash of its setting",
    r"whole or not at all": "appears atomically",
    r"as the page begins with it|as the page begins with them": "the page's default",
    r"left out, as the page": "if omitted, the page's default",
    r"it ran all its steps": "finished all steps",
    r"it serves twin checks": "only used for cross-checks",
    r"as they must not": "as expected",
    r"are on the good side|is on the good side": "are favourable: say which quantity decreases",
    r"runs are kept: finished": "runs are cached",
    r"as in one piece": "as one uninterrupted run",
    r"asks of a paper what it does not say": "goes beyond the paper",
    r"tells? nothing of (?:chance|the spread)": "does not show the spread",
    r"says nothing of chance": "does not show the random spread",
    r"of which theory says nothing": "without a prediction",
    r"saved where they stood": "saved",
    r"is not to be seen from": "cannot be seen from",
    r"that which is left": "what remains",
    r"a graph of one's own": "your own graph",
    r"made? it through `execute`": "make the run with `execute`",
    r"with a sentence\. a question asked": "say what is listed in one short sentence",
    r"\bso many (?:processes|steps|local|workers|frames|seeds|runs)": "how many, or this many",
    r"of one's own\b": "your own",
    r"(?:a curve|a layer|a graph) of your own\b": "your own curve",
    r"\b(?:of|only) who has\b": "of those who have",
    r"\bas ever\b": "as before",
    r"\bor the like\b": "or similar",
    r"at the most\b": "at most",
    r"\b(?:theory|theorem|paper|law|bounds?|page) says? of\b": "says about",
    r"what of the text\b": "what we could not read",
    r"(?:is|are) told (?:S|V|their place|there)\b": "is given, or see",
    r"inside of an?\b": "inside a",
    r"\bsince else\b": "since … otherwise",
    r"goes? by quadrature": "needs quadrature",
    r"beside it either": "without an extra …",
    r"then has chance": "can then be judged",
    r"which is none\b": "which is not one",
    r"(?:has|have) the same tokens read": "reads the same tokens",
    r"\bhas an own\b": "has its own",
}
# "Per", not "a": one row per run.
UNIT = "run|step|seed|horizon|row|curve|setting|query|core|process|slope|horizon|line|head|decade"
PHRASES[rf"\b(?:one|a row|a line|a point|folder|entries|once|ms|s|MB|steps) an? (?:{UNIT})\b"] = (
    "per: one row per run"
)
# Sentences that are fine, though a pattern finds them: the verb stands between the two words.
FINE = (
    re.compile(r"(?:how many|these|more|this many) steps an? (?:run|curve|head)", re.IGNORECASE),
    re.compile(r"\bone a (?:head|curve|row)\b"),
)
ENDINGS = {".py", ".js", ".html", ".css", ".md", ".toml", ".jinja", ".cff", ".yml"}
PLACES = ("src", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
# Written from results and timings, whose sentences are records of what was run.
RECORDS = {"results", "tests", "_build", "findings.md", "bench.md"}


def list_texts():
    for place in PLACES:
        found = ROOT / place
        for path in sorted(found.rglob("*")) if found.is_dir() else [found]:
            if path.suffix in ENDINGS and not RECORDS & set(path.parts):
                yield path


def read_joined(path):
    """A text on one line, with strings that stand side by side in code as one."""
    return re.sub(r'" f?"', "", " ".join(path.read_text(encoding="utf-8").split()))


TEXTS = {path.relative_to(ROOT): read_joined(path) for path in list_texts()}


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_stays_away(phrase):
    pattern = re.compile(phrase, re.IGNORECASE)
    back = [
        f"{path}: …{text[max(0, hit.start() - 40) : hit.end() + 40]}…"
        for path, text in TEXTS.items()
        for hit in pattern.finditer(text)
        if not any(fine.search(text[max(0, hit.start() - 15) : hit.end() + 4]) for fine in FINE)
    ]
    assert back == [], f"write: {PHRASES[phrase]}"


def test_there_is_something_to_read():
    assert len(TEXTS) > 400
