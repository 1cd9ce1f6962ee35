"""Two runs beside each other: what has another verdict, another number, another question."""

from dataclasses import replace
from pathlib import Path

from tutelage.claims.verdict import Status, Verdict
from tutelage.report.comparing import Changes, render_changes

ONE = Verdict("a/b/c/one", "it is so", "", 1.0, 1.01, (0.99, 1.02), 0.03, Status.HOLDS, "Seen.")


def render(old, new):
    changes = Changes({v.id: v for v in old}, {v.id: v for v in new})
    return render_changes(changes, Path("old"), Path("new"))


def test_the_same_runs_have_not_changed():
    assert "No verdict changed." in render([ONE], [ONE])


def test_each_change_is_named_once():
    still = replace(ONE, id="a/b/c/still", measured=1.015)
    text = render(
        [ONE, replace(ONE, id="a/b/c/moved"), replace(ONE, id="a/b/c/gone"), still],
        [
            replace(ONE, status=Status.FAILS, measured=2.0),
            replace(ONE, id="a/b/c/moved", measured=1.025),
            replace(ONE, id="a/b/c/new", tolerance=0.1),
            still,
        ],
    )
    assert "## Another verdict (1)\n\n- a/b/c/one: holds → fails (measured 2" in text
    assert "another number (1)\n\n- a/b/c/moved: measured 1.01 → 1.025" in text
    assert "## New (1)\n\n- a/b/c/new" in text
    assert "## Gone (1)\n\n- a/b/c/gone: was holds" in text
    assert "still" not in text
    assert "Asked otherwise" not in text


def test_another_question_is_told_from_another_answer():
    text = render([ONE], [replace(ONE, predicted=2.0, statement="it is more")])
    assert "“it is so” → “it is more”; predicted 1 → 2" in text
