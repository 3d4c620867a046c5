"""Manipulation checks: did the parts that a row varies do anything in its training?

A method, a perturbation and a term of a loss each name their own. A study's record holds those of its rows, so that a
ledger can be judged without the classes that made it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_NAMED = 4  # rows in a sentence; the others are counted


@dataclass(frozen=True)
class ManipulationCheck:
    """A ratio in the history of cells, and the limit below which a part did nothing."""

    metric: str
    part: str
    """the part of a row that it is about"""
    measure: str
    """words for a value, which stands at {}"""
    limit: float | None = None
    """least value of a part that is alive; without it the value is shown, not judged"""
    reason: str = ""
    """why the limit is where it is"""
    leaves: str = ""
    """what is left of a row whose part did nothing"""
    zero_is_off: bool = False
    """whether exactly 0 means that the part is switched off"""

    def is_inert(self, value: float) -> bool:
        is_off = self.zero_is_off and value == 0
        return self.limit is not None and value < self.limit and not is_off

    def sentence(self, values: Mapping[str, float], num_rows: int, most: str = "") -> str:
        """Say that the part is inert in these rows; `most` stands before values that are bounds."""
        low, high = percent(min(values.values())), percent(max(values.values()))
        measure = self.measure.format(f"{most}{high}" if most or low == high else f"{low} to {high}")
        limit = f"alive from {percent(self.limit or 0)}: {self.reason}"
        where = named_rows(list(values), num_rows)
        return f"Inert in {where}: {self.part}, {measure} ({limit}). What is left is {self.leaves}."


Checks = tuple[ManipulationCheck, ...]


def percent(value: float) -> str:
    """Show a ratio in per cent with two digits.

    >>> percent(0.00168), percent(12.3)
    ('0.17 %', '1200 %')
    """
    return f"{float(f'{100 * value:.2g}'):g} %"


def named_rows(rows: Sequence[str], num_rows: int) -> str:
    """Name rows: a; a and b; all 4 rows; 6 of 9 rows (a, b, c, d and others)."""
    if len(rows) == num_rows > 1:
        return f"all {num_rows} rows"
    if len(rows) > MOST_NAMED:
        return f"{len(rows)} of {num_rows} rows ({', '.join(rows[:MOST_NAMED])} and others)"
    return " and ".join(filter(None, (", ".join(rows[:-1]), rows[-1])))
