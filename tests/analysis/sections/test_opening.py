import dataclasses

import pandas as pd

from analysis.sections.opening import caution, counts, state, states


def test_missing_is_what_neither_ended_nor_runs():
    cells = pd.DataFrame({"status": ["complete", "stopped_early", "failed", "running", "planned"]})
    expected = {"complete": 1, "stopped_early": 1, "failed": 1, "running": 1}
    assert counts(cells, 10) == expected | {"missing": 6}
    assert counts(cells, 0) == expected | {"missing": 1}  # an older ledger does not say how many were planned


def test_a_state_names_what_there_is():
    numbers = {"complete": 2, "stopped_early": 0, "failed": 1, "running": 0, "missing": 3}
    assert state("Grid", numbers) == "Grid: 2 of 6 cells complete, 1 failed, 3 missing."


def test_a_search_without_confirmation_has_no_results(search_dir, contents):
    found = contents(search_dir)
    alone = dataclasses.replace(
        found,
        study=found.study.model_copy(update={"resolved": {}}),
        cells=found.cells[found.cells["stage"] == "search"],
    )
    assert caution(alone).startswith("15 trials rank nothing")
    assert "none of its numbers is a result" in caution(alone)
    assert "Confirmation" not in states(alone)


def test_one_trial_ranks_nothing(search_dir, contents):
    found = contents(search_dir)
    assert caution(dataclasses.replace(found, cells=found.cells[:1])).startswith("1 trial ranks nothing")
    assert caution(dataclasses.replace(found, cells=found.cells[:0])).startswith("Nothing has ended yet")
