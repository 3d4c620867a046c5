"""Corpus and encoder beside the study's file: found by every command from another folder, the same cell elsewhere."""

import shutil

import pytest

from rse_study.data import builtin
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import read_result
from rse_study.results.records import CellRecord
from tests.cli.a_study import SEARCH, start

SETTINGS = """
  encoder: {name: ./my-encoder, pooling: mean}
  corpus: {source: sentences.txt}
  method: {lambda2: 0}
  budget: {unit: steps, amount: 2}
  batch_size: 8
  selection: {dev: builtin, every: 2}
"""


@pytest.fixture
def mine(tmp_path, models_folder):
    """A folder with sentences, an encoder, a study and a trial; commands are given in the folder above."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "sentences.txt").write_text("\n".join(builtin.corpus(0, 40)), encoding="utf-8")
    shutil.copytree(models_folder / "encoder", folder / "my-encoder")
    rest = "grid: {rows: {a: {}, b: {lambda1: 0}}}\nseeds: [0]\n"
    study = f"name: mine\nquestion: Is it found?\nbase:{SETTINGS}{rest}"
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    (folder / "trial.yaml").write_text(SETTINGS.replace("\n  ", "\n"), encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_it_is_found_before_anything_runs(rse, mine, command):
    ended = rse(command, "mine/study.yaml")
    assert (ended.code, ended.err) == (0, "")


def test_train_finds_it_and_the_cell_is_the_same_with_corpus_and_encoder_elsewhere(rse, mine, tmp_path):
    assert rse("train", "mine/trial.yaml", "--out", "beside").code == 0
    (tmp_path / "cache" / "data").mkdir()
    for name in ("sentences.txt", "my-encoder"):
        shutil.move(mine / name, tmp_path / "cache" / "data")
    assert rse("train", "mine/trial.yaml", "--out", "in-data").code == 0
    one, other = (read_result(tmp_path / name) for name in ("beside", "in-data"))
    assert one.identity == other.identity
    assert one.final == other.final


def test_dev_scores_of_equal_vectors_are_marked(rse, mine):
    (mine / "pairs.tsv").write_text("\u4e00\t\u4e01\t1\n\u4e02\t\u4e03\t2\n", encoding="utf-8")
    trained = rse("train", "mine/trial.yaml", "--out", "cell", "-o", "selection.dev=pairs.tsv")
    assert "pairs.tsv dev, untrained encoder: 0.00 (degenerate)\n" in trained.out
    assert "Spearman x100: 0.00 (degenerate) before, 0.00 (degenerate) after 2 steps" in trained.out


def test_replay_finds_it_by_the_studys_file(rse, mine, tmp_path):
    rse("train", "mine/trial.yaml", "--out", "cell")
    trained = read_result(tmp_path / "cell")
    with Ledger.open(tmp_path / "studies" / "mine") as ledger:
        ledger.freeze(SEARCH)
        start(ledger, CellRecord(identity=trained.identity, trial=0, seed=0, config=trained.config))
        ledger.record_result(trained)
    ended = rse("replay", "mine/study.yaml", "0")
    assert ended.code == 0
    assert "bit-equal" in ended.out


def test_what_is_nowhere_is_named_with_the_places_that_were_tried(rse, mine, tmp_path):
    (mine / "sentences.txt").unlink()
    shutil.rmtree(mine / "my-encoder")
    places = f"looked for in {mine}, {tmp_path} and {tmp_path / 'cache' / 'data'}. "
    for command in ("validate mine/study.yaml", "run mine/study.yaml", "train mine/trial.yaml"):
        ended, at = rse(*command.split()), "" if "trial" in command else "base."
        assert ended.code == 2
        assert f"{at}corpus.source = 'sentences.txt': no such file: {places}" in ended.err
        assert f"{at}encoder.name = './my-encoder': no such folder: {places}" in ended.err


def test_an_encoder_without_a_masked_lm_head_is_refused_where_one_is_needed(rse, mine, models_folder):
    shutil.rmtree(mine / "my-encoder")
    shutil.copytree(models_folder / "headless", mine / "my-encoder")
    for command in ("validate mine/study.yaml", "run mine/study.yaml", "train mine/trial.yaml"):
        at = "" if "trial" in command else "base."
        for generator in ("base", "./my-encoder"):
            method = f"{at}method={{lambda2: 0.5, rtd: {{generator: {generator}}}}}"
            ended = rse(*command.split(), "-o", method)
            assert ended.code == 2
            assert "'./my-encoder' was saved without a masked-LM head" in ended.err
    assert rse("validate", "mine/study.yaml").code == 0
