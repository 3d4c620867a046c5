"""A study's tables for papers, as LaTeX files."""

import re
from pathlib import Path

import pandas as pd

from analysis import search
from analysis.comparison import comparison_of
from analysis.contents import Contents, contents_of
from analysis.formats import show_measured, show_spread
from analysis.paper.captions import scores_caption, so_far
from analysis.paper.latex import latex
from analysis.paper.layout import latex_layouts
from analysis.scores import measures_of, result_scores, summarise
from rse_study.frames.study_results import StudyResults
from rse_study.results.files.atomic import write_whole


def write_latex(study: StudyResults, folder: Path) -> list[Path]:
    """Write every table into a folder, which is created, and return the files."""
    contents, comparison = contents_of(study), comparison_of(study)
    comment, label = [study.citation], re.sub(r"[^A-Za-z0-9]+", "-", study.name)
    texts = latex_layouts(comparison, study.citation) if comparison else {}
    measured = scores_table(contents, study.contrasts)
    if len(measured):
        texts["-scores.tex"] = latex(measured, _caption(study, measured), comment, f"{label}-scores")
    trials = search.trials(contents) if study.record.kind == "search" else pd.DataFrame({"best": []})
    if trials["best"].any():
        setting = search.settings(contents, trials).drop(columns="writes")
        caption = f"{study.name}: the best trial's setting, the base's, and what was searched."
        texts["-setting.tex"] = latex(setting, caption, comment, f"{label}-setting")
    return [write_whole(folder / f"{study.name}{ending}", text) for ending, text in texts.items()]


def scores_table(contents: Contents, contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return mean ± SD by row and measure, with a star if better or worse."""
    means = summarise(result_scores(contents)).dropna(subset="mean")
    metrics = measures_of(contents.study, contents.label)
    metrics[contents.label] = ""
    starred = contrasts[contrasts["verdict"].isin(["better", "worse"])]
    apart = set(zip(starred["row"], starred["metric"], strict=True))
    decimals = contents.decimals_by_measure
    texts = [
        show_spread(
            show_measured(one.mean, decimals[one.measure], one.degenerate),
            one.sd,
            decimals[one.measure],
            (_plain(one.row), metrics[one.measure]) in apart,
        )
        for one in means.itertuples()
    ]
    wide = means.assign(text=texts).pivot(index=["position", "row"], columns="measure", values="text")
    shown = [measure for measure in metrics if measure in wide.columns]
    return wide[shown].fillna("").droplevel("position").reset_index().rename_axis(columns=None)


def _plain(row: str) -> str:
    """Name a confirmed trial as contrasts do, without its role in parentheses."""
    return re.sub(r"^(trial \d+) \(.*\)$", r"\1", row)


def _caption(study: StudyResults, table: pd.DataFrame) -> str:
    cells = study.cells[study.cells["stage"].isin(["grid", "confirm"])]
    num_seeds = cells.loc[cells["status"] == "complete", "seed"].nunique()
    minus = study.contrasts["minus"].iloc[0] if len(study.contrasts) else ""
    is_complete = not cells["status"].isin(["planned", "running"]).any()
    caption = scores_caption(study.name, study.record.encoder, num_seeds, minus, table)
    return f"{caption}{so_far(is_complete)}"
