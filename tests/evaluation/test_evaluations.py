"""Evaluations of any kind give rows of one form."""

import numpy as np

from rse_study.data.builtin import graded_pairs
from rse_study.data.labelled import Labelled
from rse_study.evaluation.evaluations import score_all
from rse_study.evaluation.sts import Similarity, evaluate_sts
from rse_study.evaluation.transfer import Transfer

RNG = np.random.default_rng(0)
WORDS = ["good film", "fine film", "great film", "bad film", "poor film", "dull film"]


def by_letters(sentences):
    """A vector a sentence: how often each letter occurs."""
    return np.array([[s.lower().count(chr(97 + i)) for i in range(26)] for s in sentences], float)


class Counting:
    def __init__(self):
        self.asked = []

    def __call__(self, sentences):
        self.asked += sentences
        return by_letters(sentences)


def toy():
    texts = [(f"{WORDS[i % 6]} {i}",) for i in range(60)]
    return Transfer(
        (Labelled("toy", "all", texts, np.array([i % 6 < 3 for i in range(60)], int), ("a", "b")),), "fast"
    )


def test_rows_say_what_was_measured_how_and_on_what():
    pairs, transfer = Similarity(graded_pairs("test")), toy()
    rows = score_all(by_letters, [pairs, transfer], "me")
    assert [(row.evaluation, row.metric) for row in rows] == [
        ("builtin/test", "builtin/test/all"),
        ("builtin/test", "builtin/test/mean"),
        ("builtin/test", "builtin/test/wmean"),
        ("toy/fast", "toy/fast/accuracy"),
    ]
    assert {row.subject for row in rows} == {"me"}
    assert rows[-1].model_dump(include={"task", "split", "preset", "num_examples", "seed"}) == {
        "task": "toy", "split": "all", "preset": "fast", "num_examples": 60, "seed": 0,
    }  # fmt: skip
    for evaluation in (pairs, transfer):
        own = [row for row in rows if row.evaluation == evaluation.name]
        assert {row.fingerprint for row in own} == {evaluation.fingerprint}
        assert {measure.metric for measure in evaluation.measures} <= {row.metric for row in own}
    assert rows[0].value == evaluate_sts(by_letters, [pairs.pairs])[0].value


def test_each_sentence_is_embedded_once_whoever_asks():
    embed, pairs = Counting(), Similarity(graded_pairs("test"))
    twice = score_all(embed, [pairs, toy(), pairs], "me")
    assert len(embed.asked) == len(set(embed.asked))
    assert twice[:3] == twice[4:] == score_all(by_letters, [pairs], "me")
