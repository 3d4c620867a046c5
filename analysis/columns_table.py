"""A paper's table with our numbers as text: wide like the paper's, or long."""

from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd

from analysis import formats
from analysis.columns import TableCell
from analysis.comparison_table import absent, show_interval
from rse_study.results.records import BASELINES

AT_ONCE = "95%, all cells at once"


def _name(cell: TableCell) -> str:
    return absent(cell.row, is_open=cell.is_open) if cell.is_absent else cell.row


def _printed_name(cell: TableCell) -> str:
    """Name a baseline as the paper does, too: BERT (before training)."""
    theirs = cell.column.called.get(cell.row, "") if cell.is_fixed or cell.row in BASELINES.values() else ""
    return f"{theirs} ({_name(cell)})" if theirs else _name(cell)


def wide_table(cells: Sequence[TableCell]) -> pd.DataFrame:
    """Return the paper's table with our means, and its own numbers in parentheses."""
    return _as_the_paper(cells, lambda cell: _ours_and_theirs(cell, _mean(cell)))


def printed_table(cells: Sequence[TableCell]) -> pd.DataFrame:
    """Return the paper's table for print; a star means that an interval excludes 0."""
    return _as_the_paper(cells, lambda cell: _ours_and_theirs(cell, _with_spread(cell)), _printed_name)


def _as_the_paper(
    cells: Sequence[TableCell], show: Callable[[TableCell], str], name: Callable[[TableCell], str] = _name
) -> pd.DataFrame:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for cell in cells:
        found.setdefault((cell.column.block, name(cell)), {})[cell.column.name] = show(cell)
    columns = dict.fromkeys(cell.column.name for cell in cells)
    rows = [{"block": block, "row": row, **texts} for (block, row), texts in found.items()]
    table = pd.DataFrame(rows, columns=["block", "row", *columns], dtype=object).fillna("")
    return table if table["block"].nunique() > 1 else table.drop(columns="block")


def _ours_and_theirs(cell: TableCell, ours: str) -> str:
    decimals = formats.decimals_of(cell.column.metric)
    printed = f"({formats.show_number(cell.printed, decimals)})" if pd.notna(cell.printed) else ""
    return f"{ours} {printed}".strip()


def _mean(cell: TableCell) -> str:
    return formats.show_measured(cell.mean, formats.decimals_of(cell.column.metric), cell.is_degenerate)


def _with_spread(cell: TableCell) -> str:
    is_apart = cell.interval is not None and cell.interval.excludes(0.0)
    return formats.show_spread(_mean(cell), cell.sd, formats.decimals_of(cell.column.metric), is_apart)


def long_table(cells: Sequence[TableCell]) -> pd.DataFrame:
    """Return a row per cell with spread, seeds, differences and their agreement."""
    table = pd.DataFrame(
        [_long(cell, formats.decimals_of(cell.column.metric)) for cell in cells], dtype=object
    )
    bare = [name for name in ("block", "paper", "paper's difference", "direction") if not table[name].any()]
    return table.drop(columns=bare)


def _long(cell: TableCell, decimals: int) -> dict[str, str]:
    return {
        "block": cell.column.block,
        "column": cell.column.name,
        "row": _name(cell),
        "ours": formats.show_measured(cell.mean, decimals, cell.is_degenerate),
        "SD": formats.show_number(cell.sd, decimals),
        "seeds": "" if cell.is_fixed or cell.is_absent else str(cell.num_seeds),
        "paper": formats.show_number(cell.printed, decimals),
        "minus": cell.minus,
        "difference": formats.show_signed(cell.difference, decimals),
        AT_ONCE: show_interval(cell.interval, decimals) if cell.interval else "",
        "paper's difference": formats.show_signed(cell.printed_difference, decimals),
        "direction": cell.direction,
        "better is": "less" if cell.less_is_better else "more",
    }


def columns_of_numbers(cells: Sequence[TableCell]) -> pd.DataFrame:
    """Return the long table as numbers, for programs."""
    rows = [
        {
            "block": cell.column.block,
            "column": cell.column.name,
            "metric": cell.column.metric,
            "better": "less" if cell.less_is_better else "more",
            "row": cell.row,
            "mean": cell.mean,
            "sd": cell.sd,
            "num_seeds": "" if cell.is_fixed else cell.num_seeds,
            "degenerate": cell.is_degenerate,
            "paper": cell.printed,
            "minus": cell.minus,
            "difference": cell.difference,
            "simultaneous_low": cell.interval.low if cell.interval else float("nan"),
            "simultaneous_high": cell.interval.high if cell.interval else float("nan"),
            "paper_difference": cell.printed_difference,
            "direction": cell.direction,
        }
        for cell in cells
    ]
    return pd.DataFrame(rows)


def column_remarks(cells: Sequence[TableCell], table: str) -> list[str]:
    """Summarise the cells in sentences."""
    return [text for text in (_directions(cells, table), _which_way(cells), _worthless(cells)) if text]


def _directions(cells: Sequence[TableCell], table: str) -> str:
    counts = Counter(cell.direction for cell in cells if cell.direction)
    if not counts:
        return ""
    minus = formats.join_words(dict.fromkeys(cell.minus for cell in cells if cell.direction))
    told = f"{counts['same']} same, {counts['other']} other, {counts['undecided']} undecided"
    told += f", {counts['incomplete']} incomplete" if counts["incomplete"] else ""
    open_ones = [cell for cell in cells if cell.direction == "undecided"]
    leaning = sum(cell.leans for cell in open_ones)
    lean = f"; {leaning} of the undecided lean to the paper's side" if open_ones else ""
    num_intervals = sum(cell.interval is not None for cell in cells)
    return (
        f"Directions of {table}, {formats.counted(counts.total(), 'difference')} from {minus}: {told}{lean}. "
        f"{formats.counted(num_intervals, 'interval')} hold at once (95%)."
    )


def _which_way(cells: Sequence[TableCell]) -> str:
    less = dict.fromkeys(cell.column.name for cell in cells if cell.less_is_better)
    if not less:
        return ""
    is_all = all(cell.less_is_better for cell in cells)
    return "Less is better." if is_all else f"Less is better for {formats.join_words(less)}."


def _worthless(cells: Sequence[TableCell]) -> str:
    if not any(cell.is_degenerate for cell in cells):
        return ""
    why = "a classifier has not learnt its task, or all vectors are equal"
    return f"{formats.DEGENERATE} Some scores are meaningless: {why}."
