"""Every answer a grid can have, from real ledgers where it takes one."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.answer import StageProgress, claims_answer, contrasts_answer, grid_answer
from rse_study.results.comparisons import against, compare
from tests.analysis import tabled

MINUS = "\N{MINUS SIGN}"
DONE = StageProgress(9, 9)
FLAT = (50.0, 51.0, 52.0, 53.0)
ABOVE = (55.0, 56.2, 56.9, 58.1)
BELOW = (40.1, 41.0, 42.2, 42.9)
NEAR = (50.5, 50.0, 53.0, 52.0)


def of_rows(rows, baseline="base", **kwargs):
    table = pd.DataFrame(rows).T
    contrasts = against(table, baseline)
    compared = dict(zip(contrasts, compare(table, list(contrasts.values())), strict=True))
    return contrasts_answer(compared, baseline, 2, **{"less_is_better": False, **kwargs}), compared


def test_the_largest_gain_and_loss_are_told_with_their_intervals_for_all_rows():
    answer, compared = of_rows({"base": FLAT, "up": ABOVE, "down": BELOW, "near": NEAR})
    up, down = (compared[row].simultaneous for row in ("up", "down"))
    assert answer.is_settled
    assert answer.shows_difference
    assert answer.text == (
        "Of 3 rows 1 is better and 1 is worse than base; largest gain: up, +5.05 (95 % interval for "
        f"all rows at once [+{up.low:.2f}, +{up.high:.2f}], 4 seeds), largest loss: down, {MINUS}9.95 "
        f"(95 % interval for all rows at once [{MINUS}{-down.low:.2f}, {MINUS}{-down.high:.2f}], 4 seeds)."
    )


def test_p_is_told_where_it_could_be_small_and_what_is_shown_before_what_is_large():
    eight = {"base": FLAT + FLAT, "up": ABOVE + ABOVE, "more": ABOVE + ABOVE}
    assert ", p = 0.0156 (Holm), 8 seeds)" in of_rows(eight)[0].text
    assert ", p = 0.0078, 8 seeds)" in of_rows({row: eight[row] for row in ("base", "up")})[0].text
    wild = (20.0, 95.0, 30.0, 99.0)
    answer, compared = of_rows({"base": FLAT, "wild": wild, "up": ABOVE})
    assert abs(compared["wild"].mean) > abs(compared["up"].mean)
    assert answer.text.startswith("Of 2 rows 1 is better than base; largest gain: up, +5.05 ")
    answer, _ = of_rows({"base": FLAT[:2], "up": ABOVE[:2]})
    assert not answer.is_settled
    assert answer.text == "No answer: no row shares 3 seeds with base, and fewer show nothing."
    expected = "No answer: no row stands beside base."
    assert contrasts_answer({}, "base", 2, less_is_better=False).text == expected


def test_no_difference_that_is_shown_is_said_to_be_none_with_the_largest_and_its_interval():
    answer, _ = of_rows({"base": FLAT, "near": NEAR, "same": FLAT})
    assert answer.is_settled
    assert not answer.shows_difference
    assert answer.text.startswith(
        f"No difference from base is shown for any of 2 rows; the largest: near, {MINUS}0.12 (95 %"
    )
    alone, _ = of_rows({"base": FLAT, "near": NEAR})
    assert "for the one row; the largest: near" in alone.text
    assert "at once" not in alone.text
    assert "Holm" not in alone.text


@pytest.mark.parametrize(("less", "word"), [(False, "better"), (True, "worse")])
def test_better_is_the_objectives_direction(less, word):
    answer, _ = of_rows({"base": FLAT, "up": ABOVE}, less_is_better=less)
    assert answer.text.startswith(f"up is {word} than base: +5.05 (95 % interval [")


read = tabled.comparison_of


def test_a_grid_says_why_it_has_no_answer_yet(tmp_path):
    whole = read(tabled.make(tmp_path / "whole", {"base": FLAT, "up": ABOVE}, baseline="base"))
    nothing = grid_answer(whole, StageProgress(0, 8), 2, less_is_better=False)
    some = grid_answer(whole, StageProgress(7, 8), 2, less_is_better=False)
    most = grid_answer(whole, StageProgress(5, 8), 2, less_is_better=False)
    assert nothing.text == "No answer yet: no cell has ended."
    assert some.text == "No answer yet: 1 of 8 cells has not ended."
    assert most.text == "No answer yet: 3 of 8 cells have not ended."
    assert not (nothing.is_settled or some.is_settled or most.is_settled)
    assert grid_answer(whole, DONE, 2, less_is_better=False).text.startswith("up is better than base: +5.05")
    rows = {"base": FLAT, "up": (*ABOVE[:3], tabled.PLANNED)}
    waiting = read(tabled.make(tmp_path, rows, baseline="base"))
    expected = "No answer yet: some cells have no score yet."
    assert grid_answer(waiting, DONE, 2, less_is_better=False).text == expected


def test_a_grid_without_a_baseline_tells_its_best_mean_and_no_interval(tmp_path):
    bare = read(tabled.make(tmp_path, {"one": FLAT, "other": ABOVE}))
    best, least = (grid_answer(bare, DONE, 2, less_is_better=less) for less in (False, True))
    assert best.text.endswith(
        "names no baseline to compare with; the highest mean: other, 56.55, not shown to be better."
    )
    assert least.text.endswith("the lowest mean: one, 51.50, not shown to be better.")
    assert not best.is_settled


def test_failed_cells_leave_the_other_seeds_and_collapsed_models_are_said(tmp_path):
    rows = {"base": FLAT, "up": (tabled.FAILED, *ABOVE[1:])}
    found = read(tabled.make(tmp_path / "failed", rows, baseline="base"))
    assert "3 seeds)" in grid_answer(found, DONE, 2, less_is_better=False).text
    comparison = read(tabled.make(tmp_path / "collapsed", {"base": FLAT, "up": ABOVE}, baseline="base"))
    collapsed = replace(comparison, degenerate=frozenset({"up", "untrained encoder"}))
    text = grid_answer(collapsed, DONE, 2, less_is_better=False).text
    assert text.endswith("4 seeds). Of collapsed models are scores of up.")


def test_the_papers_claims_are_counted_by_their_verdicts(tmp_path):
    paper = {"table": "rse-table6", "scale": "mini"}
    axes = {"rho = 0.5": ABOVE, "rho = 0": FLAT, "rho = 1": NEAR}
    found = read(tabled.make(tmp_path, axes, baseline="rho = 0", paper=paper))
    verdicts = [one.verdict for one in found.judged if one.verdict != "not asked"]
    assert verdicts, "this table has claims about these rows"
    text = claims_answer(found)
    assert text.startswith(f"Of {len(verdicts)} claim")
    words = {"reproduced": "same direction here", "contradicted": "other direction here"}
    for verdict in set(verdicts):
        assert f"{verdicts.count(verdict)} {words.get(verdict, verdict)}" in text
    assert claims_answer(None) == ""
    assert claims_answer(read(tabled.make(tmp_path / "other", {"a": FLAT}))) == ""
