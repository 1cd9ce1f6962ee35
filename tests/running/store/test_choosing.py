"""Conditions on stored runs: how they are read, however long and odd their text is."""

from contextlib import suppress

import pytest
from watchdog import give_up_after

from tutelage.refuse import Refused
from tutelage.running.store import choosing
from tutelage.running.store.choosing import Condition, meeting

ODD = [
    "a=" + " " * 100_000 + "\nx\ny",
    " " * 100_000,
    "a" * 100_000,
    "a" + " " * 100_000 + "=",
    "a=" + "[" * 100_000,
    "a=" + "9" * 100_000,
    "=" * 100_000,
]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("tokens>16", ("tokens", ">", 16)),
        (" tokens  >=  16 ", ("tokens", ">=", 16)),
        ("teacher=convolution", ("teacher", "=", "convolution")),
        ("note==a = b", ("note", "==", "a = b")),
        ("note!=two words", ("note", "!=", "two words")),
        ("excess_risk<1e-6", ("excess_risk", "<", 1e-6)),
        ("nesterov=true", ("nesterov", "=", True)),
        ("teacher.tokens<=4", ("teacher.tokens", "<=", 4)),
    ],
)
def test_a_condition_is_a_key_a_sign_and_a_value(text, read):
    condition = Condition.read(text)
    assert (condition.key, condition.sign, condition.value) == read


@pytest.mark.parametrize("text", ["", "tokens", ">3", "=", "a=", "a=  ", "a b=3", "a!3", "! =3"])
def test_anything_else_is_refused(text):
    with pytest.raises(Refused, match="A condition is KEY"):
        Condition.read(text)


@pytest.mark.parametrize("text", ODD)
def test_a_long_condition_is_refused_by_its_length(text):
    with give_up_after(30), pytest.raises(Refused, match="at most 1,000 characters") as refused:
        Condition.read(text)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("text", ODD)
def test_reading_takes_time_in_proportion_to_the_length(text, monkeypatch):
    """A pattern that tries every cut of the blanks would take days."""
    monkeypatch.setattr(choosing, "LONGEST_CONDITION", 10**6)
    with give_up_after(30), suppress(Refused):
        Condition.read(text)


def test_more_conditions_than_anyone_means_are_refused():
    with pytest.raises(Refused, match="At most 100 conditions"):
        meeting([{"seed": 0}], ["seed=0"] * 101)
    assert meeting([{"seed": 0}, {"seed": 1}], ["seed=0"] * 100) == [{"seed": 0}]
