from analysis.search import trials
from analysis.sections.search import best, fidelity_text
from tests.analysis.outline import Outline


def test_a_base_that_wins_and_a_trial_that_was_continued_are_named(search_dir, contents):
    found = contents(search_dir)
    table = trials(found).assign(best=lambda frame: frame["trial"] == 0)
    assert "It is the base itself." in Outline(best(found, table)).text
    table = trials(found)
    assert "continued" not in fidelity_text(found, table)
    went_on = table.assign(status=table["status"].mask(table["trial"] == 13, "complete"))
    assert "after the search: trial 13." in fidelity_text(found, went_on)
    assert fidelity_text(found, table[table["status"] == "complete"]) == ""
