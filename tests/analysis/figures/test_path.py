import numpy as np
import pytest

from analysis.figures.search_features import draw_path, path_data
from tests.analysis import searched


def test_a_row_is_a_point_every_round_keeps_one_and_gains_are_seed_by_seed(path_dir, contents, search_dir):
    frame = path_data(contents(path_dir))
    assert len(frame) == 37
    kept = frame[frame["is_kept"]]
    assert kept["place"].tolist() == list(range(9))
    assert kept["axis"].tolist()[:3] == ["", "lambda2", "norm"]
    assert (frame.groupby("place").size() == [1, *range(8, 0, -1)]).all()
    assert (frame["num_seeds"] == 3).all()
    best = frame.groupby("place")["mean"].max()
    assert (kept.set_index("place")["mean"] == best).all()
    frame = path_data(contents(path_dir)).set_index(["place", "axis"])
    # The base: 59.4 and 60.6 of the confirmation, 60.9 of seed 3; with lambda2 = 0.126: 61.4, 61.9, 62.4.
    first = frame.loc[(1, "lambda2")]
    assert (first["before"], first["after"]) == ("0.005", "0.126")
    assert first["gain"] == pytest.approx(1.6)
    assert first["mean"] == pytest.approx(61.9)
    assert first["gain_low"] < first["gain"] < first["gain_high"]
    assert frame.loc[(2, "rho"), "gain"] == pytest.approx(-0.2)  # against lambda2 alone
    others, bars, means = draw_path(path_data(contents(path_dir)), "dev").data
    assert (len(others.x), len(bars.x), len(means.x)) == (28, 8, 9)
    begins, gains, ends = (np.array(one, dtype=float) for one in (bars.base, bars.x, means.x))
    assert begins + gains == pytest.approx(ends[1:])
    assert begins == pytest.approx(ends[:-1])  # a bar begins where the one before ends
    assert bars.error_x.array[0] == pytest.approx(1.38, abs=0.01)  # of the paired gain, not of the mean
    assert path_data(contents(search_dir)).empty


def test_of_an_open_path_what_has_ended_is_shown(tmp_path, contents):
    def two_rounds(ledger):
        searched.path(ledger, num_rounds=2)

    parts = (searched.search, searched.confirm, two_rounds)
    found = contents(searched.make(tmp_path / "joint", *parts))
    frame = path_data(found)
    assert not found.search.path.is_over
    assert frame["place"].max() == 2
    assert frame[frame["is_kept"]]["place"].tolist() == [0, 1, 2]
