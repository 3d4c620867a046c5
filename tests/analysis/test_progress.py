import dataclasses

import pytest

from analysis.answer import StageProgress
from analysis.search_answer import confirmed_trial, stage_progress
from tests.analysis import searched


def test_stages_end_when_nothing_of_them_is_left(search_dir, grid_dir, contents):
    search, grid = contents(search_dir), contents(grid_dir)
    assert stage_progress(search, "search") == StageProgress(16, 16)
    assert stage_progress(search, "confirm") == StageProgress(4, 4)
    assert stage_progress(grid, "grid") == StageProgress(20, 21)
    assert stage_progress(search, "search").is_over
    assert not stage_progress(grid, "grid").is_over


def test_the_best_trial_is_compared_seed_by_seed_or_alone_or_not_at_all(search_dir, contents):
    found = confirmed_trial(contents(search_dir))
    assert found.row == "trial 12 (best of the search)"
    assert found.reference == "the base"
    assert found.measure == "builtin/test"
    assert found.sample == pytest.approx((3.5, -1.0))
    assert found.num_together == 1
    found = contents(search_dir)
    cells = found.cells[(found.cells["stage"] == "search") | (found.cells["label"] == "")]
    alone = confirmed_trial(dataclasses.replace(found, cells=cells))
    assert alone.reference == ""
    assert alone.sample == (searched.CONFIRMED[12, 1][1], searched.CONFIRMED[12, 2][1])
    only_search = found.cells[found.cells["stage"] == "search"]
    assert confirmed_trial(dataclasses.replace(found, cells=only_search)) is None
    status = found.cells["status"].mask(found.cells["stage"] == "confirm", "failed")
    failed = found.cells.assign(status=status)
    assert confirmed_trial(dataclasses.replace(found, cells=failed)) is None
