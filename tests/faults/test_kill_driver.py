"""A few of the kills that `python -m tests.faults.kill_driver` deals out by the dozen (docs/results/faults.md)."""

import os
import random
from dataclasses import replace

import pytest

from rse_study.results.ledger import Ledger
from rse_study.results.schema import ledger_path
from tests.faults.drivers import contents
from tests.faults.kill_driver import SEARCH, kill_often

pytestmark = pytest.mark.xdist_group("ray")
# Of two the first comes before any cell could end, the second while they run.
IS_SLOW = bool(os.environ.get("RSE_STUDY_SLOW"))
NUM_KILLS = 2 if IS_SLOW else 1


def test_a_killed_grid_ends_equal_row_for_row_to_an_undisturbed_one(scene, whole):
    folder = scene.home / "killed"
    story = kill_often(scene, folder, NUM_KILLS, random.Random(1), longest=20.0)
    assert story.kills > 0
    assert story.num_changed == 0
    assert contents(folder) == whole


def test_a_ledger_that_is_gone_comes_back_from_the_results_and_nothing_runs_again(scene, whole):
    folder = scene.home / "whole"
    ledger_path(folder).unlink()
    said = scene.finish(folder)
    assert "rebuilt" in said
    assert "started" not in said
    assert contents(folder) == whole


@pytest.mark.skipif(not IS_SLOW, reason="half a minute of two cores: make faults runs it")
def test_a_killed_search_has_its_trials_none_lost_and_none_twice(scene):
    here, folder = replace(scene, study=SEARCH), scene.home / "search"
    story = kill_often(here, folder, 1, random.Random(3), longest=30.0)
    with Ledger.open(folder) as ledger:
        cells = ledger.cells()
    searched = [cell.trial for cell in cells if cell.stage == "search"]
    assert sorted(searched) == list(range(SEARCH["num_trials"]))
    assert len({cell.identity for cell in cells}) == len(cells)
    assert {cell.status for cell in cells} <= {"complete", "stopped_early"}
    assert story.num_changed == 0
