"""The weights that fine-tuned evaluations start from; see fine_tuning.py."""

import pytest

from rse_study.downstream.models import ModelFiles


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Classifiers by their settings and texts: each is trained once for all tests that ask for it."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def weights(learner, made, tmp_path):
    return ModelFiles(learner, "mean", made, tmp_path / "kept")
