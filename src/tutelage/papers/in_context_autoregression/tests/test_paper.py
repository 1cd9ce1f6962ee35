"""in-context-autoregression: the paper has what a paper needs, and its runs come to the law."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Status, check
from tutelage.papers.in_context_autoregression import explore, paper
from tutelage.papers.in_context_autoregression.orthogonal.claims import LADDER, is_settled
from tutelage.papers.in_context_autoregression.setup import attention_setting, predict_level
from tutelage.papers.in_context_autoregression.unitary.claims import (
    CONTRACTION,
    LEVEL,
    STORED,
    predict_contraction,
)
from tutelage.papers.in_context_autoregression.unitary.study import published
from tutelage.run import Outcome, Run
from tutelage.running.execute import execute
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan
from tutelage.testing import check_paper

STEPS = np.array([0, 100, 200, 300, 400, 500, 600])
SETTING = attention_setting(4, 6, rate=0.01, steps=600, seed=0, measures=("prefix_loss", "level"))


def made_run(level: float, decay: float) -> Run:
    """A run whose level and contraction are given, over what is predicted."""
    slope = decay * predict_contraction(SETTING)
    curves = {
        "level": np.full(len(STEPS), level * predict_level(SETTING)),
        "prefix_loss": 1e-5 * np.exp(slope * STEPS / 10),
    }
    return Run(STEPS // 10, curves, None, Outcome.FINISHED, rate=0.01, setting=SETTING)


def test_the_paper_has_everything():
    assert check_paper(paper.name) == []


@pytest.mark.parametrize(
    ("level", "status"), [(1.0, Status.HOLDS), (-1.002, Status.HOLDS), (1.01, Status.FAILS)]
)
def test_the_level_is_judged_beside_its_start(level: float, status: Status):
    assert check(LEVEL, made_run(level, 1.0)).status is status


@pytest.mark.parametrize(("decay", "status"), [(1.01, Status.HOLDS), (1.05, Status.FAILS)])
def test_the_contraction_is_read_off_the_loss(decay: float, status: Status):
    assert check(CONTRACTION, made_run(1.0, decay)).status is status


def test_a_run_that_still_moves_is_not_on_the_ladder():
    loss = np.array([3.0, 2.5, 2.4, 2.3, 2.2, 2.1, 2.0])
    run = Run(STEPS, {"prefix_loss": loss}, None, Outcome.FINISHED, setting=SETTING)
    assert not is_settled(run)
    assert check(LADDER, run).status is Status.UNDECIDED


def test_the_published_script_gives_its_stored_level():
    """Its own random bits, a hundred steps, and one term counted twice."""
    (run,) = execute([published("twice")])
    assert check(STORED, run).status is Status.HOLDS


@pytest.mark.parametrize("short", list(paper.studies))
def test_what_is_to_confirm_is_of_other_seeds(short: str):
    found = find_study(f"{paper.name}/{short}")
    quick, confirm = found.presets["quick"], found.presets["confirm"]
    assert confirm.first_seed >= 1000 > quick.first_seed + quick.seeds


def test_the_page_speaks_of_its_law_alone():
    pairs = SETTING.change(**{"teacher.process": "orthogonal"})
    assert "independent angles" in explore.read(pairs).sentence
    assert (
        "as many heads as features" in explore.read(SETTING.change(**{"student.heads": 2})).sentence
    )
    line = explore.read(SETTING).predicted()[0]
    assert line.values[0] == pytest.approx(predict_level(SETTING))


@pytest.mark.depth
@pytest.mark.parametrize("short", ["augmented", "positions"])
def test_a_short_plan_holds_and_is_drawn(short: str, tmp_path):
    found = find_study(f"{paper.name}/{short}")
    small = {"sizes": ((3, 8), (4, 12)), "swept": (10, 20, 40)} if short == "augmented" else {}
    preset = replace(found.presets["quick"], seeds=1, **small)
    answered = run_cases(short, found.cases(Plan(), preset))
    for a in answered:
        for verdict in a.verdicts:
            notes = verdict.id.endswith("/modes")  # what our notes had wrong, which fails
            failing = bool(a.case.control) or notes
            assert (verdict.status is Status.FAILS) is failing, verdict.sentence
    assert {path.stem for path in found.figures(answered, tmp_path)} == set(found.captions)
