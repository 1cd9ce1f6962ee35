"""group-sparse: the paper has what a paper needs, and its page in the explorer its laws."""

from __future__ import annotations

import pytest

from tutelage.papers.group_sparse import explore
from tutelage.running.execute import execute
from tutelage.settings import Part, Setting
from tutelage.testing import check_paper, check_part


def test_the_paper_has_everything():
    assert check_paper("group-sparse") == []


@pytest.mark.depth
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("teacher", "group_signs"),
        ("student", "group_attention"),
        ("objective", "group_risk"),
        ("calculation", "group_flow"),
        ("calculation", "group_waits"),
        ("calculation", "group_steps"),
        ("calculation", "group_downstream"),
        ("calculation", "group_blocks"),
    ],
)
def test_its_parts_behave_as_every_part_does(kind: str, name: str):
    assert check_part(kind, name) == []


@pytest.mark.depth
def test_steps_on_the_page_come_to_the_laws():
    """Plain descent by the usual loop, in all entries of v and W."""
    setting = Setting(
        Part("group_signs", groups=5, dim=2, codes="sine"),
        0.5,
        1_000_000,
        student=Part("group_attention"),
        objective=Part("group_risk"),
    )
    setting = setting.change(measures=explore.choose_measures(setting))
    (run,) = execute([setting])
    assert [v.status.value for v in explore.read(setting).verdicts(run)] == ["HOLDS", "HOLDS"]
    assert run.curves["value_miss"].max() < 1e-12
