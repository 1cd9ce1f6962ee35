"""Zhang, Zhao, Gu and Cao: one layer of attention learns a class of teacher models (ICLR 2026)."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="teacher-models",
    title="Transformers Trained via Gradient Descent Can Provably Learn a Class of Teacher Models",
    authors="Chenyang Zhang, Qingyue Zhao, Quanquan Gu, Yuan Cao",
    year=2026,
    bibtex="""@inproceedings{zhang2026teachermodels,
  title         = {Transformers Trained via Gradient Descent Can Provably Learn a Class of Teacher
                   Models},
  author        = {Zhang, Chenyang and Zhao, Qingyue and Gu, Quanquan and Cao, Yuan},
  booktitle     = {International Conference on Learning Representations},
  year          = {2026},
  eprint        = {2603.22801},
  archivePrefix = {arXiv}
}""",
    unavailable=(
        "the appendix, with the proofs in full. The theorems and the sketch of their proof were "
        "read; claims that rest on the proof's phases and on Theorem 3.2's worst case are marked "
        "as partly read. No code was published."
    ),
    letters={
        "D": "teacher.tokens",
        "K": "teacher.support",
        "d": "teacher.dim",
        "M": "teacher.outputs",
        "V": "teacher.norm",
        "tau": "teacher.noise",
        "eta": "rate",
        "T": "steps",
    },
    studies={
        "rates": Entry(
            "Theorem 3.1 in the paper's six runs: rates, sharp constants, alignment and "
            "attention (Fig. 2a, 2c, 3)",
            reproduce=True,
        ),
        "online": Entry(
            "The paper's runs online, with batches of 100 and label noise, beside the exact run; "
            "the noise floor in η, N and τ",
            reproduce=True,
        ),
        "phases": Entry(
            "How it gets there: C₁, C₂+C₃ and p by an exact recursion, the plateau's length, the "
            "largest stable step",
            reproduce=True,
        ),
        "scaling": Entry(
            "How the constants of Theorem 3.1 grow with D, K, η and ‖V*‖: as printed (K D⁴) or "
            "sharper (K D²)?",
            reproduce=True,
        ),
        "hypotheses": Entry(
            "Theorem 3.1 inside its own step-size condition, η = 1/(M D^5/2) taken literally, "
            "and at practical steps beside it",
            reproduce=True,
        ),
        "ood": Entry(
            "Theorem 3.2 and Fig. 2b: foreign inputs and labels, when 1/T and when 1/√T; which "
            "invariance the student inherits",
            reproduce=True,
        ),
        "blocks": Entry(
            "Full attention on [x; p], merged and with W_K, W_Q apart, and the textbook layer: "
            "which blocks move (Fig. 1)",
            reproduce=True,
        ),
        "codes": Entry(
            "Which position codes will do: the max-margin law for codes of every kind, and what "
            "happens without any",
            reproduce=True,
        ),
        "images": Entry(
            "Real images: attention learns the hidden layer of a CNN trained on MNIST, and takes "
            "its place (Fig. 4, 5)",
            reproduce=True,
        ),
        "graphs": Entry(
            "random, real and irregular graphs, supports of many sizes, and the symmetric "
            "normalisation outside the class",
            beyond=True,
        ),
        "optimisers": Entry(
            "optimisers other than plain descent: momentum, decaying steps, normalised and sign "
            "descent, Adam, any of optax",
            beyond=True,
        ),
        "starts": Entry(
            "starts and patterns: D = K, K = D−1, unequal weights and supports, S* without "
            "zeros, random starts of every scale",
            beyond=True,
        ),
        "inputs": Entry(
            "training on other inputs, other activations and fixed noiseless samples: what of "
            "Theorem 3.1 survives",
            beyond=True,
        ),
        "samples": Entry(
            "finite n: excess against n beside least squares, ridge, a two-layer network and an "
            "oracle; the n each needs in D and d",
            beyond=True,
        ),
        "noise": Entry(
            "label noise, exact and online: the rate before its floor, and what averaging and "
            "decaying steps recover",
            beyond=True,
        ),
        "limits": Entry(
            "teachers outside the class and richer students: a map of the relative excess "
            "reached, beside certified bounds",
            beyond=True,
        ),
        "confirmation": Entry(
            "Registered confirmations: the important claims on fresh sizes and seeds, written to "
            "the ledger before they were run",
        ),
    },
)
