"""Formulas as MathML, made while the site is built: browsers show it without any script, so that no
page loads one, from here or from another host.
"""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)
# A command that was left as it is, or the mark of a column outside of a table.
UNKNOWN = re.compile(r">(\\[A-Za-z]+|&(?=<))")
# `aligned`, which the package sets on one line; it knows `split`, which looks the same.
ROWS = re.compile(r"\\(begin|end)\{aligned\}")
# Functions by name, which LaTeX sets apart from what stands beside them: log t, log² t.
NAME = r"<mi>(?:log|ln|exp|sin|cos|tan|arg)</mi>"
FUNCTION = rf"(?:<msu[bp]>{NAME}<m[in]>[^<]*</m[in]></msu[bp]>|(?<!<msup>)(?<!<msub>){NAME})"
BEHIND = re.compile(rf"({FUNCTION})(?=<m(?!o))")
BEFORE = re.compile(rf"(</m(?:i|n|sub|sup|subsup|row|frac|sqrt)>)(?={FUNCTION})")
THIN = r"\1<mspace width='0.17em'/>"


def render(writer: HTML5Translator, node: nodes.Node, display: str) -> None:
    """Writes a formula; one that is no LaTeX, or has an unknown command, is a warning, which ends
    the build.
    """
    try:
        made = set_apart(convert(in_rows(node.astext()), display=display))
    except Exception as error:  # the package raises many kinds
        LOG.warning("No LaTeX: %s (%s)", node.astext(), error, location=node)
        raise nodes.SkipNode from error
    for command in UNKNOWN.findall(made):
        LOG.warning("No known command: %s in %s", command, node.astext(), location=node)
    writer.body.append(made)
    raise nodes.SkipNode


def in_rows(formula: str) -> str:
    """A formula whose aligned lines stand below each other."""
    return ROWS.sub(r"\\\1{split}", formula)


def set_apart(made: str) -> str:
    """MathML with a thin space on both sides of a function."""
    return BEFORE.sub(THIN, BEHIND.sub(THIN, made))


def render_inline(writer: HTML5Translator, node: nodes.math) -> None:
    render(writer, node, "inline")


def render_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    render(writer, node, "block")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (render_inline, None), (render_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
