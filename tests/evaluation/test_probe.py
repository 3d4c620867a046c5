import numpy as np
import pytest
from pydantic import ValidationError

from rse_study.evaluation.probe import (
    ProbePreset,
    choose_by_dev,
    choose_by_folds,
    fewest_for,
    fit_probe,
    folds,
)
from tests.cases import cases
from tests.evaluation.newton_probe import nested, nested_accuracies, newton

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
