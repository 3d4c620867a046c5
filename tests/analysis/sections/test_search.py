import dataclasses

from analysis.search import trials
from analysis.sections.search import best, fidelity_text, importance
from tests.analysis.outline import Outline


def test_few_trials_get_a_caution_and_many_do_not(search_dir, contents):
    found = contents(search_dir)
    assert "6 trials cannot tell" in importance(found)
    many = dataclasses.replace(found, importance=found.importance.assign(num_trials=30))
    assert "cannot tell" not in importance(many)


def test_importance_goes_by_the_mean_over_evaluators(search_dir, contents):
    found = contents(search_dir)
    text = Outline(importance(found)).text
    # rho: 5/36 and 8/36, the largest sum; alpha: 1/36 and 4/36, the smallest.
    assert text.index("rho") < text.index("norm") < text.index("alpha")
    assert "0.14" in text
    assert "0.22" in text
    assert importance(dataclasses.replace(found, importance=found.importance[:0])) == ""


def test_a_base_that_wins_is_said_to(search_dir, contents):
    found = contents(search_dir)
    table = trials(found).assign(best=lambda frame: frame["trial"] == 0)
    assert "It is the paper's setting itself." in Outline(best(found, table)).text


def test_a_trial_that_was_continued_is_named(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    assert "continued" not in fidelity_text(found, table)
    went_on = table.assign(status=table["status"].mask(table["trial"] == 13, "complete"))
    assert "after the search: trial 13." in fidelity_text(found, went_on)
    assert fidelity_text(found, table[table["status"] == "complete"]) == ""
