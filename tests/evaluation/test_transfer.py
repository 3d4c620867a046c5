import numpy as np
import pytest
from pydantic import ValidationError

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.transfer import (
    AVERAGES,
    ProbePreset,
    averages,
    choose_by_dev,
    choose_by_folds,
    evaluate_transfer,
    fewest_for,
    fit_probe,
    folds,
    pair_features,
)
from tests.cases import cases
from tests.evaluation.contract import check_items
from tests.evaluation.newton_probe import nested, nested_accuracies, newton

PRESET = ProbePreset(name="tiny", num_folds=3, regularisations=(1e-2, 1.0))
NOISE = np.random.default_rng(0).normal(size=(256, 6))


def embed(texts: list[str]) -> np.ndarray:
    """A vector a text; texts that begin with 'b' lean one way."""
    rows = np.stack([NOISE[sum(map(ord, text)) % 256] for text in texts])
    return rows + 2 * np.array([text.startswith("b") for text in texts])[:, None] * np.eye(6)[0]


def singles(name: str, split: str, num: int, shift: int = 0) -> Labelled:
    texts = [(f"{'ab'[i % 2]}{i + shift}",) for i in range(num - 1)] + [("",)]  # one of them empty
    return Labelled(name, split, texts, np.arange(num) % 2, ("no", "yes"))


def pairs(split: str, num: int, shift: int) -> Labelled:
    texts = [(f"a{i + shift}", f"{'ba'[i % 2]}{i + shift + 1}") for i in range(num)]
    return Labelled("MRPC", split, texts, np.arange(num) % 2, ("other", "paraphrase"))


def rows_of(embed, tasks, preset, seed):
    return [row for task in tasks for row in evaluate_transfer(embed, task, preset, seed)]


@pytest.fixture
def whole():
    return (singles("MR", "all", 60),)


@pytest.fixture
def tasks(whole):
    splits = (("train", 0), ("dev", 40), ("test", 90))
    sst2 = tuple(singles("SST2", split, 40, shift) for split, shift in splits)
    trec = (singles("TREC", "train", 40), singles("TREC", "test", 20, 50))
    return [whole, sst2, trec, (pairs("train", 60, 0), pairs("test", 31, 70))]


def test_rows_say_what_was_measured(tasks):
    rows = rows_of(embed, tasks, PRESET, seed=3)
    assert [(row.task, row.split, row.aggregation, row.num_examples) for row in rows] == [
        ("MR", "all", "accuracy", 60),
        ("SST2", "test", "accuracy", 40),
        ("TREC", "test", "accuracy", 20),
        ("MRPC", "test", "accuracy", 31),
        ("MRPC", "test", "f1", 31),
    ]
    assert {(row.preset, row.seed, row.degenerate) for row in rows} == {("tiny", 3, False)}
    assert len({row.fingerprint for row in rows}) == 4
    assert all(60 < row.value <= 100 for row in rows)
    check_items(rows, "f1")


def test_a_whole_set_is_the_mean_of_its_outer_folds_which_the_seed_draws(whole):
    vectors = embed([text for (text,) in whole[0].texts])
    expected = 100 * np.mean(nested_accuracies(vectors, whole[0].labels, PRESET, 5))
    assert evaluate_transfer(embed, whole, PRESET, 5)[0].value == pytest.approx(expected)
    found = {evaluate_transfer(embed, whole, PRESET, seed)[0].value for seed in range(5)}
    assert len(found) > 1


def test_dev_chooses_and_labels_of_a_test_split_change_nothing_but_the_score(tasks):
    train, dev, test = tasks[1]
    x, d, t = (embed([text for (text,) in split.texts]) for split in tasks[1])
    on_dev = [fit_probe(x, train.labels, C).accuracy(d, dev.labels) for C in PRESET.regularisations]
    best = PRESET.regularisations[0 if on_dev[0] >= on_dev[1] else 1]
    expected = 100 * fit_probe(x, train.labels, best).accuracy(t, test.labels)
    assert evaluate_transfer(embed, tasks[1], PRESET, 0)[0].value == pytest.approx(expected)
    train, test = tasks[2]
    turned = Labelled("TREC", "test", test.texts, 1 - test.labels, test.classes)
    one, other = (evaluate_transfer(embed, (train, part), PRESET, 0)[0] for part in (test, turned))
    assert one.value + other.value == pytest.approx(100)
    assert one.fingerprint != other.fingerprint


