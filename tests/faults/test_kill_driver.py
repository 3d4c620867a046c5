"""The driver killed, and the same command again: nothing is lost, nothing is done twice, nothing changes.

A grid once amid its cells, a search twice at random moments. `python -m tests.faults.kill_driver`
kills all parts of every kind of study (docs/results/faults.md).
"""

import random
from dataclasses import replace

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from tests.faults.drivers import assert_equal, contents
from tests.faults.kill_driver import SEARCH, Story, finished_cells, kill_often

pytestmark = pytest.mark.slow
NUM_KILLS = 2


@pytest.mark.xdist_group("ray")
def test_a_grid_killed_amid_its_cells_ends_equal_row_for_row_to_an_undisturbed_one(scene, whole, cluster):
    folder = scene.folder("killed")
    scene.kill_at(folder, "progressed 1/0 2")
    committed = finished_cells(folder)
    assert 0 < len(committed) < len(whole["cell"])
    scene.finish_here(folder, cluster)
    now = finished_cells(folder)
    assert {identity: now[identity] for identity in committed} == committed
    assert_equal(contents(folder), whole)


@pytest.mark.xdist_group("ray")
def test_a_ledger_that_is_gone_comes_back_from_the_results_and_nothing_runs_again(scene, whole, cluster):
    folder = scene.folder("whole")
    ledger_path(folder).unlink()
    lines = scene.finish_here(folder, cluster)
    assert any("rebuilt" in line for line in lines)
    assert not any("started" in line for line in lines)
    assert_equal(contents(folder), whole)


@pytest.mark.xdist_group("search")
def test_killed_again_and_again_it_has_its_cells_none_lost_and_none_twice(scene):
    """Serial searches, which end equal to undisturbed ones, are killed in tests/simulation."""
    here, folder = replace(scene, study=SEARCH), scene.folder(f"{SEARCH['name']}-killed")
    story = Story()
    kill_often(here, folder, story, NUM_KILLS, random.Random(0))
    assert story.kills.total() > 0
    assert story.num_changed == 0
    with Ledger.open(folder) as ledger:
        cells, rungs = ledger.cells(), ledger.rungs()
    assert len({cell.identity for cell in cells}) == len(cells)
    assert {cell.status for cell in cells} <= {"complete", "stopped_early"}
    searched = [cell.trial for cell in cells if cell.stage == "search"]
    assert sorted(searched) == list(range(SEARCH["num_trials"]))
    # Told to stop in the moment of a kill, a cell may have ended before it heard: no file says so (`rebuild.rungs_of`).
    complete = {cell.identity for cell in cells if cell.status == "complete"}
    let_run_on = {row.cell for row in rungs if row.verdict == "stop" and row.cell in complete}
    killed = without_rungs_of(let_run_on, contents(folder))
    ledger_path(folder).unlink()  # with its rungs; a grid's ledger comes back above
    assert "started" not in here.finish(folder)
    assert_equal(without_rungs_of(let_run_on, contents(folder)), killed)


def without_rungs_of(cells, found):
    return found | {"rung": [row for row in found["rung"] if not any(cell in row for cell in cells)]}
