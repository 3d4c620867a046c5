"""Groups of rows that cannot be told apart, as letters behind their means.

Rows share a letter unless the interval of their difference excludes 0 and leaves the margin. It is the compact letter
display of Piepho (2004).
"""

from collections.abc import Iterable
from itertools import combinations
from string import ascii_letters

from rse_study.results.comparing.comparisons import MIN_SEEDS, Scores, differences

MOST_ROWS = 40  # 780 pairs


def letters_of(scores: Scores) -> dict[str, str]:
    """Return the letters of each row that has a score.

    The row with the best mean has an "a". Intervals hold for all pairs of rows at once. Rows that share fewer than 3
    seeds are not told apart. Nothing is returned for fewer than 2 rows, for more than 40,
    or where there are more groups than letters.
    """
    means = scores.table.mean(axis=1).dropna().sort_values(ascending=scores.less_is_better, kind="stable")
    rows = list(means.index)
    if not 2 <= len(rows) <= MOST_ROWS:
        return {}
    pairs = list(combinations(rows, 2))
    apart = [pair for pair in pairs if _is_apart(scores, pair, len(pairs))]
    groups = sorted(_groups(rows, apart), key=lambda group: [row not in group for row in rows])
    return {
        row: "".join(letter for letter, group in zip(ascii_letters, groups, strict=False) if row in group)
        for row in rows
        if groups
    }


def _is_apart(scores: Scores, pair: tuple[str, str], num_pairs: int) -> bool:
    sample = differences(scores.table, dict(zip(pair, (1.0, -1.0), strict=True)))
    if len(sample) < MIN_SEEDS:
        return False
    rule = scores.criterion.on(pair)
    return rule.verdict(rule.interval(sample, num_pairs)) in ("better", "worse")


def _groups(rows: Iterable[str], apart: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the largest groups without a pair that is told apart: split at each pair, drop what others hold.

    None are returned once there are more than letters, as their number may double with each pair.
    """
    groups = [frozenset(rows)]
    for one, other in apart:
        split = [
            part
            for group in groups
            for part in ((group - {one}, group - {other}) if {one, other} <= group else (group,))
        ]
        distinct = list(dict.fromkeys(split))
        groups = [group for group in distinct if not any(group < wider for wider in distinct)]
        if len(groups) > len(ascii_letters):
            return []
    return groups
