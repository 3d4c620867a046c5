"""Manipulation checks: did what a row varies do anything in its training?

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
    measure: str
    """words for a value, which stands at {}"""
    limit: float | None = None
    """least value of a part that is alive; without it the value is shown, not judged"""
    reason: str = ""
    leaves: str = ""
    """what is left of a row whose part did nothing"""
    zero_is_off: bool = False
    """whether exactly 0 means that the part is switched off"""
    at_most: bool = False
    """whether the limit is the largest value instead"""

    def is_inert(self, value: float) -> bool:
        if self.limit is None or (self.zero_is_off and value == 0):
            return False
        return value > self.limit if self.at_most else value < self.limit

    @property
    def alive(self) -> str:
        """Say from or up to where the part is alive; "" where nothing is judged."""
        side = "up to" if self.at_most else "from"
        return "" if self.limit is None else f"{side} {percent(self.limit)}"

    def sentence(self, values: Mapping[str, float], num_rows: int, most: str = "") -> str:
        """Say that the part is inert in these rows; `most` stands before a bound."""
        low, high = percent(min(values.values())), percent(max(values.values()))
        measure = self.measure.format(f"{most}{high}" if most or low == high else f"{low} to {high}")
        what = f"{self.part}, {measure} (alive {self.alive}: {self.reason})"
        return f"Inert in {named_rows(list(values), num_rows)}: {what}. This leaves {self.leaves}."


Checks = tuple[ManipulationCheck, ...]


def percent(value: float) -> str:
    """Show a ratio in per cent with two digits.

    >>> percent(0.00168), percent(12.3)
    ('0.17%', '1200%')
    """
    return f"{float(f'{100 * value:.2g}'):g}%"


def named_rows(rows: Sequence[str], num_rows: int) -> str:
    """Name rows: a; a and b; all 4 rows; 6 of 9 rows (a, b, c, d and others).

    >>> named_rows(["N = 1, rho = 0", "N = 5, rho = 0"], 4)
    'N = 1, rho = 0; and N = 5, rho = 0'
    """
    between, last = ("; ", "; and ") if any("," in row for row in rows) else (", ", " and ")
    if len(rows) == num_rows > 1:
        return f"all {num_rows} rows"
    if len(rows) > MOST_NAMED:
        return f"{len(rows)} of {num_rows} rows ({between.join(rows[:MOST_NAMED])}{last}others)"
    return last.join(filter(None, (between.join(rows[:-1]), rows[-1])))
