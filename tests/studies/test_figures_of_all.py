"""Every study is run for a moment and draws all of its figures."""

import pytest

import tutelage as tt
from tutelage.figures import look

SOON = ("group-sparse/rates", "attention-svm/max-margin")  # they take seconds
STUDIES = [
    pytest.param(name, marks=[] if name in SOON else [pytest.mark.depth]) for name in tt.studies()
]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_draws_every_figure_that_has_a_caption(name, tmp_path):
    found = tt.reproduce(name, steps=300, seeds=2, out=tmp_path, jobs=1)
    captions, forms = tt.studies()[name].captions, (*look.FORMATS, "csv")
    expected = {f"{figure}.{form}" for figure in captions for form in forms}
    assert {path.name for path in found.figures} == expected
    assert all(path.stat().st_size > 0 for path in found.figures)
