from dataclasses import replace

from analysis.contents import baseline_scores
from analysis.search import trials
from analysis.sections.search import LET_RUN, best, fidelity_text, history, known_before, trial_table
from rse_study.results.study_record import KnownTrial
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


def test_trials_that_an_earlier_version_let_run_are_not_said_to_have_been_continued(search_dir, contents):
    found = contents(search_dir)
    table, scores = trials(found), baseline_scores(found.evaluations, found.study.objective.evaluation)
    assert LET_RUN not in Outline(history(found, table, scores)).text
    rule = {"name": "asha", "first": 15, "factor": 2, "let_run": 0.25}
    study = found.study.model_copy(update={"resolved": found.study.resolved | {"early_stopping": rule}})
    found = replace(found, study=study)
    assert LET_RUN in Outline(history(found, table, scores)).text
    ran_on = table.assign(status=table["status"].mask(table["trial"] == 13, "complete"))
    assert "continued" not in fidelity_text(found, ran_on)


def test_best_and_trials_have_a_value_on_every_objective(tmp_path, contents):
    found = contents(fronted.make_two(tmp_path, 3.0, 2.0))
    table = trials(found)
    said = f"61.00 on builtin dev, Spearman x100 and 45.00 on {fronted.ROBUST} after"
    assert said in Outline(best(found, table)).text
    scores = baseline_scores(found.evaluations, found.study.objective.evaluation)
    text = " ".join(Outline(trial_table(found, table, scores)).text.split())
    assert f"trial builtin dev, Spearman x100 {fronted.ROBUST} step" in text
    assert "2 * 61.00 45.00" in text


def test_trials_that_an_earlier_version_gave_to_the_sampler_are_counted(search_dir, contents):
    found = contents(search_dir)
    assert known_before(found) == ""
    known = tuple(KnownTrial(study="earlier", trial=trial, proposal={}, values=(60.0,)) for trial in (1, 3))
    warm = replace(found, study=found.study.model_copy(update={"known_trials": known}))
    assert "2 trials of earlier before the first trial" in Outline(known_before(warm)).text
