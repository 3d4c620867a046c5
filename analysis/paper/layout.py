"""A comparison in the layout of the paper's table, as CSV and LaTeX files."""

import re
from pathlib import Path

import pandas as pd

from analysis.columns_table import columns_of_numbers, printed_table
from analysis.comparison import Comparison
from analysis.comparison_table import claims_table, printed_rows, rows_table
from analysis.effects import effects_table
from analysis.formats import MINUS
from analysis.paper.captions import columns_caption, effects_caption, rows_caption
from analysis.paper.latex import latex
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
