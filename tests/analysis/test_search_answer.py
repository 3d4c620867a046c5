"""Every answer a search can have."""

import pytest

from analysis.answer import StageProgress
from analysis.search_answer import ConfirmedTrial, confirmed_answer, search_answer
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.statistics import t_interval

MINUS = "\N{MINUS SIGN}"
DONE = StageProgress(9, 9)


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
