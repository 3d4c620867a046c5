import dataclasses
from html import escape

from analysis.sections import account
from analysis.sections.account import budget
from rse_study import open_study
from tests.analysis import searched


def test_every_cell_has_its_row_of_used_columns_and_in_a_grid_its_name(search_dir, contents, grid_dir):
    found = contents(search_dir)
    shown = account.show_cells(found, found.current)
    assert len(shown) == 20
    rows = {(row.trial, row.seed): row for row in shown.itertuples()}
    assert list(shown.columns) == [
        "trial", "seed", "stage", "status", found.label, "step", "time", "attempts", "reason",
    ]  # fmt: skip
    assert rows["9", "0"].attempts == "2"
    assert rows["0 (base)", "1"].stage == "confirm"
    assert rows["5", "0"].reason == "step 23: the loss is nan"
    shown = account.show_cells(found, found.current[found.current["trial"] == 1])
    assert "reason" not in shown
    found = contents(grid_dir)
    shown = account.show_cells(found, found.current)
    assert list(shown.columns[:3]) == ["row", "seed", "status"]
    assert {"lambda1 = 0.0078125", "without PGD"} < set(shown["row"])
    assert account.plain_text("2026-11-22T19:25:28+00:00") == "2026-11-22 19:25:28 (UTC)"
    assert account.plain_text({"torch": "2.13.0", "threads": 1}) == "torch 2.13.0, threads 1"
    assert account.plain_text({"a": {"b": 1}}) == '{"a": {"b": 1}}'


def test_failures_keep_their_reasons_and_a_study_without_says_so(search_dir, grid_dir, contents):
    found = contents(search_dir)
    ((cell, settings, t, reason),) = account.failed_cells(found).values.tolist()
    assert (cell, t, reason) == ("trial 5, seed 0", "15", "step 23: the loss is nan")
    assert "alpha = 1e-05, " in settings
    lost = account.show_lost(found)
    expected = [["trial 9, seed 0", 1, "the process that ran it is gone"]]
    assert lost[["cell", "attempt", "reason"]].values.tolist() == expected
    expected = [["note", f"trial {searched.LOST}, seed 0", "the machine was busy"]]
    assert account.show_events(found)[["kind", "cell", "event"]].values.tolist() == expected
    grid = contents(grid_dir)
    expected = [["without the token level, seed 1", "lambda1 = 0.00781", "step 3: the loss is nan"]]
    assert account.failed_cells(grid).values.tolist() == expected
    found = contents(grid_dir)
    events = contents(search_dir).events
    noted = dataclasses.replace(found, cells=found.cells[:3], events=events)
    assert "No cell failed." in account.failures(noted)
    assert account.failures(dataclasses.replace(noted, events=events.assign(kind="rebuilt"))) == ""


def test_cells_of_unlike_machines_are_said_and_a_line_to_cite_comes_last(grid_dir, contents, search_dir):
    found = contents(grid_dir)
    assert "different kinds of machine" not in account.provenance(found)
    where = [{"processor": "EPYC", "kernels": kernels} for kernels in ("AVX2", "AVX512")]
    ran = [where[i % 2] for i in range(len(found.cells))]
    said = account.provenance(dataclasses.replace(found, cells=found.cells.assign(provenance=ran)))
    assert "Cells ran on different kinds of machine, which need not agree bit by bit: " in said
    assert " on EPYC, AVX512 kernels." in said
    cited = open_study(search_dir).citation
    assert escape(f"To cite: {cited}") in account.provenance(contents(search_dir))


def test_a_budget_that_ended_the_search_is_said_and_without_one_nothing(tmp_path, contents, search_dir):
    settings = {"num_trials": 40, "search_budget": {"steps": 100}, "base": {"budget": {"amount": 60}}}
    study = searched.STUDY.model_copy(update={"num_trials": 40, "resolved": settings})
    parts = (searched.search, lambda ledger: ledger.freeze(study, "a budget"))
    ended = contents(searched.make(tmp_path / "ended", *parts))
    assert ended.study.num_trials < 40
    text = "".join(budget(ended))
    assert "of at most 40 trials" in text
    assert "optimiser steps" in text
    assert budget(contents(search_dir)) == []
