import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from rse_study.data import builtin
from rse_study.data.tokenised import TokenisedCorpus, tokenise


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return builtin.corpus(seed=1, num_sentences=60)


@pytest.fixture(scope="session")
def tokenizer(sentences):
    """Whole words, BERT's special tokens."""
    words = sorted(
        {word for text in sentences for word in text.split()} | {"This", "sentence", "of", "means", "."}
    )
    vocabulary = {
        token: i for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", '"', *words])
    }
    fast = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    fast.pre_tokenizer = pre_tokenizers.Whitespace()
    specials = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    fast.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=specials)
    roles = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=fast, **{f"{role}_token": token for role, token in roles.items()}
    )


@pytest.fixture(scope="session")
def corpus(sentences, tokenizer, tmp_path_factory) -> TokenisedCorpus:
    return tokenise(sentences, tokenizer, 12, tmp_path_factory.mktemp("corpus") / "tokenised")
