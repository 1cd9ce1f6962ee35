"""Named columns, as a file or a frame has them, before it is known which are steps and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Shaped

from tutelage.refuse import Refused

Column = Shaped[np.ndarray, "rows"]  # of floats, or of words
Missing = Bool[np.ndarray, "rows"]


@dataclass(frozen=True)
class Table:
    """Columns of one length: of floats, or of words where a cell is no number.

    `missing[name]` marks cells that hold nothing, as where a metric was not logged in that row. A
    NaN is not missing: it is what was measured.
    """

    columns: Mapping[str, Column]
    source: str = ""  # where it was read, as told to the user
    missing: Mapping[str, Missing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise Refused(
                "Columns must be equally long, since a row is one measurement. Got a table in "
                f"which {said}."
            )
        if not lengths or not next(iter(lengths.values())):
            where = f" in {self.source}" if self.source else ""
            raise Refused(
                "A table must have at least one row, since a curve is judged by its values. Got "
                f"none{where}."
            )

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the columns that hold numbers."""
        return tuple(name for name, column in self.columns.items() if column.dtype.kind == "f")

    def is_missing(self, name: str) -> Missing:
        """Which cells of a column hold nothing."""
        return self.missing.get(name, np.zeros(self.rows, bool))

    def take(self, chosen: Missing) -> Table:
        """The chosen rows."""
        return Table(
            {name: column[chosen] for name, column in self.columns.items()},
            self.source,
            {name: cells[chosen] for name, cells in self.missing.items()},
        )


def table_of_texts(columns: Mapping[str, Sequence[str]], source: str) -> Table:
    """A table from cells as they stand in a text: an empty one holds nothing; a column of which
    every other cell is a number is one of numbers.
    """
    found: dict[str, Column] = {}
    missing: dict[str, Missing] = {}
    for name, texts in columns.items():
        cells = np.array([str(text).strip() for text in texts], dtype=np.str_)
        missing[name] = cells == ""
        try:
            found[name] = np.where(missing[name], "nan", cells).astype(np.float64)
        except ValueError:
            found[name] = cells
        if missing[name].all():
            found[name] = cells
    return Table(found, source, missing)


def table_of_records(records: Sequence[Mapping[str, object]], source: str) -> Table:
    """A table of one record per row; what a record does not name is missing there."""
    names = dict.fromkeys(name for record in records for name in record)
    found: dict[str, Column] = {}
    missing: dict[str, Missing] = {}
    for name in names:
        cells = [record.get(name) for record in records]
        missing[name] = np.array([cell is None for cell in cells], bool)
        if all(cell is None or _is_number(cell) for cell in cells) and not missing[name].all():
            found[name] = np.array([np.nan if cell is None else cell for cell in cells], float)
        else:
            found[name] = np.array(["" if cell is None else str(cell) for cell in cells], np.str_)
    return Table(found, source, missing)


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)
