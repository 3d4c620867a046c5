"""What `compare` does: set two rows, or the rows two studies share, side by side."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from rse_study.cli.arguments import study_folder
from rse_study.cli.next_step import command, in_store, suggest
from rse_study.cli.screen import announce
from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean
from rse_study.results.comparisons import LEVEL, ComparedContrast, compare, row_scores
from rse_study.results.reader import Reader
from rse_study.results.row_names import find_row, names_of_cells
from rse_study.results.statistics import EXACT_UP_TO, welch_interval

MIN_SEEDS = 3
FIRST, SECOND = "first", "second"


def compare_rows(first: str, second: str, metric: str, unpaired: bool, store: Path) -> None:
    """Print a line for every pair of rows.

    Parameters
    ----------
    first, second
        A study, or STUDY:ROW.
    metric
        An evaluation, task/split; empty for the studies' objective.
    unpaired
        Compare means of unrelated seeds, with Welch's interval.
    store
        Folder that holds the studies' folders.

    Raises
    ------
    InputErrors
        At the end, with every pair that cannot be compared.
    """
    one, other = (_read(given, metric, store) for given in (first, second))
    if one[1] != other[1]:
        rule = f"{one[1]!r} is not {other[1]!r}"
        remedy = "Name an evaluation both have: --metric STS-B/test"
        raise InputError("not the same measure", where=f"{first}, {second}", rule=rule, remedy=remedy)
    pairs = list(_pairs(first, one[0], second, other[0]))
    at_once = f"; intervals hold for all {len(pairs)} rows at once" if len(pairs) > 1 else ""
    announce(f"{one[1]}: {first} minus {second}{at_once}")
    problems, level = [], 1 - (1 - LEVEL) / len(pairs)
    for name, pair in pairs:
        try:
            announce(f"{name}: {(_unpaired if unpaired else _paired)(name, pair, level)}")
        except InputError as problem:
            problems.append(problem)
    if problems:
        raise InputErrors(problems)
    suggest(command("report", first.partition(":")[0], *in_store(store)))


def _read(given: str, metric: str, store: Path) -> tuple[pd.DataFrame, str]:
    """Scores [rows, seeds] and what is measured; of one row where one is named."""
    study, _, row = given.partition(":")
    with Reader(study_folder(study, store)) as reader:
        label = metric or reader.study().objective.label or reader.study().objective.metric
        named = {measure.name: measure.metric for measure in reader.study().shown_measures}
        scores = row_scores(reader, named.get(metric, metric)).table.dropna(how="all")
        known = [*named, *reader.evaluations()["metric"].unique()]
        row = _row_of(reader, row) or row
    if scores.empty:
        rule = f"no row has a score of {label!r}" if metric else "no row has a score yet"
        remedy = did_you_mean(metric, known) if metric else "See how far it is: rse-study status"
        raise InputError("nothing to compare", where=study, rule=rule, remedy=remedy)
    if row and row not in scores.index:
        raise InputError(
            f"no row {row!r} with a score", where=study, remedy=did_you_mean(row, list(scores.index))
        )
    return (scores.loc[[row]] if row else scores), label


def _row_of(reader: Reader, wanted: str) -> str | None:
    """The name of the row that is meant, however its values are spelled."""
    study, cells = reader.study(), reader.cells()
    names = names_of_cells(study, cells)
    columns = zip(names, cells["label"], cells["proposal"], strict=True)
    rows = {name: {} if label else values for name, label, values in columns}
    return find_row(study, wanted, rows, dict(zip(names, cells["trial"], strict=True)))


def _pairs(
    first: str, one: pd.DataFrame, second: str, other: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows to compare: name, and a frame [first and second, seeds of either]."""
    if len(one) == len(other) == 1:
        names = [(one.index[0], other.index[0])]
    else:
        names = [(row, row) for row in one.index if row in other.index]
    if not names:
        remedy = "Name the rows: STUDY:ROW"
        raise InputError(
            "no row in common", where=f"{first}, {second}", rule="rows are matched by name", remedy=remedy
        )
    for here, there in names:
        both = pd.DataFrame({FIRST: one.loc[here], SECOND: other.loc[there]}).T
        yield (here if here == there else f"{here} minus {there}"), both


def _paired(name: str, pair: pd.DataFrame, level: float) -> str:
    pair = pair.dropna(axis="columns", how="all")
    known = pair.dropna(axis="columns")
    alone = [str(seed) for seed in pair.columns if seed not in known.columns]
    if known.shape[1] < MIN_SEEDS:
        rule = f"pairs need {MIN_SEEDS} seeds that both rows have; they share {known.shape[1]}"
        remedy = "Run the missing seeds, or compare means of unrelated seeds: --unpaired"
        raise InputError("cannot be paired", where=name, rule=rule, remedy=remedy)
    (found,) = compare(known, [{FIRST: 1.0, SECOND: -1.0}], level)
    assert found is not None
    left_out = f"; without seeds {', '.join(alone)}, which only one has" if alone else ""
    return f"{_shown(found)}{left_out}"


def _shown(found: ComparedContrast) -> str:
    low, high = found.interval.low, found.interval.high
    exact = f"p = {found.p_exact:.4f} (sign-flip), {found.p_wilcoxon:.4f} (Wilcoxon), "
    return (
        f"{found.mean:+.2f}, 95 % [{low:+.2f}, {high:+.2f}], {found.n} seeds paired, SD {found.sd:.2f}, "
        f"{exact if found.n <= EXACT_UP_TO else ''}g {found.effect:+.2f}"
    )


def _unpaired(name: str, pair: pd.DataFrame, level: float) -> str:
    one, other = (pair.loc[name].dropna() for name in (FIRST, SECOND))
    if min(len(one), len(other)) < 2:
        rule = "an interval of unrelated seeds needs 2 of each"
        raise InputError("too few seeds", where=name, rule=rule, remedy="Run more seeds")
    found = welch_interval(one, other, level)
    difference = one.mean() - other.mean()
    return (
        f"{difference:+.2f}, 95 % [{found.low:+.2f}, {found.high:+.2f}], unpaired, "
        f"{len(one)} and {len(other)} seeds (Welch)"
    )
