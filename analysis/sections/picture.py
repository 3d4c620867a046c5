"""The picture of a report's first screen, beside a table of a few lines."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from analysis import comparison_table, page
from analysis.answer import family_table
from analysis.comparison import Comparison
from analysis.contents import BASE, Contents, baseline_scores, labels, objective_decimals
from analysis.figures.forest import differences_data, draw_forest, family_forest_data
from analysis.figures.pareto import draw_front
from analysis.figures.search_features import draw_path, path_data
from analysis.figures.searched import history_of
from analysis.formats import show_signed
from analysis.scores import result_scores
from analysis.search import settings, trials
from analysis.search_answer import UNIT
from analysis.sections.front import front_data, front_table
from rse_study.results.comparing.contrasts import Family
from rse_study.results.records import BASELINES
from rse_study.results.study_record import margin_of

FEW = 4  # planned contrasts, beside which there is room for the rows
MOST_ROWS = 8
"""rows of the picture; the others stand in the section that it leads to"""
ONCE = "Each dot is a trial that ran once."
ALONG_PATH = "gain on the path"
UNSURE = "undecided"
"""of a gain whose interval includes 0"""


class Picture(NamedTuple):
    """A figure, its numbers, the table beside it, and the section that tells more."""

    drawn: go.Figure
    data: pd.DataFrame
    table: pd.DataFrame
    link: str
    told: str


def picture(contents: Contents, comparison: Comparison | None) -> str:
    """Return what answers a study's question at a glance; "" before anything can."""
    if comparison is None:
        found = _front(contents) or _path(contents) or _best(contents)
    else:
        found = _family(contents, comparison.planned, "#section-planned-contrasts")
        if found and comparison.baseline and len(found.table) < FEW:
            found = found._replace(table=_few_rows(contents, comparison, comparison.compared))
        found = (
            found or _family(contents, comparison.effects, "#section-factors") or _rows(contents, comparison)
        )
    if found is None:
        return ""
    drawn = page.figure(found.drawn, "first", found.data)
    below = f"<p>{page.escape(found.told)} {page.link(found.link, 'Details')}</p>"
    return f'<div class="first"><div>{drawn}{below}</div><div>{page.table(found.table, name="first")}</div></div>'


def _marks(contents: Contents) -> str:
    grey = " Grey: within the margin." if margin_of(contents.study) else ""
    return f"Filled dots: the interval excludes 0.{grey}"


def _forest(contents: Contents, frame: pd.DataFrame) -> go.Figure:
    """Draw rows of one view, with the margin where it is the objective's."""
    of, view = frame.loc[frame["measure"] == contents.label, "view"], frame["view"].iloc[0]
    drawn = draw_forest(frame, margin_of(contents.study) if view in set(of) else 0.0, view)
    is_one = frame["measure"].nunique() == 1
    return drawn.update_layout(showlegend=False, height=drawn.layout.height - 80) if is_one else drawn


def largest(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows with the largest differences in the first view, in their order."""
    frame = frame[frame["view"] == frame["view"].iloc[0]]
    return frame.loc[frame["difference"].abs().nlargest(MOST_ROWS).index.sort_values()]


def _rows(contents: Contents, comparison: Comparison) -> Picture | None:
    """Rows minus the baseline, or minus the encoder before training, on the objective."""
    scored = result_scores(contents)
    frame = differences_data(contents, scored[scored["measure"] == contents.label], minus=comparison.baseline)
    if frame.empty:
        return None
    few = largest(frame)
    told = f"On {contents.label}. {_marks(contents)}" + f" The {len(few)} largest of {len(frame)}." * (
        len(few) < len(frame)
    )
    shown = _few_rows(contents, comparison, few["row"])
    link = "#section-compared" if comparison.baseline else "#section-results"
    return Picture(_forest(contents, few), few, shown, link, told)


def _few_rows(contents: Contents, comparison: Comparison, rows: Iterable[str]) -> pd.DataFrame:
    """Return the table of these rows, between the start and the baseline."""
    table = comparison_table.rows_table(comparison, contents.decimals)
    table = table[table["row"].isin({comparison.baseline, BASELINES["start"], *list(rows)[:MOST_ROWS]})]
    table = table.assign(mean=[f"{mean} ± {sd}" if sd else mean for mean, sd in table[["mean", "SD"]].values])
    table = table[[name for name in ("row", "mean", comparison_table.VERDICT) if name in table]]
    return table.rename(columns={comparison_table.VERDICT: f"against {comparison.baseline}"})


def _family(contents: Contents, found: Family, link: str) -> Picture | None:
    """The planned contrasts, or the effects of a factorial design, on the objective."""
    if not len(found.compared):
        return None
    frame = family_forest_data(found, contents.decimals_by_measure)
    few, table = largest(frame), family_table(found, contents.decimals)
    shown = table.loc[
        table[found.noun].isin(few["row"]), [found.noun, "difference", comparison_table.VERDICT]
    ]
    told = f"On {contents.label}. {_marks(contents)}" + f" The {len(few)} largest of {len(table)}." * (
        len(few) < len(table)
    )
    return Picture(_forest(contents, few), few, shown, link, told)


def _front(contents: Contents) -> Picture | None:
    """The front of several objectives."""
    names, study = labels(contents), contents.study
    frame = front_data(contents) if len(names) > 1 else pd.DataFrame()
    if frame.empty:
        return None
    places = [objective_decimals(one) for one in study.all_objectives]
    drawn = draw_front(frame, names, study.directions, places)
    shown = front_table(contents, frame)[["trial", "", *names]].head(MOST_ROWS)
    shown.columns = shown.columns.str.removesuffix(UNIT)
    return Picture(drawn, frame, shown, "#section-front", ONCE)


def _path(contents: Contents) -> Picture | None:
    """What each axis gains or loses from the base to the best trial."""
    state, frame, table = contents.search.path, path_data(contents), trials(contents)
    if state is None or not state.is_over or frame.empty or not table["best"].any():
        return None
    kept = frame[frame["is_kept"]]
    gains = {
        one.axis: show_signed(one.gain, contents.decimals) if one.gain_low * one.gain_high > 0 else UNSURE
        for one in kept[kept["place"] > 0].itertuples()
    }
    shown = settings(contents, table)[["axis", BASE, "best"]]
    shown = shown.assign(**{ALONG_PATH: [gains.get(axis, "") for axis in shown["axis"]]})
    less_is_better = contents.study.objective.direction == "minimize"
    drawn = draw_path(kept, contents.label, contents.decimals, less_is_better=less_is_better)
    drawn.update_layout(showlegend=False, height=drawn.layout.height - 50)
    told = "One axis after another takes its best value, and the order matters."
    return Picture(drawn, kept, shown, "#section-ablation-path", told)


def _best(contents: Contents) -> Picture | None:
    """The confirmed trial minus the base on every measure, or the search trial by trial."""
    table = trials(contents)
    if not table["best"].any():
        return None
    shown = settings(contents, table)[["axis", BASE, "best"]]
    frame = differences_data(contents, result_scores(contents))
    if len(frame):
        few = largest(frame)
        return Picture(_forest(contents, few), few, shown, "#section-confirmed", _marks(contents))
    scores = baseline_scores(contents.study, contents.evaluations, contents.study.objective.evaluation)
    drawn = history_of(contents, table, scores)
    return drawn and Picture(drawn, table[["trial", "objective"]], shown, "#section-history", ONCE)
