import dataclasses
import math

import pandas as pd
import pytest

from analysis.scores import scores
from analysis.search import confirmed
from analysis.sections.confirmed import confirmation, gain_text, missing_text
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
    assert missing(fewer) == "Missing: 1 cell not even begun."
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
    assert " minus " not in html


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ([2.0], "better with 1 of 1 seed. One seed says nothing"),
        ([2.0, -1.0], "better with 1 of 2 seeds. Two seeds give no interval"),
        ([1.0, 2.0, 3.0], "better with 3 of 3 seeds. Standard deviation of the differences: 1.00."),
    ],
)
def test_few_seeds_are_called_few(found, gains, words):
    part = pd.DataFrame({"measure": "builtin/test", "seed": range(len(gains)), "difference": gains})
    assert words in gain_text(found, part)


def test_a_smaller_loss_is_better_and_a_search_that_the_base_won_is_said_to(found):
    objective = found.study.objective.model_copy(update={"direction": "minimize"})
    losses = dataclasses.replace(found, study=found.study.model_copy(update={"objective": objective}))
    part = pd.DataFrame({"measure": found.label, "seed": [1, 2], "difference": [-1.0, -2.0]})
    assert "better with 2 of 2" in gain_text(losses, part)
    assert "better with 0 of 2" in gain_text(losses, part.assign(measure="builtin/test"))
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
