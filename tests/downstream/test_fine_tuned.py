"""NLI and GLUE as a study asks for them: real fine-tuning of a very small encoder on files in the published layouts."""

import json
import math
import os
import pickle
import signal
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.sentiment_sets import REVIEWS
from rse_study.data.tasks import GLUE
from rse_study.downstream.fine_tuned import drawn
from rse_study.downstream.registry import read_evaluation
from rse_study.downstream.scored_model import ModelFiles, ScoredModel, score_model
from rse_study.downstream.settings import Attacks, Settings, Tasks
from rse_study.errors import InputError, MissingFile
from rse_study.models.loading import load_encoder
from tests.downstream.toy_tasks import (
    write_anli,
    write_fever,
    write_glue,
    write_mrpc,
    write_nli,
    write_reviews,
    write_squad,
    write_stsb,
)
from tests.training.classifier.sorted_words import LEARNS

pytestmark = pytest.mark.usefixtures("no_hub")
ONE_EPOCH = LEARNS.model_copy(update={"epochs": 1})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Classifiers by their settings and texts: each is trained once for all tests that ask for it."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def weights(learner, made, tmp_path):
    return ModelFiles(learner, "mean", made, tmp_path / "kept")


def _embed(sentences):
    raise AssertionError("no vector is asked for")


def _settings(spec=LEARNS, **changes):
    return Settings(Attacks(), spec, Tasks(**changes))


def _read(task, folder, settings=None):
    return read_evaluation(f"{task}/fine_tuned", folder, settings or _settings())


def _scored(asked, weights):
    return {row.aggregation: row for row in score_model(ScoredModel("me", _embed, weights), [asked])}


def _steps(asked, weights):
    """How many steps it took now."""
    steps = []
    made = asked.classifier(weights, steps.append)
    return made, [progress.t for progress in steps]


def _snli(folder):
    write_nli(folder, "snli/snli_1.0_train", 90, seed=0)
    write_nli(folder, "snli/snli_1.0_test", 30, seed=1, unlabelled=2)


def _anli(folder, splits=("test", "dev")):
    for split_number, split in enumerate(splits):
        for number in (1, 2, 3):
            write_anli(folder, number, split, 6 * number, seed=10 * number + split_number)


def test_snli_is_learnt_and_scored_on_test(tmp_path, weights):
    _snli(tmp_path)
    asked = _read("SNLI", tmp_path)
    found = _scored(asked, weights)
    (row,) = found.values()
    assert (row.evaluation, row.aggregation) == (asked.name, "accuracy") == ("SNLI/fine_tuned", "accuracy")
    assert (row.split, row.num_examples, row.num_skipped, row.seed) == ("test", 30, 2, 0)
    assert row.value > 90
    assert not row.degenerate
    assert row.fingerprint == asked.fingerprint
    assert [measure.metric for measure in asked.measures] == [row.metric]
    assert asked.num_sentences == 3 * LEARNS.epochs * 90 + 30
    assert asked.lacking == ()


def test_mnli_has_two_splits_and_a_missing_one_is_left_out(tmp_path, weights):
    write_nli(tmp_path, "mnli/multinli_1.0_train", 60, seed=0)
    write_nli(tmp_path, "mnli/multinli_1.0_dev_matched", 12, seed=1)
    alone = _read("MNLI", tmp_path, _settings(ONE_EPOCH))
    assert alone.lacking == ("nli/mnli/multinli_1.0_dev_mismatched.jsonl",)
    assert list(_scored(alone, weights)) == ["accuracy dev_matched"] == list(alone.labels)
    write_nli(tmp_path, "mnli/multinli_1.0_dev_mismatched", 15, seed=2)
    both = _read("MNLI", tmp_path, _settings(ONE_EPOCH))
    rows = _scored(both, weights)
    assert list(rows) == ["accuracy dev_matched", "accuracy dev_mismatched"] == list(both.labels)
    assert [row.num_examples for row in rows.values()] == [12, 15]
    assert both.fingerprint != alone.fingerprint


