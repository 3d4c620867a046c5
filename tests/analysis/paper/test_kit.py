"""A paper's kit: answers from the ledger, and no answer where it has none."""

import re
from dataclasses import replace

import pytest
import torch

from analysis.comparison import comparison_of
from analysis.contents import contents_of
from analysis.paper.kit import BY_HAND, QUESTIONS, KitSource, bibtex, checklist, how_compared, how_to_replay
from rse_study import open_study
from rse_study.training.provenance import provenance
from tests.analysis import tabled


@pytest.fixture(scope="module")
def sources(search_dir, grid_dir):
    def source(folder):
        study = open_study(folder)
        return KitSource(contents_of(study), comparison_of(study), study.citation)

    return {"search": source(search_dir), "grid": source(grid_dir)}


def answer(source, words):
    (found,) = (tell(source) for question, _, tell in QUESTIONS if words in question)
    return found


@pytest.mark.parametrize("kind", ["search", "grid"])
def test_what_the_ledger_does_not_know_is_left_to_the_author(sources, kind):
    told = checklist(sources[kind])
    assert all(f"## {question}" in told for question, _, _ in QUESTIONS)
    assert answer(sources[kind], "licences") == "" and BY_HAND in told
    assert answer(sources[kind], "parameters") == ""  # these made-up cells have none on record


def test_a_searchs_bounds_trials_and_best_values_are_told(sources):
    axes = sources["search"].contents.study.axes
    bounds = answer(sources["search"], "bounds")
    assert all(f"* {axis.symbol or axis.name}: " in bounds for axis in axes)
    assert "16 trials" in bounds
    best = answer(sources["search"], "best-found")
    assert re.match(r"Trial \d+: ", best) and all(axis.symbol in best for axis in axes)


def test_dev_stands_beside_test_for_every_row(sources):
    lines = answer(sources["grid"], "validation score").splitlines()
    assert lines[0].count("|") == lines[2].count("|") == 5
    base = next(line for line in lines if line.startswith("| base |"))
    assert base == "| base | 75.50 | 75.00 | 65.50 |"


def test_parameters_and_work_come_from_the_cells(sources):
    cells = sources["grid"].contents.cells
    cells["provenance"] = [{"parameters": 109_482_240, "work": 2.0, "device": "H100"} for _ in cells.index]
    assert answer(sources["grid"], "parameters") == "109,482,240 trained parameters."
    assert (
        "Device: H100; CPU: not recorded; memory of the machine: not recorded; operating system: not recorded."
        in (answer(sources["grid"], "infrastructure"))
    )
    num_complete = (sources["grid"].contents.current["status"] == "complete").sum()
    assert f"{2.0 * num_complete:.3g} x P x T operations" in answer(sources["grid"], "budget")


def test_the_infrastructure_has_processor_memory_and_system(sources):
    here = provenance(torch.device("cpu")) | {"processor": "GenuineIntel 6 143 Some(R) Model @ 2.70GHz"}
    cells = sources["grid"].contents.cells
    cells["provenance"] = [here for _ in cells.index]
    told = answer(sources["grid"], "infrastructure")
    assert "; CPU: Some(R) Model @ 2.70GHz; memory of the machine: " in told
    assert f" GiB; operating system: {here['system']}. Workers of a cell: 1;" in told


def test_how_rows_were_compared_names_seeds_and_sample(sources):
    told = how_compared(sources["search"])
    assert "16 trials" in told and "fresh seed" in told and "(Student's t)" in told
    assert "No baseline was named" in how_compared(sources["grid"])


def test_bibtex_escapes_what_latex_reads(sources):
    entry = bibtex(sources["grid"])
    assert entry.startswith("@misc{parts,\n") and entry.count("{") == entry.count("}")
    assert not re.search(r"[^\\]_", entry)


def test_the_replay_command_names_a_cell_that_is_no_option(sources):
    for source in sources.values():
        line = next(
            line
            for line in how_to_replay(source, "x.tar.xz").splitlines()
            if "replay " in line and "rse" in line
        )
        assert re.fullmatch(r"    rse-study replay \S+ \d+/\d+", line)


def test_seeds_added_after_a_look_are_told_as_such(tmp_path):
    scores = {"SimCSE": (70.0, 71.0, 69.5, 70.4, 70.1), "Ours": (73.1, 73.9, 72.4, 73.5, 73.0)}
    study = open_study(tabled.make(tmp_path / "s", scores, baseline="SimCSE"))
    fixed = KitSource(contents_of(study), comparison_of(study), study.citation)
    assert "(Student's t)" in how_compared(fixed) and "sign-flip" in how_compared(fixed)
    rule = replace(fixed.comparison.scores.criterion, is_anytime=True)
    compared = {row: replace(one, criterion=rule) for row, one in fixed.comparison.compared.items()}
    scores = replace(fixed.comparison.scores, criterion=rule)
    told = how_compared(
        replace(fixed, comparison=replace(fixed.comparison, scores=scores, compared=compared))
    )
    assert "confidence sequence" in told and "Student" not in told and "sign-flip" not in told
