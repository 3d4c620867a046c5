"""Device time: seconds of attempts times what they held."""

import pandas as pd
import pytest

from rse_study.errors import InputError
from rse_study.results.device_time import device_seconds, gpus_per_worker, seconds_between
from tests.cases import cases

ATTEMPTS = pd.DataFrame(
    {
        "started": ["2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00.500+00:00"],
        "ended": ["2026-01-01T10:00:30+00:00", ""],
        "workers": [2, 1],
        "threads": [3, 1],
    }
)


@cases(("gpus", "seconds"), [(0.0, 180.0), (1.0, 60.0), (0.25, 15.0)])
def test_an_attempt_holds_gpus_or_else_threads_and_counts_when_it_has_ended(gpus, seconds):
    assert device_seconds(ATTEMPTS, gpus).tolist() == [seconds, 0.0]
    assert device_seconds(ATTEMPTS[:0], gpus).sum() == 0.0


def test_the_newest_run_says_what_a_worker_has_and_else_the_cells_do():
    cells = [{}, {"device_type": "cuda"}]
    assert gpus_per_worker(cells, []) == 1.0
    assert gpus_per_worker(cells[:1], [{"threads": 2}]) == 0.0
    assert gpus_per_worker(cells, [{"gpus": 1}, {"gpus": 0.5}]) == 0.5
    assert gpus_per_worker(cells, [{"gpus": 0}]) == 0.0


def test_a_clock_that_was_set_back_takes_no_time_away_and_a_time_that_is_none_is_damage():
    assert seconds_between("2026-01-01T10:00:00+00:00", "2026-01-01T09:00:00+00:00") == 0.0
    with pytest.raises(InputError, match=r"damaged: .*doctor --rebuild"):
        seconds_between("2026-01-01T10:00:00+00:00", "2026-01-01T31:00:00+00:00")
