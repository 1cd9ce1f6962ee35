"""Runs and verdicts in a notebook: whole and escaped, every point of a curve where it belongs,
readable in the dark.
"""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from tutelage import notebook
from tutelage.claims.verdict import Hypothesis, Status, Verdict
from tutelage.run import Outcome, Run

STEPS = np.array([0, 1, 10, 100, 1000])
RUN = Run(
    STEPS,
    {"excess_risk": np.array([9.0, 8.0, 4.0, 0.4, 0.04]), "support_mass": np.ones((5, 3))},
    None,
    Outcome.FINISHED,
)
VERDICT = Verdict(
    "a/b/c",
    "falls <faster>",
    "Somebody & others",
    -1.0,
    -1.01,
    (-1.03, -0.99),
    0.02,
    Status.HOLDS,
    'It "holds".',
    (Hypothesis("K < D", True),),
)


def tree(html):
    """Parsed as XML, which unescaped text and tags that do not close are not."""
    return ElementTree.fromstring(html)


def test_a_run_draws_its_excess_on_log_log_axes():
    drawn = tree(RUN._repr_html_())
    points = [
        tuple(map(float, pair.split(",")))
        for pair in drawn.find(".//polyline").get("points").split()
    ]
    assert len(points) == 4  # step 0 has no place on a logarithmic axis
    across, up = np.diff(np.array(points), axis=0).T
    assert across == pytest.approx(across[0], abs=0.11)
    assert up[1:] == pytest.approx(up[0] * math.log(10) / math.log(2), rel=0.02)
    words = "".join(drawn.itertext())
    assert "FINISHED" in words
    assert "Finished all steps." in words
    assert "0.04" in words
    assert "1 (mean)" in words


@pytest.mark.parametrize(
    "run",
    [
        replace(RUN, steps=STEPS[:0], curves={}, outcome=Outcome.FAILED, note="<b> & so on"),
        replace(
            RUN,
            curves={"excess_risk": np.array([1.0, np.nan, np.inf, 0.0, -1.0])},
            outcome=Outcome.DIVERGED,
        ),
        replace(RUN, curves={"excess_risk": np.ones(5)}),
        replace(RUN, curves={"only_a_vector": np.ones((5, 2))}),
    ],
)
def test_a_run_without_a_curve_to_draw_still_says_how_it_ended(run):
    drawn = tree(run._repr_html_())
    assert run.outcome.name in "".join(drawn.itertext())
    assert "nan" not in ElementTree.tostring(drawn, encoding="unicode").partition("<table")[0]


def test_a_verdict_draws_its_interval_across_the_prediction():
    drawn = tree(VERDICT._repr_html_())
    line, bar = drawn.findall(".//path")
    predicted = float(re.match(r"M([\d.]+)", line.get("d"))[1])
    first, last = map(float, re.match(r"M([\d.]+),23H([\d.]+)M", bar.get("d")).groups())
    assert (predicted - first) / (last - first) == pytest.approx(0.75, abs=0.01)
    words = "".join(drawn.itertext())
    for said in (
        "✓ HOLDS",
        "falls <faster>",
        "Somebody & others",
        'It "holds".',
        "K < D",
        "[-1.03, -0.99]",
    ):
        assert said in words


def test_a_verdict_without_numbers_has_no_picture_and_a_control_says_what_it_is():
    bare = replace(VERDICT, measured=None, interval=None, status=Status.UNDECIDED, control="K < D")
    assert tree(bare._repr_html_()).find(".//svg") is None
    assert "(a control, which must FAIL)" in bare._repr_html_()
    assert tree(replace(VERDICT, interval=(-math.inf, 0.0))._repr_html_()).find(".//svg") is None
    assert (
        tree(replace(VERDICT, predicted=0.0, measured=0.0, interval=(0.0, 0.0))._repr_html_()).find(
            ".//circle"
        )
        is not None
    )


def test_colours_are_told_from_light_and_dark_and_nothing_is_painted_behind():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour, _ in notebook.MARKS.values():
        assert 1.05 / (luminance(colour) + 0.05) > 3  # on white, as WCAG asks of graphics
        assert (luminance(colour) + 0.05) / (luminance("#111111") + 0.05) > 3
    assert set(notebook.MARKS) == {s.value for s in Status} | {o.name for o in Outcome}
    assert "background:#" not in RUN._repr_html_() + VERDICT._repr_html_()
