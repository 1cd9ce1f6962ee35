from tutelage.testing import check_paper, check_part


def test_the_paper_has_everything() -> None:
    assert check_paper("geometric-descent") == []


def test_its_teacher_behaves_as_every_teacher_does() -> None:
    assert check_part("teacher", "averaging") == []
