"""Rows against one another: every figure a second time, by scipy.stats or by hand, and scores out of real ledgers."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rse_study.results.comparing.comparisons import (
    against,
    compare,
    compare_all,
    differences,
    row_scores,
    scores_by_metric,
)
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.reader import Reader
from rse_study.results.statistics import t_interval
from tests.analysis import gridded, searched, tabled
from tests.cases import cases
from tests.results.samples import around, half_width

A_MINUS_B = {"a": 1.0, "b": -1.0}
BASE = np.array([70.0, 73.5, 68.25, 71.0, 74.75, 69.5])
GAINS = np.array([0.31, -0.12, 0.95, 0.44, 1.82, 0.27])


def frame(**rows):
    return pd.DataFrame.from_dict(rows, orient="index")


@pytest.fixture
def scores():
    return frame(a=BASE + GAINS, b=BASE, c=BASE - 2 - GAINS[::-1], d=BASE + around(0.1, 6))


def read(folder, metric=""):
    with Reader(folder) as reader:
        return row_scores(reader, metric)


def states(scores):
    return scores.open_rows, scores.num_unplanned, scores.degenerate_rows


def test_a_contrast_is_paired_by_seed_and_may_weigh_many_rows(scores):
    assert differences(scores, A_MINUS_B) == pytest.approx(GAINS)
    assert differences(scores[scores.columns[::-1]], A_MINUS_B) == pytest.approx(GAINS[::-1])
    found = differences(scores, {"a": 0.5, "c": 0.5, "b": -1.0})
    assert found == pytest.approx((GAINS - 2 - GAINS[::-1]) / 2)
    assert against(scores, "b") == {row: {row: 1.0, "b": -1.0} for row in ("a", "c", "d")}
    assert compare(scores, []) == []
    with pytest.raises(KeyError, match="nowhere"):
        compare(scores, [{"nowhere": 1.0, "b": -1.0}])
    scores.loc["a", 1] = scores.loc["b", 4] = scores.loc["c", 0] = math.nan
    assert differences(scores, A_MINUS_B) == pytest.approx(GAINS[[0, 2, 3, 5]])


def test_everything_is_said_of_one_contrast(scores):
    (found,) = compare(scores, [A_MINUS_B])
    t_test = stats.ttest_1samp(GAINS, 0.0)
    assert (found.weights, found.n) == (A_MINUS_B, 6)
    assert found.mean == pytest.approx(np.mean(GAINS))
    assert found.sd == pytest.approx(np.std(GAINS, ddof=1))
    alone = t_test.confidence_interval(0.95)
    for interval in (found.interval, found.simultaneous):  # the only one there is
        assert (interval.low, interval.high) == pytest.approx((alone.low, alone.high))
    patterns = [
        abs(sum(s * g for s, g in zip(signs, GAINS, strict=True))) for signs in product((-1, 1), repeat=6)
    ]
    share = np.mean(np.array(patterns) >= abs(GAINS.sum()) - 1e-9)
    assert found.p_exact == found.p_holm == pytest.approx(share)
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(GAINS, method="exact").pvalue)
    assert found.least_p_holm == 2 / 2**6
    assert found.bootstrap.low < found.mean < found.bootstrap.high


def test_the_resolvable_difference_is_found_in_four_of_five_studies(scores):
    (found,) = compare(scores, [A_MINUS_B])
    bound = stats.t.ppf(0.975, 5)
    shift = found.resolvable / found.sd * math.sqrt(6)
    power = stats.nct.sf(bound, 5, shift) + stats.nct.cdf(-bound, 5, shift)
    assert power == pytest.approx(0.8, abs=1e-6)


def test_contrasts_looked_at_together_share_one_error_whatever_they_measure(scores):
    contrasts = list(against(scores, "b").values())
    found = compare(scores, contrasts)
    for one, contrast in zip(found, contrasts, strict=True):
        sample = differences(scores, contrast)
        half = stats.t.ppf(1 - 0.05 / 6, 5) * sample.std(ddof=1) / math.sqrt(6)
        assert one.simultaneous.low == pytest.approx(sample.mean() - half)
        assert one.simultaneous.high == pytest.approx(sample.mean() + half)
        (alone,) = compare(scores, [contrast])
        assert (one.interval, one.bootstrap, one.p_exact) == (alone.interval, alone.bootstrap, alone.p_exact)
        assert one.least_p_holm == 3 * 2 / 2**6
        assert one.resolvable > alone.resolvable
    other = scores * 2
    found = compare_all([(scores, A_MINUS_B), (other, A_MINUS_B), (other, {"c": 1.0, "d": -1.0})])
    half = stats.t.ppf(1 - 0.05 / 6, 5) * np.std(GAINS, ddof=1) / math.sqrt(6)
    assert found[0].simultaneous.high - found[0].mean == pytest.approx(half)
    assert found[1].simultaneous.high - found[1].mean == pytest.approx(2 * half)
    assert found[1].mean == pytest.approx(2 * GAINS.mean())


@pytest.mark.parametrize(("n", "is_given"), [(3, False), (5, False), (6, True)])
def test_no_bootstrap_interval_is_given_below_six_seeds(scores, n, is_given):
    (found,) = compare(scores[range(n)], [A_MINUS_B])
    assert math.isfinite(found.bootstrap.low) == math.isfinite(found.bootstrap.high) == is_given
    assert math.isfinite(found.interval.low)


def test_holm_adjusts_the_exact_p_and_the_least_is_no_more_than_one(scores):
    found = compare(scores, list(against(scores, "b").values()))
    smallest, middle, largest = sorted(found, key=lambda one: one.p_exact)
    assert smallest.p_holm == pytest.approx(min(1, 3 * smallest.p_exact))
    assert middle.p_holm == pytest.approx(min(1, max(smallest.p_holm, 2 * middle.p_exact)))
    assert largest.p_holm == pytest.approx(min(1, max(middle.p_holm, largest.p_exact)))
    assert len({one.p_exact for one in found}) == 3
    rows = {name: BASE[:3] + step for step, name in enumerate("abcdefg")}
    scores = frame(**rows)
    assert {one.least_p_holm for one in compare(scores, list(against(scores, "a").values()))} == {1.0}


@pytest.mark.parametrize("half", [0.99, 1.01])
def test_the_simultaneous_interval_excludes_zero_from_the_quantile_on(half):
    width = half_width(6, 2)
    scores = frame(a=BASE + around(half * width, 6), b=BASE, c=BASE)
    found, _ = compare(scores, [A_MINUS_B, {"c": 1.0, "b": -1.0}])
    assert found.simultaneous.excludes(0.0) == (half > 1)
    assert found.interval.excludes(0.0)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_seeds_show_nothing(scores, n):
    scores.loc["c", n:] = math.nan
    both = [A_MINUS_B, {"c": 1.0, "b": -1.0}]
    found = compare(scores, both)
    assert found[1] is None
    (alone,) = compare(scores, both[:1])
    assert found[0].simultaneous == alone.simultaneous  # what shows nothing takes no share of the error
    assert (
        found[0].anytime.low < alone.anytime.low
    )  # but of that of confidence sequences: it may get seeds later
    assert compare(scores, both[1:]) == [None]


def test_scores_of_a_grid_are_those_of_the_last_step(tmp_path):
    rows = {"rho = 1": (71.0, 72.5, 70.0), "rho = 0.5": (75.0, 74.0, 77.25), "SimCSE": (69.0, 70.0, 68.5)}
    found = read(tabled.make(tmp_path, rows))
    assert list(found.table.index) == list(rows)  # the ledger's order, not the alphabet's
    assert list(found.table.columns) == [0, 1, 2]
    assert found.table.to_numpy().tolist() == [list(values) for values in rows.values()]
    assert states(found) == ((), 0, ())


def test_scores_of_an_evaluation_are_taken_by_its_name(tmp_path):
    folder = tabled.make(tmp_path, {"a": (71.0, 72.0), "b": (60.0, tabled.FAILED)})
    found = read(folder, "STS-B/test/all")
    assert found.table.loc["a"].tolist() == [70.0, 71.0]
    assert found.table.loc["b", 0] == 59.0
    assert math.isnan(found.table.loc["b", 1])
    assert found.open_rows == ()
    nobody = read(folder, "STS99/test/all")
    assert nobody.table.isna().to_numpy().all()
    assert nobody.open_rows == ("a", "b")  # complete, and not scored yet


RATE, LOST = "attack-mr/pwws/success_rate", "MR/full/before - MR/full/after"


def test_several_metrics_or_the_difference_of_two_are_read_at_once(tmp_path):
    folder = tabled.make(tmp_path, {"a": (71.0, 72.0), "b": (60.0, 61.0)})
    tabled.add(folder, {RATE: {"a": (40.0, 41.0), "b": (50.0, None)}})
    with Reader(folder) as reader:
        found = scores_by_metric(reader, ["", RATE])
    assert found[""].table.equals(read(folder).table)
    assert found[RATE].table.equals(read(folder, RATE).table)
    assert found[RATE].table.loc["a"].tolist() == [40.0, 41.0]
    assert states(found[RATE]) == (("b",), 0, ())
    assert states(found[""]) == ((), 0, ())
    one, other = LOST.split(" - ")
    tabled.add(
        folder, {one: {"a": (80.0, 81.5), "b": (70.0, 71.0)}, other: {"a": (30.0, 21.5), "b": (9.0, None)}}
    )
    found = read(folder, LOST)
    assert found.table.loc["a"].tolist() == [50.0, 60.0]
    assert found.table.loc["b", 0] == 61.0
    assert found.open_rows == ("b",)


@cases("value", [math.nan, math.inf, -math.inf, 1e300])
def test_a_complete_cell_without_a_finite_objective_is_not_awaited_and_leaves_its_row_undecided(
    tmp_path, value
):
    rows = {"a": (75.0, 75.1, 74.9, value), "b": (70.0, 70.2, 69.9, 70.0)}
    found = read(tabled.make(tmp_path / str(value), rows, baseline="b"))
    assert found.is_complete
    assert set(found.criterion.lost) == {"a"}
    assert math.isnan(found.table.loc["a", 3])
    (one,) = compare(found.table, [A_MINUS_B], criterion=found.criterion)
    assert (one.n, one.verdict, one.is_suggestive) == (3, "undecided", False)


def test_rows_whose_cells_are_all_there_share_their_error_with_those_that_still_run(tmp_path):
    rows = {
        "b": (70.0, 70.2, 69.9, 70.0),
        "a": (70.1, 71.0, 70.4, 70.2),
        "c": (70.0, 71.0, tabled.PLANNED, tabled.PLANNED),
    }
    found = read(tabled.make(tmp_path, rows, baseline="b"))
    one, other = compare(found.table, list(against(found.table, "b").values()), criterion=found.criterion)
    assert other is None
    sample = np.array(rows["a"]) - rows["b"]
    assert one.deciding == one.simultaneous == t_interval(sample, 1 - 0.05 / 2)
    assert one.num_together == 2


def test_a_model_that_has_collapsed_at_its_last_step_is_marked(tmp_path):
    """Its history says so: the objective of a cell is no row of an evaluation."""
    marks = {"a": (1.0, 1.0), "b": (1.0, 0.0)}  # b was collapsed on the way, and is no more
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(tabled.study_of({"a": (0.0,), "b": (0.0,)}, 1))
        for trial, name in enumerate("ab"):
            record = tabled.cell_of(trial, name, 0)
            ledger.plan([record])
            points = tuple(
                Point(t=t, metrics={"dev": 50.0, "dev/degenerate": mark})
                for t, mark in zip((10, 20), marks[name], strict=True)
            )
            searched.run(ledger, record, "complete", points)
    assert read(tmp_path).degenerate_rows == ("a",)


@cases(("state", "is_open"), [(tabled.FAILED, False), (tabled.PLANNED, True), (tabled.RUNNING, True)])
def test_a_cell_that_has_no_score_is_open_unless_it_failed(tmp_path, state, is_open):
    found = read(tabled.make(tmp_path, {"a": (71.0, state), "b": (60.0, 61.0)}))
    assert math.isnan(found.table.loc["a", 1])
    assert found.open_rows == (("a",) if is_open else ())


def test_cells_that_nobody_planned_yet_are_counted(tmp_path):
    """Between the freezing of a study and its first cell its baselines are measured: minutes."""
    found = read(tabled.make(tmp_path / "begun", {}, num_cells=12))
    assert found.table.shape[0] == 0
    assert states(found) == ((), 12, ())
    found = read(tabled.make(tmp_path / "grown", {"a": (71.0, 72.0)}, num_cells=5))
    assert states(found) == ((), 3, ())


def test_rows_of_earlier_revisions_are_left_out(tmp_path):
    with Ledger.open(tmp_path) as ledger:
        gridded.grid(ledger)
    found = read(tmp_path)
    labels = [label or f"lambda1 = {value:.6g}" for label, value, _ in gridded.ROWS]
    assert list(found.table.index) == [*labels[:1], "lambda1 = 0.0078125", *labels[2:]]
    assert found.table.loc["base"].tolist() == [74.5, 75.0, 77.0]
    assert states(found) == (("without the token level",), 0, ())


def test_confirmed_trials_are_the_rows_of_a_search(tmp_path):
    folder = searched.make(tmp_path, searched.search)
    assert read(folder).table.empty
    found = read(searched.make(folder, searched.confirm))
    assert found.table.to_numpy().tolist() == [[59.4, 60.6], [62.3, 61.1]]
    assert list(found.table.index) == ["base", "trial 12"]
    assert list(found.table.columns) == [1, 2]
    assert read(folder, "builtin/test/all").table.to_numpy().tolist() == [[58.0, 60.0], [61.5, 59.0]]
