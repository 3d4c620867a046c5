import pytest

from rse_study.data import builtin
from rse_study.data.tokenised import TokenisedCorpus, tokenise
from tests.tiny_models import PUNCTUATION, word_tokenizer


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return builtin.corpus(seed=1, num_sentences=60)


@pytest.fixture(scope="session")
def tokenizer(sentences):
    """Whole words, BERT's special tokens."""
    words = {word for text in sentences for word in text.split()} | {"This", "sentence", "of", "means", "."}
    return word_tokenizer(['"', *sorted(words)], split=PUNCTUATION, lower=False, pairs=False, max_length=None)


@pytest.fixture(scope="session")
def corpus(sentences, tokenizer, tmp_path_factory) -> TokenisedCorpus:
    return tokenise(sentences, tokenizer, 12, tmp_path_factory.mktemp("corpus") / "tokenised")
