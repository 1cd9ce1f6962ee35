r"""Formulas of pages are LaTeX, so that stars and bars survive every renderer."""

import inspect
import re

import pytest
from tools.latex import to_latex
from tools.mathematics import find_unwritten, pages, write_formulas

import tutelage as tt

WRITE = "python -m tools.mathematics"

FORMULAS = {
    "‖W_V−V*‖²√(ηT)": r"\Vert W_V-V^{\star}\Vert^2\sqrt{\eta T}",
    "Σ_i K_i(D−K_i)/(4ηT)": r"\sum_i K_i(D-K_i)/(4\eta T)",
    "1/(M D^5/2)": r"1/(M D^{5/2})",
    "softmax(PᵀW_KQP/√D)": r"\mathrm{softmax}(P^{\top}W_{KQ}P/\sqrt{D})",
    "tr(V*ΣV*ᵀ)": r"\mathrm{tr}(V^{\star}\Sigma V^{\star\top})",
    "D̃^-½": r"\tilde{D}^{-1/2}",
    "q̇_i ≤ 10⁻¹³": r"\dot{q}_i \le 10^{-13}",
    "e^{−cz}": r"e^{-cz}",
    "√log m": r"\sqrt{\log m}",
    "excess_risk·t^1 ± 3%": r"\text{excess risk}\cdot t^1 \pm 3\%",
    "w⊥": r"w_{\perp}",
}

SENTENCES = {
    "It tends to V* from above.": r"It tends to $V^{\star}$ from above.",
    "*Zeros in S\\**: none.": r"*Zeros in $S^{\star}$*: none.",
    "The excess is Θ(1/T), as said.": r"The excess is $\Theta(1/T)$, as said.",
    "with D = 36 and K = 4,": "with $D = 36$ and $K = 4$,",
    "| \\|f_lin\\| | 2 |": r"| $\vert f_{\mathrm{lin}}\vert$ | 2 |",
    "(η below)": r"($\eta$ below)",
    "a *registered* claim, `V*` and $V^*$": "a *registered* claim, `V*` and $V^*$",
    "`old` → `new`": "`old` → `new`",
    "![V*](a_b.png) [λ](c_d.md)": r"![V*](a_b.png) [$\lambda$](c_d.md)",
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_become_latex(formula):
    assert to_latex(formula) == FORMULAS[formula]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_formulas_are_found_in_sentences(sentence):
    assert write_formulas(sentence) == SENTENCES[sentence]
    assert write_formulas(SENTENCES[sentence]) == SENTENCES[sentence]


@pytest.mark.parametrize("left", ["V* is", "of ‖W‖ in", "K_i tokens", "like D²", "t^-1", "λ"])
def test_a_formula_in_plain_text_is_seen(left):
    assert find_unwritten(f"This {left}, which it should not be.")
    assert not find_unwritten(write_formulas(left))


def test_no_page_has_a_formula_in_plain_text():
    found = {page.name: find_unwritten(page.read_text(encoding="utf-8")) for page in pages()}
    assert {name: words for name, words in found.items() if words} == {}, WRITE


# What a formula that was cut or read wrongly looks like, and how it is written.
CUT = {
    r"\\mathrm\{[a-z]{2,}\}[ ~]+\\mathrm\{[a-z]{2,}\}": r"\text{two words}",
    r"\\sqrt\{\w\}[a-z]": r"\sqrt{\mathrm{time}}",
    r"\$[^$\n]*(?:=|\+|\\le|\\ge)\$ (?:[A-Za-z]{1,2}(?:[*_( ]|\d)|\d+/\()": "$a = b$, both sides",
}
ACCENTED = re.compile("[A-Za-z][\u0300-\u036f]|[żẋẏ]_")


@pytest.mark.parametrize("pattern", CUT)
def test_no_formula_is_cut(pattern):
    found = [
        f"{page.name}: {hit[0]}"
        for page in pages()
        for hit in re.finditer(pattern, page.read_text(encoding="utf-8"))
    ]
    assert found == [], f"write {CUT[pattern]}"


def test_letters_with_a_mark_are_formulas():
    for page in pages():
        text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
        assert ACCENTED.findall(text) == [], page.name


def test_no_formula_has_a_sign_that_markdown_reads():
    """A bar ends the cell of a table, and two stars are emphasis."""
    for page in pages():
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("|"):
                for formula in re.findall(r"(?<!\\)\$([^$`]+)\$", line):
                    assert "|" not in formula, (page.name, formula)


def test_docstrings_of_public_names_are_written_in_latex_by_the_reference():
    """They stay Unicode in the source, where `help` shows them in a terminal."""
    for name in tt.__all__:
        text = inspect.getdoc(getattr(tt, name)) or ""
        assert find_unwritten(write_formulas(text)) == [], name
