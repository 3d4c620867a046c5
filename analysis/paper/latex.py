"""LaTeX tables for papers: booktabs, with every special letter escaped."""

import re
from collections.abc import Iterable

import pandas as pd

from analysis.formats import DEGENERATE, MINUS, PLUS_MINUS, STAR

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
    PLUS_MINUS: r"$\pm$",
    STAR: "$^{*}$",
    DEGENERATE: r"\dag{}",
}
GREEK = "alpha|beta|rho|phi|tau|xi|sigma|epsilon|eta|lambda|gamma|omega|delta"
ALONE = re.compile(rf"(?P<name>{GREEK}|N)(?P<index>\d*)(?P<value>)")
WITH_VALUE = re.compile(
    rf"(?<![\w.])(?P<name>{GREEK}|N)(?P<index>\d*) = (?P<value>-?[\d.]+(?:e[-+]?\d+)?)(?![\w/.])"
)
PREAMBLE = r"needs \usepackage{booktabs}"


def latex(table: pd.DataFrame, caption: str, comment: Iterable[str] = (), label: str = "") -> str:
    """Return a booktabs table: the first column left, all others right.

    `comment` lines are not printed; `label` has no `tab:`.
    """
    lines = [_line(row) for row in table.itertuples(index=False)]
    named = [rf"\label{{tab:{label}}}"] if label else []
    return "\n".join(
        [
            *(f"% {line}" for line in (*comment, *([PREAMBLE] if comment else ()))),
            r"\begin{table}",
            rf"\caption{{{escaped(caption)}}}",
            *named,
            rf"\begin{{tabular}}{{l{'r' * (table.shape[1] - 1)}}}",
            r"\toprule",
            _line(table.columns),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escaped(text: object) -> str:
    r"""Return text as LaTeX prints it, with symbols and their values as formulas.

    >>> print(escaped("rho = 0.5, norm = l1"), escaped("lambda1"))
    $\rho = 0.5$, norm = l1 $\lambda_{1}$
    """
    whole = str(text)
    alone = ALONE.fullmatch(whole)
    if alone:
        return _formula(alone)
    parts, end = list[str](), 0
    for found in WITH_VALUE.finditer(whole):
        parts += [_plain(whole[end : found.start()]), _formula(found)]
        end = found.end()
    return "".join([*parts, _plain(whole[end:])])


def _plain(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def _formula(found: re.Match[str]) -> str:
    name, index, value = found["name"], found["index"], found["value"]
    symbol = ("" if name == "N" else "\\") + name + (f"_{{{index}}}" if index else "")
    if not value:
        return f"${symbol}$"
    number, _, exponent = value.partition("e")
    times = rf" \times 10^{{{int(exponent)}}}" if exponent else ""
    return f"${symbol} = {number}{times}$"


def _line(cells: Iterable[object]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
