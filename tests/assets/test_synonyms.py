"""WordNet in the ids of real tokenizers."""

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from rse_study.assets.synonyms import make_synonyms, synonym_table
from rse_study.data.synonyms import Synonyms

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


def test_the_asset_is_made_once(tokenizer, data_dir, tmp_path):
    folder = synonym_table(tmp_path, tokenizer, data_dir)
    stamp = (folder / "meta.json").stat().st_mtime_ns
    assert synonym_table(tmp_path, tokenizer, data_dir) == folder
    assert (folder / "meta.json").stat().st_mtime_ns == stamp
    assert len(Synonyms.open(folder).choices) > 0
