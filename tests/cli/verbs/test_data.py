"""`data list`, `data verify` and `data fetch`."""

import pytest

from rse_study.data.catalogue import catalogue
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
