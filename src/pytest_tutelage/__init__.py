"""Theorems in a test suite: the fixture `holds` checks a claim, and a test fails with its verdict.

    def test_rate(holds):
        holds(tt.Rate("loss", -1), run)

This package stands beside `tutelage` and imports it only when a test asks for `holds`: pytest loads
it in every project of an environment, and `import tutelage` switches JAX to double precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tutelage.claims import Claim, Verdict
    from tutelage.evidence.sources import Evidence
    from tutelage.settings import Setting

OPTION = "tutelage_undecided"
ANSWERS = ("skip", "fail", "pass")


class Holds:
    """Checks claims for a test; what `tt.check` takes beside them, it takes too."""

    def __init__(self, undecided: str) -> None:
        self.undecided = undecided

    def __call__(
        self,
        claim: Claim,
        evidence: Evidence,
        *,
        x: str | None = None,
        by: str | None = None,
        rate: float | None = None,
        setting: Setting | None = None,
        control: str = "",
    ) -> Verdict:
        """The verdict, where it is HOLDS. FAILS fails the test with the verdict's sentence;
        UNDECIDED does what the option `tutelage_undecided` says.

        `control` names a hypothesis that the evidence breaks on purpose. The claim must then fail,
        and HOLDS fails the test.
        """
        import tutelage as tt

        __tracebackhide__ = True
        verdict = tt.check(claim, evidence, x=x, by=by, rate=rate, setting=setting, control=control)
        said = f"{verdict.status.value}: {verdict.statement} {_stop(verdict.sentence)}"
        if verdict.status is tt.Status.MEASURED:
            pytest.fail(f"A measurement predicts nothing, so it cannot hold. {said}", pytrace=False)
        wanted = tt.Status.FAILS if control else tt.Status.HOLDS
        if verdict.status is wanted:
            return verdict
        if verdict.status in (tt.Status.HOLDS, tt.Status.FAILS):
            why = f" This is a control, which breaks {control}, and must fail." if control else ""
            pytest.fail(f"{said}{why}", pytrace=False)
        if self.undecided == "fail":
            pytest.fail(said, pytrace=False)
        if self.undecided == "skip":
            pytest.skip(said)
        return verdict


def _stop(sentence: str) -> str:
    return sentence if sentence.endswith(".") else f"{sentence}."


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        OPTION,
        "What a test does whose claim is undecided, outside of its hypotheses or vacuous: skip "
        "(the default), fail or pass.",
        default="skip",
    )


@pytest.fixture
def holds(request: pytest.FixtureRequest) -> Holds:
    """Checks a claim against evidence: `holds(tt.Rate("loss", -1), run)`."""
    undecided = str(request.config.getini(OPTION))
    if undecided not in ANSWERS:
        raise pytest.UsageError(
            f"`{OPTION}` must be {', '.join(ANSWERS)}, since that is what becomes of a test whose "
            f"claim is undecided. Got {undecided!r}."
        )
    return Holds(undecided)
