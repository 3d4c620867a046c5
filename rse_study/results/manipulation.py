"""Manipulation checks: did what a row varies do anything in its training?

A method, a perturbation and a term of a loss each name their own. A study's record holds those of its rows, so that a
ledger can be judged without the classes that made it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

LIMITS: dict[str, tuple[str, float, str]] = {
    "inner/rise": ("it raises the inner loss by {} of the loss at chance", 0.001,
                   "with a smaller rise nothing was seen to gain more than 0.14 points over noise"),
    "loss_share/": ("it is {} of the loss", 1e-4,
                    "it vanishes in the loss even where the other terms fall to a hundredth of chance"),
    "gradient_share/": ("it is {} of the gradients of all terms", 0.01,
                        "a term of less turns no step by a hundredth"),
    "masks/": ("{} of them are off", 0.01, "below one in a hundred hardly a value is weakened"),
    "/moved": ("it moves by {} of the norm of its random start", 0.1,
               "what moves by less than a tenth is its start"),
    "/on_bound": ("{} of what may move is on the bound of the ball", 0.95,
                  "beyond, a larger step changes little"),
    "eta/growth": ("its norm is {} of that of V's random start", 0.1,
                   "below a tenth V has shrunk to nothing"),
    "eta/starved": ("{} of them have under 1% of their sentence's largest", 0.5,
                    "beyond a half it acts on few tokens"),
    "rtd/replaced": ("it replaces {} of the tokens", 0.01,
                     "of fewer than one in a hundred D learns to answer `original`"),
    "rtd/detected": ("it detects {} of the replaced tokens", 0.05,
                     "one that answers `original` to everything detects none"),
    "twin/replaced": ("{} of its tokens are not those of x", 0.01,
                      "below one in a hundred the twin is the sentence itself"),
}  # fmt: skip
"""Our own checks by metric or a part of it: words for a value, its limit, and the reason. Old ledgers are judged by
them, too."""
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

    def of_today(self) -> "ManipulationCheck":
        """Return a check of an older ledger with the words and the limit of this version.

        That of another author stays as it is.
        """
        now = next((today for part, today in LIMITS.items() if part in self.metric), None)
        if now is None or self.limit is None:
            return self
        measure, limit, reason = now
        return replace(self, measure=measure, limit=limit, reason=reason)

    @property
    def alive(self) -> str:
        """Say from or up to where the part is alive; "" where nothing is judged."""
        side = "up to" if self.at_most else "from"
        return "" if self.limit is None else f"{side} {percent(self.limit)}"

    def sentence(self, values: Mapping[str, float], num_rows: int, most: str = "") -> str:
        """Say that the part has no effect in these rows; `most` stands before a bound."""
        assert self.limit is not None, "a value without a limit is not judged"
        low, high = percent(min(values.values())), percent(max(values.values()))
        measure = self.measure.format(f"{most}{high}" if most or low == high else f"{low} to {high}")
        part = "The" + self.part.removeprefix("the") if self.part.startswith("the ") else self.part
        what = f"{part} {'have' if part.endswith('masks') else 'has'} no effect in {named_rows(list(values), num_rows)}"
        return f"{what}: {measure} (the limit is {percent(self.limit)}). This leaves {self.leaves}."


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
    has_commas = any("," in row and not row.startswith('"') for row in rows)
    between, last = ("; ", "; and ") if has_commas else (", ", " and ")
    if len(rows) == num_rows > 1:
        return f"all {num_rows} rows"
    if len(rows) > MOST_NAMED:
        return f"{len(rows)} of {num_rows} rows ({between.join(rows[:MOST_NAMED])}{last}others)"
    return last.join(filter(None, (between.join(rows[:-1]), rows[-1])))
