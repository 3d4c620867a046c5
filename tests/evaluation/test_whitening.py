import numpy as np

from rse_study.evaluation.whitening import whitened


def test_the_covariance_becomes_the_identity() -> None:
    drawn = np.random.default_rng(0).normal(size=(500, 6)) @ np.random.default_rng(1).normal(size=(6, 6)) + 3
    found = whitened(drawn)
    assert np.allclose(found.mean(0), 0, atol=1e-12)
    assert np.allclose(found.T @ found / len(found), np.eye(6), atol=1e-9)


def test_distances_are_mahalanobis() -> None:
    """Whitening is one choice of square root; what all of them share is the distance."""
    drawn = np.random.default_rng(2).normal(size=(300, 4)) @ np.diag([1.0, 5.0, 0.1, 2.0])
    found, inverse = whitened(drawn), np.linalg.inv(np.cov(drawn.T, bias=True))
    apart = drawn[0] - drawn[1]
    assert np.isclose(np.sum((found[0] - found[1]) ** 2), apart @ inverse @ apart)


def test_directions_without_variance_are_left_out() -> None:
    few = np.random.default_rng(3).normal(size=(5, 20)).astype(np.float32)
    assert np.isfinite(whitened(few)).all()
    assert np.linalg.matrix_rank(whitened(few), tol=1e-6) == 4  # centred: one less than there are rows
    assert not whitened(np.ones((3, 4))).any()
