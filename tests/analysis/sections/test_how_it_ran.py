import dataclasses

from analysis.sections.how_it_ran import budget, how_it_ran
from tests.analysis import searched
from tests.analysis.outline import Outline


def test_it_says_what_the_ledger_does_not_hold_and_nothing_before_the_first_attempt(grid_dir, contents):
    found = Outline(how_it_ran(contents(grid_dir)))
    assert found.figures == ["timeline"]
    assert "does not record where an attempt ran" in found.text
    found = contents(grid_dir)
    assert how_it_ran(dataclasses.replace(found, attempts=found.attempts[:0])) == ""


def test_a_budget_that_ended_the_search_is_said_and_without_one_nothing(tmp_path, contents, search_dir):
    settings = {"num_trials": 40, "search_budget": {"steps": 100}, "base": {"budget": {"amount": 60}}}
    study = searched.STUDY.model_copy(update={"num_trials": 40, "resolved": settings})
    parts = (searched.search, lambda ledger: ledger.freeze(study, "a budget"))
    ended = contents(searched.make(tmp_path / "ended", *parts))
    assert ended.study.num_trials < 40
    text = "".join(budget(ended))
    assert "of at most 40 trials" in text
    assert "optimiser steps" in text
    assert budget(contents(search_dir)) == []
