"""A comparison in the layout of the paper's table, ours beside theirs.

CSV for programs, LaTeX for papers. Beside it more tables for programs: every number of each contrast, the claims with
their verdicts, and every column of the paper's table that the study measured, which LaTeX has once more as the paper
lays it out.
"""

import re
from pathlib import Path

import pandas as pd

from analysis.columns_table import columns_of_numbers, printed_table
from analysis.comparison import Comparison
from analysis.comparison_table import claims_table, printed_rows, rows_table
from analysis.formats import MINUS
from analysis.paper.captions import columns_caption, rows_caption
from analysis.paper.latex import latex
from rse_study.results.atomic import write_whole
from rse_study.results.contrasts import contrast_numbers


def write_layouts(comparison: Comparison, folder: Path, cited: str = "") -> list[Path]:
    """Write a study's files and return them.

    `<study>.csv` (every difference a number that programs read), `.tex`, `-contrasts.csv` and `-claims.csv`;
    `-columns.csv` and `-columns.tex` where the paper's table has columns that metrics of their own measure. The folder
    is made; a study without a baseline has no contrasts, one of no paper no claims.

    Parameters
    ----------
    comparison
        Of the study.
    folder
        Where they go.
    cited
        The line that says which study this is; a comment in LaTeX.
    """
    table = rows_table(comparison)
    plain = table.apply(lambda column: column if column.name == "row" else column.str.replace(MINUS, "-"))
    contrasts, claims = contrasts_of(comparison), claims_table(comparison)
    texts = {".csv": plain.to_csv(index=False)}
    texts |= {"-contrasts.csv": contrasts.to_csv(index=False)} if len(contrasts) else {}
    texts |= {"-claims.csv": claims.to_csv(index=False)} if len(claims) else {}
    if comparison.columns:
        texts["-columns.csv"] = columns_of_numbers(comparison.columns).to_csv(index=False)
    texts |= latex_layouts(comparison, cited)
    return [write_whole(folder / f"{comparison.name}{ending}", text) for ending, text in texts.items()]


def latex_layouts(comparison: Comparison, cited: str = "") -> dict[str, str]:
    """Return the tables for papers, by the ending of their file's name.

    `.tex`: rows against the baseline; `-columns.tex`: as the paper lays its table out, where metrics measure its
    columns. `cited`: the line that says which study this is.
    """
    comment = [cited] if cited else []
    label = re.sub(r"[^A-Za-z0-9]+", "-", comparison.name)
    rows = printed_rows(comparison)
    texts = {".tex": latex(rows, rows_caption(comparison, rows), comment, label)}
    if comparison.columns:
        table = printed_table(comparison.columns)
        texts["-columns.tex"] = latex(table, columns_caption(comparison, table), comment, f"{label}-columns")
    return texts


def contrasts_of(comparison: Comparison) -> pd.DataFrame:
    """Return all that was computed of each row's differences from the baseline.

    Columns `bca_low` and `bca_high` are empty below 6 seeds.
    """
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
