"""What `data fetch` gets is what studies look for: over HTTP, from a server with the addresses of hub and GitHub."""

import json
import shutil

import numpy as np
import pytest

from rse_study.cli.app import app
from rse_study.data import SUBSETS
from rse_study.data.builtin import graded_pairs
from rse_study.data.catalogue import catalogue, list_sets, present, verify
from rse_study.data.labelled import StsPairs
from rse_study.data.labelled_sets import REVIEWS, read_labelled, read_squad
from rse_study.data.readers import read_sts
from rse_study.evaluation.sts import Similarity
from rse_study.study.checking.data_check import check_data, needs_of, notes_on_data
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.shipped import shipped_studies
from rse_study.study.record import provenance_of
from rse_study.training.materials import Materials
from tests import needs
from tests.cases import cases
from tests.hub import ask_only, serve
from tests.mirror import content_of, write_mirror
from tests.test_search_spaces import SHIPPED
from tests.tiny_models import save_bert, word_tokenizer

FETCHED = ("wiki1m", *SUBSETS)
STUDY = SHIPPED / "paper" / "rse_table3.yaml"
BY_HAND = {"wikitext2", *(f"STS{year}-orig" for year in range(12, 17))}
BERT = "bert-base-uncased"


def fetch(*arguments):
    """Run the command in this process, and return its exit code."""
    with pytest.raises(SystemExit) as ended:
        app(["data", "fetch", *map(str, arguments)], prog_name="rse-study")
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder into which the command has fetched some sets, all made up."""
    root = tmp_path_factory.mktemp("fetched")
    write_mirror(root / "served", root / "nothing", FETCHED)
    with pytest.MonkeyPatch.context() as patch, serve(root / "served") as server:
        ask_only(server, root / "cache", patch)
        assert fetch(*FETCHED, "--data", root / "data") == 0
    return root / "data"


def missing_in(data_dir):
    """What the data check misses of a study that reads all of it: names of sets and files."""
    problems = [str(problem) for problem in check_data(read_study(STUDY), data_dir)]
    names = {"wiki1m": "corpus.source", **{name: f"'{name}/test'" for name in SUBSETS}}
    return {name for name, word in names.items() if any(word in problem for problem in problems)}


def test_a_study_finds_what_was_fetched_and_pairs_know_which_copy_was_read(folder, tmp_path):
    assert missing_in(tmp_path) == set(FETCHED)
    assert missing_in(folder) == set()
    listed = [entry for entry in list_sets(folder) if entry.name in FETCHED]
    assert len(listed) == len(FETCHED) and all(one.num_present == one.num_files for one in listed)
    pairs = read_sts("STS12", "test", folder)
    assert (pairs.variant, pairs.first[0]) == ("senteval", "one")
    assert StsPairs.from_json(json.loads(json.dumps(pairs.to_json()))).variant == "senteval"


def test_a_study_says_which_copy_it_reads(folder, tmp_path):
    study = read_study(SHIPPED / "quickstart.yaml", ["evaluations=[STS12/test, STS13/test]"])
    assert [note.partition(":")[0] for note in notes_on_data(study, folder)] == ["STS12/test, STS13/test"]
    evaluations = [Similarity.read(name, folder) for name in study.study.evaluations]
    materials = Materials(corpus=tmp_path, base="", dev=graded_pairs("dev"))
    told = provenance_of(materials, study.study.resources, evaluations)
    assert told["texts as SentEval has them"] == "STS12/test, STS13/test"


def test_the_published_copy_comes_first_but_only_as_a_whole(folder, tmp_path):
    shutil.copytree(folder / "sts" / "STS13", tmp_path / "sts" / "STS13")
    published = shutil.copytree(tmp_path / "sts/STS13/senteval", tmp_path / "sts/STS13/orig")
    assert read_sts("STS13", "test", tmp_path).variant == "orig"
    study = read_study(SHIPPED / "quickstart.yaml", ["evaluations=[STS13/test]"])
    assert notes_on_data(study, tmp_path) == []
    next(published.iterdir()).unlink()
    assert read_sts("STS13", "test", tmp_path).variant == "senteval"


@pytest.fixture(scope="module")
def served(data_dir, tmp_path_factory):
    """A server with all that the catalogue fetches, and with BERT's name; the cache that was filled from it."""
    root = tmp_path_factory.mktemp("served")
    write_mirror(root, data_dir)
    words = word_tokenizer(["red", "cat"], pairs=False, max_length=None)
    save_bert(root / "models" / BERT, words, num_hidden_layers=12)  # as many as the studies' masks ask for
    with pytest.MonkeyPatch.context() as patch, serve(root) as server:
        ask_only(server, tmp_path_factory.mktemp("cache"), patch)
        yield server


@pytest.fixture(scope="module")
def whole(served, data_dir, tmp_path_factory):
    """A data folder into which the command has fetched all that has a home; the rest was placed by hand."""
    folder = tmp_path_factory.mktemp("whole")
    names = [name for name in catalogue() if catalogue().get(name).homes]
    assert {*catalogue()} - {*names} == BY_HAND
    assert fetch(*names, "--accept-licence", "--data", folder) == 0
    assert fetch("--for", "rse_table1", "--data", folder) == 0  # its models
    (sentences,) = catalogue().get("wikitext2").files
    (folder / sentences.path).write_bytes(content_of(sentences, data_dir))
    return folder


def test_what_is_fetched_has_the_checksums_of_the_catalogue(whole):
    """All but what a table of the hub is written as: the source of their checksums is another one."""
    measured = {file.path for name in catalogue() for file in catalogue().get(name).files if file.sha256}
    rows = [row for row in verify([], whole) if row.path in measured and row.status != "missing"]
    assert len(rows) > 80
    tables = {f"sts/STSBenchmark/orig/sts-{split}.csv" for split in ("train", "dev", "test")}
    converted = {f"nli/anli/R{number}/dev.jsonl" for number in (1, 2, 3)}
    converted |= {f"squad/{split}-v1.1.json" for split in ("train", "dev")}
    assert {row.path: row.status for row in rows if row.status != "ok"} == dict.fromkeys(
        tables | converted, "fetched"
    )


def test_what_no_shipped_study_reads_alone_is_fetched_as_its_reader_reads_it(whole):
    assert [read_squad(split, whole).answers[0] for split in ("train", "dev")] == [("red cat",)] * 2
    claim, evidence = read_labelled("FEVER", "dev", whole).texts[0]
    assert claim == "A cat." and evidence.endswith("a red cat 0.")  # the claim comes second in the file
    assert [np.bincount(read_labelled(name, "test", whole).labels).tolist() for name in REVIEWS] == [
        [10, 10]
    ] * 2


def only_what_is_needed(study, whole, folder):
    """A data folder with the sets that a study is said to need, and nothing else."""
    for name in needs_of(study).sets:
        for file in catalogue().get(name).files:
            path = present(file, whole)
            if path is not None:
                target = folder / path.relative_to(whole)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.exists() or target.symlink_to(path)
    return folder


@cases("path", list(shipped_studies()), ids=lambda path: path.stem)
def test_a_shipped_study_needs_nothing_but_what_it_is_said_to_need(whole, tmp_path, monkeypatch, path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    study = read_study(path)
    if any(name.startswith(("attack-", "Adv")) for name in study.study.evaluations):
        needs.minilm()
    folder = only_what_is_needed(study, whole, tmp_path / path.stem)
    assert [str(problem) for problem in check_data(study, folder)] == []
    assert [note for note in notes_on_data(study, folder) if "cannot be checked" in note] == []
