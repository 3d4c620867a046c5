import pytest
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from rse_study.assets.tokenised import make_synonyms, synonym_table, tokenised_corpus
from rse_study.data.batches import Synonyms
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.errors import InputError
from rse_study.models.loading import load_tokenizer


def test_keyed_by_sentences_tokenizer_length_and_template(small, tmp_path):
    tokenizer = load_tokenizer(str(small))
    texts = ["the friend sings", "the friend sleeps"]
    first = tokenised_corpus(tmp_path, texts, tokenizer, 16)
    tokenizer(texts, padding=True, truncation=True, max_length=4)  # which is no part of the key
    assert tokenised_corpus(tmp_path, texts, tokenizer, 16) == first
    keys = [(texts[::-1], tokenizer, 16), (texts, tokenizer, 8), (texts, tokenizer, 16, "[X] means [MASK]")]
    others = {tokenised_corpus(tmp_path, *key) for key in keys}
    assert len(others - {first}) == 3
    corpus = TokenisedCorpus.open(first)
    assert len(corpus) == 2
    assert corpus.row(0).tolist() == tokenizer(texts[0]).input_ids


WORDS = ("[UNK]", "[PAD]", "car", "auto", "automobile", "big", "large", "##s", "house", ",")


@pytest.fixture(scope="module")
def tokenizer():
    vocabulary = {word: token for token, word in enumerate((*WORDS, "a"))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]")


def named(table, tokenizer, word):
    vocabulary = tokenizer.get_vocab()
    names = {token: name for name, token in vocabulary.items()}
    return {names[int(token)] for token in table.of(vocabulary[word])}


def test_words_have_the_synonyms_that_are_one_token(tokenizer, data_dir):
    table = make_synonyms(tokenizer, data_dir)
    assert named(table, tokenizer, "car") == {"auto", "automobile"}
    assert named(table, tokenizer, "large") == {"big"}
    assert named(table, tokenizer, ",") == set()
    starts = {word for word, token in tokenizer.get_vocab().items() if table.starts[token]}
    assert starts == {*WORDS, "a"} - {"##s"}


def test_byte_level_bpe_marks_what_begins_a_word(data_dir):
    words = ["<unk>", "<pad>", "Ġcar", "car", "Ġauto", "Ġbig", "Ġlarge", "s", ".", "Ġa", "a"]
    made = Tokenizer(models.WordLevel({word: token for token, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?[a-z]+|\."), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    marked = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", pad_token="<pad>")
    table = make_synonyms(marked, data_dir)
    assert named(table, marked, "\u0120car") == {"\u0120auto"}
    assert named(table, marked, "\u0120large") == {"\u0120big"}
    ids = torch.tensor(marked(" a car.")["input_ids"])
    every = torch.ones(len(ids), dtype=torch.bool)
    assert table.replaceable(ids, every).tolist() == [False, True, False]
    assert table.num_words(ids, every) == 2


def test_the_asset_is_made_once_and_never_of_a_vocabulary_without_a_pair(tokenizer, data_dir, tmp_path):
    folder = synonym_table(tmp_path, tokenizer, data_dir)
    stamp = (folder / "meta.json").stat().st_mtime_ns
    assert synonym_table(tmp_path, tokenizer, data_dir) == folder
    assert (folder / "meta.json").stat().st_mtime_ns == stamp
    assert len(Synonyms.open(folder).choices) > 0
    made = Tokenizer(models.WordPiece({"[UNK]": 0, "zxqy": 1}, unk_token="[UNK]"))
    other = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]")
    with pytest.raises(InputError, match=r"no token has a synonym.*another encoder"):
        synonym_table(tmp_path, other, data_dir)
