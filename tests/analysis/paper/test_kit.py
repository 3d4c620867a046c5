"""Texts of a paper's kit: how rows were compared, a citation, commands."""

import re
from dataclasses import replace

import pytest

from analysis.comparison import comparison_of
from analysis.contents import contents_of
from analysis.paper.kit import bibtex, how_compared, how_to_replay
from rse_study import open_study
from tests.analysis import tabled


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
