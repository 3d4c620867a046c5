import dataclasses

import pandas as pd
import pytest

from analysis.answer import StageProgress
from analysis.cost import by_stage, costs, device_time, lost_attempts, steps, time_text, wall
from analysis.search_answer import confirmed_trial, stage_progress
from tests.analysis import searched

ATTEMPTS = pd.DataFrame(
    [
        ("a", 1, 1, 1, "2026-01-01T10:00:00+00:00", "2026-01-01T10:00:30+00:00", "lost"),
        ("a", 2, 2, 3, "2026-01-01T10:01:00+00:00", "2026-01-01T10:02:00+00:00", "complete"),
        ("b", 1, 1, 3, "2026-01-01T10:01:30+00:00", "", "running"),
    ],
    columns=["cell", "number", "workers", "threads", "started", "ended", "outcome"],
)


def test_lost_time_runs_from_start_to_end_and_the_wall_from_the_first_start_to_the_last_end():
    cells = pd.DataFrame({"identity": ["a", "b"], "status": ["complete", "running"]})
    assert lost_attempts(ATTEMPTS, cells)["seconds"].tolist() == [30.0]
    attempts = ATTEMPTS[:1].assign(outcome="failed")
    cells = pd.DataFrame({"identity": ["a"], "status": ["planned"]})
    assert lost_attempts(attempts, cells)["seconds"].tolist() == [30.0]
    assert lost_attempts(attempts, cells.assign(status="failed")).empty
    assert wall(ATTEMPTS) == 120.0


def test_device_time_is_that_of_all_attempts_times_their_devices(search_dir, contents):
    found = contents(search_dir)
    stage = ["confirm", "search"]
    cells = found.cells.iloc[:2].assign(identity=["a", "b"], duration_s=[50.0, 10.0], stage=stage)
    found = dataclasses.replace(found, cells=cells, attempts=ATTEMPTS)
    table = by_stage(found)
    assert table.index.tolist() == ["search", "confirm"]
    assert table["device_s"].fillna(-1).tolist() == [-1, 30.0 + 60.0 * 2 * 3]  # the lost one, too
    assert table["alone_s"].tolist() == [10.0 * 3, 50.0 * 2 * 3]
    assert table["median_s"].tolist() == [10.0, 50.0]
    assert (device_time(found), time_text(found)) == (390.0, "6 min 30 s of device time")
    on_gpus = dataclasses.replace(found, provenance=[{"gpus": 0.5}])
    assert device_time(on_gpus) == 30.0 * 0.5 + 60.0 * 2 * 0.5


def with_times(contents):
    """Attempts that take 5 seconds more than the training of their cell."""
    found, durations = contents.attempts, contents.cells.set_index("identity")["duration_s"]
    lasted = pd.to_timedelta(found["cell"].map(durations) + 5, unit="s").where(found["outcome"] != "lost")
    started = pd.to_datetime(found["ended"].replace("", None), utc=True) - lasted.fillna(pd.Timedelta(0))
    stamps = [at.isoformat() if pd.notna(at) else "" for at in started]
    return dataclasses.replace(contents, attempts=found.assign(started=stamps))


def test_the_account_of_a_search_has_the_steps_that_stopping_saves(search_dir, contents):
    account = costs(with_times(contents(search_dir)))
    # 0.4 s a step; 15 steps of the failed cell; four confirmed cells of 31 s.
    assert account["training and scoring alone, search"] == "3 min 36 s, 16 cells, median 9.0 s"
    assert account["training and scoring alone, confirmation"] == "2 min 04 s, 4 cells, median 31.0 s"
    assert account["device time, search"] == "4 min 56 s"  # 16 attempts with a result
    assert account["device time, confirmation"] == "2 min 24 s"
    assert account["device time in all"] == "7 min 20 s"
    assert account["steps of the search"] == "525 trained of 900 planned: 42% saved by stopping early"
    assert account["attempts"] == "21, 1 of them lost"
    # 6 complete of 60 steps, 7 stopped at 15 and 2 at 30; the failed one counts on neither side.
    assert steps(contents(search_dir)) == (6 * 60 + 7 * 15 + 2 * 30, 15 * 60)


def test_a_grid_counts_its_retired_cells_and_without_attempts_the_time_of_its_cells(grid_dir, contents):
    account = costs(contents(grid_dir))
    assert account["training and scoring alone, grid"] == "13 min 20 s, 20 cells, median 40.0 s"
    assert "steps of the search" not in account
    found = contents(grid_dir)
    found = dataclasses.replace(found, attempts=found.attempts[:0])
    assert time_text(found) == "13 min 20 s of training and scoring alone"
    assert not any("device time" in name for name in costs(found))
    assert costs(found)["attempts"] == "not recorded"


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
