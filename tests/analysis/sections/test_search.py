from analysis.contents import baseline_scores
from analysis.search import trials
from analysis.sections.search import best, fidelity_text, trial_table
from tests.analysis import fronted
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


def test_best_and_trials_have_a_value_on_every_objective(tmp_path, contents):
    found = contents(fronted.make_two(tmp_path, 3.0, 2.0))
    table = trials(found)
    said = f"61.00 on builtin dev, Spearman x100 and 45.00 on {fronted.ROBUST} after"
    assert said in Outline(best(found, table)).text
    scores = baseline_scores(found.evaluations, found.study.objective.evaluation)
    text = " ".join(Outline(trial_table(found, table, scores)).text.split())
    assert f"trial builtin dev, Spearman x100 {fronted.ROBUST} step" in text
    assert "2 * 61.00 45.00" in text
