"""Every answer a grid can have, from real ledgers where it takes one."""

import pandas as pd
import pytest

from analysis.answer import StageProgress, claims_answer, contrasts_answer, grid_answer
from analysis.search_answer import ConfirmedTrial, confirmed_answer, search_answer
from rse_study.results.comparing.comparisons import against, compare
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.statistics import t_interval
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
    nothing = grid_answer(whole, StageProgress(0, 8), 2)
    some = grid_answer(whole, StageProgress(7, 8), 2)
    most = grid_answer(whole, StageProgress(5, 8), 2)
    assert nothing.text == "No answer yet: no cell has ended."
    assert some.text == "No answer yet: 1 of 8 cells has not ended."
    assert most.text == "No answer yet: 3 of 8 cells have not ended."
    assert not (nothing.is_settled or some.is_settled or most.is_settled)
    assert grid_answer(whole, DONE, 2).text.startswith("up is better than base: +5.05")
    rows = {"base": FLAT, "up": (*ABOVE[:3], tabled.PLANNED)}
    waiting = read(tabled.make(tmp_path, rows, baseline="base"))
    expected = "No answer yet: some cells have no score yet."
    assert grid_answer(waiting, DONE, 2).text == expected


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


# Every answer a search can have.


@pytest.mark.parametrize(
    ("search", "confirm", "text"),
    [
        (StageProgress(0, 9), StageProgress(0, 4), "No answer yet: no trial has ended."),
        (DONE, None, "No answer: this study confirms no trial, and the score of its best trial is the one that "
         "selected it."),
        (DONE, StageProgress(1, 4), "Nothing is confirmed yet: 3 of 4 cells of the confirmation have not ended."),
        (DONE, StageProgress(4, 4), "Nothing is confirmed: no confirmed trial except the base has a score."),
    ],
)  # fmt: skip
def test_a_search_says_why_nothing_is_confirmed(search, confirm, text):
    answer = search_answer(search, confirm, None)
    assert (answer.text, answer.is_settled) == (text, False)


def confirmed(*sample, **kwargs):
    return ConfirmedTrial(
        **{"row": "trial 12", "reference": "the base", "measure": "test", "sample": sample, **kwargs}
    )


def test_a_trial_that_failed_with_a_seed_is_not_confirmed_by_the_others():
    answer = search_answer(DONE, DONE, confirmed(3.0, 3.2, 2.9, criterion=Criterion(is_lost=True)))
    assert answer.text.startswith("Compared with the base, trial 12 is undecided on test: +3.03 [+2.")
    assert not answer.shows_difference


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (
            (3.0, 3.2, 2.9, 3.1),
            "trial 12 is better on test: +3.05 [+2.",
        ),
        ((-3.0, -3.2, -2.9), f"trial 12 is worse on test: {MINUS}3.03 ["),
        ((3.0, -3.2, 0.5), "trial 12 is undecided on test: +0.10 ["),
    ],
)
def test_a_confirmed_trial_is_told_with_its_interval(sample, words):
    answer = search_answer(DONE, DONE, confirmed(*sample))
    assert answer.is_settled
    assert answer.shows_difference == ("undecided" not in words)
    assert answer.text.startswith(f"Compared with the base, {words}")
    assert f"{len(sample)} fresh seeds, not used in the search)." in answer.text


@pytest.mark.parametrize(
    ("sample", "few"),
    [((1.5,), "One seed cannot tell a gain"), ((1.5, 1.0), "Two seeds cannot tell a gain from chance.")],
)
def test_few_seeds_give_no_answer(sample, few):
    answer = confirmed_answer(confirmed(*sample))
    assert not answer.is_settled
    assert few in answer.text


def test_each_objective_has_its_verdict_and_all_intervals_hold_at_once():
    gain = confirmed(3.0, 3.4, 2.8, 3.2, measure="clean", num_together=2)
    loss = confirmed(2.0, 2.3, 1.9, 2.2, measure="drift", num_together=2, less_is_better=True)
    answer = search_answer(DONE, DONE, gain, [gain, loss], [confirmed(-1.0, -1.1, 0.2, 0.0, measure="new")])
    up, down = (t_interval(list(one.sample), 1 - 0.05 / 4) for one in (gain, loss))
    assert answer.text == (
        "Compared with the base over 4 fresh seeds, trial 12 is ahead on clean (+3.10 "
        f"[+{up.low:.2f}, +{up.high:.2f}]) and is behind on drift (+2.10 [+{down.low:.2f}, +{down.high:.2f}]). "
        "It gains on some measures and loses on others."
    )
    assert answer.others == f"{MINUS}0.48 on new (behind with 2 of 4 seeds)"
    assert answer.is_settled
    assert not answer.shows_difference


def test_a_trial_that_every_seed_shows_worse_elsewhere_is_not_called_better():
    gain, loss = confirmed(3.0, 3.2, 2.9), confirmed(-1.0, -1.2, -2.0, measure="attacked")
    answer = search_answer(DONE, DONE, gain, [], [gain, loss])
    assert answer.text.startswith("Compared with the base, trial 12 is ahead on test: +3.03 [")
    assert answer.text.endswith(
        f"Other measures contradict this: {MINUS}1.40 on attacked (behind with 3 of 3 seeds)."
    )
    assert not answer.shows_difference
    assert "better" not in answer.text


def test_what_fresh_seeds_can_resolve_follows_their_spread():
    narrow, wide = (confirmed(*(3.0, 3.0 + gap, 3.0 - gap, 3.0)).resolvable(1) for gap in (0.1, 0.4))
    assert wide == pytest.approx(4 * narrow)
    assert narrow < confirmed(3.0, 3.1, 2.9, 3.0).resolvable(3)
