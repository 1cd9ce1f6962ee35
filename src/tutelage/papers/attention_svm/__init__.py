"""Tarzanagh, Li, Thrampoulidis and Oymak: transformers as support vector machines (2023)."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="attention-svm",
    title="Transformers as Support Vector Machines",
    authors="Davoud Ataee Tarzanagh, Yingcong Li, Christos Thrampoulidis, Samet Oymak",
    year=2023,
    bibtex="""@misc{tarzanagh2023transformers,
  title         = {Transformers as Support Vector Machines},
  author        = {Tarzanagh, Davoud Ataee and Li, Yingcong and Thrampoulidis, Christos and
                   Oymak, Samet},
  year          = {2023},
  eprint        = {2308.16898},
  archivePrefix = {arXiv}
}""",
    letters={
        "n": "teacher.sequences",
        "T": "teacher.tokens",
        "d": "teacher.dim",
    },
    studies={
        "max-margin": Entry(
            "Gradient flow on W: excess·t tends to ‖W^mm‖², and the direction turns to W^mm like "
            "1/log² t"
        ),
        "local-optima": Entry(
            "Where descent ends: at locally optimal tokens, from everywhere; and which starts stay"
        ),
        "normalised": Entry(
            "Normalised descent: the published curve of correlations, the rate of its excess and "
            "of its direction"
        ),
        "factored": Entry(
            "K and Q apart: the nuclear norm sets the constant, and how slowly the direction "
            "follows, with and without the ridge of the published code"
        ),
        "recipe": Entry(
            "The published recipe beside the same descent in log domain: where plain arithmetic "
            "stalls, and why"
        ),
    },
)
