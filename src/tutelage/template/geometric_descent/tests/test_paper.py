from geometric_descent.contraction.study import CLAIM, CONTROL, SETTING

import tutelage as tt
from tutelage.testing import check_paper, check_part


def test_the_paper_has_everything() -> None:
    assert check_paper("geometric-descent") == []


def test_its_teacher_behaves_as_every_teacher_does() -> None:
    assert check_part("teacher", "averaging") == []


def test_the_theorem_holds_and_its_control_fails(holds) -> None:
    (run,) = tt.execute([SETTING])
    (broken,) = tt.execute([CONTROL.setting])
    holds(CLAIM, run)
    holds(CLAIM, broken, control=CONTROL.breaks)
