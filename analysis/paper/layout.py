"""A study's tables for papers: in the layout of the paper's table, CSV and LaTeX."""

import re
from pathlib import Path

import pandas as pd

from analysis import search
from analysis.columns_table import columns_of_numbers, printed_table
from analysis.comparison import Comparison, comparison_of
from analysis.comparison_table import claims_table, printed_rows, rows_table
from analysis.contents import Contents, contents_of
from analysis.effects import effects_table
from analysis.formats import MINUS, show_measured, show_spread
from analysis.paper.captions import columns_caption, effects_caption, rows_caption, scores_caption, so_far
from analysis.paper.latex import latex
from analysis.scores import measures_of, result_scores, summarise
from rse_study.frames.study_results import StudyResults
from rse_study.results.comparing.contrasts import contrast_numbers
from rse_study.results.export import csv_text
from rse_study.results.files.atomic import write_whole


def write_layouts(comparison: Comparison, folder: Path, cited: str = "") -> list[Path]:
    """Write a study's files into a folder, which is created, and return them.

    `<study>.csv` (with every difference as a number), `.tex`, `-contrasts.csv` if there is a baseline, `-claims.csv`
    if there are claims, `-effects.csv` and `-effects.tex` of a factorial design, and `-columns.csv` and `-columns.tex`
    if the columns of the paper's table have metrics of their own. `cited` identifies the study in a LaTeX comment.
    """
    table = rows_table(comparison)
    plain = table.apply(lambda column: column if column.name == "row" else column.str.replace(MINUS, "-"))
    contrasts, claims = contrasts_of(comparison), claims_table(comparison)
    texts = {".csv": csv_text(plain)}
    texts |= {"-contrasts.csv": csv_text(contrasts)} if len(contrasts) else {}
    if comparison.effects.factors:
        texts["-effects.csv"] = csv_text(comparison.effects.frame)
    texts |= {"-claims.csv": csv_text(claims)} if len(claims) else {}
    if comparison.columns:
        texts["-columns.csv"] = csv_text(columns_of_numbers(comparison.columns))
    texts |= latex_layouts(comparison, cited)
    return [write_whole(folder / f"{comparison.name}{ending}", text) for ending, text in texts.items()]


def latex_layouts(comparison: Comparison, cited: str = "") -> dict[str, str]:
    """Return the LaTeX tables by their file's ending: rows, and the paper's columns."""
    comment = [cited] if cited else []
    label = re.sub(r"[^A-Za-z0-9]+", "-", comparison.name)
    rows = printed_rows(comparison)
    texts = {".tex": latex(rows, rows_caption(comparison, rows), comment, label)}
    if comparison.columns:
        table = printed_table(comparison.columns)
        texts["-columns.tex"] = latex(table, columns_caption(comparison, table), comment, f"{label}-columns")
    if len(effects := effects_table(comparison.effects)):
        texts["-effects.tex"] = latex(effects, effects_caption(comparison), comment, f"{label}-effects")
    return texts


def contrasts_of(comparison: Comparison) -> pd.DataFrame:
    """Return all statistics of each row's differences; BCa is empty below 6 seeds."""
    rows = [
        {
            "row": row,
            "minus": comparison.baseline,
            "n": one.n,
            "mean": one.mean,
            **contrast_numbers(one),
        }
        for row, one in comparison.compared.items()
        if one is not None
    ]
    return pd.DataFrame(rows)


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
