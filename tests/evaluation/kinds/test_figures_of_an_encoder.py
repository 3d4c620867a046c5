"""Replayed pairs, geometry and invariance as evaluations: rows that say what was measured, on what, and how."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.data.pairs import StsPairs
from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.evaluations import score_all
from rse_study.evaluation.geometry import evaluate_geometry
from rse_study.evaluation.invariance import evaluate_invariance
from rse_study.evaluation.kinds.sphere import AlignmentUniformity
from rse_study.evaluation.kinds.steadiness import NUM_TEXTS, SEED, Invariance
from rse_study.evaluation.kinds.texts_under_replay import ReplayedTextAttack
from rse_study.evaluation.kinds.under_replay import ReplayedAttack
from rse_study.evaluation.replayed import replay
from rse_study.evaluation.replayed_texts import replay_texts
from rse_study.results.records import Measure
from tests.evaluation.test_replayed import REPLAYED, constant
from tests.evaluation.test_replayed_texts import REPLAYED as TEXTS
from tests.evaluation.toy_pairs import embed

DEV = graded_pairs("dev")


def by_letters(sentences: list[str]) -> np.ndarray:
    return np.array([[1.0, *(text.lower().count(chr(97 + i)) for i in range(26))] for text in sentences])


def all_one(sentences: list[str]) -> np.ndarray:
    return np.ones((len(sentences), 4))


@pytest.fixture
def steadiness(data_dir) -> Invariance:
    small = StsPairs("toy", "dev", [*DEV.first[:8], DEV.first[0]], DEV.second[:9], DEV.gold[:9])
    return Invariance.of(small, data_dir)


def rows_of(evaluation, encoder):
    """As a study asks: named after the evaluation, its measures among them."""
    rows = score_all(encoder, [evaluation], "me")
    assert {row.evaluation for row in rows} == {evaluation.name}
    assert {row.fingerprint for row in rows} == {evaluation.fingerprint}
    assert {row.subject for row in rows} == {"me"}
    assert {measure.metric for measure in evaluation.measures} <= {row.metric for row in rows}
    return {row.aggregation: row for row in rows}


def test_replayed_pairs_give_a_row_a_figure():
    evaluation = ReplayedAttack(REPLAYED)
    rows, found = rows_of(evaluation, embed), asdict(replay(embed, REPLAYED))
    assert {name: row.value for name, row in rows.items()} == {
        name: found[name] for name in ("spearman", "drift", "drop")
    }
    assert evaluation.name == "toy/replayed"
    assert {row.num_examples for row in rows.values()} == {len(REPLAYED.clean)}
    assert evaluation.num_sentences == 4 * len(REPLAYED.clean)
    assert not any(row.degenerate for row in rows.values())
    assert evaluation.measures == (
        Measure(name="toy/replayed Spearman", metric="toy/replayed/spearman"),
        Measure(name="toy/replayed drift", metric="toy/replayed/drift", direction="minimize"),
    )
    assert all(row.degenerate for row in rows_of(evaluation, constant).values())


def test_replayed_texts_give_both_accuracies():
    evaluation = ReplayedTextAttack(TEXTS)
    rows, found = rows_of(evaluation, embed), replay_texts(embed, TEXTS)
    assert {name: row.value for name, row in rows.items()} == {
        "accuracy": found.accuracy,
        "clean_accuracy": found.clean_accuracy,
    }
    assert {(row.num_examples, row.split, row.preset) for row in rows.values()} == {(40, "all", "replayed")}
    assert evaluation.num_sentences == len(TEXTS.training) + 2 * len(TEXTS.clean)
    assert evaluation.measures == (Measure(name="toy/replayed accuracy", metric="toy/replayed/accuracy"),)
    assert not any(row.degenerate for row in rows.values())
    assert all(row.degenerate for row in rows_of(evaluation, constant).values())


def test_geometry_gives_its_two_figures():
    evaluation = AlignmentUniformity(DEV)
    rows = rows_of(evaluation, by_letters)
    assert {name: row.value for name, row in rows.items()} == {
        score.metric: score.value for score in evaluate_geometry(by_letters, [DEV])
    }
    assert rows["alignment"].num_examples == int((DEV.gold > 4).sum())
    assert rows["uniformity"].num_examples == evaluation.num_sentences == 2 * len(DEV)
    assert {measure.direction for measure in evaluation.measures} == {"minimize"}
    assert all(row.degenerate for row in rows_of(evaluation, all_one).values())


def test_invariance_gives_a_row_a_change_and_their_mean(steadiness, data_dir):
    rows = rows_of(steadiness, by_letters)
    texts = DEV.first[:8]  # each once
    assert list(rows) == [*CHANGES, "mean"]
    resources = ChangeResources(data_dir)
    for score in evaluate_invariance(by_letters, texts, list(CHANGES), resources, SEED):
        row = rows[score.change]
        assert row.value == pytest.approx(100 * score.similarity, nan_ok=True)
        assert (row.num_examples, row.num_skipped) == (score.num_changed, score.num_skipped)
        assert row.num_examples + row.num_skipped == len(texts)
        assert math.isnan(row.value) == (row.num_examples == 0)
    known = [row.value for name, row in rows.items() if name != "mean" and not math.isnan(row.value)]
    assert rows["mean"].value == pytest.approx(sum(known) / len(known))
    assert 0 < rows["mean"].value < 100
    assert (rows["mean"].num_examples, steadiness.num_sentences) == (8, 8 * (1 + len(CHANGES)))


def test_an_encoder_of_one_vector_is_not_steady(steadiness):
    rows = rows_of(steadiness, all_one)
    assert all(row.degenerate and math.isnan(row.value) for row in rows.values())


def test_where_one_change_breaks_an_encoder_there_is_no_mean(steadiness):
    broken = set(steadiness.changed["upper_case"])

    def brittle(sentences):
        vectors = by_letters(sentences)
        vectors[[text in broken for text in sentences]] = np.nan
        return vectors

    rows = rows_of(steadiness, brittle)
    assert math.isnan(rows["upper_case"].value) and rows["upper_case"].degenerate
    assert math.isnan(rows["mean"].value) and rows["mean"].degenerate
    assert not rows["keyboard"].degenerate


def test_invariance_is_fingerprinted_by_its_sentences_and_what_they_become(steadiness, data_dir):
    other = StsPairs("toy", "dev", DEV.first[:8], DEV.first[:8], DEV.gold[:8])
    assert Invariance.of(other, data_dir).fingerprint == steadiness.fingerprint
    otherwise = replace(steadiness, changed=steadiness.changed | {"swap": steadiness.texts})
    assert otherwise.fingerprint != steadiness.fingerprint
    fewer = StsPairs("toy", "dev", DEV.first[:7], DEV.first[:7], DEV.gold[:7])
    assert Invariance.of(fewer, data_dir).fingerprint != steadiness.fingerprint
    many = StsPairs("toy", "dev", [f"text {i}" for i in range(600)], ["x"] * 600, np.zeros(600))
    assert Invariance.of(many, data_dir).num_sentences == NUM_TEXTS * (1 + len(CHANGES))
