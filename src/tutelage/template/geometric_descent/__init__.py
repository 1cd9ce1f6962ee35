"""Attention learns to average at a geometric rate: the smallest paper that has everything."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="geometric-descent",
    title="Attention Learns to Average at a Geometric Rate",
    authors="The authors of tutelage",
    year=2026,
    bibtex="@misc{tutelage2026geometric, author = {{The authors of tutelage}}, year = {2026},\n"
    "  title = {Attention Learns to Average at a Geometric Rate}}",
    letters={"D": "teacher.tokens", "V": "teacher.norm", "eta": "rate", "T": "steps"},
    studies={"contraction": Entry("Every step shrinks the excess by the same factor, (1 − η/D)²")},
)
