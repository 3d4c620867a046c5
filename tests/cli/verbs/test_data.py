"""`data list`, `data verify` and `data fetch`."""

import shutil

import pytest

from rse_study.data import builtin
from rse_study.data.catalogue import catalogue
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import read_result
from rse_study.results.records import CellRecord
from tests.cli.a_study import SEARCH, start
from tests.hub import ask_only, serve
from tests.mirror import write_mirror
from tests.tiny_models import save_bert, word_tokenizer

STUDY = """
extends: {quickstart}
name: mine
base:
  encoder: {{name: some/bert}}
  corpus: {{source: [wiki/wiki1m/wiki1m_for_simcse.txt, wiki/wikitext2/sentences.txt, ~/own.txt]}}
evaluations: [STS13/test, SICK-R/test]
"""


@pytest.fixture
def study(tmp_path):
    """A study of made-up sets, one to be placed by hand, a corpus of one's own and a model on the hub."""
    from tests.test_search_spaces import SHIPPED

    (tmp_path / "mine.yaml").write_text(STUDY.format(quickstart=SHIPPED / "quickstart.yaml"))
    return "mine.yaml"


@pytest.fixture
def server(tmp_path, monkeypatch):
    served = tmp_path / "served"
    write_mirror(served, tmp_path / "nothing", ["wiki1m", "STS13", "SICK-R"])
    # Of so many words that its weights have 2.1 MB, its tokenizer 0.6.
    save_bert(served / "models/some/bert", word_tokenizer(map(str, range(30_000))))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.txt").write_text("one\ntwo\n")
    with serve(served) as server:
        ask_only(server, tmp_path / "cache", monkeypatch)
        yield server


def test_data_sets_are_listed_with_licence_and_place(rse):
    ended = rse("data", "list")
    assert ended.code == 0
    assert "STS12: " in ended.out
    assert "0 of" in ended.out
    lines = ended.out.splitlines()
    for name in catalogue():
        place = lines[next(at for at, line in enumerate(lines) if line.startswith(f"{name}: ")) + 1]
        assert place.startswith(f"    {catalogue().get(name).common_path}; {catalogue().get(name).licence}")
    assert "    place by hand: wiki/wikitext2/sentences.txt\n" in ended.out
    assert "    then check: rse-study data verify wikitext2\n" in ended.out
    assert "by hand: wiki/wiki1m" not in ended.out


def test_a_changed_file_is_found(rse, tmp_path):
    path = tmp_path / "data" / "sts" / "STS12" / "senteval" / "STS.gs.MSRpar.txt"
    path.parent.mkdir(parents=True)
    path.write_text("4.0\n")
    ended = rse("data", "verify", "STS12", "--data", str(tmp_path / "data"))
    assert ended.code == 2
    assert "different" in ended.out


def test_a_study_is_listed_with_all_it_reads_and_fetched_with_sizes_beforehand(rse, server, study, tmp_path):
    data = ("--data", str(tmp_path / "data"))
    ended = rse("data", "list", study, *data)
    assert (
        "wiki1m: a million Wikipedia sentences, SimCSE's training corpus [0 of 1 files here, can" in ended.out
    )
    assert f"corpus ~/own.txt: here, {tmp_path / 'own.txt'}\n" in ended.out
    assert "model some/bert: on the hub, can be fetched\n" in ended.out
    assert ended.next.startswith("rse-study data fetch --for mine.yaml")

    refused = rse("data", "fetch", "--for", study, *data)
    assert refused.code == 2
    assert "SICK-R (CC BY-NC-SA 3.0): the licence forbids some uses" in refused.err
    assert "--accept-licence" in refused.err and not (tmp_path / "data").exists()

    server.cut["model.safetensors"] = 1_000_000
    ended = rse("data", "fetch", "--for", study, "--accept-licence", *data)
    assert ended.code == 2
    assert "SICK-R: 0.0 MB; CC BY-NC-SA 3.0\n" in ended.out
    assert "model some/bert: 2.7 MB\n" in ended.out
    assert "total download: 2.7 MB\n" in ended.out
    assert "model.safetensors: cannot be fetched (cut off after 1,000,000 of 2,0" in ended.err

    ended = rse("data", "fetch", "--for", study, *data)  # the sets are here, and half of the model
    assert ended.code == 3
    assert server.asked[-1][2] is None and "bytes=1000000-" in {wanted for *_, wanted in server.asked}
    assert "    place by hand: wiki/wikitext2/sentences.txt\n" in ended.out
    assert "missing here: mine.yaml: base.corpus.source = 'wiki/wikitext2/sentences.txt'" in ended.err

    (tmp_path / "data/wiki/wikitext2").mkdir()
    (tmp_path / "data/wiki/wikitext2/sentences.txt").write_text("three\nfour\n")
    ended = rse("data", "fetch", "--for", study, *data)
    assert (ended.err, ended.code, ended.next) == ("", 0, "rse-study validate mine.yaml")
    assert "model some/bert: here\n" in rse("data", "list", study, *data).out


def test_a_set_that_another_stands_in_for_is_not_fetched(rse, server, study, tmp_path):
    for file in catalogue().get("STS13-orig").files:
        (tmp_path / "data" / file.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / file.path).write_text("1.0\n" if ".gs." in file.path else "a\tb\n")
    data = ("--data", str(tmp_path / "data"))
    assert "[STS13-orig is used instead]" in rse("data", "list", study, *data).out
    assert "STS13" not in rse("data", "fetch", "--for", study, "--accept-licence", *data).out


def test_nothing_named_is_nothing_to_fetch(rse):
    ended = rse("data", "fetch")
    assert ended.code == 2
    assert "nothing to fetch. Name sets (rse-study data list), or a study by --for" in ended.err


# Corpus and encoder beside the study's file: found by every command from another folder, the same cell elsewhere.


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


# `doctor`: what is missing.


def test_the_doctor_says_what_is_missing(rse):
    ended = rse("doctor")
    assert ended.code == 0
    assert "data folder" in ended.out
    assert "a cell of BERT-base takes 5.3 GB while it runs" in ended.out
    assert "is not there; set RSE_STUDY_DATA" in ended.out