def test_test_labels_never_choose():
    """A dev split with the test's texts and the opposite labels: what it likes best is worst on test."""
    train, test = _overlapping("train", 24, 0), _overlapping("test", 200, 24)
    dev = Labelled("SST2", "dev", test.texts, 1 - test.labels, test.classes)
    x, t = (embed([text for (text,) in split.texts])[:, :3] for split in (train, test))
    on_test = [fit_probe(x, train.labels, C).accuracy(t, test.labels) for C in PRESET.regularisations]
    assert min(on_test) < max(on_test)
    (row,) = evaluate_transfer(lambda texts: embed(texts)[:, :3], (train, dev, test), PRESET, 0)
    assert row.value == pytest.approx(100 * min(on_test))


def _overlapping(split: str, num: int, shift: int):
    texts = [(f"{'ab'[(i + i // 3) % 2]}{i + shift}",) for i in range(num)]
    return Labelled("SST2", split, texts, np.arange(num) % 2, ("no", "yes"))


def test_pairs_are_differences_and_products_and_f1_is_counted_by_hand(tasks):
    train, test = tasks[3]
    one = ProbePreset(name="one", num_folds=3, regularisations=(0.1,))

    def features(split):
        vectors = ((embed([first])[0], embed([second])[0]) for first, second in split.texts)
        return np.array([[*(abs(a - b) for a, b in zip(u, v, strict=True)), *(u * v)] for u, v in vectors])

    predicted = fit_probe(features(train), train.labels, 0.1).predict(features(test))
    hits = sum(p == g == 1 for p, g in zip(predicted, test.labels, strict=True))
    expected = 2 * hits / (sum(predicted) + sum(test.labels))
    accuracy, f1 = evaluate_transfer(embed, tasks[3], one, 0)
    assert accuracy.value == pytest.approx(100 * np.mean(predicted == test.labels))
    assert f1.value == pytest.approx(100 * expected)
    assert 0 < expected < 1
    u, v = np.random.default_rng(1).normal(size=(2, 4, 3))
    assert np.array_equal(pair_features(u, v), pair_features(v, u))
    assert pair_features(u, v).shape == (4, 6)


@pytest.mark.parametrize(
    "collapsed",
    [
        lambda texts: np.ones((len(texts), 4)),
        lambda texts: np.zeros((len(texts), 4), np.float32),
        lambda texts: np.full((len(texts), 4), np.nan),
        lambda texts: np.where(np.arange(len(texts))[:, None] == 3, np.inf, embed(texts)),
        lambda texts: (100 + 1e-5 * embed(texts)).astype(np.float32),
    ],
    ids=["constant", "zero", "nan", "one-infinite", "rounding"],
)
def test_collapsed_embeddings_count_as_zero(tasks, collapsed):
    rows = rows_of(collapsed, tasks[:1] + tasks[3:], PRESET, 0)
    assert [row.aggregation for row in rows] == ["accuracy", "accuracy", "f1"]
    assert {(row.value, row.degenerate) for row in rows} == {(0, True)}


def test_too_few_examples_of_a_class_are_refused():
    few = Labelled("MR", "all", [(str(i),) for i in range(20)], np.array([1] * 4 + [0] * 16), ("no", "yes"))
    message = r"MR all: 4 example\(s\) of class 'yes': at least 5 for 3 folds. Fetch the set again"
    with pytest.raises(InputError, match=message):
        evaluate_transfer(embed, (few,), PRESET, 0)
    missing = singles("TREC", "train", 30)
    three = Labelled("TREC", "train", missing.texts, missing.labels, ("no", "yes", "other"))
    with pytest.raises(InputError, match=r"TREC train: 0 example\(s\) of class 'other': at least 3"):
        evaluate_transfer(embed, (three, singles("TREC", "test", 9)), PRESET, 0)


def test_averages_are_of_the_tasks_the_papers_average():
    accuracies = {name: float(i) for i, name in enumerate(AVERAGES["avg7"])}
    trec = accuracies["TREC"]
    assert averages(accuracies) == pytest.approx({"avg7": 21 / 7, "avg6_without_trec": (21 - trec) / 6})
    del accuracies["TREC"]
    assert averages(accuracies).keys() == {"avg6_without_trec"}
    del accuracies["CR"]
    assert averages(accuracies) == {}


