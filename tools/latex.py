r"""A formula as the terminal shows it, written in LaTeX: `‖W_V−V*‖²` is
`\Vert W_V-V^{\star}\Vert^2`.

The result has no bar and no star, which Markdown would take for the border of a table and for
emphasis.
"""

from __future__ import annotations

import re
import unicodedata

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi",
    "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi", "χ": "chi", "ψ": "psi",
    "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi",
    "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "ℓ": "ell",
}  # fmt: skip
SIGNS = {
    "≤": "le", "≥": "ge", "≈": "approx", "∝": "propto", "≠": "ne", "≫": "gg", "≪": "ll",
    "≲": "lesssim", "→": "to", "←": "leftarrow", "↦": "mapsto", "·": "cdot", "×": "times",
    "±": "pm", "∞": "infty", "∂": "partial", "∇": "nabla", "∫": "int", "⟨": "langle",
    "⟩": "rangle", "⊙": "odot", "⊗": "otimes", "⊥": "perp", "⟂": "perp", "∨": "vee",
    "∧": "wedge", "∘": "circ", "∈": "in", "‖": "Vert", "∥": "parallel", "|": "vert",
    "⋆": "star", "*": "star", "…": "dots", "†": "dagger", "∼": "sim", "≡": "equiv",
}  # fmt: skip
PLAIN = {"−": "-", "′": "'", "₊": "_{+}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$"}
FRACTIONS = {"½": (1, 2), "¼": (1, 4), "¾": (3, 4), "⅓": (1, 3), "⅔": (2, 3)}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀʲˢⁱⁿᵏᵗ", "0123456789+-Tjsinkt", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
ACCENTS = {"\u0303": "tilde", "\u0304": "bar", "\u0307": "dot", "\u0302": "hat", "\u0308": "ddot"}
FUNCTIONS = {
    "log", "ln", "exp", "sin", "cos", "tan", "min", "max", "sup", "inf", "arg", "det", "lim",
}  # fmt: skip
# Words of fewer than four letters that are names, and no products of letters.
NAMES = {
    "lin", "opt", "svm", "nuc", "iid", "gap", "law", "tr", "off", "on", "relu", "erf", "TF", "Var",
    "var", "cov", "std", "asin", "atan", "app", "in", "own", "one", "rms", "max", "min", "old",
    "new", "all", "not", "the", "of", "for", "and", "at", "by", "is", "to", "or", "if", "as",
}  # fmt: skip
BRACKETS = {"(": ")", "[": "]", "{": "}"}
NUMBER = re.compile(r"\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?")
IDENTIFIER = re.compile(r"[A-Za-z]{3,}(?:_[A-Za-z]{2,})+")
WORD = re.compile(r"[A-Za-z]+")
LOW = re.compile(r"KQ|V|K|Q|[a-z]+(?![a-z])|[A-Z]+|\d+")
DOUBLE = {mark: re.compile(rf"\{mark}{{([^{{}}]*)}}\{mark}{{([^{{}}]*)}}") for mark in "^_"}
POWER = re.compile(r"[-−]?(?:\d+/\d+|\d+(?:\.\d+)?|[a-z]+|[A-Z]|½)")


def to_latex(text: str) -> str:
    """The formula in LaTeX, without dollars."""
    found = _Formula(unicodedata.normalize("NFC", text)).whole()
    for mark in "^_":  # a letter carries one of each
        while (merged := DOUBLE[mark].sub(rf"{mark}{{\1 \2}}", found)) != found:
            found = merged
    found = re.sub(r"(\\[A-Za-z]+) (?![A-Za-z ])", r"\1", found)
    found = re.sub(r" {2,}", " ", found)
    return re.sub(r"([_^])\{(\w)\}", r"\1\2", found).strip()


