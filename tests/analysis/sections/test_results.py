import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

import rse_study
from analysis.answer import StageProgress
from analysis.figures.search_features import path_data
from analysis.formats import show_signed
from analysis.report import write_report
from analysis.scores import scores
from analysis.search import confirmed
from analysis.search_answer import stage_progress
from analysis.sections.axes import ablation_path, importance, path_table
from analysis.sections.opening import states
from analysis.sections.results import both_ways_text, confirmation, missing_text, scores_table
from rse_study.cli.verbs.check import check_study
from rse_study.evaluation.sts import spearman
from rse_study.results.comparing.item_contrasts import NOT_KEPT, TOO_FEW
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import ITEMS_FILE
from rse_study.results.files.schema import cell_folder
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from tests.analysis import searched, tabled
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


# New pairs: both intervals in frames, page and check, and the pairs that moved.


ROWS = {"SimCSE": (70.0, 71.0, 72.0), "DCL": (73.0, 74.5, 75.0), "few": (70.0, 70.0, tabled.FAILED)}
METRIC = "STS-B/test/all"
MOVED = 17


@pytest.fixture
def folder(tmp_path):
    """Rows of one grid with the cosines of 200 pairs; DCL alone raises the cosine of one of them."""
    folder = tabled.make(tmp_path / "studies" / "tabled", ROWS, baseline="SimCSE")
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 26, 200) / 5
    shared = gold / 5 + rng.normal(0, 0.3, 200)
    with Ledger.open(folder) as ledger:
        for cell in ledger.cells():
            if cell.status == "complete":
                cosines = (
                    shared + rng.normal(0, 0.02, 200) - 3 * (cell.label == "DCL") * (np.arange(200) == MOVED)
                )
                row = tabled.scored(METRIC, cell.identity, 100 * spearman(cosines, gold))
                ledger.record_evaluations([row.model_copy(update={"items": ItemScores.of(cosines, gold)})])
    return folder


def identities(folder, label):
    with Reader(folder) as reader:
        cells = reader.cells()
    return cells.loc[cells["label"] == label, "identity"].tolist()


def crossed_of(folder, row, metric=METRIC):
    frame = rse_study.open_study(folder).crossed
    return frame[(frame["metric"] == metric) & (frame["row"] == row)].iloc[0]


def test_the_interval_for_new_pairs_holds_the_one_for_new_seeds(folder):
    one = crossed_of(folder, "DCL")
    assert (one["num_items"], one["num_seeds"], one["note"]) == (200, 3, "")
    assert one["crossed_low"] < one["seeds_low"] < one["mean"] < one["seeds_high"] < one["crossed_high"]
    assert crossed_of(folder, "few")["note"] == TOO_FEW


def test_page_and_check_show_both_and_the_page_goes_to_the_pair_that_moved(folder, capsys):
    page = write_report(folder).read_text(encoding="utf-8")
    section = page[page.index('id="section-new-pairs"') :]
    one = crossed_of(folder, "DCL")
    assert show_signed(one["crossed_low"], 2) in section
    assert f"{MOVED} (-" in section
    check_study("tabled", store=folder.parent, is_wide=True)
    said = capsys.readouterr().out
    assert "new seeds and new items" in said
    assert "Item scores were not kept for 1 difference on STS-B dev" in said


def test_where_a_cell_has_none_it_is_said_and_nothing_fails(folder, capsys):
    (cell_folder(folder, identities(folder, "DCL")[1]) / ITEMS_FILE).unlink()
    one = crossed_of(folder, "DCL")
    assert one["note"] == NOT_KEPT and np.isnan(one["crossed_low"]) and one["seeds_low"] < one["seeds_high"]
    for cell in identities(folder, "DCL"):
        (cell_folder(folder, cell) / ITEMS_FILE).unlink(missing_ok=True)
    assert "New pairs" not in write_report(folder).read_text(encoding="utf-8")
    check_study("tabled", store=folder.parent)
    assert "Item scores were not kept" in capsys.readouterr().out


def test_few_trials_get_a_caution_and_importance_goes_by_the_mean_over_evaluators(search_dir, contents):
    found = contents(search_dir)
    assert "6 trials cannot tell" in importance(found)
    many = dataclasses.replace(found, importance=found.importance.assign(num_trials=30))
    assert "cannot tell" not in importance(many)
    text = Outline(importance(found)).text
    # rho: 5/36 and 8/36, the largest sum; alpha: 1/36 and 4/36, the smallest.
    assert text.index("rho") < text.index("norm") < text.index("alpha")
    assert "0.14" in text
    assert "0.22" in text
    assert importance(dataclasses.replace(found, importance=found.importance[:0])) == ""


def test_the_section_says_what_flatters_and_what_the_other_flips_would_have_brought(
    path_dir, contents, search_dir
):
    text = Outline(ablation_path(contents(path_dir))).text
    assert "to the best trial (12), which differ on 8 axes" in text
    assert "not used in the search: 1, 2 and 3." in text
    assert "which flatters its gain" in text
    assert "not finished" not in text
    found = contents(path_dir)
    by_importance = with_search(found, path=dataclasses.replace(found.search.path, order="importance"))
    assert "flatters" not in Outline(ablation_path(by_importance)).text
    assert ablation_path(contents(search_dir)) == ""
    assert "Ablation path" not in states(contents(search_dir))
    table = path_table(path_data(contents(path_dir)), 2)
    assert table["axis"].tolist() == ["lambda2", "norm", "alpha", "beta", "phi", "N", "lambda1", "rho"]
    assert table["gain"].iloc[0] == "+1.60 (+0.22 to +2.98)"
    assert table["total"].iloc[1] == "+2.50"
    others = table["gains of the other flips"]
    assert "gains of the other flips" not in path_table(path_data(contents(path_dir)).query("is_kept"), 2)
    assert others.iloc[0].startswith("norm +1.40, alpha +0.90")
    assert others.iloc[-1] == ""


def test_how_far_the_path_is(path_dir, tmp_path, contents):
    found = contents(path_dir)
    assert stage_progress(found, "path") == StageProgress(107, 107)
    assert "Ablation path: 107 of 107 cells complete." in states(found)

    def one_round(ledger):
        searched.path(ledger, num_rounds=1)

    begun = contents(searched.make(tmp_path / "joint", searched.search, searched.confirm, one_round))
    assert "Ablation path: 25 of 107 cells complete, 82 to run." in states(begun)
    assert "The path is not finished" in Outline(ablation_path(begun)).text
