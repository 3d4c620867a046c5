"""LaTeX of a table: escaping, and what pdflatex says of it."""

import os
import re
import subprocess
from dataclasses import replace

import pandas as pd
import pytest

from analysis.comparison import comparison_of
from analysis.contents import contents_of
from analysis.paper.kit import bibtex, escaped, how_compared, how_to_replay, latex
from analysis.paper.layout import write_latex
from rse_study import open_study
from tests import needs
from tests.analysis import gridded, searched, tabled
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


# A study's tables for papers: which files, and what stands in them.


def cells_of(path):
    body = lines_between(path.read_text(encoding="utf-8"), r"\midrule", r"\bottomrule")
    return [[typeset(cell) for cell in line.removesuffix(r" \\").split(" & ")] for line in body]


def test_a_search_has_its_confirmed_scores_and_best_setting_and_a_grid_its_rows(
    search_dir, tmp_path, grid_dir
):
    scores, setting = write_latex(open_study(search_dir), tmp_path)
    assert [scores.name, setting.name] == ["joint-scores.tex", "joint-setting.tex"]
    rows = {row: texts for row, *texts in cells_of(scores)}
    assert rows["base"] == ["59.00 \N{PLUS-MINUS SIGN} 1.41", "60.00 \N{PLUS-MINUS SIGN} 0.85"]
    assert rows["token overlap"] == ["40.50", "41.25"]
    assert [row for row, *_ in cells_of(setting)] == list(searched.STUDY.headings)
    study = open_study(grid_dir)
    rows, scores = write_latex(study, tmp_path)
    assert [rows.name, scores.name] == ["parts.tex", "parts-scores.tex"]
    assert rows.read_text(encoding="utf-8").startswith(f"% {study.citation}\n")
    assert {row for row, *_ in cells_of(scores)} >= {label for label, *_ in gridded.ROWS if label}


def test_scores_have_a_star_where_the_row_is_better_or_worse(tmp_path):
    rows = {"SimCSE": (70.0, 71.0, 72.0), "better": (75.0, 76.1, 77.0), "like it": (70.0, 72.0, 71.0)}
    study = open_study(tabled.make(tmp_path / "s", rows, baseline="SimCSE"))
    path = next(path for path in write_latex(study, tmp_path) if path.name.endswith("-scores.tex"))
    starred = {row: ["\N{ASTERISK OPERATOR}" in text for text in texts] for row, *texts in cells_of(path)}
    assert starred == {"SimCSE": [False, False], "better": [True, True], "like it": [False, False]}
    assert "the difference from SimCSE is decided" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("last", "is_said"), [(72.0, False), (tabled.PLANNED, True)])
def test_a_study_that_still_runs_says_so_and_counts_the_seeds_that_have_ended(tmp_path, last, is_said):
    folder = tabled.make(tmp_path / "s", {"SimCSE": (70.0, 71.0, last)}, baseline="SimCSE")
    for path in write_latex(open_study(folder), tmp_path):
        text = path.read_text(encoding="utf-8")
        assert ("Cells are still to run" in text) == is_said
        assert f"over {2 if is_said else 3} seeds" in text


# Texts of a paper's kit: how rows were compared, a citation, commands.


@pytest.fixture(scope="module")
def opened(search_dir, grid_dir):
    return {"search": open_study(search_dir), "grid": open_study(grid_dir)}


def told_of(study):
    return how_compared(contents_of(study), comparison_of(study))


def test_how_rows_were_compared_names_seeds_and_sample(opened):
    told = told_of(opened["search"])
    assert "16 trials" in told and "fresh seed" in told and "(Student's t)" in told
    assert "No baseline was named" in told_of(opened["grid"])


def test_bibtex_escapes_what_latex_reads(opened):
    entry = bibtex(contents_of(opened["grid"]), opened["grid"].citation)
    assert entry.startswith("@misc{parts,\n") and entry.count("{") == entry.count("}")
    assert not re.search(r"[^\\]_", entry)


def test_the_replay_command_names_a_cell_that_is_no_option(opened):
    for study in opened.values():
        lines = how_to_replay(contents_of(study), study.citation, "x.tar.xz").splitlines()
        line = next(line for line in lines if "replay " in line and "rse" in line)
        assert re.fullmatch(r"    rse-study replay \S+ \d+/\d+", line)


def test_seeds_added_after_a_look_are_told_as_such(tmp_path):
    scores = {"SimCSE": (70.0, 71.0, 69.5, 70.4, 70.1), "Ours": (73.1, 73.9, 72.4, 73.5, 73.0)}
    study = open_study(tabled.make(tmp_path / "s", scores, baseline="SimCSE"))
    assert "(Student's t)" in told_of(study) and "sign-flip" in told_of(study)
    fixed = comparison_of(study)
    rule = replace(fixed.scores.criterion, is_anytime=True)
    compared = {row: replace(one, criterion=rule) for row, one in fixed.compared.items()}
    looked = replace(fixed, scores=replace(fixed.scores, criterion=rule), compared=compared)
    told = how_compared(contents_of(study), looked)
    assert "confidence sequence" in told and "Student" not in told and "sign-flip" not in told
