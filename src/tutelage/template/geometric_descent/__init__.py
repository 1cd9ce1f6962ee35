"""A linear teacher is learned at a geometric rate: the smallest paper that has everything."""

from tutelage.studies.paper import Entry, Paper

paper = Paper(
    name="geometric-descent",
    title="Gradient Descent Learns a Linear Teacher at a Geometric Rate",
    authors="The authors of tutelage",
    year=2026,
    bibtex="@misc{tutelage2026geometric, author = {{The authors of tutelage}}, year = {2026},\n"
    "  title = {Gradient Descent Learns a Linear Teacher at a Geometric Rate}}",
    letters={"d": "teacher.dim", "V": "teacher.norm", "eta": "rate", "T": "steps"},
    studies={"contraction": Entry("Every step shrinks the excess by the same factor, (1 − η)²")},
)