SMALL = ProbePreset(name="small", num_folds=3, regularisations=(1e-3, 1e-1, 10.0))


def clouds(num: int, distance: float, num_features: int = 5, seed: int = 0):
    """Two classes, unit Gaussians whose means lie `distance` apart: Bayes accuracy is Phi(distance / 2)."""
    rng = np.random.default_rng(seed)
    labels = np.arange(num) % 2
    features = rng.normal(size=(num, num_features))
    features[:, 0] += distance * labels
    return features, labels


def test_the_optimum_is_newtons():
    features, labels = clouds(80, 1.5)
    for C in SMALL.regularisations:
        fit = fit_probe(features, labels, C)
        w, b = newton((features - features.mean(0)) / fit.scale, labels, C)
        assert fit.model.coef_[0] == pytest.approx(w, abs=2e-3)
        assert fit.model.intercept_[0] == pytest.approx(b, abs=2e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nested_folds_equal_plain_loops(seed):
    features, labels = clouds(90, 1.0, seed=seed)
    expected = nested(features, labels, SMALL.regularisations, 3, seed)
    assert nested_accuracies(features, labels, SMALL, seed) == pytest.approx([found for found, _ in expected])
    for (train, _), (_, C) in zip(folds(labels, 3, seed), expected, strict=True):
        assert choose_by_folds(features[train], labels[train], SMALL, seed) == C


def test_neither_length_nor_offset_of_the_vectors_matters_but_the_scale_of_single_features_does():
    features, labels = clouds(120, 1.0)
    before = nested_accuracies(features, labels, SMALL, 0)
    assert nested_accuracies(1e-3 * features, labels, SMALL, 0) == before
    assert nested_accuracies(1e3 * features + 7, labels, SMALL, 0) == before
    # One number for all: stretching a useful feature is felt, as in SentEval.
    features, labels = clouds(400, 1.0, num_features=40)
    stretched = features * np.array([20.0] + [1.0] * 39)
    better, plain = (nested_accuracies(one, labels, SMALL, 0) for one in (stretched, features))
    assert np.mean(better) > np.mean(plain)


def test_dev_chooses_and_of_equals_the_strongest_penalty_is_taken():
    features, labels = clouds(60, 1.0, num_features=30)
    train, dev = (features[:30], labels[:30]), (features[30:], labels[30:])
    measured = {C: fit_probe(*train, C).accuracy(*dev) for C in SMALL.regularisations}
    assert measured[choose_by_dev(train, dev, SMALL)] == max(measured.values())
    apart, labels = clouds(60, 50.0)
    backwards = ProbePreset(name="backwards", num_folds=3, regularisations=(10.0, 1e-1, 1e-3))
    assert choose_by_dev((apart, labels), (apart, labels), backwards) == 1e-3
    assert choose_by_folds(apart, labels, backwards, 0) == 1e-3


def test_probabilities_are_the_logistic_function_of_the_margin():
    features, labels = clouds(60, 1.0)
    fit = fit_probe(features, labels, 0.1)
    w, b = newton((features - features.mean(0)) / fit.scale, labels, 0.1)
    by_hand = 1 / (1 + np.exp(-((features - features.mean(0)) / fit.scale @ w + b)))
    found = fit.probabilities(features)
    assert found[:, 1] == pytest.approx(by_hand, abs=2e-3)
    assert found.sum(axis=1) == pytest.approx(1)
    assert (found.argmax(axis=1) == fit.predict(features)).all()


@cases("num_folds", [2, 3, 5, 10])
def test_so_many_examples_of_a_class_reach_every_inner_fold_and_one_less_does_not(num_folds):
    def inner_tests(num_rare):
        labels = np.array([0] * num_rare + [1] * 50)
        for train, _ in folds(labels, num_folds, 0):
            yield from (labels[train][test] for _, test in folds(labels[train], num_folds, 0))

    enough = fewest_for(num_folds, is_nested=True)
    assert all((part == 0).any() for part in inner_tests(enough))
    with pytest.warns(UserWarning, match="least populated class"):
        assert not all((part == 0).any() for part in inner_tests(enough - 1))


@cases("wrong", [{"num_folds": 1}, {"regularisations": ()}, {"regularisations": (0.0,)}])
def test_presets_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError):
        ProbePreset(**{"name": "wrong", "num_folds": 5, **wrong})
