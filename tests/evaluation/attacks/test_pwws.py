"""PWWS against loops written from the protocol, input by input and query by query."""

import hashlib
import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np

from rse_study.data.labelled import Labelled
from rse_study.data.lexicons import english_stopwords, lemmas_of
from rse_study.data.text_files import find_file, read_lines
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import Target
from rse_study.evaluation.attacks.attack_recipe import AttackResources
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.attacks.recipes import PWWS, RECIPES
from tests.evaluation.attacks.bag_of_words import BagOfWords
from tests.evaluation.attacks.conftest import pwws_with
from tests.evaluation.attacks.pwws_reference import cut, pwws
from tests.evaluation.attacks.toy_data import STOPWORDS


def test_agrees_with_plain_loops_on_a_toy_lexicon(sentences, victim, lexicon):
    outcomes = list(attack_all(pwws_with(lexicon), victim, sentences, max_queries=10**6, seed=0))

    def synonyms_of(word):
        return sorted(lexicon.get(word, ()))

    assert len(outcomes) == len(sentences)
    for row in outcomes:
        gold = int(sentences.labels[row.index])
        expected = pwws(sentences.texts[row.index][0], gold, victim, synonyms_of, STOPWORDS)
        assert (row.outcome, row.adversarial[0], row.num_queries) == expected
    assert {row.outcome for row in outcomes} == {"succeeded", "failed", "skipped"}


def hashed_weights(texts):
    """Class probabilities of a made-up victim: a weight for each word, and more for the third but last."""

    def weight(word):
        return int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") / 2**31 - 1

    def total(words):
        return math.fsum(map(weight, words)) + 4 * weight(" ".join(words[-3:-2]))

    ones = np.array([1 / (1 + math.exp(-total(text.split()))) for (text,) in texts])
    return np.stack([1 - ones, ones], axis=1)


def test_each_input_ends_as_textattacks_own_pwws_ended(data_dir):
    """The recorded answers are those of TextAttack 0.3.10 as published, with the same victim and word lists."""
    recorded = json.loads(Path(__file__).with_name("textattack_pwws.json").read_text())["answers"]
    targets = [Target(place, (text,), label) for place, (text, label, *_) in enumerate(recorded)]
    attack = RECIPES.get("pwws")().build(AttackResources(data_dir))
    for row in attack_all(attack, hashed_weights, targets, max_queries=10**6, seed=0):
        assert [row.outcome, row.adversarial[0], row.num_queries] == recorded[row.index][2:]
    assert Counter(outcome for _, _, outcome, *_ in recorded) == {"succeeded": 24, "failed": 9, "skipped": 7}


def test_agrees_with_plain_loops_on_real_sentences_and_wordnet(data_dir):
    lines = list(read_lines(find_file("attack/mr/mr.txt", data_dir)))[:25]
    texts = [(line.split(maxsplit=1)[1],) for line in lines]
    labels = np.array([int(line.split()[0]) for line in lines])
    draw = random.Random(1)
    vocabulary = sorted({sentence[a:b] for (sentence,) in texts for a, b in cut(sentence)})
    known = {name for word in vocabulary for name in lemmas_of(word, data_dir)}
    victim = BagOfWords({word: draw.gauss(0, 1) for word in sorted({*vocabulary, *known, "[UNK]"})})

    def synonyms_of(word):
        names = [name for name in lemmas_of(word, data_dir) if "_" not in name and name != word]
        return sorted(name for name in names if len(cut(name)) == 1)

    attack = RECIPES.get("pwws")().build(AttackResources(data_dir))
    examples = Labelled("mr", "attack", texts, labels, ("negative", "positive"))
    outcomes = list(attack_all(attack, victim, examples, max_queries=10**6, seed=0))
    stopwords = english_stopwords(data_dir)
    for row in outcomes:
        expected = pwws(texts[row.index][0], int(labels[row.index]), victim, synonyms_of, stopwords)
        assert (row.outcome, row.adversarial[0], row.num_queries) == expected
    assert {row.outcome for row in outcomes} >= {"succeeded", "skipped"}


def test_candidates_are_all_single_lemmas_in_place_and_case(data_dir):
    attack = PWWS().build(AttackResources(data_dir))
    attacked = AttackedText.of(("The car, won't -run",))
    found = attack.transformation.replacements(attacked, 1, np.random.default_rng(0))
    names = lemmas_of("car", data_dir)
    assert found == sorted({name for name in names if re.fullmatch(r"[^_]+", name)} - {"car"})
    assert {"auto", "automobile", "machine"} <= set(found)
    assert any("_" in name for name in names)
    assert attacked.replaced(1, "auto").text == ("The auto, won't -run",)
