"""Effects of a two-level factorial design: main effects and pair interactions.

An effect is a contrast of all rows: the mean where the product of its factors' signs (first level -, second +) is
positive, minus the mean where it is negative. Of a fraction several have the same contrast: their sum is estimated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod


@dataclass(frozen=True)
class Effect:
    """A contrast of all rows, and the main effects and pairs whose sum it estimates."""

    terms: tuple[tuple[str, ...], ...]
    """One factor or two, main effects first; the first term names it, the others are its aliases."""
    weights: Mapping[str, float]
    """By row."""

    @property
    def name(self) -> str:
        return " x ".join(self.terms[0])

    @property
    def aliases(self) -> str:
        """The others in the sum: "A x B + C x D"; empty where no pair shares the contrast."""
        return " + ".join(" x ".join(term) for term in self.terms[1:])


def effects_among(rows: Mapping[str, Sequence[int]], names: Sequence[str]) -> tuple[Effect, ...]:
    """Return main effects, then pairs, of rows with the level, 0 or 1, of each factor."""
    found: dict[tuple[int, ...], list[tuple[str, ...]]] = {}
    for term in (*combinations(range(len(names)), 1), *combinations(range(len(names)), 2)) if rows else ():
        # No two columns are opposite: where all factors are at their second level all are 1.
        column = tuple(prod(2 * levels[number] - 1 for number in term) for levels in rows.values())
        found.setdefault(column, []).append(tuple(names[number] for number in term))
    return tuple(
        Effect(tuple(terms), {row: 2 * sign / len(rows) for row, sign in zip(rows, column, strict=True)})
        for column, terms in found.items()
    )


def describe_design(effects: Sequence[Effect], num_factors: int) -> str:
    """Say which effects a design tells apart, and which it estimates as a sum."""
    num_lost = num_factors + 1 - len(effects[0].weights).bit_length()
    size = f"2^({num_factors}-{num_lost})" if num_lost else f"2^{num_factors}"
    sums = [f"{one.name} + {one.aliases}" for one in effects if one.aliases]
    if not sums:
        return f"design {size}: every main effect and pair has a contrast of its own"
    return f"design {size}: {len(effects)} contrasts, of which {len(sums)} are sums: {'; '.join(sums)}"
