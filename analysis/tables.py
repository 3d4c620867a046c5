"""The tables of a study as text, ready to be printed in a terminal."""

import pandas as pd

from analysis import search
from analysis.contents import Contents, baseline_scores, read_contents
from analysis.formats import (
    counted,
    show_axis_value,
    show_duration,
    show_measured,
    show_number,
    show_status,
    show_value,
)
from analysis.scores import NOT_MEASURED, scores, show_scores
from rse_study.results.reader import Reader


def trials(reader: Reader) -> pd.DataFrame:
    """Return the cells of a search or a grid with `best`, as `search.trials` does."""
    return search.trials(read_contents(reader))


def as_text(reader: Reader) -> pd.DataFrame:
    """Return the whole study as strings, baselines first; a star marks the best trial."""
    contents = read_contents(reader)
    if contents.study.kind == "grid":
        rows = scores(contents, contents.stage("grid"))
        return flat(show_scores(rows, contents.decimals_by_measure, (contents.label,)))
    above = baseline_scores(contents.evaluations, contents.study.objective.evaluation)
    shown = show_trials(contents, search.trials(contents), above)
    return with_confirmed(contents, shown)


def with_confirmed(contents: Contents, shown: pd.DataFrame) -> pd.DataFrame:
    """Add a column per evaluation and a row of means per confirmed trial."""
    cells, decimals = search.confirmed(contents), contents.decimals_by_measure
    frame = scores(contents, cells)
    tests = [measure for measure in dict.fromkeys(frame["measure"]) if measure != contents.label]
    values = {
        (row, measure): show_measured(of["value"].mean(), decimals[measure], bool(of["degenerate"].any()))
        for (row, measure), of in frame.groupby(["row", "measure"])
    }
    below = [
        {"trial": f"confirmed: {name}, {counted(len(of), 'seed')}", "status": _statuses(of["status"])}
        | {"step": show_value(of["t"].max()), "time": show_duration(of["duration_s"].sum())}
        | {measure: values[name, measure] for measure in (contents.label, *tests)}
        for name, of in cells.groupby("name", sort=False)
    ]
    known = {m: [values.get((row, m), "") for row in shown["trial"]] for m in tests}
    both = pd.concat([shown.assign(**known), pd.DataFrame(below, dtype=object)], ignore_index=True)
    table = both.fillna("")
    first = ["trial", contents.label, *tests]
    return table[[*first, *(name for name in shown.columns if name not in first)]]


def _statuses(column: pd.Series) -> str:
    numbers = column.value_counts(sort=False)
    if len(numbers) == 1:
        return show_status(numbers.index[0])
    return ", ".join(f"{number} {show_status(status)}" for status, number in numbers.items())


def flat(table: pd.DataFrame) -> pd.DataFrame:
    """Join two levels of headings into one."""
    return table.set_axis([f"{measure} {what}".strip() for measure, what in table.columns], axis=1)


def show_trials(contents: Contents, table: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Show baselines and trials under the headings of the study, all as text."""
    axes, label, decimals = contents.study.headings, contents.label, contents.decimals
    names = contents.cells.set_index("identity")["name"]
    above = [
        {"trial": row.label, label: show_measured(row.value, decimals, row.degenerate) or NOT_MEASURED}
        for row in scores.itertuples()
    ]
    below = [
        {"trial": names[row["identity"]] + (" *" if row["best"] else "")}
        | {label: show_score(row["objective"], row["status"], decimals), "status": show_status(row["status"])}
        | {"step": show_value(row["t"]), "time": show_duration(row["duration_s"])}
        | {
            heading: show_axis_value(axis, row[heading])
            for axis, heading in zip(contents.study.axes, axes, strict=True)
        }
        | {"seeds": show_value(row["num_seeds"])}
        for row in table.to_dict("records")
    ]
    seeds = ["seeds"] if contents.study.search_seeds else []
    headings = ["trial", label, *seeds, "step", "status", *axes, "time"]
    return pd.DataFrame(above + below, columns=headings, dtype=object).fillna("")


def show_score(value: float, status: str, decimals: int) -> str:
    """Show a score, in parentheses where it stems from less than the full budget."""
    text = show_number(value, decimals)
    return text if status == "complete" or not text else f"({text})"
