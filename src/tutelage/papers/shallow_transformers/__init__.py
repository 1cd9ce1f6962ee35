"""Arda, Cayci and Eryilmaz: gradient descent for shallow transformers (AISTATS 2026)."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="shallow-transformers",
    title="Finite-Time Analysis of Gradient Descent for Shallow Transformers",
    authors="Enes Arda, Semih Cayci, Atilla Eryilmaz",
    year=2026,
    bibtex="""@inproceedings{arda2026shallow,
  title         = {Finite-Time Analysis of Gradient Descent for Shallow Transformers},
  author        = {Arda, Enes and Cayci, Semih and Eryilmaz, Atilla},
  booktitle     = {International Conference on Artificial Intelligence and Statistics},
  year          = {2026},
  eprint        = {2601.16514},
  archivePrefix = {arXiv}
}""",
    letters={
        "d": "teacher.dim",
        "T": "teacher.tokens",
        "n": "objective.samples",
        "m": "student.heads",
        "R": "teacher.anchors",
        "tau": "steps",
        "eta": "rate",
    },
    studies={
        "width": Entry(
            "Linearisation, approximation and training against the width m: which falls like "
            "m^-½, and what the horizon does to it",
            reproduce=True,
        ),
        "samples": Entry(
            "How the approximation error and the needed width grow with the number of samples "
            "n: only through log n?",
            reproduce=True,
        ),
        "length": Entry(
            "Does anything depend on the number of tokens T: training loss, gradients of the "
            "function, distance from linearity?",
            reproduce=True,
        ),
        "kernel": Entry(
            "The tangent kernel: finite width against its limit, and the network against "
            "kernel regression, with nothing fitted",
            reproduce=True,
        ),
        "bounds": Entry(
            "The bounds with their constants beside what is measured, and the width at which "
            "each would begin to bite",
            reproduce=True,
        ),
        "autoregressive": Entry(
            "Transformer against IndRNN on AR(L): losses over the lag, function gradients in "
            "u, and memory really measured",
            reproduce=True,
        ),
        "confirmation": Entry(
            "Registered confirmations: the important claims on fresh sizes and seeds, written to "
            "the ledger before they were run",
        ),
    },
)
