"""Zhang, Meng and Cao: a transformer learns variable selection in group-sparse classification."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="group-sparse",
    title="Transformer Learns Optimal Variable Selection in Group-Sparse Classification",
    authors="Chenyang Zhang, Xuran Meng, Yuan Cao",
    year=2025,
    bibtex="""@inproceedings{zhang2025transformer,
  title         = {Transformer Learns Optimal Variable Selection in Group-Sparse Classification},
  author        = {Zhang, Chenyang and Meng, Xuran and Cao, Yuan},
  booktitle     = {International Conference on Learning Representations},
  year          = {2025},
  eprint        = {2504.08638},
  archivePrefix = {arXiv}
}""",
    letters={
        "D": "teacher.groups",
        "d": "teacher.dim",
        "codes": "teacher.codes",
        "m": "calculation.margin",
    },
    unavailable=(
        "No full text was at hand: the abstract, public summaries and the public reviews were "
        "read. What the theorems say rests on the summaries; their step size, their conditions "
        "and their constants are not known here."
    ),
    studies={
        "rates": Entry(
            "Gradient flow: the risk falls like t^(−1/3) and the attention missed like t^(−2/3), "
            "both with their constants"
        ),
        "times": Entry(
            "How long it takes: to a risk ε, to attend to the right group, and what large steps "
            "change"
        ),
        "downstream": Entry(
            "A new task with the same group: frozen attention beside logistic regression on all "
            "features"
        ),
        "full-attention": Entry(
            "All blocks of W and v trained on fresh batches: which of them move"
        ),
    },
)
