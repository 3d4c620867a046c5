"""What `data fetch` gets from the hub is what studies look for: over HTTP, from a server with the hub's addresses."""

import hashlib
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from functools import partial

import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.data.catalogue import list_sets
from rse_study.data.pairs import StsPairs
from rse_study.data.readers import SUBSETS, read_sts
from rse_study.evaluation.sts import Similarity
from rse_study.study.checking.data_check import check_data, notes_on_data
from rse_study.study.checking.validation import read_study
from rse_study.study.record import provenance_of
from rse_study.training.materials import Materials
from tests.test_search_spaces import SHIPPED

REPOSITORY = "datasets/princeton-nlp/datasets-for-simcse/resolve/main"
FETCHED = ("wiki1m", *SUBSETS)
STUDY = SHIPPED / "paper" / "rse_table3.yaml"


class Hub(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, with the headers by which the hub's client knows a file."""

    def end_headers(self):
        self.send_header("ETag", f'"{hashlib.sha256(self.path.encode()).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        super().end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """The address of such a server; it has the corpus, and two pairs of each subset as SentEval has them."""
    root = tmp_path_factory.mktemp("hub")
    folder = root / REPOSITORY
    folder.mkdir(parents=True)
    (folder / "wiki1m_for_simcse.txt").write_text("One sentence.\nAnother one.\n", encoding="utf-8")
    with tarfile.open(folder / "senteval.tar", "w") as archive:
        for task, subsets in SUBSETS.items():
            for subset in subsets:
                add(archive, f"STS/{task}-en-test/STS.input.{subset}.txt", f"{subset} ca n't\tb\nc\td\n")
                add(archive, f"STS/{task}-en-test/STS.gs.{subset}.txt", "3.5\n0\n")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, directory=root)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def add(archive, name, text):
    """A text file of an archive."""
    info = tarfile.TarInfo(f"./{name}")
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text.encode()))


@pytest.fixture(scope="module")
def folder(hub, tmp_path_factory):
    """A data folder into which the command has fetched all of it."""
    root = tmp_path_factory.mktemp("fetched")
    subprocess.run(
        [sys.executable, "-m", "rse_study", "data", "fetch", *FETCHED, "--data", str(root / "data")],
        env={**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(root / "hub"), "HF_HUB_OFFLINE": "0"},
        check=True,
    )
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
    assert (pairs.variant, pairs.first[0]) == ("senteval", "MSRpar ca n't")
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