class _Formula:
    """Reads a formula from left to right."""

    def __init__(self, text: str):
        self.text, self.place = text, 0

    def whole(self) -> str:
        parts = []
        while self.place < len(self.text):
            parts.append(self._atom())
        return "".join(parts)

    def _rest(self) -> str:
        return self.text[self.place :]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.place)
        if found is None:
            return ""
        self.place = found.end()
        return found[0]

    def _atom(self) -> str:
        sign = self.text[self.place]
        for pattern, write in (
            (NUMBER, lambda found: found.replace(",", "{,}")),
            (IDENTIFIER, lambda found: rf"\text{{{found.replace('_', ' ')}}}"),
            (WORD, _write_word),
        ):
            if found := self._take(pattern):
                accent = self._accent()
                if accent:  # it sits on the last letter
                    return write(found[:-1]) + rf"\{accent}{{{found[-1]}}}" if found else ""
                return write(found)
        self.place += 1
        if sign in RAISED or sign in LOWERED:
            return self._run(sign)
        if sign in "_^":
            return f"{sign}{{{self._script(sign)}}}"
        if sign == "√":
            return rf"\sqrt{{{self._radicand()}}}"
        if sign in FRACTIONS:
            return r"\tfrac{{{}}}{{{}}}".format(*FRACTIONS[sign])
        if sign in "Σ∑":
            return self._sum()
        if sign == "*":
            return r"^{\star}"
        if sign == "⊥" and self.text[self.place - 2 : self.place - 1].isalpha():
            return r"_{\perp}"
        return self._letter(sign)

    def _letter(self, sign: str) -> str:
        if sign in GREEK:
            name = rf"\{GREEK[sign]} "
            accent = self._accent()
            return rf"\{accent}{{{name.strip()}}}" if accent else name
        if sign in SIGNS:
            return rf"\{SIGNS[sign]} "
        if sign in PLAIN:
            return PLAIN[sign]
        if sign in "{}":
            return rf"\{sign}"
        base, *marks = unicodedata.normalize("NFD", sign)
        for mark in marks:
            base = rf"\{ACCENTS[mark]}{{{base}}}" if mark in ACCENTS else sign
        return base

    def _accent(self) -> str:
        if self.place < len(self.text) and self.text[self.place] in ACCENTS:
            self.place += 1
            return ACCENTS[self.text[self.place - 1]]
        return ""

    def _run(self, sign: str) -> str:
        """Raised or lowered digits that stand together."""
        kind, mark = (RAISED, "^") if sign in RAISED else (LOWERED, "_")
        found = kind[sign]
        while self.place < len(self.text) and self.text[self.place] in kind:
            found += kind[self.text[self.place]]
            self.place += 1
        return f"{mark}{{{found.replace('T', chr(92) + 'top ').strip()}}}"

    def _script(self, mark: str) -> str:
        """What a _ or ^ carries: a bracket, a number, a name or one letter."""
        if self.place >= len(self.text):
            return ""
        if self.text[self.place] in "({":
            return self._bracket()
        found = self._take(POWER if mark == "^" else LOW)
        if not found:
            self.place += 1
            found = self.text[self.place - 1]
            if found in "-−" and self.place < len(self.text):
                return "-" + self._script(mark)
            return to_latex(found)
        if "½" in found:
            return found.replace("½", "1/2").replace("−", "-")
        known = found in NAMES or (found.islower() and len(found) > 3)
        return rf"\mathrm{{{found}}}" if known else found.replace("−", "-")

    def _bracket(self) -> str:
        """What stands in the bracket that begins here, without it."""
        close, depth, first = BRACKETS[self.text[self.place]], 0, self.place
        for place in range(first, len(self.text)):
            depth += (self.text[place] == self.text[first]) - (self.text[place] == close)
            if not depth:
                self.place = place + 1
                return to_latex(self.text[first + 1 : place])
        self.place = len(self.text)
        return to_latex(self.text[first + 1 :])

    def _radicand(self) -> str:
        if self._rest()[:1] in BRACKETS:
            return self._bracket()
        if function := self._take(re.compile("log|ln")):
            self._take(re.compile(" "))
            return rf"\{function} {self._single()}"
        return self._single()

    def _single(self) -> str:
        """One number, or one letter with what it carries."""
        if found := self._take(NUMBER):
            return found
        if self.place >= len(self.text):
            return ""
        self.place += 1
        found = self._letter(self.text[self.place - 1])
        while self._rest()[:1] in LOWERED or self._rest()[:1] in ("_", "*"):
            if not self._rest():
                break
            found += self._atom()
        return found.strip()

    def _sum(self) -> str:
        """Σ is a covariance where it stands alone, is raised to a power, or is between matrices."""
        rest, before = self._rest(), self.text[: self.place - 1].rstrip()
        alone = not rest.strip() or rest[:1] in "^)]=,;" or rest.startswith("V*")
        return r"\Sigma " if alone or before.endswith(("V*", "wᵀ")) else r"\sum "


def _write_word(word: str) -> str:
    if word in FUNCTIONS:
        return rf"\{word} "
    if word in NAMES or (len(word) > 3 and word[1:].islower()):
        return rf"\mathrm{{{word}}}"
    return word
