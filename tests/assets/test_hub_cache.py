"""Names of the hub, without a network: what lies in its cache is loaded, and its commit is its fingerprint."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import BertForMaskedLM

from rse_study.assets.fingerprint import fingerprint_of_model

pytestmark = pytest.mark.xdist_group("hub_cache")  # what the fixtures made is used by all
ROOT = Path(__file__).parents[2]
NAME = "somebody/small-bert"
LONGER = 1.25
COMMITS = {"main": "a" * 40, "later": "b" * 40}


def lay_down(source: Path, home: Path) -> None:
    """Two commits in the hub's layout; the word embeddings of the later one are a little longer."""
    repository = home / "hub" / f"models--{NAME.replace('/', '--')}"
    for reference, commit in COMMITS.items():
        shutil.copytree(source, repository / "snapshots" / commit)
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / reference).write_text(commit)
    later = repository / "snapshots" / COMMITS["later"]
    model = BertForMaskedLM.from_pretrained(later)
    model.bert.embeddings.word_embeddings.weight.data.mul_(LONGER)
    model.save_pretrained(later)


@pytest.fixture(scope="module")
def found(small, sentences, tmp_path_factory):
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("session")
    lay_down(small, home)
    (folder / "sentences.txt").write_text("\n".join(sentences))
    settings = {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    command = [sys.executable, str(Path(__file__).with_name("hub_session.py")), NAME, str(folder)]
    run = subprocess.run(command, env={**kept, **settings}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_a_name_is_an_encoder(found, small):
    assert found["pooling"] == "mean"
    assert found["tokens"] == BertForMaskedLM.from_pretrained(small).config.vocab_size
    assert found["untrained"] == 32


def test_the_revision_is_the_one_asked_for(found):
    assert found["weights"]["later"] == pytest.approx([LONGER * w for w in found["weights"]["main"]])


def test_the_commit_is_the_fingerprint(found, small):
    assert found["prints"] == {reference: f"{NAME}@{commit}" for reference, commit in COMMITS.items()}
    assert found["prints"]["main"] != fingerprint_of_model(str(small))


def test_base_and_generator_of_a_run_have_the_commit(found):
    assert found["generator"] == NAME
    assert found["fingerprints"]["base"] == found["fingerprints"]["generator"] == f"{NAME}@{COMMITS['later']}"
    assert found["last"] == 2


def test_what_is_not_in_the_cache_is_refused(found):
    for message, name in (("no such name", "somebody/nothing"), ("no such revision", NAME)):
        assert found[message].startswith(f"{name}: cannot be loaded"), found[message]
        assert "fill the hub's cache first (HF_HOME)" in found[message]
