"""Final scores by row and seed, beside the baselines, and tables as text."""

from collections.abc import Iterable, Mapping

import pandas as pd

from analysis import formats, search
from analysis.contents import BASE, Contents, baseline_scores, label_of, read_contents
from analysis.search import confirmed
from rse_study.results.comparing.criterion import is_finite
from rse_study.results.reader import Reader
from rse_study.results.records import LARGEST
from rse_study.results.study_record import StudyRecord

NOT_MEASURED = "not measured"
MEANING = (
    "Degenerate: the model gives the same output for every input, or its vectors are not finite. Such a score counts"
    " as the worst possible, or is undefined: it shows that the model has collapsed, not how good it is."
)
COLUMNS = ["position", "row", "kind", "trial", "seed", "measure", "value", "status", "degenerate"]


def measures_of(study: StudyRecord, label: str) -> dict[str, str]:
    """Return the ledger's name of each measure, by the name readers see.

    The objective comes first in a grid; in a search it selected, so the evaluations come first.
    """
    named = {measure.name: measure.metric for measure in study.shown_measures}
    objective = study.objective.evaluation
    others = {name: metric for name, metric in named.items() if metric != objective}
    more = {label_of(one): one.evaluation for one in study.other_objectives}
    return {label: objective} | others if study.kind == "grid" else others | {label: objective} | more


def is_higher_better(contents: Contents, measure: str) -> bool:
    """Whether higher values of a measure, or of the objective, are better."""
    study = contents.study
    directions = {one.name: one.direction for one in study.shown_measures}
    directions |= {label_of(one): one.direction for one in study.other_objectives}
    return directions.get(measure, study.objective.direction) == "maximize"


