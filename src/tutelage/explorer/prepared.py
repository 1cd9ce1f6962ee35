"""Prepared states: links for a lecture, each with a sentence that says what to look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True)
class Prepared:
    """A state of the page, and what it shows."""

    name: str
    sentence: str
    query: str
    also: tuple[str, ...] = ()  # queries of runs that are laid over it
    page: str = "main"
    show: str = ""  # the curve to look at, where it is not the page's first

    def plain(self) -> dict[str, Any]:
        beside = [f"also={quote(query, safe='')}" for query in self.also] + (
            [f"show={self.show}"] if self.show else []
        )
        return {
            "name": self.name,
            "sentence": self.sentence,
            "query": "&".join([self.query, *beside]),
        }


def _cnn(
    more: str = "", tokens: int = 36, support: int = 4, rate: float = 0.2, steps: int = 100_000
) -> str:
    sizes = f"teacher.tokens={tokens}&teacher.support={support}&teacher.outputs=8&teacher.dim=10&teacher.norm=50"
    return f"teacher=convolution&{sizes}{more}&rate={rate:g}&steps={steps}&seed=0"


def _heads(width: int, more: str = "") -> str:
    return f"teacher=transported&student=shallow_transformer&student.heads={width}{more}&objective.samples=100&rate=0.05&steps=400&seed=0"


_SMALL = (
    "teacher.tokens=8&teacher.support=2&teacher.outputs=2&teacher.dim=3&teacher.activation=identity"
)
_NO_CODES = "[[" + ",".join(["1"] * 36) + "]]"  # one number a position, the same for all
_UNEQUAL = "[" + ",".join("[" + ",".join(str(v if i == j else 0) for j in range(10)) + "]" for i, v in enumerate(
    (0.2, 0.3, 0.4, 0.55, 0.75, 1.05, 1.5, 2.1, 2.9, 4))) + "]"  # fmt: skip

PREPARED = (
    Prepared(
        "it works",
        "A convolution is learned exactly. Look for the plateau, then the straight line of slope "
        "−1 that meets the predicted constant.",
        _cnn(),
    ),
    Prepared(
        "break the step size",
        "The step size is 1.3 times the largest stable one. The excess falls at first, then "
        "stalls: every rate FAILS.",
        _cnn(rate=0.58),
    ),
    Prepared(
        "take the codes away",
        "All positions carry the same code, so attention cannot tell tokens apart. It stays "
        "uniform, and the excess stays high.",
        _cnn(f"&student.key_codes={_NO_CODES}", steps=20_000),
    ),
    Prepared(
        "D = K",
        "The teacher reads every token, so uniform attention is right from the start. The excess "
        "falls exponentially, and no rate holds.",
        _cnn(support=36, steps=10_000),
    ),
    Prepared(
        "start at random",
        "W_V begins far from V*. The cosine is not 1 on the way, so its claim FAILS; the excess "
        "keeps its rate and its constant.",
        _cnn("&student.start=0.3"),
    ),
    Prepared(
        "break the inputs",
        "Features have unequal variances. W_V leaves the direction of V* on the way: look at the "
        "cosine.",
        _cnn(f"&inputs.covariance={_UNEQUAL}", rate=0.05, steps=20_000),
        show="cosine",
    ),
    Prepared(
        "label noise",
        "A fresh batch of 100 noisy labels at every step. The excess falls like 1/T, then "
        "wanders about the floor that theory predicts.",
        f"teacher=convolution&{_SMALL}&teacher.norm=10&teacher.noise=10&objective=online&objective.batch=100&rate=0.05&steps=10000&seed=0",
    ),
    Prepared(
        "a real graph",
        "Graph convolution on Zachary's karate club. Nodes have different degrees, and the "
        "constants hold with their sum.",
        "teacher=graph_convolution&teacher.tokens=34&teacher.graph=karate&teacher.outputs=8&teacher.dim=10&teacher.norm=30&rate=0.2"
        "&steps=100000&seed=0",
    ),
    Prepared(
        "one token matters",
        "Group-sparse regression: every query must find the same token. Watch one row of the "
        "attention light up.",
        "teacher=group_sparse&teacher.tokens=20&teacher.dim=10&teacher.norm=15&rate=0.04&steps=100000&seed=0",
    ),
    Prepared(
        "heavy tails",
        "Student-t inputs and 64 samples, where no theorem applies. The student still learns: "
        "look at how the excess falls.",
        f"teacher=convolution&{_SMALL}&teacher.norm=8&inputs=independent&inputs.law=student_t&objective=empirical&objective.samples=64"
        "&objective.held_out=1000&rate=0.05&steps=20000&seed=0",
    ),
    Prepared(
        "three widths",
        "Widths 8, 64 and 512 on the same sample. The wider the student, the closer it stays to "
        "its linearisation.",
        _heads(512),
        (_heads(64), _heads(8)),
        "shallow",
        "linearisation_gap.sup",
    ),
    Prepared(
        "long sequences",
        "Sequences of 128 tokens over those of 16. Their labels differ in size: look at how far "
        "each loss falls from its own start.",
        _heads(64, "&teacher.tokens=128"),
        (_heads(64),),
        "shallow",
        "loss",
    ),
    Prepared(
        "a projection that binds",
        "Radii of 0.05, which heads reach: the displacements stop there, and the loss stays "
        "above that of radii of 3.",
        _heads(64, "&optimiser.rho_c=0.05&optimiser.rho_u=0.05&optimiser.rho_w=0.05"),
        (_heads(64),),
        "shallow",
        "loss",
    ),
)


def prepared(page: str) -> list[dict[str, Any]]:
    """Those of a page, JSON-ready."""
    return [state.plain() for state in PREPARED if state.page == page]
