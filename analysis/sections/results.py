"""The results of a study: rows, confirmed trials, and the course of training."""

from typing import Any

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.figures.curves import MAX_CHOICES, bands_data, course_data, draw_bands, draw_course
from analysis.figures.diagnostics import MOST_ROWS, diagnostics_data, draw_diagnostics
from analysis.figures.forest import differences_data, draw_forest
from analysis.figures.lines import draw_heat, draw_lines, heat_data, lines_data
from analysis.formats import counted, join_words, show_signed, show_status
from analysis.scores import NOT_MEASURED, degenerate_note, is_higher_better, scores, seeds_of, show_scores
from analysis.search import confirmed, trials
from rse_study.results.manipulation import percent
from rse_study.results.row_checks import RowChecks
from rse_study.results.settings import ConfirmSettings
from rse_study.results.study_record import AT_CHECKPOINT, margin_of

MAX_ROWS = 80  # of a figure with a line per row
NO_FIGURE = f"No figure: it would have more than {MAX_ROWS} rows."
FIGURE = (
    "Mean differences from {}, paired by seed, with all measures on one scale. A filled mark means that the "
    "interval, for all rows of a measure at once, excludes 0. The grey band is the margin."
)
STEPS = (
    "The objective during training, for complete cells: thin lines are seeds, the thick line is their mean, and the "
    "band is one standard deviation (n - 1) on either side. Only the {} is a result."
)


def scores_table(contents: Contents, frame: pd.DataFrame, name: str) -> str:
    """Return a table of `scores.scores`, whose columns of seeds a reader can show."""
    if frame["value"].isna().all():
        return ""
    shown = show_scores(frame, contents.decimals_by_measure, every_seed=dict.fromkeys(frame["measure"]))
    seeds = {name for _, name in shown.columns if name.startswith("seed ")}
    table = page.table(
        shown.rename(columns=contents.with_units, level=0), row_classes(frame), "long", name, extra=seeds
    )
    return table + page.paragraph(degenerate_note(frame))


def differences_figure(contents: Contents, frame: pd.DataFrame, name: str, **beside: Any) -> str:
    """Return the figure of differences; "" without a row to compare with."""
    if frame["row"].nunique() > MAX_ROWS:
        return page.paragraph(NO_FIGURE)
    shown = differences_data(contents, frame, **beside)
    if shown.empty:
        return ""
    told = FIGURE.format(shown["minus"].iloc[0])
    of = next(iter(shown.loc[shown["measure"] == contents.label, "view"]), "")
    drawn = page.figure(draw_forest(shown, margin_of(contents.study), of), name, shown)
    return drawn + page.how_to_read(told) + page.paragraph(both_ways_text(contents, shown))


def both_ways_text(contents: Contents, shown: pd.DataFrame) -> str:
    """Name the rows that are better on one measure and worse on another."""
    way = shown["measure"].map(lambda measure: 1 if is_higher_better(contents, measure) else -1)
    sure = shown.assign(gain=way * shown["difference"])[shown["low"] * shown["high"] > 0]
    both = sure.groupby("row", sort=False)["gain"].agg(["min", "max"]).query("min < 0 < max").index
    texts = []
    for row in both:
        part = sure[sure["row"] == row].sort_values("gain").iloc[[-1, 0]]
        ends = (f"{show_signed(one.difference, one.decimals)} on {one.measure}" for one in part.itertuples())
        texts.append(f"{row} ({', '.join(ends)})")
    return f"Better on one measure and worse on another: {join_words(texts)}." if texts else ""


def row_classes(frame: pd.DataFrame) -> list[str]:
    """Return the CSS class of each row: baselines are grey."""
    kinds = frame.drop_duplicates("position").sort_values("position")["kind"]
    return ["baseline" if kind == "baseline" else "" for kind in kinds]


def grid_rows(contents: Contents) -> str:
    """Return section "Results" of a grid."""
    cells = contents.stage("grid")
    frame = scores(contents, cells)
    alike = "All rows have" if contents.search.rows is None else "So far, rows have"
    legend = (
        f'Mean and standard deviation (n - 1) over complete cells; "all columns" shows each seed. {alike} the same '
        "seeds, which share initialisation and order of data, so rows can be compared seed by seed."
    )
    figure = (
        "" if contents.study.settings.grid.baseline else differences_figure(contents, frame, "differences")
    )
    table = scores_table(contents, frame, "results")
    return page.section("Results", figure, table, page.how_to_read(legend))


def grid_axes(contents: Contents) -> str:
    """Return section "Along the axes" with lines and maps; "" where they show nothing."""
    drawn = along_axes(contents, contents.label)
    return page.section("Along the axes", page.grid(drawn)) if drawn else ""


def along_axes(contents: Contents, label: str, prefix: str = "") -> list[str]:
    """Return a map of two axes, and lines along each, of the values in the cells."""
    study, drawn = contents.study, []
    fields = heat_data(contents)
    if len(fields):
        drawn_map = draw_heat(fields, study.headings, label, contents.decimals)
        drawn.append(page.figure(drawn_map, f"{prefix}map", fields))
    for number, (axis, heading) in enumerate(zip(study.axes, study.headings, strict=True)):
        frame = lines_data(contents, axis)
        if len(frame):
            lines = draw_lines(frame, heading, label, contents.decimals, axis.log)
            drawn.append(page.figure(lines, f"{prefix}axis-{number}", frame))
    return drawn


