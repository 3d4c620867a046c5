"""Pairwise comparisons of a grid's rows, and of the values of its axes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd

from analysis.comparison_table import BETTER, VERDICT, show_better_seeds, show_interval, verdict_word
from analysis.contents import Contents
from analysis.formats import counted, join_words, show_number, show_signed, show_value
from rse_study.results.comparing.comparisons import ComparedContrast, ContrastWeights, Scores, compare

MAX_VALUES = 8  # of an axis, which make 28 pairs
FEW = 3  # pairs that are named
MAX_ROWS = 12  # of a grid, which make 66


@dataclass(frozen=True)
class AxisPairs:
    """The values of one axis, or a grid's rows, compared with each other."""

    axis: str
    """"" of rows."""
    means: Mapping[str, float]
    """Only values that have a score."""
    compared: Mapping[tuple[str, str], ComparedContrast | None]
    """First minus second, adjusted for all pairs; None where too few seeds are shared."""
    less_is_better: bool
    decimals: int


def axis_pairs(contents: Contents, scores: Scores) -> list[AxisPairs]:
    """Return the pairs of each axis that has between 2 and 8 values."""
    found, rule, cells = [], scores.criterion, contents.stage("grid").query("label == ''")
    for axis in contents.study.axes:
        values = _rows_by_value(contents, axis.name, scores.table)
        if not 2 <= len(values) <= MAX_VALUES:
            continue
        # A value waits or is lost with any of its rows, also one that has no score.
        alike = [values.get(show_value(one.get(axis.name)), []) for one in cells["proposal"]]
        beside = dict(zip(cells["name"], alike, strict=True))
        lost = {row: seeds for name, seeds in rule.lost.items() for row in beside.get(name, ())}
        waiting = rule.waiting.union(*(beside.get(name, ()) for name in rule.waiting))
        own = replace(scores, criterion=replace(rule, lost=lost | dict(rule.lost), waiting=waiting))
        found.append(_pairs(axis.name, values, own, contents.decimals))
    return found


def row_pairs(contents: Contents, scores: Scores) -> list[AxisPairs]:
    """Return the pairs of 2 to 12 rows; none if the rows are an axis's values."""
    rows = {str(row): [str(row)] for row in scores.table.dropna(how="all").index}
    is_axis = len(contents.study.axes) == 1 and not contents.stage("grid")["label"].any()
    if is_axis or not 2 <= len(rows) <= MAX_ROWS:
        return []
    return [_pairs("", rows, scores, contents.decimals)]


def _pairs(axis: str, values: Mapping[str, list[str]], scores: Scores, decimals: int) -> AxisPairs:
    # A row that lacks one seed takes it from its value; one that has no score at all leaves the others.
    pairs = {(one, other): _weights(values[one], values[other]) for one, other in combinations(values, 2)}
    shown = dict(
        zip(pairs, compare(scores.table, [*pairs.values()], criterion=scores.criterion), strict=True)
    )
    means = {value: float(scores.table.loc[rows].mean(axis=1).mean()) for value, rows in values.items()}
    return AxisPairs(axis, means, shown, scores.less_is_better, decimals)


def _rows_by_value(contents: Contents, axis: str, table: pd.DataFrame) -> dict[str, list[str]]:
    """The rows of each value, limited to settings of the other axes that all share."""
    cells = contents.stage("grid")
    cells = cells[cells["label"] == ""].drop_duplicates("name")
    scored = set(table.dropna(how="all").index)
    found: dict[str, dict[str, str]] = {}
    for name, proposal in zip(cells["name"], cells["proposal"], strict=True):
        others = repr(sorted((key, value) for key, value in proposal.items() if key != axis))
        rows = found.setdefault(show_value(proposal.get(axis)), {})
        if name in scored:
            rows[others] = name
    found = {value: rows for value, rows in found.items() if rows}
    shared = set.intersection(*(set(rows) for rows in found.values())) if found else set()
    return {value: [rows[key] for key in rows if key in shared] for value, rows in found.items() if shared}


def _weights(ones: list[str], others: list[str]) -> ContrastWeights:
    return {row: 1.0 / len(ones) for row in ones} | {row: -1.0 / len(others) for row in others}


def pairs_table(pairs: AxisPairs) -> pd.DataFrame:
    """Return one row of text per pair: mean difference, interval, p and seeds."""
    rows = []
    for (one, other), found in pairs.compared.items():
        texts = {"pair": f"{one} minus {other}"}
        if found is not None:
            texts |= {
                "difference": show_signed(found.mean, pairs.decimals),
                "95%, all pairs at once": show_interval(found.deciding, pairs.decimals),
                VERDICT: verdict_word(found),
                "p (sign-flip)": show_number(found.p_exact, 4),
                "p (Holm)": show_number(found.p_holm, 4),
                BETTER: show_better_seeds(found, less_is_better=pairs.less_is_better),
            }
        rows.append(texts)
    return pd.DataFrame(rows, dtype=object).fillna("")


def apart_text(pairs: AxisPairs) -> str:
    """Say how many pairs of an axis's values are shown to differ."""
    shown = [f"{one} and {two}" for (one, two), found in pairs.compared.items() if found and _is_apart(found)]
    so_far = max((one.criterion.so_far for one in pairs.compared.values() if one), default="")
    if not shown:
        alike = [one for one in pairs.compared.values() if one and one.verdict == "same"]
        is_all = len(alike) == len(pairs.compared)
        same = f", and all are the same{alike[0].criterion.within}" if is_all else ""
        return f"{pairs.axis}: none of {join_words(pairs.means)} is shown to be better than another{same}{so_far}."
    which = f": {join_words(shown)}" if len(shown) <= FEW else ""
    return f"{pairs.axis}: {len(shown)} of {counted(len(pairs.compared), 'pair')} of values differ{so_far}{which}."


def _is_apart(found: ComparedContrast) -> bool:
    return found.verdict in ("better", "worse")


def pairs_answer(pairs: AxisPairs) -> str:
    """Return which value is best, and with what certainty."""
    best = (min if pairs.less_is_better else max)(pairs.means, key=lambda value: pairs.means[value])
    end = "lowest" if pairs.less_is_better else "highest"
    name = f"{pairs.axis} = {best}" if pairs.axis else best
    told = f"{name} has the {end} mean, {show_number(pairs.means[best], pairs.decimals)}"
    against_best = {
        (two if one == best else one): found
        for (one, two), found in pairs.compared.items()
        if best in (one, two)
    }
    beaten = [value for value, found in against_best.items() if found and _is_apart(found)]
    so_far = max((one.criterion.so_far for one in against_best.values() if one), default="")
    if len(beaten) == len(against_best):
        return f"{told}, and is shown to be better than {join_words(beaten)}{so_far}."
    if beaten:
        others = [value for value in against_best if value not in beaten]
        return f"{told}: shown to be better than {join_words(beaten)}, but not than {join_words(others)}{so_far}."
    known = [found for found in against_best.values() if found]
    if not known:
        return f"{told}, but fewer than 3 seeds are shared, too few for an interval."
    told = f"{told}, but is not shown to be better than any other{so_far}."
    least = max((one.resolvable for one in known if one.resolvable > 0), default=0.0)
    if known[0].criterion.is_anytime or not least:
        return told
    seeds = counted(min(one.n for one in known), "seed")
    shown = show_number(least, pairs.decimals)
    return f"{told} A true difference of {shown} would be found in 4 of 5 studies with {seeds}."
