"""Steps of budgets that count epochs."""

from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.downstream import Attacks, Settings
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.errors import InputError
from rse_study.study.planning.data_sizes import PASSES, READ_PER_INPUT, DataSizes, sentences_of
from rse_study.training.classifier import FineTuning
from rse_study.training.trial import Trial
from tests.on_ray.world import make_materials


@pytest.fixture
def num_steps(content, tmp_path):
    sizes = DataSizes(tmp_path)

    def of(**changes):
        return sizes.num_steps(Trial.model_validate({**content["base"], **changes})), sizes.supposed

    return of


def test_epochs_drop_the_incomplete_batch_of_the_distinct_sentences_of_their_corpus(num_steps, tmp_path):
    epochs = {"unit": "epochs", "amount": 3}
    assert num_steps(budget={"unit": "steps", "amount": 60}) == (60, [])
    assert num_steps(budget=epochs) == (3 * 250, [])
    assert num_steps(budget=epochs, corpus={"source": "builtin", "limit": 100}) == (3 * 3, [])
    (tmp_path / "c.txt").write_text("\n".join(f"sentence {i % 70}" for i in range(200)))
    assert num_steps(budget=epochs, corpus={"source": "c.txt"}) == (3 * 2, [])


def test_what_was_prepared_is_not_read_again_to_be_counted(content, tmp_path):
    corpus = {"source": "not/here.txt"}
    trial = Trial.model_validate(
        content["base"] | {"budget": {"unit": "epochs", "amount": 2}, "corpus": corpus}
    )
    materials, sizes = replace(make_materials(tmp_path), num_sentences=320), DataSizes(tmp_path)
    assert sizes.counting(lambda trial: materials)(trial) is materials
    assert sizes.num_steps(trial) == 2 * 320 / 32


def test_a_corpus_that_is_not_here_counts_as_its_limit_and_without_one_is_refused(num_steps):
    epochs = {"unit": "epochs", "amount": 2}
    steps, (said,) = num_steps(budget=epochs, corpus={"source": "not/here.txt", "limit": 6400})
    assert steps == 2 * 6400 / 32
    assert "not/here.txt is not here: assumed to hold 6,400 sentences" in said
    with pytest.raises(InputError, match="no such file"):
        num_steps(budget=epochs, corpus={"source": "not/here.txt"})


TEN_WORDS = "a text of ten words that is read as one"


def attack(recipe, num_words=10, **changes):
    texts = [(" ".join(TEN_WORDS.split() * (num_words // 10)),)] * 8
    labels = np.array([0, 1] * 4)
    inputs = Labelled("attack-toy", "test", texts[:4], labels[:4], ("bad", "good"))
    training = Labelled("toy", "train", texts, labels, ("bad", "good"))
    settings = Settings(Attacks(**changes), FineTuning(epochs=2))
    return AttackedClassifier(inputs, training, recipe, settings, None, "")


def test_queries_and_what_each_reads_grow_with_the_words_of_an_input():
    tuned = PASSES * 2 * 8
    assert sentences_of([attack("pwws")]) == pytest.approx(tuned + 4 * READ_PER_INPUT["pwws"])
    assert sentences_of([attack("pwws", 20)]) == pytest.approx(2 * tuned + 4 * 4 * READ_PER_INPUT["pwws"])


def test_recipes_on_one_set_share_its_classifier_and_a_probe_reads_the_texts_once():
    both = sentences_of([attack("pwws"), attack("bae")])
    assert both == pytest.approx(PASSES * 2 * 8 + 4 * (READ_PER_INPUT["pwws"] + READ_PER_INPUT["bae"]))
    probe = sentences_of([attack("pwws", classifier="probe")])
    assert probe == pytest.approx(8 + 4 * READ_PER_INPUT["pwws"])
