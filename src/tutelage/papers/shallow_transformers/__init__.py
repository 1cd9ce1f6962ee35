"""Arda, Cayci, Eryilmaz, "Finite-Time Analysis of Gradient Descent for Shallow Transformers"
(AISTATS 2026).
"""

from tutelage.papers.shallow_transformers.autoregressive.study import AUTOREGRESSIVE
from tutelage.papers.shallow_transformers.bounds.study import BOUNDS
from tutelage.papers.shallow_transformers.kernel.study import KERNEL
from tutelage.papers.shallow_transformers.length.study import LENGTH
from tutelage.papers.shallow_transformers.samples.study import SAMPLES
from tutelage.papers.shallow_transformers.width.study import WIDTH

BIBTEX = """@inproceedings{arda2026shallow,
  title         = {Finite-Time Analysis of Gradient Descent for Shallow Transformers},
  author        = {Arda and Cayci and Eryilmaz},
  booktitle     = {International Conference on Artificial Intelligence and Statistics},
  year          = {2026},
  eprint        = {2601.16514},
  archivePrefix = {arXiv}
}"""

STUDIES = (WIDTH, SAMPLES, LENGTH, KERNEL, BOUNDS, AUTOREGRESSIVE)
