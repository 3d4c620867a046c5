import dataclasses
from html import escape

from analysis.sections.account import (
    failed_cells,
    failures,
    provenance,
    show_cells,
    show_events,
    show_lost,
)
from rse_study import open_study
from tests.analysis import searched


def test_every_cell_has_its_row(search_dir, contents):
    found = contents(search_dir)
    shown = show_cells(found, found.current)
    assert len(shown) == 20
    rows = {(row.trial, row.seed): row for row in shown.itertuples()}
    assert list(shown.columns) == [
        "stage", "trial", "label", "seed", "status", found.label, "step", "time", "attempts", "reason",
    ]  # fmt: skip
    assert rows["9", "0"].attempts == "2"
    assert rows["0", "1"].stage == "confirm"
    assert rows["0", "1"].label == "base"
    assert rows["5", "0"].reason == "step 23: the loss is nan"


def test_columns_nobody_uses_are_left_out(search_dir, contents):
    found = contents(search_dir)
    shown = show_cells(found, found.current[found.current["trial"] == 1])
    assert "label" not in shown
    assert "reason" not in shown


def test_failures_lost_attempts_and_events_keep_their_reasons(search_dir, grid_dir, contents):
    found = contents(search_dir)
    assert failed_cells(found).values.tolist() == [["trial 5, seed 0", "15", "step 23: the loss is nan"]]
    lost = show_lost(found)
    assert lost[["cell", "attempt", "reason"]].values.tolist() == [
        ["trial 9, seed 0", 1, "the process that ran it is gone"]
    ]
    assert show_events(found)[["kind", "cell", "what"]].values.tolist() == [
        ["note", f"trial {searched.LOST}, seed 0", "the machine was busy"]
    ]
    grid = contents(grid_dir)
    assert failed_cells(grid).values.tolist() == [
        ["without the token level, seed 1", "", "step 3: the loss is nan"]
    ]


def test_a_study_without_failures_says_so(grid_dir, contents):
    found = contents(grid_dir)
    assert "No cell failed." in failures(dataclasses.replace(found, cells=found.cells[:3]))


def test_provenance_ends_in_a_line_to_cite(search_dir, contents):
    cited = open_study(search_dir).citation
    assert escape(f"To cite: {cited}") in provenance(contents(search_dir))
