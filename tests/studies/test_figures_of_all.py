"""Every study is run for a moment and draws its figures, or says that this was too short."""

import logging

import pytest

import tutelage as tt
from tutelage.figures import look

SOON = ("group-sparse/rates",)  # it takes seconds
TOO_SHORT = ("teacher-models/phases", "teacher-models/scaling")
STUDIES = [
    pytest.param(name, marks=[] if name in SOON else [pytest.mark.depth]) for name in tt.studies()
]


@pytest.mark.usefixtures("adam_allowed")
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_draws_every_figure_that_has_a_caption(name, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        found = tt.reproduce(name, steps=300, seeds=2, out=tmp_path, jobs=1)
    assert (found.folder / "verdicts.json").exists()
    if name in TOO_SHORT:
        assert f"{name} has no figures. Too short to tell" in caplog.text
        return
    captions, forms = tt.studies()[name].captions, (*look.FORMATS, "csv")
    expected = {f"{figure}.{form}" for figure in captions for form in forms}
    assert {path.name for path in found.figures} == expected
    assert all(path.stat().st_size > 0 for path in found.figures)
