import pytest
import torch
import transformers as hf

from tests import tiny_models
from tests.tiny_models import PUNCTUATION, SPECIALS

WORDS = ["a", "the", "cat", "dog", "bird", "sat", "ran", "slept", "on", "under", "mat", "tree"]
WORDS += ["big", "small", "red", "old", "and", "quickly"]
LONG = "the old bird slept under the big tree and the dog ran"
SENTENCES = ["the cat sat on the mat", "a dog ran", "", LONG, "small red cat", "a dog ran"]
NUM_POSITIONS = 40
SIZES = dict(hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=24)


def word_tokenizer(specials=SPECIALS, words=WORDS):
    """One token a word; special tokens in the order pad, unk, cls, sep, mask."""
    how = dict(split=PUNCTUATION, pairs=False, max_length=NUM_POSITIONS)
    return tiny_models.word_tokenizer(words, specials=specials, **how)


def roberta_tokenizer():
    # pad has id 1, as everywhere in this family: positions start at 2.
    tokenizer = word_tokenizer(("<unk>", "<pad>", "<s>", "</s>", "<mask>"))
    tokenizer.unk_token, tokenizer.pad_token = "<unk>", "<pad>"
    tokenizer.backend_tokenizer.model.unk_token = "<unk>"  # else an unknown word would be padding
    return tokenizer


def build(family):
    vocab = len(WORDS) + 5
    torch.manual_seed(0)
    offset = dict(pad_token_id=1, max_position_embeddings=42, type_vocab_size=1)
    if family == "bert":
        sizes = dict(vocab_size=vocab, max_position_embeddings=NUM_POSITIONS)
        return hf.BertForMaskedLM(hf.BertConfig(**sizes, **SIZES))
    if family == "roberta":
        return hf.RobertaForMaskedLM(hf.RobertaConfig(vocab_size=vocab, **offset, **SIZES))
    if family == "xlm-roberta":
        config = hf.XLMRobertaConfig(vocab_size=vocab, **offset, **SIZES)
        return hf.XLMRobertaModel(config, add_pooling_layer=False)
    if family == "mpnet":
        sizes = dict(vocab_size=vocab, pad_token_id=1, max_position_embeddings=42)
        return hf.MPNetModel(hf.MPNetConfig(**sizes, **SIZES), add_pooling_layer=False)
    sizes = dict(vocab_size=vocab, embedding_size=8, max_position_embeddings=NUM_POSITIONS)
    return hf.ElectraModel(hf.ElectraConfig(**sizes, **SIZES))


def spread_out(model):
    """Initial weights of HF are small: vectors of random models would nearly coincide."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3, generator=generator)
    return model


FAMILIES = ["bert", "roberta", "xlm-roberta", "mpnet", "electra"]


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """family -> folder in the hub's layout, with random weights and a word tokenizer."""
    root = tmp_path_factory.mktemp("encoders")
    for family in FAMILIES:
        spread_out(build(family)).save_pretrained(root / family)
        starts_at_two = family in ("roberta", "xlm-roberta", "mpnet")
        (roberta_tokenizer() if starts_at_two else word_tokenizer()).save_pretrained(root / family)
    return {family: root / family for family in FAMILIES}


@pytest.fixture
def padded(folders):
    """Token ids and mask of the sentences, padded."""

    def encode(tokenizer, extra=0):
        rows = tokenizer(SENTENCES)["input_ids"]
        ids = torch.full((len(rows), max(map(len, rows)) + extra), tokenizer.pad_token_id)
        mask = torch.zeros(ids.shape, dtype=torch.bool)
        for i, row in enumerate(rows):
            ids[i, : len(row)], mask[i, : len(row)] = torch.tensor(row), True
        return ids, mask

    return encode
