import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    ElectraConfig,
    ElectraModel,
    MPNetConfig,
    MPNetModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaModel,
)

WORDS = ["a", "the", "cat", "dog", "bird", "sat", "ran", "slept", "on", "under", "mat", "tree"]
WORDS += ["big", "small", "red", "old", "and", "quickly"]
SENTENCES = [
    "the cat sat on the mat",
    "a dog ran",
    "",
    "the old bird slept under the big tree and the dog ran",
    "small red cat",
    "a dog ran",
]
SIZES = dict(hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=24)


def word_tokenizer(specials=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), words=WORDS):
    """One token a word; special tokens in the order pad, unk, cls, sep, mask."""
    vocabulary = {token: i for i, token in enumerate([*specials, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=specials[1]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    cls, sep = specials[2], specials[3]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}", special_tokens=[(cls, vocabulary[cls]), (sep, vocabulary[sep])]
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), specials, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=40, **{f"{k}_token": v for k, v in names.items()}
    )


def roberta_tokenizer():
    # pad has id 1, as everywhere in this family: positions start at 2.
    tokenizer = word_tokenizer(("<unk>", "<pad>", "<s>", "</s>", "<mask>"))
    tokenizer.unk_token, tokenizer.pad_token = "<unk>", "<pad>"
    return tokenizer


def build(family):
    vocab = len(WORDS) + 5
    torch.manual_seed(0)
    offset = dict(pad_token_id=1, max_position_embeddings=42, type_vocab_size=1)
    if family == "bert":
        return BertForMaskedLM(BertConfig(vocab_size=vocab, max_position_embeddings=40, **SIZES))
    if family == "roberta":
        return RobertaForMaskedLM(RobertaConfig(vocab_size=vocab, **offset, **SIZES))
    if family == "xlm-roberta":
        return XLMRobertaModel(XLMRobertaConfig(vocab_size=vocab, **offset, **SIZES), add_pooling_layer=False)
    if family == "mpnet":
        sizes = dict(vocab_size=vocab, pad_token_id=1, max_position_embeddings=42)
        return MPNetModel(MPNetConfig(**sizes, **SIZES), add_pooling_layer=False)
    sizes = dict(vocab_size=vocab, embedding_size=8, max_position_embeddings=40)
    return ElectraModel(ElectraConfig(**sizes, **SIZES))


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
        length = max(map(len, rows)) + extra
        ids = torch.full((len(rows), length), tokenizer.pad_token_id)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
        mask = torch.zeros(ids.shape, dtype=torch.bool)
        for i, row in enumerate(rows):
            mask[i, : len(row)] = True
        return ids, mask

    return encode
