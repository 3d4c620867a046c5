from analysis.contents import baseline_scores
from analysis.search import trials
from analysis.sections.search import best, trial_table
from tests.analysis import fronted
from tests.analysis.outline import Outline


def test_best_and_trials_have_a_value_on_every_objective(tmp_path, contents):
    found = contents(fronted.make_two(tmp_path, 3.0, 2.0))
    table = trials(found)
    said = f"61.00 on builtin dev, Spearman x100 and 45.00 on {fronted.ROBUST} after"
    assert said in Outline(best(found, table)).text
    scores = baseline_scores(found.evaluations, found.study.objective.evaluation)
    text = " ".join(Outline(trial_table(found, table, scores)).text.split())
    assert f"trial builtin dev, Spearman x100 {fronted.ROBUST} step" in text
    assert "2 * 61.00 45.00" in text
