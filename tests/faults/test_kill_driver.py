"""The driver killed, and the same command again: nothing is lost, nothing is done twice, nothing changes.

A grid once amid its cells, a search twice at random moments. `python -m tests.faults.kill_driver`
kills all parts of every kind of study (docs/results/faults.md).
"""

import random
import sqlite3
import struct
from contextlib import closing
from dataclasses import replace

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from tests.faults.drivers import assert_equal, contents
from tests.faults.kill_driver import SEARCH, Story, finished_cells, kill_often
from tests.simulation.studies import SERIAL, STUDIES

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


def damage(path, how):
    """Spoil the ledger of a driver that was killed: what it committed last is in its log."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        flipped = db.execute(
            "SELECT value FROM metric JOIN cell ON cell = identity WHERE name = 'loss' AND status = 'complete'"
        ).fetchone()
    content, number = path.read_bytes(), struct.pack(">d", *flipped)
    assert number in content
    if how == "deleted":
        path.unlink()
    else:
        path.write_bytes(content.replace(number, number[:-1] + bytes([number[-1] ^ 1]), 1))


@pytest.fixture(scope="module")
def serial(scene):
    """A search with early stopping, one cell at a time, and its contents if nothing happens to it."""
    here = replace(scene, study=dict(STUDIES["stopped"]) | {"name": "stopped", "resources": SERIAL})
    here.finish(folder := here.folder("stopped-whole"))
    return here, contents(folder)


@pytest.mark.xdist_group("search")
@pytest.mark.parametrize("how", ["flipped", "deleted"])
def test_a_searchs_ledger_damaged_in_its_midst_ends_equal_to_an_undisturbed_one(serial, how):
    here, whole = serial
    folder = here.folder(f"stopped-{how}")
    here.kill_at(folder, "started 4/0")
    damage(ledger_path(folder), how)
    assert "goes on from its backup" in here.finish(folder)
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
        cells = ledger.cells()
    assert len({cell.identity for cell in cells}) == len(cells)
    assert {cell.status for cell in cells} <= {"complete", "stopped_early"}
    searched = [cell.trial for cell in cells if cell.stage == "search"]
    assert sorted(searched) == list(range(SEARCH["num_trials"]))
    killed = contents(folder)
    ledger_path(folder).unlink()
    assert "started" not in here.finish(folder)
    assert_equal(contents(folder), killed)
