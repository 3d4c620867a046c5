"""Every answer a study can have, from real ledgers where it takes one."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.answer import (
    ConfirmedTrial,
    StageProgress,
    claims_answer,
    confirmed_answer,
    contrasts_answer,
    grid_answer,
    search_answer,
)
from analysis.comparison import read_comparison
from rse_study.results.comparisons import against, compare
from rse_study.results.reader import Reader
from rse_study.results.statistics import t_interval
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


def test_p_is_told_where_so_many_seeds_could_make_it_small():
    eight = {"base": FLAT + FLAT, "up": ABOVE + ABOVE, "more": ABOVE + ABOVE}
    assert ", p = 0.0156 (Holm), 8 seeds)" in of_rows(eight)[0].text
    assert ", p = 0.0078, 8 seeds)" in of_rows({row: eight[row] for row in ("base", "up")})[0].text


def test_a_large_difference_that_is_not_shown_gives_way_to_a_smaller_one_that_is():
    wild = (20.0, 95.0, 30.0, 99.0)
    answer, compared = of_rows({"base": FLAT, "wild": wild, "up": ABOVE})
    assert abs(compared["wild"].mean) > abs(compared["up"].mean)
    assert answer.text.startswith("Of 2 rows 1 is better than base; largest gain: up, +5.05 ")


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


def test_two_seeds_are_too_few():
    answer, _ = of_rows({"base": FLAT[:2], "up": ABOVE[:2]})
    assert not answer.is_settled
    assert answer.text == "No answer: no row shares 3 seeds with base, and fewer show nothing."
    assert (
        contrasts_answer({}, "base", 2, less_is_better=False).text == "No answer: no row stands beside base."
    )


def read(folder):
    with Reader(folder) as reader:
        return read_comparison(reader)


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


def test_a_grid_whose_cells_have_no_score_has_no_answer_yet(tmp_path):
    rows = {"base": FLAT, "up": (*ABOVE[:3], tabled.PLANNED)}
    waiting = read(tabled.make(tmp_path, rows, baseline="base"))
    assert grid_answer(waiting, DONE, 2, less_is_better=False).text == (
        "No answer yet: some cells have no score yet."
    )


def test_a_grid_without_a_baseline_tells_its_best_mean_and_no_interval(tmp_path):
    bare = read(tabled.make(tmp_path, {"one": FLAT, "other": ABOVE}))
    best, least = (grid_answer(bare, DONE, 2, less_is_better=less) for less in (False, True))
    assert best.text.endswith(
        "names no baseline to compare with; the highest mean: other, 56.55, not shown to be better."
    )
    assert least.text.endswith("the lowest mean: one, 51.50, not shown to be better.")
    assert not best.is_settled


def test_failed_cells_leave_the_other_seeds(tmp_path):
    rows = {"base": FLAT, "up": (tabled.FAILED, *ABOVE[1:])}
    found = read(tabled.make(tmp_path, rows, baseline="base"))
    assert "3 seeds)" in grid_answer(found, DONE, 2, less_is_better=False).text


def test_scores_of_collapsed_models_are_said_to_be(tmp_path):
    comparison = read(tabled.make(tmp_path, {"base": FLAT, "up": ABOVE}, baseline="base"))
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


@pytest.mark.parametrize(
    ("search", "confirm", "text"),
    [
        (StageProgress(0, 9), StageProgress(0, 4), "No answer yet: no trial has ended."),
        (DONE, None, "No answer: this study confirms nothing, and the score of its best trial is the one that "
         "selected it."),
        (DONE, StageProgress(1, 4), "Nothing is confirmed yet: 3 of 4 cells of the confirmation have not ended."),
        (DONE, StageProgress(4, 4), "Nothing is confirmed: no confirmed trial but the paper's setting has a score."),
    ],
)  # fmt: skip
def test_a_search_says_why_nothing_is_confirmed(search, confirm, text):
    answer = search_answer(search, confirm, None)
    assert (answer.text, answer.is_settled) == (text, False)


def confirmed(*sample, **kwargs):
    return ConfirmedTrial(
        **{"row": "trial 12", "reference": "the paper setting", "measure": "test", "sample": sample, **kwargs}
    )


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (
            (3.0, 3.2, 2.9, 3.1),
            "Trial 12 is better than the paper setting on test: +3.05 (95 % interval [+2.",
        ),
        ((-3.0, -3.2, -2.9), f"Trial 12 is worse than the paper setting on test: {MINUS}3.03 (95 %"),
        ((3.0, -3.2, 0.5), "Trial 12 is not shown to differ from the paper setting on test: +0.10 (95 %"),
    ],
)
def test_a_confirmed_trial_is_told_with_its_interval(sample, words):
    answer = search_answer(DONE, DONE, confirmed(*sample))
    assert answer.is_settled
    assert answer.shows_difference == ("not shown" not in words)
    assert answer.text.startswith(words)
    assert f"{len(sample)} seeds that selected nothing)." in answer.text


def test_less_may_be_better():
    assert "is better" in confirmed_answer(confirmed(-3.0, -3.2, -2.9, less_is_better=True)).text


def test_trials_that_are_confirmed_together_share_one_error():
    sample = (3.0, 3.4, 2.8, 3.1)
    alone, together = (confirmed_answer(confirmed(*sample, num_together=n)).text for n in (1, 3))
    wider = t_interval(list(sample), 1 - 0.05 / 3)
    assert f"for all 3 trials at once [+{wider.low:.2f}, +{wider.high:.2f}]" in together
    assert "at once" not in alone


@pytest.mark.parametrize(
    ("sample", "few"),
    [((1.5,), "One seed tells no gain"), ((1.5, 1.0), "Two seeds tell no gain from chance.")],
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
        "Compared with the paper setting over 4 seeds that selected nothing, trial 12 is better on clean (+3.10, 95 % "
        f"interval [+{up.low:.2f}, +{up.high:.2f}]) and is worse on drift (+2.10, 95 % interval [+{down.low:.2f}, "
        f"+{down.high:.2f}]). These intervals hold for all 4 comparisons at once. Beyond its objectives: "
        f"{MINUS}0.48 on new (worse with 2 of 4 seeds)."
    )
    assert answer.is_settled
    assert not answer.shows_difference


def test_objectives_without_seeds_enough_or_a_reference_have_no_answer():
    few = [confirmed(3.0, 2.0, measure="clean"), confirmed(measure="drift")]
    answer = search_answer(DONE, DONE, few[0], few)
    assert answer.text == (
        "No answer: trial 12 minus the paper setting is +2.50 on clean and no score on drift, and an interval takes 3 "
        "seeds on each objective."
    )
    alone = [confirmed(61.0, 62.0, 63.0, reference="", measure=name) for name in ("clean", "drift")]
    bare = search_answer(DONE, DONE, alone[0], alone)
    assert "No comparison: trial 12 has 62.00 on clean and 62.00 on drift with 3 seeds" in bare.text
    assert not (answer.is_settled or bare.is_settled)


def test_a_trial_confirmed_alone_is_compared_with_nothing():
    answer = confirmed_answer(confirmed(61.0, 62.0, 63.0, reference=""))
    assert not answer.is_settled
    assert answer.text == (
        "No comparison: trial 12 has 62.00 on test with 3 seeds that selected nothing, and nothing was confirmed "
        "beside it."
    )
