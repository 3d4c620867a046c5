"""Every answer a grid can have, from real ledgers where it takes one."""

import pandas as pd
import pytest

from analysis.answer import StageProgress, claims_answer, contrasts_answer, grid_answer
from rse_study.results.comparing.comparisons import against, compare
from rse_study.results.comparing.criterion import Criterion
from tests.analysis import tabled

MINUS = "\N{MINUS SIGN}"
DONE = StageProgress(9, 9)
FLAT = (50.0, 51.0, 52.0, 53.0)
ABOVE = (55.0, 56.2, 56.9, 58.1)
BELOW = (40.1, 41.0, 42.2, 42.9)
NEAR = (50.5, 50.0, 53.0, 52.0)


def of_rows(rows, baseline="base", **criterion):
    table = pd.DataFrame(rows).T
    contrasts = against(table, baseline)
    found = compare(table, list(contrasts.values()), criterion=Criterion(**criterion))
    compared = dict(zip(contrasts, found, strict=True))
    return contrasts_answer(compared, baseline, 2), compared


def test_the_largest_gain_and_loss_are_told_with_their_intervals_for_all_rows():
    answer, compared = of_rows({"base": FLAT, "up": ABOVE, "down": BELOW, "near": NEAR})
    up, down = (compared[row].simultaneous for row in ("up", "down"))
    assert answer.is_settled
    assert answer.shows_difference
    assert answer.text == (
        "Of 3 rows compared with base, 1 is better, 1 is worse and 1 is undecided; largest gain: up, +5.05 "
        f"[+{up.low:.2f}, +{up.high:.2f}], largest loss: down, {MINUS}9.95 [{MINUS}{-down.low:.2f}, "
        f"{MINUS}{-down.high:.2f}] (4 seeds)."
    )


def test_no_difference_that_is_shown_is_said_to_be_none_with_the_largest_and_its_interval():
    answer, _ = of_rows({"base": FLAT, "near": NEAR, "same": FLAT})
    assert answer.is_settled
    assert not answer.shows_difference
    assert answer.text.startswith(
        "Of 2 rows compared with base, none is better, 1 is the same and 1 is undecided; largest difference: near, "
        f"{MINUS}0.12 ["
    )
    alone, _ = of_rows({"base": FLAT, "near": NEAR})
    expected = f"It is undecided whether near differs from base: {MINUS}0.12 ["
    assert alone.text.startswith(expected)
    assert "simultaneous" not in alone.text


def test_a_difference_within_the_margin_is_the_same_whatever_its_sign():
    slightly = tuple(value + gain for value, gain in zip(FLAT, (0.1, 0.12, 0.1, 0.12), strict=True))
    answer, compared = of_rows({"base": FLAT, "row": slightly}, margin=0.5)
    assert compared["row"].deciding.low > 0
    assert answer.text.startswith("row is the same as base within \N{PLUS-MINUS SIGN}0.5: +0.11 [")
    assert not answer.shows_difference
    answer, _ = of_rows({"base": FLAT, "row": slightly}, margin=0.05)
    assert answer.text.startswith("row is better than base: +0.11 [")


@pytest.mark.parametrize(("less", "word"), [(False, "better"), (True, "worse")])
def test_better_is_the_objectives_direction(less, word):
    answer, _ = of_rows({"base": FLAT, "up": ABOVE}, less_is_better=less)
    assert answer.text.startswith(f"up is {word} than base: +5.05 [")


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


def test_the_papers_claims_are_counted_by_their_verdicts(tmp_path):
    paper = {"table": "rse-table6", "scale": "mini"}
    axes = {"rho = 0.5": ABOVE, "rho = 0": FLAT, "rho = 1": NEAR}
    found = read(tabled.make(tmp_path, axes, baseline="rho = 0", paper=paper))
    verdicts = [one.verdict for one in found.judged if one.verdict != "not asked"]
    assert verdicts, "this table has claims about these rows"
    text = claims_answer(found)
    assert text.startswith(f"The paper's claims: {len(verdicts)} ")
    words = {"reproduced": "same direction here", "contradicted": "other direction here"}
    for verdict in set(verdicts):
        assert f"{verdicts.count(verdict)} {words.get(verdict, verdict)}" in text
    assert claims_answer(None) == ""
    assert claims_answer(read(tabled.make(tmp_path / "other", {"a": FLAT}))) == ""
