import dataclasses
import math

import pytest

from analysis.scores import scores
from analysis.search import confirmed
from analysis.sections.results import confirmation, missing_text
from tests.analysis import searched
from tests.analysis.outline import Outline
from tests.analysis.searched import with_search


@pytest.fixture
def found(search_dir, contents):
    return contents(search_dir)


def missing(found):
    cells = confirmed(found)
    return missing_text(found, cells, scores(found, cells))


def test_what_is_missing_is_named(found):
    assert missing(found) == ""
    best = found.cells["identity"] == searched.cell(12, 2).identity
    cells = found.cells.assign(status=found.cells["status"].mask(best, "failed"))
    failed = dataclasses.replace(found, cells=cells)
    assert missing(failed) == "Missing: trial 12 (best of the search), seed 2 (failed)."
    fewer = dataclasses.replace(found, cells=found.cells[~best])
    assert missing(fewer) == "Missing: 1 cell not started."
    unmeasured = found.evaluations["subject"] != searched.cell(0, 1).identity
    bare = dataclasses.replace(found, evaluations=found.evaluations[unmeasured])
    assert missing(bare) == "Missing: base with seed 1 on builtin/test."


def test_without_a_confirm_stage_there_is_no_such_section_and_without_a_baseline_no_difference(found):
    study = found.study.model_copy(update={"resolved": {}})
    cells = found.cells[found.cells["stage"] == "search"]
    assert confirmation(dataclasses.replace(found, study=study, cells=cells)) == ""
    cells = found.cells[(found.cells["stage"] == "search") | (found.cells["label"] == "")]
    html = confirmation(dataclasses.replace(found, cells=cells))
    assert "trial 12 (best of the search)" in Outline(html).text
    assert (
        "Mean differences from before training" in Outline(html).text
    )  # no setting of the paper to compare with


def test_of_a_search_that_the_base_won_the_section_says_so(found):
    losers = found.cells["label"] == ""
    others = found.cells["objective"].where(~losers, 1.0)
    bases = set(found.cells.loc[~losers, "identity"])
    standings = tuple(
        dataclasses.replace(one, values=(1.0 if one.key in bases else math.nan,))
        for one in found.search.standings
    )
    changed = with_search(
        dataclasses.replace(found, cells=found.cells.assign(objective=others)), standings=standings
    )
    html = confirmation(changed)
    assert "The search's best trial was the base itself." in Outline(html).text
