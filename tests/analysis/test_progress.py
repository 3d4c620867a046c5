import dataclasses

import pytest

from analysis.answer import StageProgress
from analysis.progress import confirmed_trial, stage_progress
from rse_study.results.comparing.criterion import Criterion
from tests.analysis import searched


def test_stages_end_when_nothing_of_them_is_left(search_dir, grid_dir, contents):
    search, grid = contents(search_dir), contents(grid_dir)
    assert stage_progress(search, "search") == StageProgress(16, 16)
    assert stage_progress(search, "confirm") == StageProgress(4, 4)
    assert stage_progress(grid, "grid") == StageProgress(20, 21)
    assert stage_progress(search, "search").is_over
    assert not stage_progress(grid, "grid").is_over


@pytest.mark.parametrize(("is_anytime", "expected"), [(True, 2), (False, 1)])
def test_confidence_sequences_hold_for_all_confirmed_trials_also_those_with_too_few_seeds_yet(
    search_dir, contents, monkeypatch, is_anytime, expected
):
    monkeypatch.setattr("analysis.progress.criterion_of", lambda *_: Criterion(is_anytime=is_anytime))
    found = contents(search_dir)
    other = (found.cells["stage"] == "confirm") & (found.cells["trial"] == 12) & (found.cells["seed"] == 2)
    cells = found.cells.assign(
        trial=found.cells["trial"].mask(other, 3), name=found.cells["name"].mask(other, "trial 3")
    )
    assert confirmed_trial(dataclasses.replace(found, cells=cells)).num_together == expected


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