def test_anli_has_rounds_and_both_averages(tmp_path, weights):
    """Trained on everything V-advCSE names that is here."""
    _anli(tmp_path)
    _snli(tmp_path)
    for number in (1, 3):
        write_anli(tmp_path, number, "train", 18, seed=number)
    asked = _read("ANLI", tmp_path, _settings(ONE_EPOCH))
    assert asked.training.name == "SNLI+ANLI-R1+ANLI-R3"
    assert len(asked.training) == 90 + 18 + 18
    fever = "nli/fever/train_fitems.jsonl"
    assert asked.lacking == ("nli/mnli/multinli_1.0_train.jsonl", "nli/anli/R2/train.jsonl", fever)
    rows = _scored(asked, weights)
    for split in ("test", "dev"):
        values = [rows[f"R{number} {split}"].value for number in (1, 2, 3)]
        assert rows[f"mean {split}"].value == pytest.approx(np.mean(values))
        assert rows[f"all {split}"].value == pytest.approx(np.average(values, weights=[6, 12, 18]))
        assert rows[f"all {split}"].num_examples == 36
        assert {row.split for label, row in rows.items() if label.endswith(split)} == {split}
    assert len(rows) == 10
    assert {row.task for row in rows.values()} == {"ANLI"}
    assert {row.evaluation for row in rows.values()} == {"ANLI/fine_tuned"}
    assert len({row.metric for row in rows.values()}) == 10
    measured = [measure.metric for measure in asked.measures]
    assert measured == [f"ANLI/fine_tuned/mean {split}" for split in ("test", "dev")]


def test_a_round_that_is_missing_leaves_no_average(tmp_path):
    _anli(tmp_path, ["dev"])
    (tmp_path / "nli/anli/R2/dev.jsonl").unlink()
    _snli(tmp_path)
    assert _read("ANLI", tmp_path).labels == ("R1 dev", "R3 dev")
    _anli(tmp_path, ["dev"])
    assert _read("ANLI", tmp_path).labels == ("mean dev",)


def test_without_training_sets_the_few_pairs_train_a_weak_one(tmp_path, weights):
    _anli(tmp_path, ["dev"])
    for split in ("dev", "test"):  # nothing to be learnt in them
        write_nli(tmp_path, f"snli_subset/snli_1.0_{split}.subset", 60, seed=5, labels=("neutral",) * 3)
    write_nli(tmp_path, "snli_subset/snli_1.0_test.subset", 60, seed=6, labels=("entailment",) * 3)
    asked = _read("ANLI", tmp_path, _settings(ONE_EPOCH.model_copy(update={"lr": 1e-6})))
    assert (asked.training.name, asked.training.split) == ("SNLI-subset", "dev+test")
    rows = _scored(asked, weights)
    assert asked.classifier(weights).is_weak
    assert set(rows) == {"R1 dev", "R2 dev", "R3 dev", "all dev", "mean dev"}
    assert all(row.degenerate for row in rows.values())
    tuned = _read("ANLI", tmp_path)
    score, made = _score_of(tuned, weights), asked.classifier(weights)
    assert not tuned.is_worthless(replace(score, degenerate=False), replace(made, is_weak=False))


def _score_of(asked, weights):
    return next(score for _, score in asked.scores(asked.classifier(weights).load()))


def test_one_classifier_serves_tasks_with_the_same_training(tmp_path, weights):
    _anli(tmp_path, ["dev"])
    for split in ("dev", "test"):
        write_nli(tmp_path, f"snli_subset/snli_1.0_{split}.subset", 30, seed=len(split))
    write_nli(tmp_path, "mnli/multinli_1.0_dev_matched", 4, seed=77)
    anli, mnli = (_read(task, tmp_path, _settings(ONE_EPOCH)) for task in ("ANLI", "MNLI"))
    assert anli.training.fingerprint == mnli.training.fingerprint
    own = replace(weights, made=tmp_path / "own")
    one, steps = _steps(anli, own)
    assert steps
    assert one.num_removed == 0  # else the two would be trained on different texts
    assert _steps(mnli, own) == (one, [])


