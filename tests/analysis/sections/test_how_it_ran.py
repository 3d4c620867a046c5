from analysis.sections.account import budget
from tests.analysis import searched


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
