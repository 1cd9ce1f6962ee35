"""Formulas of the pages, as `tutelage docs` shows them in a terminal."""

import re
import sys

import pytest

from tutelage.cli import main
from tutelage.cli.docs import find_pages
from tutelage.cli.formulas import FORMULA, to_unicode, write_plain

WRITTEN = {
    r"\Vert V^{\star}\Vert^2": "‖V*‖²",
    r"\sum_i K_i(D-K_i)/(4\eta T)": "Σ_i K_i(D-K_i)/(4ηT)",
    r"\tfrac12\lambda \le \sqrt{\eta T}": "½λ ≤ √(ηT)",
    r"M\times d": "M×d",
    r"\tilde{D}^{-\tfrac{1}{2}}, \hat p": "D̃^-½, p̂",
    r"W_{KQ}/\log t \to W_{\mathrm{svm}}": "W_KQ/log t → W_svm",
    r"(\log t)^{-4/3}\cdot10^{-13}": "(log t)^(-4/3)·10⁻¹³",
    r"\frac{a+b}{2}\|v\|_F": "(a+b)/2‖v‖_F",
    r"e^{-2\mu t}, x_{i+1}, w_{\perp}": "e^(-2μt), x_(i+1), w_⊥",
    r"V^{\star\top} \in \{0, 1\}": "V*ᵀ ∈ {0, 1}",
}


@pytest.mark.parametrize("formula", WRITTEN)
def test_a_formula_in_unicode(formula):
    assert to_unicode(formula) == WRITTEN[formula]


def test_lines_stand_below_each_other():
    formula = "$$\n\\begin{aligned}\n& a = b \\\\\n& c = d\n\\end{aligned}\n$$"
    assert write_plain(formula) == "```\na = b\nc = d\n```"


def test_code_stays_and_markdown_does_not_read_the_signs():
    assert write_plain(r"`$x$` and $V^{\star}$, $W_V$") == r"`$x$` and V\*, W\_V"


def test_no_command_of_latex_is_left_on_any_page():
    for name, path in find_pages().items():
        for found in FORMULA.finditer(path.read_text(encoding="utf-8")):
            if formula := found[1] or found[2]:
                assert not re.search(r"\\|[ˆˍ❴❵]", to_unicode(formula)), (name, formula)


def test_a_page_in_a_terminal_has_none(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("PAGER", "cat")
    monkeypatch.setattr("rich.pager.SystemPager.show", lambda self, text: print(text))
    with pytest.raises(SystemExit):
        main(["docs", "derivations"])
    out = capsys.readouterr().out
    assert "‖V*‖²" in out
    assert "\\Vert" not in out