def grid_steps(contents: Contents) -> str:
    """Return section "Step by step" of a grid, or "" before a cell is complete."""
    frame = bands_data(contents.stage("grid"), contents.curves)
    if frame.empty:
        return ""
    drawn = draw_bands(frame, contents.label, contents.decimals)
    result = "kept checkpoint" if contents.study.objective.metric.endswith(AT_CHECKPOINT) else "last step"
    told = f"{STEPS.format(result)} {contents.thinned_note}".strip()
    if (num_rows := frame["row"].nunique()) > MAX_CHOICES:
        told += f" The first {MAX_CHOICES} of {num_rows:,} rows can be chosen."
    return page.section("Step by step", page.figure(drawn, "steps", frame), page.how_to_read(told))


def confirmation(contents: Contents) -> str:
    """Return section "Confirmed"; "" if the study confirms nothing."""
    plan, cells = contents.study.confirm_settings, confirmed(contents)
    if not plan.seeds and cells.empty:
        return ""
    frame = scores(contents, cells)
    return page.section(
        "Confirmed",
        page.paragraph(f"{explained(contents, frame)} {missing_text(contents, cells, frame)}".strip()),
        scores_table(contents, frame, "confirmed"),
        differences_figure(contents, frame, "differences"),
    )


def explained(contents: Contents, frame: pd.DataFrame) -> str:
    """Say what was confirmed; "" before anything is."""
    seeds = seeds_of(frame)
    if not seeds:
        return ""
    table, has_base = trials(contents), (frame["kind"] == "base").any()
    who = "The base and the best of the search" if has_base else "The best of the search"
    if (table["best"] & (table["label"] == BASE)).any():
        base = "It and the best" if has_base else "The best"
        who = f"The search's best trial was the base itself. {base} of the others"
    return f"{who}, retrained with {counted(len(seeds), 'fresh seed')}, not used in the search."


def fresh_seeds(plan: ConfirmSettings) -> str:
    """Return words such as "fresh seeds 1 and 2", or "3 to 16 fresh seeds each"."""
    if plan.until_decided:
        return f"{plan.until_decided.range_text} fresh seeds each"
    return f"fresh {'seed' if len(plan.seeds) == 1 else 'seeds'} {join_words(plan.seeds)}"


def missing_text(contents: Contents, cells: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Say what is still missing in the confirmation."""
    plan = contents.study.confirm_settings
    if cells.empty:
        best = "the best trial" if plan.num_best == 1 else f"the best {plan.num_best} trials"
        who = f"{best} and the base" if plan.baseline == "base" else best
        return f"Planned, not done yet: {who} with {fresh_seeds(plan)}."
    open_cells = cells[cells["status"] != "complete"]
    texts = [
        f"{name}, seed {seed} ({show_status(status)})"
        for name, seed, status in open_cells[["name", "seed", "status"]].values
    ]
    rows = contents.search.rows
    unplanned = (rows.num_wanted if rows else plan.num_cells) - len(cells)
    if unplanned > 0:
        texts.append(f"{counted(unplanned, 'cell')} not started")
    bare = frame[(frame["kind"] != "baseline") & (frame["status"] == NOT_MEASURED)]
    texts += [
        f"{row} with seed {seed} on {measure}"
        for row, seed, measure in bare[["row", "seed", "measure"]].values
    ]
    return f"Missing: {'; '.join(texts)}." if texts else ""


WATCHED = (
    "Measured at the steps that the study's file names, on the encoder at that step, and not used for selection. "
    "Each line is a cell: a trial with one seed."
)
INSIDE = (
    "Measures that training reports about itself, row by row; each line is a complete cell. None of them is a score."
    f" Checks are means over the second half of training. Of a grid, the first {MOST_ROWS} rows are shown; of a "
    "search, the base, the best trial and the confirmed ones."
)


def course(contents: Contents) -> str:
    """Return section "In the course of training"; "" if nothing was watched."""
    drawn = []
    for number, metric in enumerate(sorted(set(contents.course["name"]))):
        frame = course_data(contents, metric)
        if len(frame):
            drawn.append(page.figure(draw_course(frame, metric), f"course-{number}", frame))
    if not drawn:
        return ""
    return page.section(
        "In the course of training",
        page.grid(drawn),
        page.how_to_read(f"{WATCHED} {contents.thinned_note}".strip()),
    )


def diagnostics(contents: Contents) -> str:
    """Return section "Inside a step"; "" if no cell recorded a metric of its own."""
    frame = diagnostics_data(contents)
    if frame.empty:
        return ""
    checks = {one.row: one for one in contents.checks}
    parts = dict(iter(frame.groupby("row")))
    order = [row for row in checks if row in parts]
    return page.section(
        "Inside a step",
        *(one_row(checks[row], parts[row], number) for number, row in enumerate(order)),
        page.how_to_read(f"{INSIDE} {contents.thinned_note}".strip()),
    )


def one_row(checks: RowChecks, frame: pd.DataFrame, number: int) -> str:
    """Return a row's checks and its figure, folded."""
    inert = dict.fromkeys(check.part for check, value in checks.values if check.is_inert(value))
    verdict = f"inert: {join_words(inert)}" if inert else "alive"
    if not checks.is_recorded:
        verdict = "its method defines no checks" if checks.names_none else "checks not recorded"
    return page.folded(
        f"{checks.row} ({verdict})",
        page.table(checks_table(checks), kind="plain", name=f"checks-{number}") if checks.values else "",
        page.figure(draw_diagnostics(frame), f"diagnostic-{number}", frame),
    )


def checks_table(checks: RowChecks) -> pd.DataFrame:
    """Return a row per check: part, value, limit, verdict, reason."""
    rows = [
        (check.part, check.measure.format(percent(value)), check.alive, verdict, check.reason)
        for check, value in checks.values
        for verdict in (("inert" if check.is_inert(value) else "alive") if check.alive else "",)
    ]
    return pd.DataFrame(rows, columns=["part", "measure", "alive", "verdict", "reason"], dtype=object)