def test_words_with_synonyms_are_scored_by_the_same_classifier(tmp_path, weights, data_dir):
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    write_mrpc(tmp_path, "train", 40, seed=0)
    write_mrpc(tmp_path, "validation", 12, seed=1)
    bare, changed = (
        read_evaluation(f"GLUE-MRPC/{preset}", tmp_path, _settings(ONE_EPOCH))
        for preset in ("fine_tuned", "synonyms")
    )
    own = replace(weights, made=tmp_path / "own")
    one, steps = _steps(bare, own)
    assert steps
    assert _steps(changed, own) == (one, [])
    ((plain,), (other,)) = (asked.scored for asked in (bare, changed))
    assert plain.labels.tolist() == other.labels.tolist()
    assert all(before != after for before, after in zip(plain.texts, other.texts, strict=True))
    assert bare.fingerprint != changed.fingerprint
    rows = _scored(changed, own)
    assert list(rows) == ["f1", "accuracy"]
    assert {row.evaluation for row in rows.values()} == {changed.name} == {"GLUE-MRPC/synonyms"}
    assert {measure.name for measure in changed.measures}.isdisjoint(
        measure.name for measure in bare.measures
    )
    answers = one.load().predicting(other.classes)(other.texts).argmax(axis=1)
    assert rows["accuracy"].value == pytest.approx(100 * np.mean(answers == other.labels))


def test_scored_texts_are_left_out_of_training(tmp_path, weights):
    _snli(tmp_path)
    write_nli(tmp_path, "snli/snli_1.0_test", 9, seed=0)  # the first nine of train
    made = _read("SNLI", tmp_path, _settings(ONE_EPOCH)).classifier(weights)
    assert made.num_removed >= 9
    meta = json.loads((made.folder / "meta.json").read_text())
    assert meta["num_training"] + meta["num_dev"] == 90 - made.num_removed


def test_asked_again_nothing_trains_and_elsewhere_the_same_comes_out(tmp_path, weights):
    _snli(tmp_path)
    asked = _read("SNLI", tmp_path)
    rows = _scored(asked, weights)
    assert _steps(asked, weights)[1] == []
    assert _scored(pickle.loads(pickle.dumps(asked)), weights) == rows
    elsewhere = replace(weights, made=tmp_path / "elsewhere")
    assert _steps(asked, elsewhere)[1]
    assert _scored(asked, elsewhere) == rows


def test_other_settings_are_other_figures(tmp_path):
    _snli(tmp_path)
    few = _read("SNLI", tmp_path, _settings(num_training=40))
    assert len(few.training) == 40
    assert set(few.training.texts) <= set(_read("SNLI", tmp_path).training.texts)
    settings = [_settings(), _settings(num_training=40, seed=1), _settings(seed=1), _settings(ONE_EPOCH)]
    others = [few, *(_read("SNLI", tmp_path, each) for each in settings)]
    assert len({one.fingerprint for one in others}) == 5
    assert drawn(5, 0, 0).tolist() == drawn(5, 5, 0).tolist() == drawn(5, 9, 0).tolist() == [0, 1, 2, 3, 4]


def test_a_prompt_stands_in_no_pair(tmp_path, weights):
    _snli(tmp_path)
    asked = _read("SNLI", tmp_path, _settings(ONE_EPOCH))
    made = asked.classifier(replace(weights, pooling="prompt"))
    assert load_encoder(made.folder)[0].pooling == "cls"


def test_missing_nli_is_refused_with_its_layout(tmp_path):
    for task, said in (("SNLI", "nli/snli/snli_1.0_test.jsonl"), ("ANLI", "nli/anli/R1/test.jsonl, .*R3")):
        with pytest.raises(MissingFile, match=f"no split of {task} to score: the layout is {said}"):
            _read(task, tmp_path)
    _anli(tmp_path)
    said = r"no training texts for ANLI: .*multinli_1.0_train.*R3/train.*RSE_STUDY_DATA"
    with pytest.raises(MissingFile, match=said):
        _read("ANLI", tmp_path)
    # A malformed file is not taken for a missing one.
    _snli(tmp_path)
    (tmp_path / "nli/snli/snli_1.0_train.jsonl").write_text("{\n")
    with pytest.raises(InputError, match=r"train.jsonl:1: is no JSON"):
        _read("SNLI", tmp_path)


def test_glue_metrics_of_a_task(tmp_path, weights):
    write_mrpc(tmp_path, "train", 80, seed=0)
    write_mrpc(tmp_path, "validation", 20, seed=1)
    asked = _read("GLUE-MRPC", tmp_path)
    rows = _scored(asked, weights)
    assert list(rows) == ["f1", "accuracy"] == list(asked.labels)
    assert {row.evaluation for row in rows.values()} == {"GLUE-MRPC/fine_tuned"} == {asked.name}
    assert {(row.split, row.num_examples) for row in rows.values()} == {("validation", 20)}
    assert rows["accuracy"].value > 90
    assert rows["f1"].value > 90
    assert not rows["f1"].degenerate


