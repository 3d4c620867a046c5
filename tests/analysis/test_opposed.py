"""Rows that dev and test judge in different ways."""

import pytest

from analysis.opposed import opposed_text
from rse_study.results.files.ledger import Ledger
from tests.analysis import tabled
from tests.analysis.searched import measure

DEV = {"up": (72.0, 75.0, 70.5), "down": (69.0, 73.0, 69.0), "SimCSE": (70.0, 74.0, 70.5)}


@pytest.fixture
def opposed(tmp_path):
    def rows_of(test, baseline="SimCSE"):
        """`test`: points that are added to a row's scores on STS-B/test, which are dev less one."""
        folder = tabled.make(tmp_path / f"against-{baseline}", DEV, baseline=baseline)
        with Ledger.open(folder) as ledger:
            for cell in ledger.cells():
                name = list(DEV)[cell.trial]
                score = DEV[name][cell.seed] - 1 + test.get(name, 0.0)
                ledger.record_evaluations([measure(cell.identity, "STS-B/test", score)])
        return tabled.comparison_of(folder).opposed

    return rows_of


def test_a_row_that_gains_on_dev_and_loses_on_test_is_told_and_nothing_else(opposed):
    (one,) = found = opposed({"up": -4.0})
    assert (one.row, one.gain) == ("up", 1.0)
    assert [value for _, value in one.others] == [-3.0]
    assert opposed_text(found) == (
        "The objective and the evaluations point different ways for 1 row, as mean differences from SimCSE: up +1.00 "
        "on STS-B dev, Spearman x100 and −3.00 on STS-B/test."
    )
    assert opposed_text(opposed({}, baseline="down")) == ""
    assert opposed({"up": -4.0}, baseline="") == ()
