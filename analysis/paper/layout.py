"""A comparison in the layout of the paper's table, ours beside theirs: CSV for programs, LaTeX for people."""

from pathlib import Path

import pandas as pd

from analysis.comparison import Comparison
from analysis.comparison_table import rows_table
from analysis.formats import MINUS

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
    """`<study>.csv` (every difference a number that programs read) and `<study>.tex` in the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    table = rows_table(comparison)
    plain = table.apply(lambda column: column if column.name == "row" else column.str.replace(MINUS, "-"))
    texts = {"csv": plain.to_csv(index=False), "tex": latex(table, _caption(comparison))}
    paths = []
    for kind, text in texts.items():
        path = folder / f"{comparison.name}.{kind}"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


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
