"""Sander, Giryes, Suzuki, Blondel and Peyré: in-context autoregressive learning (2024)."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="in-context-autoregression",
    title="How do Transformers perform In-Context Autoregressive Learning?",
    authors="Michael E. Sander, Raja Giryes, Taiji Suzuki, Mathieu Blondel, Gabriel Peyré",
    year=2024,
    bibtex="""@inproceedings{sander2024autoregressive,
  title         = {How do Transformers perform In-Context Autoregressive Learning?},
  author        = {Sander, Michael E. and Giryes, Raja and Suzuki, Taiji and Blondel, Mathieu and
                   Peyr{\\'e}, Gabriel},
  booktitle     = {International Conference on Machine Learning},
  year          = {2024},
  eprint        = {2402.05787},
  archivePrefix = {arXiv}
}""",
    letters={
        "d": "teacher.dim",
        "T": "teacher.tokens",
        "H": "student.heads",
        "N": "teacher.prefixes",
        "mu": "teacher.slowness",
        "eta": "rate",
    },
    studies={
        "unitary": Entry(
            "Independent angles: heads become orthogonal, a conservation law fixes |c|, and H < d "
            "heads leave d − H"
        ),
        "orthogonal": Entry(
            "Angles in pairs: equal blocks, the weights 1 and −1/2, and minima that are not global"
        ),
        "augmented": Entry(
            "Augmented tokens: one gradient step of size 3/(2N + 3d − 2), whose loss stays above ¼"
        ),
        "positions": Entry(
            "Position weights alone: descent is a spectral filter of Slepian's matrix"
        ),
    },
    unavailable=(
        "No full text of the paper was at hand: its abstract and summaries, and the authors' "
        "published code, which was read. Theorems are stated from memory."
    ),
)
