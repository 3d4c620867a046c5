import dataclasses
import math

import pandas as pd
import pytest

from analysis.scores import scores
from analysis.search import confirmed
from analysis.sections.results import both_ways_text, confirmation, missing_text, scores_table
from tests.analysis import searched
from tests.analysis.outline import Outline
from tests.analysis.searched import with_search


def test_columns_of_seeds_are_behind_a_switch_and_a_mean_has_its_spread(search_dir, contents):
    found = contents(search_dir)
    html = scores_table(found, scores(found, confirmed(found)), "confirmed")
    extra = [attrs["class"] for tag, attrs in Outline(html).tags if "extra" in attrs.get("class", "")]
    assert len(extra) == 2 * 2 * 6  # two seeds of two measures, in five rows and their heading
    assert "mean \N{PLUS-MINUS SIGN} SD" in html


def test_rows_that_are_better_here_and_worse_there_are_named_by_their_intervals(search_dir, contents):
    found = contents(search_dir)
    lines = [
        ("two-faced", found.label, 1.0, 0.5, 1.5), ("two-faced", "builtin/test", -2.0, -2.5, -1.5),
        ("unsure", found.label, 1.0, 0.5, 1.5), ("unsure", "builtin/test", -2.0, -4.5, 0.5),
    ]  # fmt: skip
    frame = pd.DataFrame(lines, columns=["row", "measure", "difference", "low", "high"]).assign(decimals=2)
    expected = f"two-faced (+1.00 on {found.label}, \N{MINUS SIGN}2.00 on builtin/test)."
    assert both_ways_text(found, frame) == f"Better on one measure and worse on another: {expected}"
    assert both_ways_text(found, frame[2:]) == ""


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
