"""token-selection: the paper has what a paper needs, and its page in the explorer its law."""

from __future__ import annotations

import numpy as np
import pytest

from tutelage.papers.token_selection import explore
from tutelage.papers.token_selection.confirmation import study as confirmation
from tutelage.papers.token_selection.setup import Task, fixed_codes, sign_codes, train_head
from tutelage.running.execute import execute
from tutelage.settings import Part
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan
from tutelage.testing import check_paper


def test_the_paper_has_everything():
    assert check_paper("token-selection") == []


def test_what_is_confirmed_is_of_other_sizes_and_seeds():
    seen = set()
    for short in ("rates", "lengths", "codes"):
        study = find_study(f"token-selection/{short}")
        for case in study.cases(Plan(), study.presets["quick"]):
            seen |= {setting.identity() for setting in case.settings}
    fresh = confirmation.cases(Plan(), confirmation.study.presets["quick"])
    assert fresh
    assert not seen & {setting.identity() for case in fresh for setting in case.settings}


def test_the_page_says_nothing_of_random_signs():
    said = explore.read(train_head(Task(20, 4, 5), sign_codes(64, 8), 100)).sentence
    assert "floor" in said
    line = explore.read(train_head(Task(20, 4, 5), fixed_codes(), 10**6)).predicted()[0]
    assert line.values[-1] == pytest.approx(4.75 / (0.2 * 10**6), rel=1e-14)


@pytest.mark.depth
def test_steps_on_the_page_find_every_subset():
    """A whole head by the usual loop: the band of subsets, and the law."""
    setting = train_head(Task(6, 2, 3), Part("subset_attention"), 100_000, rate=0.5)
    setting = setting.change(measures=explore.choose_measures(setting), **{"teacher.queries": 6})
    (run,) = execute([setting])
    shown = run.curves["attention_matrix"][-1].reshape(6, 6)
    wanted = [[float((i - j) % 6 < 2) / 2 for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(shown, wanted, atol=0.01)
    verdicts = explore.read(setting).verdicts(run)
    constant, order = (verdict.status.value for verdict in verdicts)
    assert constant == "HOLDS"
    assert order != "FAILS"  # 10⁵ steps are too few to exclude a logarithm
