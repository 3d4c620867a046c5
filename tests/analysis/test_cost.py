import dataclasses

import pandas as pd
import pytest

from analysis.cost import by_stage, costs, lost_attempts, steps, wall

ATTEMPTS = pd.DataFrame(
    [
        ("a", 1, 1, "2026-01-01T10:00:00+00:00", "2026-01-01T10:00:30+00:00", "lost"),
        ("a", 2, 2, "2026-01-01T10:01:00+00:00", "2026-01-01T10:02:00+00:00", "complete"),
        ("b", 1, 1, "2026-01-01T10:01:30+00:00", "", "running"),
    ],
    columns=["cell", "number", "workers", "started", "ended", "outcome"],
)


def test_lost_time_runs_from_start_to_end():
    cells = pd.DataFrame({"identity": ["a", "b"], "status": ["complete", "running"]})
    assert lost_attempts(ATTEMPTS, cells)["seconds"].tolist() == [30.0]


def test_the_last_attempt_at_a_cell_that_is_tried_again_was_lost_too():
    attempts = ATTEMPTS[:1].assign(outcome="failed")
    cells = pd.DataFrame({"identity": ["a"], "status": ["planned"]})
    assert lost_attempts(attempts, cells)["seconds"].tolist() == [30.0]
    assert lost_attempts(attempts, cells.assign(status="failed")).empty


def test_the_wall_is_from_the_first_start_to_the_last_end():
    assert wall(ATTEMPTS) == 120.0


def test_device_time_is_time_times_workers(search_dir, contents):
    found = contents(search_dir)
    cells = found.cells.iloc[:2].assign(
        identity=["a", "b"], duration_s=[60.0, 10.0], stage=["confirm", "search"]
    )
    table = by_stage(dataclasses.replace(found, cells=cells, attempts=ATTEMPTS))
    assert table.index.tolist() == ["search", "confirm"]
    assert table["device_s"].tolist() == [10.0, 120.0]
    assert table["median_s"].tolist() == [10.0, 60.0]


def test_stopping_early_saves_steps(search_dir, contents):
    # 6 complete of 60 steps, 7 stopped at 15 and 2 at 30; the failed one counts on neither side.
    assert steps(contents(search_dir)) == (6 * 60 + 7 * 15 + 2 * 30, 15 * 60)


def test_the_account_of_a_search(search_dir, contents):
    account = costs(contents(search_dir))
    # 0.4 s a step; 15 steps of the failed cell; four confirmed cells of 31 s.
    assert account["device time, search"] == "3 min 36 s, 16 cells, median 9.0 s"
    assert account["device time, confirmation"] == "2 min 04 s, 4 cells, median 31.0 s"
    assert account["device time in all"] == "5 min 40 s"
    assert account["steps of the search"] == "525 trained of 900 planned: 42% saved by stopping early"
    assert account["attempts"] == "21, 1 of them lost"


def test_a_grid_counts_its_retired_cells_too_and_saves_nothing(grid_dir, contents):
    account = costs(contents(grid_dir))
    assert account["device time, grid"] == "13 min 20 s, 20 cells, median 40.0 s"
    assert "steps of the search" not in account


@pytest.mark.parametrize("attempts", [ATTEMPTS[2:], ATTEMPTS[:0]])
def test_nothing_ended_has_no_wall(search_dir, contents, attempts):
    found = contents(search_dir)
    account = costs(dataclasses.replace(found, cells=found.cells[:0], attempts=attempts))
    assert account == {"attempts": str(len(attempts))}
