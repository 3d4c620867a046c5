"""A comparison in the layout of the paper's table, ours beside theirs.

CSV for programs, LaTeX for people. Beside it more tables for programs: every number of each contrast, the claims with
their verdicts, and every column of the paper's table that the study measured, which LaTeX has once more as the paper
lays it out.
"""

from pathlib import Path

import pandas as pd

from analysis.columns_table import columns_of_numbers, wide_table
from analysis.comparison import Comparison
from analysis.comparison_table import claims_table, rows_table
from analysis.formats import MINUS
from rse_study.results.atomic import write_whole
from rse_study.results.statistics import Interval

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a line it would belong to the \\ of the line before
    MINUS: "$-$",
}


def write_layouts(comparison: Comparison, folder: Path) -> list[Path]:
    """Write a study's files and return them.

    `<study>.csv` (every difference a number that programs read), `.tex`, `-contrasts.csv` and `-claims.csv`;
    `-columns.csv` and `-columns.tex` where the paper's table has columns that metrics of their own measure. The folder
    is made; a study without a baseline has no contrasts, one of no paper no claims.
    """
    table = rows_table(comparison)
    plain = table.apply(lambda column: column if column.name == "row" else column.str.replace(MINUS, "-"))
    texts = {".csv": plain.to_csv(index=False), ".tex": latex(table, _caption(comparison))}
    contrasts, claims = contrasts_of(comparison), claims_table(comparison)
    texts |= {"-contrasts.csv": contrasts.to_csv(index=False)} if len(contrasts) else {}
    texts |= {"-claims.csv": claims.to_csv(index=False)} if len(claims) else {}
    if comparison.columns:
        texts["-columns.csv"] = columns_of_numbers(comparison.columns).to_csv(index=False)
        texts["-columns.tex"] = latex(wide_table(comparison.columns), _caption_of_columns(comparison))
    return [write_whole(folder / f"{comparison.name}{ending}", text) for ending, text in texts.items()]


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
            "sd": one.sd,
            **_ends("t", one.interval),
            **_ends("simultaneous", one.simultaneous),
            **_ends("bca", one.bootstrap),
            "p_sign_flip": one.p_exact,
            "p_wilcoxon": one.p_wilcoxon,
            "p_holm": one.p_holm,
            "least_p_holm": one.least_p_holm,
            "hedges_g": one.effect,
            "resolvable": one.resolvable,
        }
        for row, one in comparison.compared.items()
        if one is not None
    ]
    return pd.DataFrame(rows)


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def latex(table: pd.DataFrame, caption: str) -> str:
    """A booktabs table: the first column left, all others right."""
    lines = [" & ".join(map(escaped, row)) + r" \\" for row in table.itertuples(index=False)]
    head = " & ".join(map(escaped, table.columns)) + r" \\"
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{escaped(caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (table.shape[1] - 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escaped(text: object) -> str:
    """Text as LaTeX prints it."""
    return "".join(SPECIAL.get(letter, letter) for letter in str(text))


def _caption(comparison: Comparison) -> str:
    beside = f", beside {comparison.table}" if comparison.printed else ""
    return f"{comparison.name}: {comparison.label}{beside}. Scale: {comparison.scale}."


def _caption_of_columns(comparison: Comparison) -> str:
    return f"{comparison.name}: {comparison.table}, ours (the paper's in parentheses). Scale: {comparison.scale}."
