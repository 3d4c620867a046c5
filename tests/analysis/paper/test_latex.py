"""LaTeX of a table: escaping, and what pdflatex says of it."""

import os
import subprocess

import pandas as pd

from analysis.paper.kit import escaped, latex
from tests import needs
from tests.analysis.paper.typeset import lines_between, typeset
from tests.cases import cases

LETTERS = list("&%$#_{}~^\\<>|[\N{MINUS SIGN}\N{PLUS-MINUS SIGN}\N{ASTERISK OPERATOR}\N{DAGGER}")
HEADINGS = ["row", "mean", "SD", "seeds"]


@cases("letter", LETTERS)
def test_letters_that_mean_something_to_latex_are_escaped(letter):
    assert escaped(letter) != letter
    assert typeset(escaped(f"a{letter}b{letter}")) == f"a{letter}b{letter}"


def test_plain_text_is_left_alone_and_symbols_with_their_numbers_are_formulas():
    assert escaped("norm = l1, 95 (x), +1.00]") == "norm = l1, 95 (x), +1.00]"
    assert escaped("no beta, Nx = 5") == "no beta, Nx = 5"
    assert escaped(12) == "12"
    assert escaped("rho = 0") == r"$\rho = 0$"
    expected = r"$\lambda_{1} = 1 \times 10^{-5}$, $N = 5$, norm = l2"
    assert escaped("lambda1 = 1e-05, N = 5, norm = l2") == expected
    assert escaped("xi") == r"$\xi$"
    assert escaped("minus rho = 0.5, 95%") == r"minus $\rho = 0.5$, 95\%"
    assert escaped("lambda1 = 1/128") == "lambda1 = 1/128"  # no number that is written as one


def test_a_table_without_rows_is_a_head_and_a_comment_stands_above_it():
    text = latex(pd.DataFrame(columns=["row", "mean"]), "empty")
    assert lines_between(text, r"\toprule", r"\bottomrule") == [r"row & mean \\", r"\midrule"]
    lines = latex(pd.DataFrame({"row": ["a"]}), "c", ["Where from."], "some-study").splitlines()
    assert lines[0] == "% Where from."
    assert lines[lines.index(r"\caption{c}") + 1] == r"\label{tab:some-study}"


@needs.programs("pdflatex")
def test_it_compiles(tmp_path):
    odd = "".join(LETTERS)
    table = pd.DataFrame([[odd, "1", "2", "3"], ["[a", "", "", ""]], columns=HEADINGS)
    text = latex(table, odd, [odd], "odd") + latex(table, "plain")
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}\end{{document}}"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    env = os.environ | {"HOME": str(tmp_path)}  # where it puts fonts that it makes
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
