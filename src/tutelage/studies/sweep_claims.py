"""Claims of a sweep's own, from tables of a TOML file or of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims import Bound, Claim, Exponent, Number, Rate, Recovery
from tutelage.claims.claim import curve_of
from tutelage.problem.options import Value
from tutelage.refuse import Refused, is_finite, one_of, show, whole, yes_or_no
from tutelage.run import Run
from tutelage.settings import Setting

ClaimTable = Mapping[str, str | int | float]
Along = Mapping[Setting, float]  # where each setting lies on the axis of a claim
WORDS = ("kind", "measure", "along", "side", "reading")
SWITCHES = ("certain",)  # true or false
SOURCE = "the sweep's own claim"


@dataclass(frozen=True)
class ClaimKind:
    """A kind of claim that a sweep may make: what its table needs and may have, and how it is made.

    `make(table, id, along)` gives the claim.
    """

    needs: tuple[str, ...]
    may_have: tuple[str, ...]
    make: Callable[[ClaimTable, str, Along], Claim]


def check_claim(table: ClaimTable, axes: Mapping[str, Sequence[Value]]) -> None:
    """Refuses a table that is no claim, or none that can be made along these axes."""
    kind = one_of("kind of claim", str(table.get("kind", "")), CLAIMS)
    known = CLAIMS[kind]
    for key in table:
        one_of(f"entry of a claim of kind {kind!r}", key, ("kind", *known.needs, *known.may_have))
    if missing := [key for key in known.needs if key not in table]:
        raise Refused(
            f"A claim of kind {kind!r} needs {', '.join(known.needs)}. Got none for "
            f"{', '.join(missing)}."
        )
    for key, value in table.items():
        if key in WORDS:
            if not isinstance(value, str):
                raise Refused(f"`{key}` of a claim must be a word. Got {show(value)}.")
            continue
        if key in SWITCHES:
            yes_or_no(key, value, reason="it says whether the number has no chance in it")
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"`{key}` of a claim must be a number. Got {show(value)}.")
        if not is_finite(value):
            raise Refused(
                f"`{key}` of a claim must be a finite number, since no measurement decides any "
                f"other. Got {show(value)}."
            )
        if key == "from_step":
            whole(key, value, least=0, reason="it is the first step that counts")
        if key in ("tolerance", "within") and not value > 0:
            raise Refused(
                f"`{key}` of a claim must be positive, since nothing is measured exactly. Got "
                f"{value!r}."
            )
    if "along" in table:
        axis = one_of("axis of the sweep to claim something along", str(table["along"]), axes)
        values = list(axes[axis])
        numbers = {value for value in values if isinstance(value, int | float)}
        if len(numbers) < 3 or not all(value > 0 for value in numbers):
            raise Refused(
                "An exponent along an axis needs at least three positive numbers on it. Got "
                f"{axis} = {values}."
            )


def make_claim(table: ClaimTable, along: Along | None = None) -> Claim:
    """The claim of a table; `along` says where each setting lies on its axis."""
    kind = str(table["kind"])
    return CLAIMS[kind].make(table, f"{kind}-{table['measure']}", along or {})


def _read_last(run: Run, measure: str) -> float:
    return float(np.mean(curve_of(run, measure)[-1]))


def _make_rate(table: ClaimTable, name: str, along: Along) -> Claim:
    measure, exponent = str(table["measure"]), float(table["exponent"])
    return Rate(
        measure,
        exponent,
        tolerance=float(table.get("tolerance", Rate.tolerance)),
        id=name,
        source=SOURCE,
        statement=f"{measure} ∝ T^{exponent:g}",
    )


def _make_bound(table: ClaimTable, name: str, along: Along) -> Claim:
    measure, exponent = str(table["measure"]), float(table["exponent"])
    return Bound(
        measure,
        exponent,
        tolerance=float(table.get("tolerance", Bound.tolerance)),
        id=name,
        source=SOURCE,
        statement=f"{measure} falls at least like T^{exponent:g}",
    )


def _make_recovery(table: ClaimTable, name: str, along: Along) -> Claim:
    measure = str(table["measure"])
    target, within = float(table["target"]), float(table["within"])
    from_step = int(table["from_step"]) if "from_step" in table else None
    return Recovery(
        measure,
        target,
        within,
        from_step=from_step,
        reading=str(table.get("reading", "")),
        id=name,
        source=SOURCE,
        statement=f"{measure} → {target:g} within {within:g}",
    )


def _make_number(table: ClaimTable, name: str, along: Along) -> Claim:
    measure, value = str(table["measure"]), float(table["value"])
    side = str(table.get("side", "equal"))
    return Number(
        lambda runs: [_read_last(run, measure) for run in runs],
        value,
        of=f"{measure} at the end",
        tolerance=float(table.get("tolerance", 0.0)),
        side=side,
        certain=bool(table.get("certain", False)),
        id=name,
        source=SOURCE,
        statement=f"{measure} at the end {'=' if side == 'equal' else side} {value:g}",
    )


def _make_exponent(table: ClaimTable, name: str, along: Along) -> Claim:
    measure, exponent = str(table["measure"]), float(table["exponent"])

    def read_points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return [
            (along[run.setting], _read_last(run, measure), run.setting.seed)
            for run in runs
            if run.setting is not None
        ]

    return Exponent(
        read_points,
        exponent,
        of=f"{measure} at the end",
        tolerance=float(table.get("tolerance", Exponent.tolerance)),
        certain=bool(table.get("certain", False)),
        id=name,
        source=SOURCE,
        statement=f"{measure} at the end ∝ {table['along']}^{exponent:g}",
    )


CLAIMS: dict[str, ClaimKind] = {
    "rate": ClaimKind(("measure", "exponent"), ("tolerance",), _make_rate),
    "bound": ClaimKind(("measure", "exponent"), ("tolerance",), _make_bound),
    "recovery": ClaimKind(
        ("measure", "target", "within"), ("from_step", "reading"), _make_recovery
    ),
    "number": ClaimKind(("measure", "value"), ("side", "tolerance", "certain"), _make_number),
    "exponent": ClaimKind(
        ("measure", "along", "exponent"), ("tolerance", "certain"), _make_exponent
    ),
}
