"""A study's tables for papers: which files, and what stands in them."""

import pytest

from analysis.paper.layout import write_latex
from rse_study import open_study
from tests.analysis import gridded, searched, tabled
from tests.analysis.paper.typeset import lines_between, typeset


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
