"""Each pair of an axis' values, without a baseline: recomputed by hand."""

import pandas as pd
import pytest
from scipy import stats

from analysis.axis_pairs import apart_text, axis_pairs, pairs_answer, pairs_table, row_pairs
from analysis.sections.compared import each_pair
from rse_study.results.statistics import holm, sign_flip_p
from tests.analysis import tabled
from tests.cases import cases

L1 = (70.0, 73.5, 68.25, 71.0)
L2 = (70.5, 73.0, 69.25, 71.5)
LINF = (80.1, 84.0, 78.5, 81.0)


@pytest.fixture
def read(tmp_path, contents):
    def pairs_of(rows, **study):
        folder = tabled.make(tmp_path / str(len(list(tmp_path.iterdir()))), rows, **study)
        found, comparison = contents(folder), tabled.comparison_of(folder)
        return axis_pairs(found, comparison.scores), each_pair(found, comparison)

    return pairs_of


def test_every_pair_is_compared_and_adjusted_for_all_pairs(read):
    ((pairs,), html) = read({"norm = l1": L1, "norm = l2": L2, "norm = linf": LINF, "SimCSE": L1[::-1]})
    samples = [[a - b for a, b in zip(*two, strict=True)] for two in ((L1, L2), (L1, LINF), (L2, LINF))]
    assert list(pairs.compared) == [("l1", "l2"), ("l1", "linf"), ("l2", "linf")]
    found = list(pairs.compared.values())
    assert [one.mean for one in found] == pytest.approx([sum(s) / 4 for s in samples])
    assert [one.p_holm for one in found] == pytest.approx(holm([sign_flip_p(s) for s in samples]).tolist())
    wide = stats.ttest_1samp(samples[0], 0.0).confidence_interval(1 - 0.05 / 3)
    assert (found[0].simultaneous.low, found[0].simultaneous.high) == pytest.approx((wide.low, wide.high))
    assert pairs_table(pairs)["better seeds"].tolist() == ["1 of 4: 1", "0 of 4", "0 of 4"]
    expected = "norm = linf has the highest mean, 80.90, and is shown to be better than l1 and l2."
    assert pairs_answer(pairs) == expected
    assert "norm: each pair" in html


def test_the_highest_mean_is_no_winner_where_nothing_is_shown(read):
    ((pairs,), _) = read({"norm = l1": L1, "norm = l2": L2})
    assert pairs_answer(pairs).startswith(
        "norm = l2 has the highest mean, 71.06, but is not shown to be better than any other."
    )
    ((pairs,), _) = read({"norm = l1": L1[:2], "norm = l2": L2[:2]})
    assert "fewer than 3 seeds" in pairs_answer(pairs)
    assert list(pairs_table(pairs).columns) == ["pair"]


def test_a_value_stands_for_the_mean_over_the_other_axes_where_it_has_a_partner(read):
    rows = {
        "norm = l1, rho = 0": L1, "norm = l1, rho = 1": LINF,
        "norm = l2, rho = 0": L2, "norm = l2, rho = 1": L1,
    }  # fmt: skip
    norms, shares = read(rows)[0]
    table = pd.DataFrame(rows).T
    gains = (table.iloc[0] + table.iloc[1] - table.iloc[2] - table.iloc[3]) / 2
    assert norms.compared["l1", "l2"].mean == pytest.approx(gains.mean())
    assert list(norms.compared["l1", "l2"].by_seed.values()) == pytest.approx(gains.tolist())
    assert shares.axis == "rho"
    rows = {"norm = l1, rho = 0": L1, "norm = l2, rho = 0": L2, "norm = l2, rho = 1": LINF}
    norms, *_ = read(rows)[0]
    assert norms.compared["l1", "l2"].weights == {"norm = l1, rho = 0": 1.0, "norm = l2, rho = 0": -1.0}


@cases(
    ("last", "verdict", "told"),
    [
        (tabled.FAILED, "undecided", "rho: none of 0 and 1 is shown to be better than another."),
        (tabled.PLANNED, "worse so far", "rho: 1 of 1 pair of values differ so far: 0 and 1."),
    ],
)
def test_a_row_without_a_score_is_not_left_out_of_its_value_without_a_word(
    tmp_path, contents, last, verdict, told
):
    base = (*L1, 70.2, 69.9)
    rows = {f"rho = 0, N = {number}": base for number in (1, 5)}
    rows |= {"rho = 1, N = 1": tuple(n + 2 + n % 0.1 for n in base), "rho = 1, N = 5": (last,) * 6}
    folder = tabled.make(tmp_path / last, rows)
    found, _ = axis_pairs(contents(folder), tabled.comparison_of(folder).scores)
    assert pairs_table(found)["verdict"].tolist() == [verdict]
    assert apart_text(found) == told
    assert pairs_answer(found).startswith("rho = 1 has the highest mean, ")


def test_each_pair_of_rows_is_compared_where_they_are_no_axis_values(tmp_path, contents):
    def pairs_of(rows):
        folder = tabled.make(tmp_path / str(len(rows)), rows)
        return row_pairs(contents(folder), tabled.comparison_of(folder).scores)

    (pairs,) = pairs_of({"SimCSE": L1, "DCL": L2, "ConSERT": LINF})
    assert list(pairs.compared) == [("SimCSE", "DCL"), ("SimCSE", "ConSERT"), ("DCL", "ConSERT")]
    assert pairs_table(pairs)["verdict"].tolist() == ["undecided", "worse", "worse"]
    assert (
        pairs_answer(pairs)
        == "ConSERT has the highest mean, 80.90, and is shown to be better than SimCSE and DCL."
    )
    assert pairs_of({"norm = l1": L1, "norm = l2": L2}) == []
    assert pairs_of({f"row {n}": L1 for n in range(13)}) == []
