"""What attacks are given, and where their texts lie, keep their names: cells and outcomes on disk hang on them."""

from pathlib import Path

import pytest

from rse_study.assets import replayed as of_replayed
from rse_study.assets.attack_resources import fingerprint_resources
from rse_study.assets.store import asset_path
from rse_study.data import builtin
from rse_study.training.trial import Encoder, Replayed
from tests import needs

MASKED_LM = "minilm-mlm"
# Of the project's data folder, as they were before recipes themselves said what they need.
RESOURCES = {
    "textfooler": "7a0cccba9ff43e5ea4d3586e83f14f954724d5ab3f4f6b7be7dfce1c2e60ef50",
    "textbugger": "e010826860830d509da009d85c434616436d8d6377ad56dbe819eb889fc2200c",
    "pwws": "c2dcd6440ea57c4192878b8ce060d8be82fe6479510aca3e6193691078b2be76",
    "bae": "524c9173f10f90af8dc349f9f007a20a9a7a9da6e5f5dcb900d2ad64974f038e",
    "bert_attack": "524c9173f10f90af8dc349f9f007a20a9a7a9da6e5f5dcb900d2ad64974f038e",
}
FOLDERS = {
    "textfooler": ("adversarial-cdad7792653a086d", "adversarial-texts-cac9d7dd31cbaa84"),
    "textbugger": ("adversarial-9ba868d828f42c14", "adversarial-texts-638a5e1aceab814b"),
    "pwws": ("adversarial-66fd28256e5c49a5", "adversarial-texts-6b357364ec51b77f"),
}


@pytest.fixture(autouse=True)
def _with_minilm():
    needs.minilm()


@pytest.mark.parametrize("recipe", RESOURCES)
def test_what_a_recipe_is_given_has_the_fingerprint_it_had(recipe, data_dir):
    assert fingerprint_resources(recipe, data_dir, MASKED_LM) == RESOURCES[recipe]


@pytest.mark.parametrize("recipe", FOLDERS)
def test_replayed_pairs_and_texts_lie_where_they_lay(recipe, data_dir, monkeypatch):
    monkeypatch.setattr(of_replayed, "build", lambda root, kind, key, make: asset_path(root, kind, key))
    replayed = Replayed(recipe=recipe, reference="minilm", labelled="builtin")
    encoder, dev = Encoder(name="minilm", pooling="mean"), builtin.graded_pairs("dev")
    reference = of_replayed.Reference.of(replayed, "", encoder)
    assert (
        of_replayed.adversarial_set(Path(), replayed, reference, dev, data_dir).name,
        of_replayed.adversarial_texts(Path(), replayed, reference, data_dir).name,
    ) == FOLDERS[recipe]
