"""What a task with a GPU computes, it computes there: no model of an attack is left on the CPU."""

import pytest

from rse_study.assets.attack_resources import resources_for
from rse_study.data.labelled import Labelled
from rse_study.downstream import Attacks, Settings
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.downstream.attacked_similarity import AttackedSimilarity
from rse_study.downstream.models import ModelFiles
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from tests import needs
from tests.downstream.test_attacked_similarity import FITTING, PAIRS
from tests.simulated_card import simulated_card
from tests.tiny_models import save_bert, word_tokenizer
from tests.training.classifier.sorted_words import GROUPS, LEARNS, singles, small_base


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    small_base(folder)
    return str(folder)


@pytest.fixture
def masked_lm(tmp_path):
    return str(save_bert(tmp_path / "masked_lm", word_tokenizer([*GROUPS[0], *GROUPS[1]])))


@pytest.mark.parametrize("recipe", ["pwws", "bert_attack"])
def test_a_classifiers_attack_asks_its_models_on_the_card_and_finds_the_same(
    recipe, base, masked_lm, data_dir, tmp_path, monkeypatch
):
    needs.minilm()
    training, resources = singles(80), resources_for(recipe, data_dir, masked_lm)
    inputs = Labelled("attack-toy", "test", training.texts[:3], training.labels[:3], training.classes)
    settings = Settings(Attacks(masked_lm=masked_lm), LEARNS)
    asked = AttackedClassifier(inputs, training, recipe, settings, resources, "")
    made = asked.victim(ModelFiles(base, "mean", tmp_path, tmp_path))
    found = asked.attacked(made, tmp_path / "cpu")[0]
    with simulated_card(monkeypatch) as card:
        again = asked.attacked(made, tmp_path / "card", device="cuda")[0]
    assert card.num_products > 0
    own = {"num_now", "seconds_now"}
    assert again.model_dump(exclude=own) == found.model_dump(exclude=own)


def test_similarity_under_attack_asks_its_models_on_the_card(
    base, masked_lm, data_dir, tmp_path, monkeypatch
):
    needs.minilm()
    resources = resources_for("bert_attack", data_dir, masked_lm)
    asked = AttackedSimilarity(PAIRS, FITTING, "bert_attack", Attacks(num_inputs=2), resources, "")
    encoder, tokenizer = load_encoder(base, "mean")
    with simulated_card(monkeypatch) as card:
        weights = ModelFiles(base, "mean", tmp_path, tmp_path / "kept", device="cuda")
        row = asked.attacked(Embedder(encoder.to("cuda"), tokenizer), weights)[0]
    assert row.num_inputs == 2
    assert card.num_products > 0
