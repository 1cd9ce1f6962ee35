r"""Formulas of the pages as a terminal shows them: `$\Vert V^{\star}\Vert^2$` is ‖V*‖²."""

from __future__ import annotations

import re

SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "imath": "ı",
    "le": "≤", "ge": "≥", "approx": "≈", "propto": "∝", "ne": "≠", "gg": "≫", "ll": "≪",
    "lesssim": "≲", "to": "→", "leftarrow": "←", "mapsto": "↦", "cdot": "·", "times": "×",
    "pm": "±", "infty": "∞", "partial": "∂", "nabla": "∇", "int": "∫", "sum": "Σ", "langle": "⟨",
    "rangle": "⟩", "odot": "⊙", "otimes": "⊗", "perp": "⊥", "vee": "∨", "wedge": "∧", "circ": "∘",
    "in": "∈", "Vert": "‖", "parallel": "∥", "vert": "|", "star": "*", "top": "ᵀ", "dots": "…",
    "dagger": "†", "sim": "~", "equiv": "≡", "square": "□", "qquad": "   ", "quad": "  ",
}  # fmt: skip
RELATIONS = (
    "le", "ge", "approx", "propto", "ne", "gg", "ll", "lesssim", "to", "leftarrow", "mapsto", "sim",
    "in", "equiv", "pm", "times", "cdot", "otimes", "odot", "quad", "qquad", "parallel", "perp",
)  # fmt: skip
UNSEEN = ("bigl", "bigr", "Bigl", "Bigr", "left", "right", "textstyle", "displaystyle")
NAMES = ("log", "ln", "exp", "sin", "cos", "tan", "cosh", "min", "max", "sup", "inf", "arg", "lim")
ACCENTS = {"tilde": "\u0303", "bar": "\u0304", "dot": "\u0307", "hat": "\u0302", "ddot": "\u0308"}
FRACTIONS = {"1/2": "½", "1/4": "¼", "3/4": "¾", "1/3": "⅓", "2/3": "⅔"}
RAISED = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
CODE = r"^```.*?^```[^\n]*$|``[^\n]+?``|`[^`\n]+`"
FORMULA = re.compile(rf"{CODE}|\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$", re.S | re.M)
COMMAND = re.compile(r"\\([A-Za-z]+)( ?)(?=(.?))")
ARGUMENT = r"(?:\{([^{}]*)\}| ?([^\s{}\\]))"
FRACTION = re.compile(rf"\\[td]?frac{ARGUMENT}{ARGUMENT}")
WITH_ONE = re.compile(
    rf"\\(sqrt|text|mathrm|mathbf|mathbb|tilde|bar|dot|hat|ddot|begin|end){ARGUMENT}"
)
SCRIPT = re.compile(r"([_^])(?:\{([^{}\\]*)\}|([^{}\\\s]))")


def write_plain(text: str) -> str:
    """A page whose formulas can be read in a terminal; code stays as it is."""
    return FORMULA.sub(_write_found, text)


def _write_found(found: re.Match[str]) -> str:
    formula = found[1] or found[2]
    if formula is None:
        return found[0]
    if found[2]:
        return to_unicode(formula).replace("*", r"\*").replace("_", r"\_")
    lines = (line.strip() for line in to_unicode(formula).splitlines())
    return "```\n" + "\n".join(line for line in lines if line) + "\n```"


def to_unicode(formula: str) -> str:
    """A formula without its dollars, in Unicode."""
    made = formula.replace(r"\|", "‖").replace("&", "").replace(r"\\", "\n")
    made = re.sub(r"\\[,;]", " ", made)
    made = COMMAND.sub(_write_command, made).replace(r"\{", "❴").replace(r"\}", "❵")
    before = ""
    while before != made:
        before = made
        made = FRACTION.sub(_write_fraction, made)
        made = WITH_ONE.sub(_write_one, made)
        made = SCRIPT.sub(_write_script, made)
    made = made.replace("\\%", "%").replace("{", "").replace("}", "")
    return made.translate(str.maketrans("❴❵ˆˍ", "{}^_"))


def _write_command(found: re.Match[str]) -> str:
    name, space, following = found.groups()
    if name in UNSEEN:
        return ""
    if name in NAMES:
        return name + space
    if name not in SIGNS:
        return found[0]
    # In LaTeX the space behind a letter only ends its name: \eta T is ηT.
    before = found.string[: found.start()]
    apart = name in RELATIONS and (not before or before[-1].isspace())
    joined = following.isalpha() and not apart
    return SIGNS[name] + ("" if joined else space)


def _write_fraction(found: re.Match[str]) -> str:
    above, below = found[1] or found[2], found[3] or found[4]
    return FRACTIONS.get(f"{above}/{below}") or f"{_enclose(above)}/{_enclose(below)}"


def _write_one(found: re.Match[str]) -> str:
    name, inner = found[1], found[2] or found[3] or ""
    if name in ("begin", "end"):
        return ""
    if name == "sqrt":
        return f"√{_enclose(inner)}"
    return inner + ACCENTS.get(name, "")


def _write_script(found: re.Match[str]) -> str:
    sign, inner = found[1], (found[2] if found[2] is not None else found[3])
    if sign == "^" and re.fullmatch(r"[*ᵀ]+", inner):
        return inner
    if re.fullmatch(r"[-+]?\d+", inner) and (sign == "^" or inner.isdigit()):
        return inner.translate(RAISED if sign == "^" else LOWERED)
    # A mark without braces is left for good: no other command reads it.
    if sign == "^":
        return f"ˆ{_enclose(inner)}"
    return f"ˍ{inner if inner.isalnum() or len(inner) == 1 else _enclose(inner)}"


def _enclose(inner: str) -> str:
    """In brackets, unless it is one number or letter."""
    alone = re.fullmatch(r"[-−]?(?:[\d.]+|\w[\u0300-\u036f]?\*?)|\([^()]*\)", inner)
    return inner if alone else f"({inner})"
