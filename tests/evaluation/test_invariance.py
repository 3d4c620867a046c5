import math

import numpy as np
import pytest

from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.invariance import changed_text, evaluate_invariance

TEXTS = ["It isn't good.", "a fine film", "", "🙂", "FINE", "you're right", "so it is not"]
LETTERS = ("typo_swap", "typo_delete", "typo_insert", "typo_repeat")
NO_TABLES = (*LETTERS, "expand", "contract", "lower_case", "punctuation")


def embed(texts: list[str]) -> np.ndarray:
    """Counts of a few letters, and one: case and order of letters do not matter."""
    return np.array([[text.lower().count(c) for c in "aeinotf."] + [1] for text in texts], float)


@pytest.fixture
def resources(tmp_path):
    return ChangeResources(tmp_path)


def rows_of(names, resources, **given):
    return {row.change: row for row in evaluate_invariance(embed, TEXTS, names, resources, 0, **given)}


def test_similarity_is_the_mean_cosine_of_changed_texts(resources):
    row = rows_of(["expand"], resources)["expand"]
    cosines = []
    for old, new in (("It isn't good.", "It is not good."), ("you're right", "you are right")):
        a, b = embed([old])[0], embed([new])[0]
        cosines.append(sum(a * b) / math.sqrt(sum(a * a) * sum(b * b)))
    assert row.similarity == pytest.approx(sum(cosines) / 2)
    assert (row.num_texts, row.num_changed, row.num_skipped) == (7, 2, 5)
    assert (row.predictions_changed, row.degenerate, row.seed) == (None, False, 0)


def test_flipped_predictions_are_counted_among_changed_texts(resources):
    def has_capital(texts):
        return np.array([any(c.isupper() for c in text) for text in texts])

    rows = rows_of(["lower_case", "expand", "upper_case"], resources, predict=has_capital)
    assert (rows["lower_case"].num_changed, rows["lower_case"].predictions_changed) == (2, 1.0)
    assert rows["lower_case"].similarity == pytest.approx(1)
    assert not rows["lower_case"].degenerate
    assert rows["expand"].predictions_changed == 0
    assert rows["upper_case"].num_changed == 4  # nothing to do for "", the emoji and FINE
    assert rows["upper_case"].predictions_changed == pytest.approx(3 / 4)


def test_a_change_that_finds_nothing_to_do_has_no_number(resources):
    (row,) = evaluate_invariance(
        embed, ["fine"], ["expand"], resources, 0, predict=lambda texts: np.zeros(len(texts))
    )
    assert math.isnan(row.similarity)
    assert math.isnan(row.predictions_changed)
    assert (row.num_changed, row.num_skipped, row.degenerate) == (0, 1, True)
    (row,) = evaluate_invariance(embed, [], ["expand"], resources, 0)
    assert (row.num_texts, row.degenerate) == (0, True)


def test_draws_hang_on_seed_change_and_text_alone(resources):
    whole = {(name, text): changed_text(text, name, resources, 0) for name in NO_TABLES for text in TEXTS}
    backwards = {(n, t): changed_text(t, n, resources, 0) for n in NO_TABLES[::-1] for t in TEXTS[::-1]}
    assert whole == backwards
    rows = rows_of(NO_TABLES, resources)
    assert rows == {
        row.change: row for name in NO_TABLES[::-1] for row in rows_of([name], resources).values()
    }
    long = "a considerably longer sentence of many different words"
    assert len({changed_text(long, "typo_swap", resources, seed) for seed in range(10)}) > 3
    assert len({changed_text(long, name, resources, 0) for name in LETTERS}) == 4


def test_changes_of_one_text_draw_apart(resources):
    """Each change takes its own word: the same one only by chance."""
    texts = [f"one two six ten man car day sun {letter * 3}" for letter in "abcdefghijklmnopqrst"]

    def words_changed(name):
        pairs = ((text.split(), changed_text(text, name, resources, 0).split()) for text in texts)
        return [[old != new for old, new in zip(*pair, strict=True)].index(True) for pair in pairs]

    deleted, repeated = words_changed("typo_delete"), words_changed("typo_repeat")
    assert sum(a == b for a, b in zip(deleted, repeated, strict=True)) < len(texts) / 2
    assert len(set(deleted)) > 4


def test_each_distinct_text_is_embedded_and_predicted_once(resources):
    calls = []

    def counting(texts):
        calls.append(texts)
        return embed(texts)

    def predicting(texts):
        calls.append(texts)
        return np.zeros(len(texts))

    evaluate_invariance(counting, TEXTS, NO_TABLES, resources, 0, predict=predicting)
    assert len(calls) == 2
    assert calls[0] == calls[1]
    assert len(calls[0]) == len(set(calls[0]))


def test_the_fingerprint_knows_the_changed_texts(resources):
    rows = [row for seed in (0, 1) for row in evaluate_invariance(embed, TEXTS, LETTERS, resources, seed)]
    assert len({row.fingerprint for row in rows}) == 8


@pytest.mark.parametrize("number", [1.0, math.nan, 0.0])
def test_collapsed_embeddings_are_said_to_be(number, resources):
    (row,) = evaluate_invariance(
        lambda texts: np.full((len(texts), 3), number), TEXTS, ["typo_swap"], resources, 0
    )
    assert row.degenerate


def test_one_text_a_model_does_not_see_the_change_of_is_no_collapse(resources):
    (row,) = evaluate_invariance(embed, ["FINE"], ["lower_case"], resources, 0)
    assert row.similarity == pytest.approx(1)
    assert not row.degenerate


def test_unknown_changes_and_missing_tables_are_named(resources):
    with pytest.raises(InputError, match=r"no such change of text 'typo_swop'. Did you mean 'typo_swap'"):
        evaluate_invariance(embed, TEXTS, ["typo_swop"], resources, 0)
    for name in ("keyboard", "homoglyph", "synonyms"):
        with pytest.raises(MissingFile):
            evaluate_invariance(embed, TEXTS, [name], resources, 0)


def test_every_change_on_real_tables(data_dir):
    def predict(texts):
        return embed(texts)[:, 0] > 0

    rows = evaluate_invariance(embed, TEXTS, list(CHANGES), ChangeResources(data_dir), 0, predict=predict)
    assert [row.change for row in rows] == list(CHANGES)
    for row in rows:
        assert row.num_changed > 0
        assert 0 < row.similarity <= 1 + 1e-12
        assert 0 <= row.predictions_changed <= 1
