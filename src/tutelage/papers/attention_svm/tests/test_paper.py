"""attention-svm: the paper has what a paper needs, and its page in the explorer its law."""

from __future__ import annotations

import pytest

from tutelage.papers.attention_svm import explore
from tutelage.running.execute import execute
from tutelage.settings import Part, Setting
from tutelage.testing import check_paper


def test_the_paper_has_everything():
    assert check_paper("attention-svm") == []


@pytest.mark.depth
def test_steps_on_the_page_come_to_the_law():
    """Plain descent by the usual loop, on orthonormal tokens: excess·ηT → n(T−1)/T."""
    setting = Setting(
        Part("labelled_sequences", design="orthonormal"),
        5.0,
        200_000,
        student=Part("matrix_attention"),
        objective=Part("sequence_loss"),
    )
    setting = setting.change(measures=explore.choose_measures(setting))
    (run,) = execute([setting])
    assert run.curves["excess_risk"][-1] * run.time[-1] == pytest.approx(6 * 7 / 8, rel=0.01)
    (verdict,) = explore.read(setting).verdicts(run)
    assert verdict.status.value == "HOLDS"
