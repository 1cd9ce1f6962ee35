"""Wang, Wei, Hsu and Lee: transformers provably learn sparse token selection (2024)."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="token-selection",
    title="Transformers Provably Learn Sparse Token Selection While Fully-Connected Nets Cannot",
    authors="Zixuan Wang, Stanley Wei, Daniel Hsu, Jason D. Lee",
    year=2024,
    bibtex="""@inproceedings{wang2024transformers,
  title         = {Transformers Provably Learn Sparse Token Selection While Fully-Connected Nets
                   Cannot},
  author        = {Wang, Zixuan and Wei, Stanley and Hsu, Daniel and Lee, Jason D.},
  booktitle     = {International Conference on Machine Learning},
  year          = {2024},
  eprint        = {2406.06893},
  archivePrefix = {arXiv}
}""",
    unavailable=(
        "the full text. Its abstract and summaries were read; that the bound on the loss is "
        "O(log t/t) is reported by a later paper (arXiv 2603.22801). Position codes of random "
        "signs and the query Σ e_i are from memory. T, d, q and the step size of its experiments "
        "are not known to us."
    ),
    letters={
        "T": "teacher.tokens",
        "q": "teacher.support",
        "d": "teacher.dim",
        "m": "student.width",
    },
    studies={
        "rates": Entry(
            "The loss falls like N/(4t): Θ(1/t) without a logarithm, whatever the size of the "
            "subset"
        ),
        "codes": Entry(
            "Position codes: the floor of random signs, the least width that selects every "
            "subset, and fixed codes beside fresh ones"
        ),
        "lengths": Entry("Trained on T tokens, tested on T′: what the loss is multiplied by"),
        "networks": Entry(
            "The least error of a fully connected network with m units in its first layer"
        ),
        "confirmation": Entry(
            "The law, the ratio of lengths and the floor once more, on fresh sizes and seeds"
        ),
    },
)
