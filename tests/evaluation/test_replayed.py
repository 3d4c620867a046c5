"""The same attacked pairs for every encoder: figures by hand, collapse marked, nothing lost on disk."""

import json
import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from rse_study.data.labelled import StsPairs
from rse_study.evaluation.replayed import ReplayedPairs
from rse_study.results.records import Measure
from tests.cases import cases
from tests.evaluation.contract import all_one, asked_once, check_items, rows_of
from tests.evaluation.toy_pairs import SYNONYMS, cosine, embed, toy_pairs

CLEAN = toy_pairs()


def changed(text: str) -> str:
    """Every word that has one gives way to its first synonym."""
    return " ".join(SYNONYMS.get(word, (word,))[0] for word in text.split())


ATTACKED = StsPairs("toy", "dev", CLEAN.first, [changed(text) for text in CLEAN.second], CLEAN.gold)
REPLAYED = ReplayedPairs(CLEAN, ATTACKED, "toy", "base")


def test_figures_equal_those_by_hand_and_what_was_not_attacked_moves_nothing():
    clean = [cosine(*pair) for pair in zip(CLEAN.first, CLEAN.second, strict=True)]
    now = [cosine(*pair) for pair in zip(ATTACKED.first, ATTACKED.second, strict=True)]
    before, after = (100 * spearmanr(cosines, CLEAN.gold).statistic for cosines in (clean, now))
    drift = sum(abs(one - other) for one, other in zip(clean, now, strict=True)) / len(now)
    rows = rows_of(REPLAYED, embed)
    assert rows["spearman"].value == pytest.approx(after)
    assert rows["drop"].value == pytest.approx(before - after) and rows["drop"].value > 5
    assert rows["drift"].value == pytest.approx(100 * drift)
    assert not any(row.degenerate for row in rows.values())
    check_items(rows.values(), "drop")
    rows = rows_of(ReplayedPairs(CLEAN, CLEAN, "none", "base"), embed)
    assert (rows["drift"].value, rows["drop"].value, rows["drop"].degenerate) == (0, 0, False)


def test_it_is_an_evaluation_of_both_sides_each_sentence_embedded_once():
    evaluation = REPLAYED
    rows = rows_of(evaluation, embed)
    assert list(rows) == ["spearman", "drift", "drop"]
    assert evaluation.name == "toy/replayed"
    assert {(row.num_examples, row.split) for row in rows.values()} == {(len(CLEAN), "dev")}
    assert evaluation.num_sentences == 4 * len(CLEAN)
    assert evaluation.measures == (
        Measure(name="toy/replayed Spearman", metric="toy/replayed/spearman"),
        Measure(name="toy/replayed drift", metric="toy/replayed/drift", direction="minimize"),
    )
    assert asked_once(REPLAYED, embed) == {*CLEAN.first, *CLEAN.second, *ATTACKED.second}


def nearly_constant(sentences):
    """One vector, and the rounding of float32."""
    wobble = np.array([np.random.default_rng(list(text.encode())).normal(size=3) for text in sentences])
    return np.ones((len(sentences), 3)) + 1e-7 * wobble


def lost_once(sentences):
    """One sentence of the attacked side alone."""
    vectors = embed(sentences)
    vectors[[text == ATTACKED.second[0] for text in sentences]] = math.inf
    return vectors


@cases("collapsed", [all_one, nearly_constant, lambda s: 0 * all_one(s), lambda s: math.nan * all_one(s)])
def test_a_collapsed_encoder_scores_nothing_and_is_marked(collapsed):
    """By no figure may it win: not by drift, though nothing moves what stands still."""
    rows = rows_of(REPLAYED, collapsed)
    assert all(row.degenerate for row in rows.values())
    assert (rows["spearman"].value, rows["drop"].value) == (0, 0)
    assert rows["drift"].value == 200  # the largest there is: lower is better


def test_an_encoder_lost_under_attack_alone_is_marked():
    assert ATTACKED.second[0] not in {*CLEAN.first, *CLEAN.second}
    rows = rows_of(REPLAYED, lost_once)
    assert all(row.degenerate for row in rows.values())
    assert (rows["spearman"].value, rows["drift"].value) == (0, 200)
    assert rows["drop"].value > 0


def test_it_is_what_was_saved(tmp_path):
    odd = StsPairs("toy", "dev", ["naïve “quote”\n", "ｆull ѕcript"], ["", "\t\\"], np.array([0.1, 4.75]))
    for pairs in (REPLAYED, ReplayedPairs(odd, odd, "textbugger-like: synonyms from é", "/some/folder")):
        pairs.save(tmp_path)
        again = ReplayedPairs.open(tmp_path)
        for one, other in ((again.clean, pairs.clean), (again.attacked, pairs.attacked)):
            for part in ("name", "split", "first", "second"):
                assert getattr(one, part) == getattr(other, part), part
            assert one.gold.dtype == np.float64 and (one.gold == other.gold).all()
        assert (again.recipe, again.reference) == (pairs.recipe, pairs.reference)
        assert again.fingerprint == pairs.fingerprint
    assert "naïve" in (tmp_path / ReplayedPairs.file).read_text(encoding="utf-8")


@cases("where", ["clean", "attacked", "gold"])
def test_the_fingerprint_is_of_texts_and_gold(tmp_path, where):
    REPLAYED.save(tmp_path)
    content = json.loads((tmp_path / ReplayedPairs.file).read_text())
    if where == "gold":
        content["gold"][3] += 0.1
    else:
        content[where][1][3] += "!"
    (tmp_path / ReplayedPairs.file).write_text(json.dumps(content))
    assert ReplayedPairs.open(tmp_path).fingerprint != REPLAYED.fingerprint
    renamed = ReplayedPairs(CLEAN, ATTACKED, "another", "another")
    assert renamed.fingerprint == REPLAYED.fingerprint
