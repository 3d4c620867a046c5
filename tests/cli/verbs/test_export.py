"""`export` refuses what has no model, and where it cannot write."""

import shutil
from pathlib import Path

import pytest

from rse_study.models.model_files import StoredPooling, store_pooling
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import read_result
from tests.analysis import gridded, tabled
from tests.results.world import score_of


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("best", "trial best kept no model"),
        ("0", "kept no model"),
        ("0/7", "no cell '0/7'"),
    ],
)
def test_a_trial_without_a_model_cannot_be_exported(rse, ran, trial, said):
    ended = rse("export", "little", "out", "--trial", trial)
    assert ended.code == 2
    assert said in ended.err


def test_an_export_has_a_card_with_its_scores_configuration_and_source(rse, ran, models_folder):
    cell = next(folder for folder in (ran / "cells").iterdir() if read_result(folder).status == "complete")
    model = Path(shutil.copytree(models_folder / "encoder", cell / "model"))
    with Ledger.open(ran) as ledger:
        ledger.record_evaluations([score_of(read_result(cell).identity, 61.5)])
    store_pooling(model, StoredPooling(pooling="cls"))
    assert rse("export", "little", "out").code == 0
    card = Path("out/README.md").read_text()
    assert card.startswith("---\n")
    for words in (
        "library_name: sentence-transformers",
        "'pooling_mode': 'cls'",
        "| pairs/test | 61.50 |",
        "study 'little', revision 1",
        '"unit": "steps"',
        "seed 0",
    ):
        assert words in card, words


@pytest.mark.parametrize("directory", ["file", "file/x"])
def test_an_export_that_cannot_be_written_is_refused(rse, models_folder, tmp_path, directory):
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "model").symlink_to(models_folder / "encoder")
    (tmp_path / "file").write_text("")
    ended = rse("export", "cell", directory)
    assert ended.code == 2
    assert f"DIR {directory}: " in ended.err
    assert "Name another folder" in ended.err


def test_a_grid_says_which_cell_to_name(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "parts") as ledger:
        gridded.grid(ledger)
    ended = rse("export", "parts", "out")
    assert ended.code == 2
    assert ended.err == (
        "studies/parts: --trial best: a grid has no best trial. Name a cell, TRIAL/SEED: "
        "--trial 3/0 is base, seed 0, the row with the best mean (75.50)\n"
    )


def test_a_grid_that_has_not_ended_says_so(rse, tmp_path):
    tabled.make(tmp_path / "studies" / "begun", {"SimCSE": (tabled.PLANNED, tabled.RUNNING)})
    ended = rse("export", "begun", "out")
    assert ended.code == 2
    assert "no cell is complete yet" in ended.err
