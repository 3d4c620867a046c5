"""Numbers that do not fit corpus or encoder are refused before anything long is built."""

import re

import pytest

from rse_study.assets import prepare
from rse_study.errors import InputError
from rse_study.training.trial import Trial
from tests.heard import Heard


@pytest.fixture
def ready(small, sentences, tmp_path):
    """Prepare a trial on 40 sentences with the small encoder: 2 layers, 128 positions."""
    (tmp_path / "own.txt").write_text("\n".join(sentences[:40]), encoding="utf-8")

    def ready(method=None, **changes):
        settings = {
            "encoder": {"name": str(small), "pooling": "mean"},
            "corpus": {"source": "own.txt"},
            "method": {"lambda2": 0.0, **(method or {})},
            "selection": {"dev": "builtin"},
            "batch_size": 16,
        }
        trial = Trial.model_validate(settings | changes)
        return prepare(trial, tmp_path / "cache", tmp_path, heard)

    heard = Heard()
    ready.said = heard.messages
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


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([f"{word} zzz" for word in "qwxy"], r"3 sentences repeat another, \d.\d% of the tokens are unknown"),
        (["zzz", "zzz zzz"], r"1 sentences repeat another, \d.\d% of the tokens are unknown"),
        ([], r"0 sentences repeat another, 0.0% of the tokens are unknown"),
    ],
)
def test_sentences_that_are_the_same_tokens_are_counted(ready, tmp_path, sentences, more, said):
    (tmp_path / "more.txt").write_text("\n".join([*sentences[:40], *more]), encoding="utf-8")
    ready(corpus={"source": "more.txt"})
    (told,) = [text for text in ready.said if text.startswith("corpus as tokens: ")]
    assert re.fullmatch(f"corpus as tokens: {said}", told)


@pytest.mark.parametrize("name", ["unknown", "other lengths", "invisible", "special"])
def test_fewer_than_a_batch_of_different_tokens_are_refused(ready, tmp_path, sentences, name):
    lines = {
        "unknown": [chr(0x4E00 + i) for i in range(40)],
        "other lengths": [chr(0x4E00 + i) * (1 + i) for i in range(40)],
        "invisible": ["\u200b" * i for i in range(1, 40)],
        "special": [f"[{i}]" for i in range(40)],
    }[name]
    (tmp_path / "same.txt").write_text("\n".join([*sentences[:10], *lines]), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"only 1\d of \d\d sentences differ as tokens, .*: a batch holds 16 that dif"
    ):
        ready(corpus={"source": "same.txt"})
