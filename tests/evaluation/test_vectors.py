"""Whitening of vectors."""

import numpy as np

from rse_study.evaluation.vectors import whitened


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
