import json

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

from rse_study.assets.tiny import train_tokenizer
from rse_study.data.tokenised import TokenisedCorpus, encode, special_ids, tokenise
from rse_study.errors import InputError
from tests.cases import cases
from tests.tiny_models import word_tokenizer, words_of

PROMPT = 'This sentence of "[X]" means [MASK].'


def test_rows_are_what_the_tokenizer_says_and_meta_says_what_the_ids_mean(corpus, sentences, tokenizer):
    assert len(corpus) == len(sentences)
    for index, text in enumerate(sentences):
        assert corpus.row(index).tolist() == tokenizer(text, truncation=True, max_length=12).input_ids
    assert corpus.ids.dtype == np.int32
    assert not corpus.ids.flags.writeable
    assert set(corpus.meta.special_ids) == {0, 2, 3, 4}  # an unknown word, id 1, is text
    assert (corpus.meta.pad_id, corpus.meta.mask_id) == (0, 4)
    assert corpus.meta.vocabulary_size == len(tokenizer)
    assert json.loads((corpus.directory / "meta.json").read_text())["num_tokens"] == len(corpus.ids)


def test_fingerprint_follows_the_content(corpus, sentences, tokenizer, tmp_path):
    assert tokenise(sentences, tokenizer, 12, tmp_path / "a").fingerprint == corpus.fingerprint
    assert tokenise(sentences[::-1], tokenizer, 12, tmp_path / "b").fingerprint != corpus.fingerprint
    assert tokenise(sentences, tokenizer, 11, tmp_path / "c").fingerprint != corpus.fingerprint


def test_a_prompt_is_never_cut(sentences, tokenizer):
    whole = [tokenizer(PROMPT.replace("[X]", text)).input_ids for text in sentences]
    assert encode(sentences, tokenizer, 64, PROMPT) == whole
    tail = [*tokenizer('" means [MASK].', add_special_tokens=False).input_ids, tokenizer.sep_token_id]
    for ids in encode(sentences, tokenizer, 14, PROMPT):
        assert len(ids) <= 14
        assert ids[-len(tail) :] == tail


NAMES = ["[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]"]


@cases("kind", ["words", "word pieces", "unigram", "slow"])
def test_the_name_of_a_special_token_is_text(kind, sentences, tmp_path):
    tokenizer = {"words": _words, "word pieces": _pieces, "unigram": _unigram, "slow": _slow}[kind](
        sentences, tmp_path
    )
    plain = tokenizer(sentences).input_ids
    assert encode(sentences, tokenizer, 200) == plain
    special = {*special_ids(tokenizer)} - {tokenizer.unk_token_id}
    for name in NAMES:
        for text in (f"{sentences[0]} {name}", f"{name} {name}", f"x{name}x"):
            (ids,) = encode([text], tokenizer, 200)
            assert [i for i in ids if i in special] == [plain[0][0], plain[0][-1]]
            prompt = encode([text], tokenizer, 200, PROMPT)[0]
            assert prompt.count(tokenizer.mask_token_id) == 1
            assert prompt[-3:] == encode([sentences[0]], tokenizer, 200, PROMPT)[0][-3:]
    assert encode(sentences, tokenizer, 200) == plain  # which is no setting that stays


def _words(sentences, folder):
    return word_tokenizer([*words_of(sentences), "this", "sentence", "of", "means"])


def _pieces(sentences, folder):
    return train_tokenizer(sentences, 300, 64)


def _unigram(sentences, folder):
    """Its vocabulary has the names of special tokens as words, as XLM-R's."""
    pieces = [(name, 0.0) for name in NAMES] + [
        (one, -3.0) for one in sorted({*"".join(sentences), "\u2581"})
    ]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=4))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **{
            f"{role}_token": name
            for role, name in zip(("cls", "sep", "pad", "mask", "unk"), NAMES, strict=True)
        },
    )


def _slow(sentences, folder):
    (folder / "vocab.txt").write_text("\n".join([*NAMES, *words_of(sentences)]), encoding="utf-8")
    return BertTokenizerLegacy(str(folder / "vocab.txt"))


def test_tokens_that_an_author_adds_stand_in_texts_and_special_ones_do_not(sentences):
    tokenizer = _pieces(sentences, None)
    tokenizer.add_special_tokens({"extra_special_tokens": ["[E1]"]})
    (ids,) = encode(["[E1] runs [MASK]"], tokenizer, 64)
    assert ids.count(tokenizer.convert_tokens_to_ids("[E1]")) == 1
    assert tokenizer.mask_token_id not in ids


def test_a_special_token_in_a_text_is_refused_where_nothing_is_unknown(sentences):
    tokenizer = _unigram(sentences, None)
    tokenizer.unk_token = None
    with pytest.raises(
        InputError, match=r"a text holds '\[PAD\]': its tokenizer reads it as a special token.* Remove it"
    ):
        encode(["[PAD]"], tokenizer, 64)


@pytest.mark.parametrize(
    ("max_length", "template", "message"),
    [
        (2, "", "max_length = 2: it must exceed the 2 special"),
        (8, PROMPT, "max_length = 8: it must exceed the 1"),
        (32, "no slot [MASK]", "once each"),
        (32, "[X] and [X] [MASK]", "once each"),
        (32, "[X] without", "encoder.template: template '[X] without'"),
    ],
)
def test_impossible_lengths_and_templates_are_refused(sentences, tokenizer, max_length, template, message):
    with pytest.raises(InputError, match=message.replace("[", r"\[")) as caught:
        encode(sentences, tokenizer, max_length, template)
    assert caught.value.remedy


def test_an_interrupted_build_leaves_nothing(sentences, tokenizer, tmp_path):
    def interrupt(num_done, num_all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenise(sentences, tokenizer, 12, tmp_path / "x", on_progress=interrupt)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="no tokenised corpus"):
        TokenisedCorpus.open(tmp_path / "x")