def scores(contents: Contents, cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row per row, seed and measure, baselines first (without seed).

    `kind` is baseline, base or row. `value` is NaN where it is missing, and for cells that are
    not complete, because a value after fewer steps is another quantity. `degenerate` marks scores of a collapsed
    model, which may be NaN (status `undefined`). Rows keep the order of `cells`.
    """
    scored = measures_of(contents.study, contents.label)
    frames = [_baselines(contents, measure, metric) for measure, metric in scored.items()]
    frames += [_cells(contents, cells, measure, metric) for measure, metric in scored.items()]
    frame = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    rows = dict.fromkeys([*contents.study.baselines.values(), *cells["name"]])
    position = {row: number for number, row in enumerate(rows)}
    value = frame["value"].where(is_finite(frame["value"]))
    return frame.assign(position=frame["row"].map(position), value=value)[COLUMNS]


def result_scores(contents: Contents) -> pd.DataFrame:
    """Return `scores` of the final results: a grid's rows or confirmed trials."""
    return scores(contents, result_cells(contents))


def result_cells(contents: Contents) -> pd.DataFrame:
    """Return the cells that are results: a grid's, or those that confirm a search."""
    return contents.stage("grid") if contents.study.kind == "grid" else confirmed(contents)


def _baselines(contents: Contents, measure: str, metric: str) -> pd.DataFrame:
    found = baseline_scores(contents.study, contents.evaluations, metric)
    known = found[["value", "degenerate"]].values
    status = [_status("complete", value, flag or pd.notna(value)) for value, flag in known]
    fixed = {"kind": "baseline", "trial": pd.NA, "seed": pd.NA, "measure": measure, "status": status}
    return found.rename(columns={"label": "row"})[["row", "value", "degenerate"]].assign(**fixed)


def _cells(contents: Contents, cells: pd.DataFrame, measure: str, metric: str) -> pd.DataFrame:
    found = contents.evaluations[contents.evaluations["metric"] == metric].set_index("subject")
    own = {label_of(one): one.metric for one in contents.study.other_objectives}
    column = "objective" if measure == contents.label else own.get(measure, "")
    values = cells[column] if column else cells["identity"].map(found["value"]).astype(float)
    complete, is_measured = cells["status"] == "complete", cells["identity"].isin(found.index) | bool(column)
    marked = frozenset(found.index[found["degenerate"]])
    marked |= contents.collapsed if measure == contents.label else frozenset()
    flags = cells["identity"].isin(marked) & complete
    status = [_status(*one) for one in zip(cells["status"], values, is_measured, strict=True)]
    kind = ["base" if label == BASE else "row" for label in cells["label"]]
    frame = cells[["trial", "seed"]].assign(row=cells["name"], kind=kind, measure=measure)
    return frame.assign(value=values.where(complete), status=status, degenerate=flags)


def _status(status: str, value: float, is_measured: bool) -> str:
    if status != "complete" or abs(value) < LARGEST:
        return status
    return formats.UNDEFINED if is_measured else NOT_MEASURED


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean, sd (n - 1), num_seeds, degenerate per row and measure."""
    groups = frame.groupby(["position", "row", "kind", "measure"], sort=True)
    table = groups["value"].agg(mean="mean", sd="std", num_seeds="count")
    return table.assign(degenerate=groups["degenerate"].any()).reset_index()


def seeds_of(frame: pd.DataFrame) -> list[int]:
    """Return the seeds of a frame in order."""
    return sorted(int(seed) for seed in frame["seed"].dropna().unique())


def show_scores(frame: pd.DataFrame, decimals: Mapping[str, int], every_seed: Iterable[str]) -> pd.DataFrame:
    """Show scores as text by row, with pairs (measure, statistic) as columns.

    Measures outside `every_seed` show mean ± SD (n - 1) only. Degenerate scores, and means over one of them, are
    marked.
    """
    detailed, table, seeds = set(every_seed), summarise(frame), seeds_of(frame)
    rows = table.drop_duplicates("position")[["position", "row"]]
    shown = {("", "row"): rows["row"].tolist()}
    for measure in dict.fromkeys(frame["measure"]):
        part = table[table["measure"] == measure].set_index("position").loc[rows["position"]]
        shown[measure, "mean \N{PLUS-MINUS SIGN} SD"] = _means(part, len(seeds), decimals[measure])
        for seed in seeds if measure in detailed else ():
            shown[measure, f"seed {seed}"] = _of_seed(
                frame, measure, seed, rows["position"], decimals[measure]
            )
    return pd.DataFrame(shown, dtype=object)


def degenerate_note(frame: pd.DataFrame) -> str:
    """Explain the mark of degenerate scores; "" if there are none."""
    return f"{formats.DEGENERATE} {MEANING}" if frame["degenerate"].any() else ""


def _means(part: pd.DataFrame, num_seeds: int, decimals: int) -> list[str]:
    texts = []
    for row in part.itertuples():
        is_partial = row.kind != "baseline" and 0 < row.num_seeds < num_seeds
        bare = NOT_MEASURED if row.kind == "baseline" else ""
        text = (
            formats.show_spread(formats.show_measured(row.mean, decimals, row.degenerate), row.sd, decimals)
            or bare
        )
        texts.append(text + (f" (n = {row.num_seeds})" if is_partial else ""))
    return texts


def _of_seed(
    frame: pd.DataFrame, measure: str, seed: int, positions: Iterable[int], decimals: int
) -> list[str]:
    part = frame[(frame["measure"] == measure) & (frame["seed"] == seed)]
    texts = {
        row.position: formats.show_measured(row.value, decimals, row.degenerate)
        or formats.show_status(row.status)
        for row in part.itertuples()
    }
    baselines = set(frame.loc[frame["kind"] == "baseline", "position"])
    return [texts.get(position, "" if position in baselines else "missing") for position in positions]


def trials_of(reader: Reader) -> pd.DataFrame:
    """Return the cells of a search or a grid with `best`, as `search.trials` does."""
    return search.trials(read_contents(reader))


def as_text(reader: Reader) -> pd.DataFrame:
    """Return the whole study as strings, baselines first; a star marks the best trial."""
    contents = read_contents(reader)
    if contents.study.kind == "grid":
        rows = scores(contents, contents.stage("grid"))
        return flat(show_scores(rows, contents.decimals_by_measure, (contents.label,)))
    above = baseline_scores(contents.study, contents.evaluations, contents.study.objective.evaluation)
    shown = show_trials(contents, search.trials(contents), above)
    return with_confirmed(contents, shown)


def with_confirmed(contents: Contents, shown: pd.DataFrame) -> pd.DataFrame:
    """Add a column per evaluation and a row of means per confirmed trial."""
    cells, decimals = search.confirmed(contents), contents.decimals_by_measure
    frame = scores(contents, cells)
    tests = [measure for measure in dict.fromkeys(frame["measure"]) if measure != contents.label]
    values = {
        (row, measure): formats.show_measured(
            of["value"].mean(), decimals[measure], bool(of["degenerate"].any())
        )
        for (row, measure), of in frame.groupby(["row", "measure"])
    }
    below = [
        {"trial": f"confirmed: {name}, {formats.counted(len(of), 'seed')}", "status": _statuses(of["status"])}
        | {"step": formats.show_value(of["t"].max()), "time": formats.show_duration(of["duration_s"].sum())}
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
        return formats.show_status(numbers.index[0])
    return ", ".join(f"{number} {formats.show_status(status)}" for status, number in numbers.items())


def flat(table: pd.DataFrame) -> pd.DataFrame:
    """Join two levels of headings into one."""
    return table.set_axis([f"{measure} {what}".strip() for measure, what in table.columns], axis=1)


def show_trials(contents: Contents, table: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Show baselines and trials under the headings of the study, all as text."""
    axes, label, decimals = contents.study.headings, contents.label, contents.decimals
    names = contents.cells.set_index("identity")["name"]
    above = [
        {
            "trial": row.label,
            label: formats.show_measured(row.value, decimals, row.degenerate) or NOT_MEASURED,
        }
        for row in scores.itertuples()
    ]
    below = [
        {"trial": names[row["identity"]] + (" *" if row["best"] else "")}
        | {
            label: show_score(row["objective"], row["status"], decimals),
            "status": formats.show_status(row["status"]),
        }
        | {"step": formats.show_value(row["t"]), "time": formats.show_duration(row["duration_s"])}
        | {
            heading: formats.show_axis_value(axis, row[heading])
            for axis, heading in zip(contents.study.axes, axes, strict=True)
        }
        | {"seeds": formats.show_value(row["num_seeds"])}
        for row in table.to_dict("records")
    ]
    seeds = ["seeds"] if contents.study.search_seeds else []
    headings = ["trial", label, *seeds, "step", "status", *axes, "time"]
    return pd.DataFrame(above + below, columns=headings, dtype=object).fillna("")


def show_score(value: float, status: str, decimals: int) -> str:
    """Show a score, in parentheses where it stems from less than the full budget."""
    text = formats.show_number(value, decimals)
    return text if status == "complete" or not text else f"({text})"
