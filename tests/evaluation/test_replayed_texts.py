"""The same attacked texts for every encoder: accuracy by hand, collapse marked, nothing lost on disk."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.replayed import C, ReplayedTexts, probabilities_by, probe_of
from rse_study.results.records import Measure
from tests.cases import cases
from tests.evaluation.contract import all_one, asked_once, check_items, rows_of
from tests.evaluation.newton_probe import newton
from tests.evaluation.toy_pairs import WORDS, embed, vector


def texts(num: int, seed: int) -> Labelled:
    """Five words each; the class is the sign of the sum of their vectors' first numbers."""
    draw = np.random.default_rng(seed)
    found = [(" ".join(WORDS[i] for i in draw.choice(20, 5, replace=False)),) for _ in range(num)]
    labels = (embed([text for (text,) in found])[:, 0] > 0).astype(np.int64)
    return Labelled("toy", "all", found, labels, ("no", "yes"))


def changed(text: str, label: int) -> str:
    """The word that speaks most for the class gives way to the one that speaks most against it."""
    by_sign = sorted(WORDS, key=lambda word: (2 * label - 1) * vector(word)[0])
    strongest = max(text.split(), key=by_sign.index)
    return text.replace(strongest, by_sign[0])


TRAINING, CLEAN = texts(80, 0), texts(40, 1)
LABELLED = zip(CLEAN.texts, CLEAN.labels.tolist(), strict=True)
ATTACKED = replace(CLEAN, texts=[(changed(text, label),) for (text,), label in LABELLED])
REPLAYED = ReplayedTexts(TRAINING, CLEAN, ATTACKED, "toy", "base")


def by_hand(part: Labelled) -> float:
    """Newton's method on centred training vectors, divided by their root mean square."""
    training, tested = (embed([text for (text,) in one.texts]) for one in (TRAINING, part))
    shift = training.mean(axis=0)
    scale = math.sqrt(((training - shift) ** 2).mean())
    weights, intercept = newton((training - shift) / scale, TRAINING.labels, C)
    return float(np.mean(((tested - shift) / scale @ weights + intercept > 0) == part.labels))


def accuracies(encoder, texts: ReplayedTexts) -> tuple[float, float]:
    """Under attack, and clean."""
    rows = rows_of(texts, encoder)
    return rows["accuracy"].value, rows["clean_accuracy"].value


def test_accuracies_are_those_of_a_fresh_probe_on_the_encoders_own_vectors():
    found = accuracies(embed, REPLAYED)
    assert found == pytest.approx((100 * by_hand(ATTACKED), 100 * by_hand(CLEAN)))
    assert found[1] > found[0] + 5 > 10


def test_it_is_an_evaluation_of_all_texts_each_embedded_once():
    evaluation = REPLAYED
    rows = rows_of(evaluation, embed)
    assert list(rows) == ["accuracy", "clean_accuracy"]
    assert {(row.num_examples, row.split, row.preset) for row in rows.values()} == {(40, "all", "replayed")}
    assert not any(row.degenerate for row in rows.values())
    check_items(rows.values())
    assert evaluation.num_sentences == len(TRAINING) + 2 * len(CLEAN)
    assert evaluation.measures == (Measure(name="toy/replayed accuracy", metric="toy/replayed/accuracy"),)
    texts = {text for part in (TRAINING, CLEAN, ATTACKED) for (text,) in part.texts}
    assert asked_once(REPLAYED, embed) == texts


def test_another_encoder_is_judged_by_its_own_probe_and_what_was_not_attacked_is_as_accurate():
    """Turned and stretched vectors tell the same classes apart."""
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))
    turned = accuracies(lambda sentences: 7 * embed(sentences) @ turn, REPLAYED)
    assert turned == accuracies(embed, REPLAYED)
    attacked, clean = accuracies(embed, ReplayedTexts(TRAINING, CLEAN, CLEAN, "none", "base"))
    assert attacked == clean > 60


def lost_once(sentences):
    """One attacked text alone."""
    vectors = embed(sentences)
    vectors[[(text,) == ATTACKED.texts[0] for text in sentences]] = math.inf
    return vectors


@cases("collapsed", [all_one, lambda s: 0 * all_one(s), lambda s: math.nan * all_one(s), lost_once])
def test_a_collapsed_encoder_scores_nothing_and_is_marked(collapsed):
    """A probe that says one class for all would be right half the time."""
    assert ATTACKED.texts[0] not in {*TRAINING.texts, *CLEAN.texts}
    rows = rows_of(REPLAYED, collapsed)
    assert [(row.value, row.degenerate) for row in rows.values()] == [(0, True), (0, True)]


def test_the_victim_is_the_probe_and_each_text_is_answered_by_itself():
    probe = probe_of(embed, TRAINING)
    answers = probabilities_by(probe, embed)(CLEAN.texts)
    assert answers.shape == (40, 2) and answers.sum(axis=1) == pytest.approx(1)
    assert np.mean(answers.argmax(axis=1) == CLEAN.labels) == pytest.approx(by_hand(CLEAN))
    assert probabilities_by(probe, embed)(CLEAN.texts[3:4]) == pytest.approx(answers[3:4], abs=1e-12)


@pytest.mark.parametrize("number", [1.0, math.nan])
def test_a_collapsed_reference_is_refused(number):
    with pytest.raises(InputError, match="toy: the reference scores texts alike: embeddings are all one"):
        probe_of(lambda sentences: number * all_one(sentences), TRAINING)


def test_it_is_what_was_saved(tmp_path):
    odd = Labelled("CR", "all", [("naïve “quote”\n",), ("",)], np.array([0, 1]), ("negative", "positive"))
    for kept in (REPLAYED, ReplayedTexts(odd, odd, odd, "textbugger-like: é", "/some/folder")):
        kept.save(tmp_path)
        again = ReplayedTexts.open(tmp_path)
        for one, other in zip(_parts(again), _parts(kept), strict=True):
            for name in ("texts", "name", "split", "classes"):
                assert getattr(one, name) == getattr(other, name), name
            assert one.labels.dtype == np.int64 and (one.labels == other.labels).all()
        assert (again.recipe, again.reference) == (kept.recipe, kept.reference)
        assert again.fingerprint == kept.fingerprint
    assert CLEAN.texts != ATTACKED.texts and "naïve" in (tmp_path / ReplayedTexts.file).read_text(
        encoding="utf-8"
    )


@cases("part", ["training", "clean", "attacked"])
@cases("what", ["texts", "labels"])
def test_the_fingerprint_is_of_texts_and_labels(tmp_path, part, what):
    REPLAYED.save(tmp_path)
    content = json.loads((tmp_path / ReplayedTexts.file).read_text())
    before = content[part][what][3]
    content[part][what][3] = before + "!" if what == "texts" else 1 - before
    (tmp_path / ReplayedTexts.file).write_text(json.dumps(content))
    assert ReplayedTexts.open(tmp_path).fingerprint != REPLAYED.fingerprint
    assert ReplayedTexts(*_parts(REPLAYED), "another", "another").fingerprint == REPLAYED.fingerprint


def _parts(replayed: ReplayedTexts) -> tuple[Labelled, Labelled, Labelled]:
    return replayed.training, replayed.clean, replayed.attacked
