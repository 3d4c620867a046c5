"""Numbers that do not fit corpus or encoder are refused before anything long is built."""

import pytest

from rse_study.assets import prepare
from rse_study.errors import InputError
from rse_study.training.trial import Trial


@pytest.fixture
def ready(small, tmp_path):
    """Prepare a trial on 40 built-in sentences with the small encoder: 2 layers, 128 positions."""

    def ready(method=None, **changes):
        settings = {
            "encoder": {"name": str(small), "pooling": "mean"},
            "corpus": {"source": {"kind": "builtin", "num_sentences": 40}},
            "method": {"lambda2": 0.0, **(method or {})},
            "selection": {"dev": "builtin"},
            "batch_size": 16,
        }
        return prepare(Trial.model_validate(settings | changes), tmp_path / "cache", tmp_path)

    return ready


CASES = [
    ("batch_size", 40, r"40 distinct sentences: batch_size = 41: .*fewer.*smaller batch_size"),
    ("max_length", 128, r"max_length = 129: this model reads at most 128 tokens. Set"),
]


@pytest.mark.parametrize(("field", "most", "said"), CASES)
def test_a_batch_is_within_an_epoch_and_a_length_within_the_encoders(ready, tmp_path, field, most, said):
    with pytest.raises(InputError, match=said):
        ready(**{field: most + 1})
    assert not (tmp_path / "cache").exists()
    assert ready(**{field: most}).corpus.is_dir()


@pytest.mark.parametrize(("sites", "most"), [("below_k", 3), ("through_k", 2)])
def test_weakened_sites_are_there(ready, tmp_path, sites, most):
    masks = {"phi": 0.1, "sites": sites}
    with pytest.raises(InputError, match=r"4 sites are weakened: this encoder has 3.*num_layers.*phi: 0"):
        ready({"masks": {**masks, "num_layers": most + 1}})
    assert not (tmp_path / "cache").exists()
    assert ready({"masks": {**masks, "num_layers": most}}).corpus.is_dir()
    assert ready({"masks": {**masks, "phi": 0.0, "num_layers": 12}}).corpus.is_dir()
