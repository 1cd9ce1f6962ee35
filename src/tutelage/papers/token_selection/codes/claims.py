"""What is claimed and measured of position codes, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb

from tutelage.claims import Measured, Number, Ratio
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.token_selection.setup import (
    DERIVED,
    FROM_MEMORY,
    task_of,
)
from tutelage.papers.token_selection.theory.floors import sign_floor, tie_loss
from tutelage.papers.token_selection.theory.polytopes import count_cyclic_faces
from tutelage.run import Run
from tutelage.settings import Setting


def width_of(run: Run) -> int:
    assert run.setting is not None
    return int(run.setting.part("calculation").options["width"])


def floor_ratios(runs: Sequence[Run]) -> list[float]:
    """The floor over that of wide codes."""
    found = []
    for run in runs:
        assert run.setting is not None
        expected = sign_floor(*task_of(run.setting), width_of(run))
        found.append(float(run.curves["floor"][0]) / expected)
    return found


FLOOR = Number(
    floor_ratios,
    1.0,
    of="the floor over (d/2q²)min_C[(T − q)e^(−2C + 2C²q/m) + C²(q − 1)(q − 2)/m]",
    tolerance=0.05,
    id="floor",
    statement="with random signs of width m the loss has a floor, for q ≥ 3 of order log²(m)/m",
    source=DERIVED,
)


def hard_losses(runs: Sequence[Run]) -> list[float]:
    return [float(run.curves["hard_loss"][0]) for run in runs]


HARD = Number(
    hard_losses,
    0.0,
    of="the loss at C = ∞",
    tolerance=1e-6,
    side="at most",
    certain=True,  # of the codes that were drawn; how rare ties are is the law of ties
    id="no-floor",
    statement="for q ≤ 2 the drawn signs cost nothing: none ties, and the loss at C = ∞ is zero",
    source=DERIVED,
)


def tie_ratios(runs: Sequence[Run]) -> list[float]:
    """The loss at C = ∞ over the law of ties."""
    found = []
    for run in runs:
        assert run.setting is not None
        expected = tie_loss(*task_of(run.setting), width_of(run))
        found.append(float(run.curves["hard_loss"][0]) / expected)
    return found


def wide_ratios(runs: Sequence[Run]) -> list[float]:
    """The loss at C = ∞ over the floor that wide codes would have."""
    found = []
    for run in runs:
        assert run.setting is not None
        expected = sign_floor(*task_of(run.setting), width_of(run))
        found.append(float(run.curves["hard_loss"][0]) / expected)
    return found


TIED = Number(
    tie_ratios,
    1.0,
    of="the loss at C = ∞ over that of ties",
    tolerance=0.05,
    id="ties",
    statement="for q ≤ 2 the loss at C = ∞ is that of ties, of probability 2^(−m) and (3/4)^m",
    source=DERIVED,
)
NOT_TIED = Number(
    wide_ratios,
    1.0,
    of="the loss at C = ∞ over the floor of wide codes",
    tolerance=0.05,
    id="ties",
    statement="for q ≤ 2 the loss at C = ∞ is the formula of the floor",
    source=DERIVED,
)


def noise_ratios(runs: Sequence[Run]) -> list[float]:
    """The squared distance of the mean gradient from the identity, over what chance leaves.

    Each draw has the squared length mT/(T − q), in units of the mean's.
    """
    found = []
    for run in runs:
        assert run.setting is not None
        task, options = task_of(run.setting), run.setting.part("calculation").options
        left = int(options["width"]) * task.tokens / (task.tokens - task.support) - 1
        squared = float(run.curves["distance"][0]) ** 2
        found.append(squared * int(options["draws"]) / left)
    return found


ISOTROPIC = Number(
    noise_ratios,
    1.0,
    of="the squared distance of the mean gradient of W from (∂L/∂C)/m·I, over that of chance,",
    tolerance=0.15,
    id="isotropic",
    statement="codes drawn anew move W along the identity alone, so that N = m",
    source=DERIVED,
)


def read_selected(run: Run) -> float:
    return float(run.curves["selected"][0])


def faces_of(setting: Setting) -> tuple[int, int, int]:
    """T, q and the width of a linear programme's codes."""
    options = setting.part("calculation").options
    return int(options["tokens"]), int(options["support"]), int(options["width"])


def count_subsets(setting: Setting) -> float:
    tokens, support, _ = faces_of(setting)
    return float(comb(tokens, support))


def count_most(setting: Setting) -> float:
    """The faces of the cyclic polytope, which no other exceeds."""
    tokens, support, width = faces_of(setting)
    return float(count_cyclic_faces(tokens, width, support))


EXACT = 1e-12  # counts are whole numbers
EVERY = Ratio(
    read_selected,
    count_subsets,
    EXACT,
    of="the number of subsets that a query selects",
    certain=True,
    id="every-subset",
    statement="codes of width 2q on the moment curve let a query select every subset of q",
    source=f"that width of order q is enough: {FROM_MEMORY}; 2q: {DERIVED}",
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
COUNTED = Ratio(
    read_selected,
    count_most,
    EXACT,
    of="the number of subsets that a query selects",
    certain=True,
    id="one-less",
    statement="at width 2q − 1 the moment curve selects as many subsets as Gale's evenness counts",
    source=DERIVED,
)


def count_most_narrower(setting: Setting) -> float:
    """The same at one width less."""
    tokens, support, width = faces_of(setting)
    return float(count_cyclic_faces(tokens, width - 1, support))


def largest_shares(
    runs: Sequence[Run], most: Callable[[Setting], float] = count_most
) -> list[float]:
    """The largest number of subsets that any codes select, over the bound."""
    shares = []
    for run in runs:
        assert run.setting is not None
        shares.append(read_selected(run) / most(run.setting))
    return [max(shares)]


def largest_shares_narrower(runs: Sequence[Run]) -> list[float]:
    return largest_shares(runs, count_most_narrower)


BOUNDED = Number(
    largest_shares,
    1.0,
    of="the largest number of selected subsets over that of the moment curve",
    tolerance=EXACT,
    side="at most",
    certain=True,
    id="bounded",
    statement="no codes of width 2q − 1 select more subsets than the moment curve, and so not all",
    source=f"that width of order q is needed: {FROM_MEMORY}; 2q: {DERIVED}, by McMullen's theorem",
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)


def selected_shares(runs: Sequence[Run]) -> list[float]:
    found = []
    for run in runs:
        assert run.setting is not None
        found.append(read_selected(run) / count_subsets(run.setting))
    return found


SHARE = Measured(
    selected_shares,
    of="the share of subsets that Gaussian codes select",
    id="share",
    statement="the share of subsets that Gaussian codes of width 2q select",
    source=DERIVED,
)


def least_widths(runs: Sequence[Run]) -> list[float]:
    """The least width at which a seed's Gaussian codes select every subset."""
    widths: dict[int, list[int]] = {}
    for run in runs:
        assert run.setting is not None
        tokens, _, width = faces_of(run.setting)
        found = widths.setdefault(run.setting.seed, [tokens - 1])
        if read_selected(run) == count_subsets(run.setting):
            found.append(width)
    return [float(min(found)) for found in widths.values()]


LEAST_WIDTH = Measured(
    least_widths,
    of="the least width at which Gaussian codes select every subset",
    id="least-width",
    statement="the least width at which Gaussian codes select every subset",
    source=DERIVED,
)
