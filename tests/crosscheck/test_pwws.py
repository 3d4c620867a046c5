"""PWWS beside TextAttack's own: what `python -m tests.crosscheck.pwws` does, on a few inputs and a small victim."""

import json
import os
import sys

import numpy as np
import pytest
import torch

from rse_study.assets.tiny import TinyEncoder, random_model
from rse_study.assets.word_pieces import train_tokenizer
from rse_study.data.attack_sets import read_attack_set
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.evaluation.attacks.recipes import PWWS
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.models.classifier import Classifier
from rse_study.models.classifier_folder import load_classifier, save_classifier
from rse_study.models.loading import load_encoder
from rse_study.models.text_classifier import TextClassifier
from tests.crosscheck.bridge import TextAttack
from tests.crosscheck.pwws import Scene, alone, compare, main, targets_of

NUM_INPUTS = 5
SMALL = TinyEncoder(hidden_size=32, num_layers=2, num_heads=2, intermediate_size=64, initializer_range=0.3)


@pytest.fixture(scope="module")
def textattack() -> str:
    """The interpreter of an environment with TextAttack."""
    interpreter = os.environ.get("RSE_STUDY_TEXTATTACK")
    if not interpreter:
        pytest.skip("RSE_STUDY_TEXTATTACK is not set: the python of an environment with textattack==0.3.10")
    return interpreter


@pytest.fixture(scope="module")
def victim(data_dir, tmp_path_factory):
    """A classifier with random weights, undecided between its classes: about half of the inputs are attacked."""
    base, folder = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("victim")
    texts = read_attack_set("mr", data_dir).texts[:100]
    tokenizer = train_tokenizer([text for (text,) in texts], 1000, 128)
    tokenizer.save_pretrained(base)
    random_model(SMALL, len(tokenizer)).save_pretrained(base)
    encoder, tokenizer = load_encoder(base, "mean")
    network = Classifier(encoder, 2, 0.0, torch.Generator().manual_seed(0))
    classifier = TextClassifier(network, tokenizer, ("negative", "positive"), 64)
    with torch.no_grad():
        network.head.weight.normal_(0, 0.3, generator=torch.Generator().manual_seed(1))
        network.head.bias.copy_(-torch.tensor(np.median(classifier.outputs(texts[:NUM_INPUTS]), axis=0)))
    save_classifier(folder, classifier)
    return folder


@pytest.fixture(autouse=True)
def real_data(data_dir, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_DATA", str(data_dir))


@pytest.mark.slow
def test_without_textattack_it_is_said_what_is_missing(victim, capfd):
    # This environment cannot have it: it forces transformers 4.
    assert main(["--victim", str(victim), "--textattack", sys.executable, "--inputs", "1"]) == 2
    said = capfd.readouterr().err
    assert "no TextAttack" in said
    assert "an environment with textattack==0.3.10" in said


def test_an_interpreter_that_is_none_is_refused(victim, capfd):
    assert main(["--victim", str(victim), "--textattack", str(victim / "python"), "--inputs", "1"]) == 2
    assert "does not start: No such file" in capfd.readouterr().err


def test_input_by_input_they_are_equal_or_differ_by_a_named_choice(textattack, victim, tmp_path, capfd):
    out = tmp_path / "report.json"
    asked = ["--victim", str(victim), "--textattack", textattack, "--out", str(out)]
    assert main([*asked, "--inputs", "2"]) == 0
    assert main([*asked, "--inputs", str(NUM_INPUTS)]) == 0  # goes on behind the two
    found = json.loads(out.read_text())
    assert found["num_inputs"] == found["ours"]["num_inputs"] == NUM_INPUTS
    assert found["ours"]["num_succeeded"] > 0
    assert found["ours"]["num_queries"] > 100
    assert found["versions"]["textattack"] == "0.3.10"
    assert len((tmp_path / "report.ours.jsonl").read_text().splitlines()) == 1 + NUM_INPUTS
    assert f"equal, of {NUM_INPUTS}" in capfd.readouterr().out


def test_another_pwws_is_found_out(textattack, victim, data_dir, tmp_path):
    """The paper's weight visits words in another order: queries differ, and no rounding explains it."""
    targets = targets_of(read_attack_set("mr", data_dir), NUM_INPUTS)
    predict = alone(load_classifier(victim).predict)
    scene = Scene(PWWS(effect="increase").build(AttackResources(data_dir)), predict, targets)
    with TextAttack(textattack, predict, data_dir) as other:
        kept = [OutcomeStore(tmp_path / f"{side}.jsonl", {}) for side in ("ours", "theirs")]
        found = compare(scene, other, *kept)
    assert found["num_of_each_reason"].get("unexplained", 0) > 0
