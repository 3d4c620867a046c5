"""New pairs: both intervals in frames, page and check, and the pairs that moved."""

import numpy as np
import pytest

import rse_study
from analysis.formats import show_signed
from analysis.report import write_report
from rse_study.cli.verbs.check import check_study
from rse_study.evaluation.sts import spearman
from rse_study.results.comparing.item_contrasts import NOT_KEPT, TOO_FEW
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import ITEMS_FILE
from rse_study.results.files.schema import cell_folder
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from tests.analysis import tabled

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
