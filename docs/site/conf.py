"""Sphinx's settings. `make docs` puts them beside the pages that docs/make_site.py gathers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "tutelage"
author = "the authors of tutelage"
copyright = "the authors of tutelage, Apache-2.0"
extensions = ["myst_nb", "mathml"]
html_theme = "furo"
html_title = "tutelage"
html_math_renderer = "mathml"
html_static_path: list[str] = []
html_copy_source = False
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_digits = True
myst_dmath_double_inline = True
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_excluded_patterns: list[str] = []
# Pages of verdicts are reached by links from the findings and the studies. Their anchors are HTML,
# which MyST does not look into; tests/project/test_findings.py checks that each is there.
suppress_warnings = ["toc.not_included", "myst.xref_missing"]
