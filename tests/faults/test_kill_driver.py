"""The driver killed, and the same command again: nothing is lost, nothing is done twice, nothing changes.

A grid once amid its cells, a search twice at random moments; docs/results/faults.md has kills of all parts of every
kind of study. tests/simulation kills them by the dozen, and damages a ledger besides.
"""

import random
from dataclasses import replace

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from tests.faults.drivers import assert_equal, contents
from tests.on_ray.world import STUDY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
NUM_KILLS, LONGEST_S = 2, 20.0
SEARCH = STUDY | {
    "name": "search",
    # A learning rate at which trials differ, so that some are stopped.
    "base": STUDY["base"] | {"budget": {"unit": "steps", "amount": 8}, "optimizer": {"lr": 1e-2}},
    "num_trials": 6,
    "early_stopping": {"first": 2, "factor": 2},
    "evaluations": ["builtin/test"],
    "confirm": {"seeds": [1], "num_best": 1},
}


def finished_cells(folder):
    """Rows of the metrics of every complete cell, by identity."""
    if not ledger_path(folder).exists():
        return {}
    held = contents(folder, ("cell", "metric"))
    complete = [row for row in held["cell"] if "('status', 'complete')" in row]
    identities = [row.split("('identity', '")[1].split("'")[0] for row in complete]
    return {one: [row for row in held["metric"] if one in row] for one in identities}


def test_a_grid_killed_amid_its_cells_ends_equal_row_for_row_to_an_undisturbed_one(scene, whole, cluster):
    folder = scene.folder("killed")
    scene.kill_at(folder, "progressed 1/0 2")
    committed = finished_cells(folder)
    assert 0 < len(committed) < len(whole["cell"])
    scene.finish_here(folder, cluster)
    now = finished_cells(folder)
    assert {identity: now[identity] for identity in committed} == committed
    assert_equal(contents(folder), whole)


def test_killed_again_and_again_it_has_its_cells_none_lost_and_none_twice(scene, cluster):
    """Serial searches, which end equal to undisturbed ones, are killed in tests/simulation."""
    here, folder = replace(scene, study=SEARCH), scene.folder("search-killed")
    draw, committed, num_kills = random.Random(0), {}, 0
    for _ in range(NUM_KILLS):
        num_kills += here.kill_after(folder, draw.uniform(1.0, LONGEST_S))
        now = finished_cells(folder)
        assert {identity: now.get(identity) for identity in committed} == committed
        committed = now
    here.finish_here(folder, cluster)
    assert num_kills > 0
    now = finished_cells(folder)
    assert {identity: now.get(identity) for identity in committed} == committed
    with Ledger.open(folder) as ledger:
        cells = ledger.cells()
    assert len({cell.identity for cell in cells}) == len(cells)
    assert {cell.status for cell in cells} <= {"complete", "stopped_early"}
    searched = [cell.trial for cell in cells if cell.stage == "search"]
    assert sorted(searched) == list(range(SEARCH["num_trials"]))
    killed = contents(folder)
    ledger_path(folder).unlink()
    assert not [line for line in here.finish_here(folder, cluster) if line.startswith("started")]
    assert_equal(contents(folder), killed)