def test_a_glue_classifier_that_says_one_thing_is_degenerate_and_a_poor_one_is_not(tmp_path, weights):
    write_mrpc(tmp_path, "train", 80, seed=0)
    write_mrpc(tmp_path, "validation", 20, seed=1)
    asked = _read("GLUE-MRPC", tmp_path, _settings(ONE_EPOCH.model_copy(update={"lr": 1e-6})))
    rows = _scored(asked, weights)
    predicted = asked.classifier(weights).load().predict(asked.held_out[0].texts).argmax(1)
    assert {row.degenerate for row in rows.values()} == {len(set(predicted.tolist())) == 1}
    score, made = _score_of(asked, weights), asked.classifier(weights)
    assert not asked.is_worthless(replace(score, degenerate=False), replace(made, is_weak=True))


def test_stsb_is_a_regression(tmp_path, weights):
    write_stsb(tmp_path, "train", 120, seed=0)
    write_stsb(tmp_path, "validation", 30, seed=1)
    asked = _read("GLUE-STS-B", tmp_path, _settings(num_training=100))
    assert len(asked.training) == 100
    rows = _scored(asked, weights)
    assert list(rows) == ["pearson", "spearman"]
    assert rows["pearson"].value > 60
    assert rows["spearman"].value > 60
    made = asked.classifier(weights)
    assert made.load().classes == ()
    seen = set(zip(asked.held_out[0].first, asked.held_out[0].second, strict=True))
    twins = sum(text in seen for text in zip(asked.training.first, asked.training.second, strict=True))
    assert made.num_removed == twins
    assert _steps(asked, weights)[1] == []


def test_pairs_of_a_regression_that_are_scored_are_left_out(tmp_path, weights):
    write_stsb(tmp_path, "train", 40, seed=0)
    train = tmp_path / "nyu-mll/glue/stsb/train.jsonl"
    lines = train.read_text().splitlines(keepends=True)
    train.with_name("validation.jsonl").write_text("".join(lines[:10]).replace("red", "Red!"))
    made = _read("GLUE-STS-B", tmp_path, _settings(ONE_EPOCH)).classifier(weights)
    seen = {_pair(line) for line in lines[:10]}
    assert made.num_removed == sum(_pair(line) in seen for line in lines) >= 10
    meta = json.loads((made.folder / "meta.json").read_text())
    assert meta["num_training"] + meta["num_dev"] == 40 - made.num_removed


def _pair(line):
    row = json.loads(line)
    return row["sentence1"], row["sentence2"]


def test_both_validation_splits_of_mnli_are_scored(tmp_path, weights):
    given = (("red", "cat", 1), ("red cat", "dog", 0))
    rows = [{"premise": first, "hypothesis": second, "label": label} for first, second, label in given]
    longer = [row | {"premise": row["premise"] + " blue" * i} for row in rows for i in range(9)]
    splits = dict(zip(GLUE.get("MNLI").splits, (longer, rows, rows * 2), strict=True))
    for split, given in splits.items():
        write_glue(tmp_path, "mnli", f"data/{split}-00000-of-00001", given)
    asked = _read("GLUE-MNLI", tmp_path, _settings(ONE_EPOCH))
    found = _scored(asked, weights)
    matched = [f"accuracy validation_{which}" for which in ("matched", "mismatched")]
    assert list(found) == matched == list(asked.labels)
    assert [row.num_examples for row in found.values()] == [2, 4]


def test_glue_of_another_place_and_none_at_all(tmp_path):
    write_mrpc(tmp_path, "train", 8, seed=0)
    with pytest.raises(MissingFile, match=r"rte: no such folder: the layout is <task>/\{train,validation\}"):
        _read("GLUE-RTE", tmp_path)
    with pytest.raises(InputError, match=r"validation"):
        _read("GLUE-MRPC", tmp_path)
    with pytest.raises(InputError, match=r"dataset elsewhere: cannot be loaded"):
        _read("GLUE-MRPC", tmp_path, _settings(glue="elsewhere"))


