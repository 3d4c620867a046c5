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
    assert device_seconds(ATTEMPTS, lambda at: gpus).tolist() == [seconds, 0.0]
    assert device_seconds(ATTEMPTS[:0], lambda at: gpus).sum() == 0.0


def test_the_run_of_a_time_says_what_a_worker_had_and_else_the_cells_do():
    cells, begun, later = [{}, {"device_type": "cuda"}], *ATTEMPTS["started"]
    assert gpus_per_worker(cells, [])(begun) == 1.0
    assert gpus_per_worker(cells[:1], [{"at": begun, "threads": 2}])(begun) == 0.0
    assert gpus_per_worker(cells, [{"at": begun, "gpus": 0}])(begun) == 0.0
    gpus = gpus_per_worker(cells, [{"at": begun, "gpus": 1}, {"at": later, "gpus": 0.2}])
    assert [gpus(time) for time in ("2025", begun, later, "2027")] == [1, 1, 0.2, 0.2]
    both = ATTEMPTS.assign(ended="2026-01-01T10:00:30.500+00:00")
    assert device_seconds(both, gpus).tolist() == [2 * 30.5, 0.2 * 30.0]


def test_a_clock_that_was_set_back_takes_no_time_away_and_a_time_that_is_none_is_damage():
    assert seconds_between("2026-01-01T10:00:00+00:00", "2026-01-01T09:00:00+00:00") == 0.0
    with pytest.raises(InputError, match=r"damaged: .*goes on from its backup"):
        seconds_between("2026-01-01T10:00:00+00:00", "2026-01-01T31:00:00+00:00")
