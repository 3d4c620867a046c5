"""Evaluations of any kind give rows of one form."""

from dataclasses import replace

import numpy as np

from rse_study.data.builtin import graded_pairs
from rse_study.data.labelled import Labelled
from rse_study.evaluation.evaluations import score_all, whitened
from rse_study.evaluation.invariance import AlignmentUniformity, Invariance
from rse_study.evaluation.sts import Similarity, evaluate_sts
from rse_study.evaluation.transfer import Transfer
from tests.cases import cases
from tests.evaluation.contract import by_letters, check_items, check_registered

WORDS = ["good film", "fine film", "great film", "bad film", "poor film", "dull film"]


def toy():
    texts = [(f"{WORDS[i % 6]} {i}",) for i in range(60)]
    labels = np.array([i % 6 < 3 for i in range(60)], int)
    return Transfer((Labelled("toy", "all", texts, labels, ("a", "b")),), "fast")


DEV = graded_pairs("dev")
TEXTS = list(zip(DEV.first[:40], DEV.second[:40], strict=True))
PAIRS = Labelled("MRPC", "train", TEXTS, np.arange(40) % 2, ("a", "b"))
KINDS = [
    Similarity(DEV),
    AlignmentUniformity(DEV),
    toy(),
    Transfer((PAIRS, replace(PAIRS, split="test")), "fast"),
    Invariance("toy", "test", DEV.first[:9], {"upper_case": [text.upper() for text in DEV.first[:9]]}),
]


@cases("evaluation", KINDS)
def test_every_kind_keeps_the_contract(evaluation):
    check_registered(evaluation)


def test_rows_say_what_was_measured_how_and_on_what():
    pairs, transfer = Similarity(graded_pairs("test")), toy()
    rows = score_all(by_letters, [pairs, transfer], "me")
    figures = [f"builtin/test/{one}" for one in ("all", "mean", "wmean")]
    assert [row.metric for row in rows] == [*figures, "toy/fast/accuracy"]
    assert [row.evaluation for row in rows] == ["builtin/test"] * 3 + ["toy/fast"]
    assert {row.subject for row in rows} == {"me"}
    assert rows[-1].model_dump(include={"task", "split", "preset", "num_examples", "seed"}) == {
        "task": "toy", "split": "all", "preset": "fast", "num_examples": 60, "seed": 0,
    }  # fmt: skip
    for evaluation in (pairs, transfer):
        own = [row for row in rows if row.evaluation == evaluation.name]
        assert {row.fingerprint for row in own} == {evaluation.fingerprint}
        assert {measure.metric for measure in evaluation.measures} <= {row.metric for row in own}
    check_items(rows, "mean", "wmean")
    assert rows[0].value == evaluate_sts(by_letters, [pairs.pairs])[0].value


def test_each_sentence_is_embedded_once_whoever_asks():
    asked, pairs = [], Similarity(graded_pairs("test"))
    embed = lambda sentences: asked.extend(sentences) or by_letters(sentences)  # noqa: E731
    twice = score_all(embed, [pairs, toy(), pairs], "me")
    assert len(asked) == len(set(asked))
    alone = score_all(by_letters, [pairs], "me")
    assert (
        [row.value for row in twice[:3]] == [row.value for row in twice[4:]] == [row.value for row in alone]
    )


def test_the_covariance_becomes_the_identity_and_distances_are_mahalanobis() -> None:
    drawn = np.random.default_rng(0).normal(size=(500, 6)) @ np.random.default_rng(1).normal(size=(6, 6)) + 3
    found = whitened(drawn)
    assert np.allclose(found.mean(0), 0, atol=1e-12)
    assert np.allclose(found.T @ found / len(found), np.eye(6), atol=1e-9)
    # Whitening is one choice of square root; what all of them share is the distance.
    drawn = np.random.default_rng(2).normal(size=(300, 4)) @ np.diag([1.0, 5.0, 0.1, 2.0])
    found, inverse = whitened(drawn), np.linalg.inv(np.cov(drawn.T, bias=True))
    apart = drawn[0] - drawn[1]
    assert np.isclose(np.sum((found[0] - found[1]) ** 2), apart @ inverse @ apart)


def test_directions_without_variance_are_left_out_and_too_few_rows_say_nothing():
    drawn = np.random.default_rng(3).normal(size=(50, 3))
    wide = np.concatenate([drawn, np.ones((50, 2)), drawn[:, :1]], axis=1)  # two constant, one twice
    found = whitened(wide)
    assert np.isfinite(found).all()
    assert np.linalg.matrix_rank(found, tol=1e-6) == 3
    # As many directions as rows, but one: every cosine would be -1 / (n - 1).
    few = np.random.default_rng(3).normal(size=(20, 30))
    assert np.isnan(whitened(few)).all()
    assert np.isfinite(whitened(np.random.default_rng(3).normal(size=(33, 30)))).all()
    assert np.isnan(whitened(np.ones((1, 4)))).all()