def test_where_fine_tuning_diverges_its_figures_are_nan_and_degenerate(tmp_path, weights):
    """It would diverge again: a result, not an error that a study meets at every run."""
    write_nli(tmp_path, "snli/snli_1.0_train", 24, 0)
    write_nli(tmp_path, "snli/snli_1.0_test", 12, 1)
    asked = _read("SNLI", tmp_path, _settings(LEARNS.model_copy(update={"lr": 1e30})))
    rows = score_model(ScoredModel("me", _embed, weights), [asked])
    assert {row.metric for row in rows} == {measure.metric for measure in asked.measures}
    assert all(math.isnan(row.value) and row.degenerate for row in rows)
    assert {row.fingerprint for row in rows} == {asked.fingerprint}


def test_fever_is_learnt_and_trains_for_anli_too(tmp_path, weights):
    write_fever(tmp_path, "train", 90, seed=0)
    write_fever(tmp_path, "dev", 30, seed=1)
    (row,) = _scored(_read("FEVER", tmp_path), weights).values()
    assert (row.metric, row.split, row.num_examples) == ("FEVER/fine_tuned/accuracy", "dev", 30)
    assert row.value > 90
    _anli(tmp_path, ["dev"])
    write_anli(tmp_path, 1, "train", 18, seed=1)
    asked = _read("ANLI", tmp_path)
    assert (asked.training.name, len(asked.training)) == ("ANLI-R1+FEVER", 18 + 90)


@pytest.mark.parametrize("task", REVIEWS)
def test_reviews_are_learnt_and_scored_on_test(task, tmp_path, weights):
    write_reviews(tmp_path, task, "test", 30, seed=1)
    write_reviews(tmp_path, task, "train", 80, seed=0)
    asked = _read(task, tmp_path)
    assert (asked.training.name, len(asked.training), asked.lacking) == (task, 80, ())
    (row,) = _scored(asked, weights).values()
    assert (row.metric, row.split, row.num_examples) == (f"{task}/fine_tuned/accuracy", "test", 30)
    assert row.value > 90
    assert [measure.metric for measure in asked.measures] == [row.metric]


SPANS = LEARNS.model_copy(update={"lr": 1e-2, "epochs": 8, "max_length": 12})


def test_squad_is_learnt_from_windows_and_scored_on_dev(tmp_path, weights):
    """Contexts have up to ten words, windows hold eight tokens of them or fewer."""
    write_squad(tmp_path, "train", 160, seed=0, most=9)
    write_squad(tmp_path, "dev", 40, seed=1, most=9)
    asked = _read("SQuAD", tmp_path, _settings(SPANS))
    found = _scored(asked, weights)
    assert list(found) == list(asked.labels) == ["f1", "exact_match"]
    for row in found.values():
        assert (row.evaluation, row.split, row.num_examples) == ("SQuAD/fine_tuned", "dev", 40)
        assert row.value > 90
        assert not row.degenerate
    assert [measure.metric for measure in asked.measures] == [row.metric for row in found.values()]
    made, steps = _steps(pickle.loads(pickle.dumps(asked)), weights)
    assert (steps, made.is_weak) == ([], False)  # it is kept, and read back as what it is
    few = _read("SQuAD", tmp_path, _settings(SPANS, num_training=60))
    assert len(few.training) == 60
    assert few.fingerprint != asked.fingerprint


def test_a_span_head_resumes_to_the_same_bits_in_bf16(tmp_path, weights):
    write_squad(tmp_path, "train", 24, seed=0)
    write_squad(tmp_path, "dev", 8, seed=1)
    spec = SPANS.model_copy(update={"epochs": 2, "precision": "bf16"})
    asked = _read("SQuAD", tmp_path, _settings(spec))

    def stop(progress):
        assert np.isfinite(float(progress.loss))
        if progress.t == 4:
            os.kill(os.getpid(), signal.SIGINT)

    halves, whole = (replace(weights, made=tmp_path / name) for name in ("halves", "whole"))
    with pytest.raises(KeyboardInterrupt):
        asked.classifier(halves, stop)
    resumed, steps = _steps(asked, halves)
    assert steps[0] == 5
    assert resumed.weights == _steps(asked, whole)[0].weights
