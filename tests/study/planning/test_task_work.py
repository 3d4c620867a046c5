"""Sentences that evaluations read in tasks of their own."""

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.downstream.settings import Attacks, Settings
from rse_study.study.planning.task_work import PASSES, READ_PER_INPUT, sentences_of
from rse_study.training.classifier.config import FineTuning

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
