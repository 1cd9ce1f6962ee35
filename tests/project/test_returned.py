"""Claims that once failed and were withdrawn or loosened are back, as they were first asked."""

import pytest
from tools.committed import committed_studies

FIGURE_2 = "shallow-transformers/autoregressive/learning"
RETURNED = {
    # The four of Figure 2 of the second paper, left out after one had failed.
    f"{FIGURE_2}/rnn-wins-short": 0.0,
    f"{FIGURE_2}/rnn-degrades": 0.0,
    f"{FIGURE_2}/transformer-wins-long": 0.0,
    f"{FIGURE_2}/transformer-flat": 0.1,
    # The loss at infinite width, restricted to shorter horizons after it had failed.
    "shallow-transformers/width/long-horizon/floor-least-4000": None,
    # Tolerances that were loosened after a look.
    "shallow-transformers/width/approximation/constant": 0.25,
    # Printed powers where D/K goes down to 4: judged as failures, and then left out.
    **{
        f"teacher-models/scaling/{sweep}/{law}-printed": 0.1
        for sweep in ("K", "D-and-K")
        for law in ("excess", "value", "attention")
    },
}


@pytest.mark.parametrize("name", RETURNED)
def test_a_claim_that_was_withdrawn_is_asked_again(name):
    study = committed_studies()[name.rsplit("/", 2)[0]]
    (verdict,) = (one for one in study.verdicts if one.id == name)
    assert not verdict.control
    if RETURNED[name] is not None:
        assert verdict.tolerance == RETURNED[name]
    assert name in study.claims(), "it is no longer asked"
