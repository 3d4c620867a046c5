import json

import numpy as np
import pytest

from rse_study.data.template import encode
from rse_study.data.tokenised import TokenisedCorpus, tokenise
from rse_study.errors import InputError

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


def test_the_same_folder_twice(sentences, tokenizer, tmp_path):
    first = tokenise(sentences, tokenizer, 12, tmp_path / "x")
    assert tokenise(sentences, tokenizer, 12, tmp_path / "x").fingerprint == first.fingerprint
    with pytest.raises(InputError, match="another corpus is here"):
        tokenise(sentences[1:], tokenizer, 12, tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
