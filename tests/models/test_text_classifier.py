import json
import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.export import load_classifier, save_classifier
from rse_study.models.loading import load_encoder
from rse_study.models.text_classifier import (
    MAX_ANSWER,
    Classifier,
    TextClassifier,
    Tokens,
    Window,
    encode_texts,
    padded,
    windows,
)
from tests.tiny_models import PUNCTUATION, word_tokenizer
from tests.training.classifier.sorted_words import ordered_pairs, singles

from .conftest import spread_out

NAMES = ("hue", "pet", "neither")


def _classifier(learner, pooling="mean", batch_size=64):
    encoder, tokenizer = load_encoder(learner, pooling)
    network = Classifier(encoder, 3, 0.5, torch.Generator().manual_seed(0))
    return TextClassifier(spread_out(network), tokenizer, NAMES, 24, batch_size)


@pytest.mark.parametrize("pooling", ["cls", "mean", "first_last"])
def test_padding_changes_nothing(learner, pooling):
    victim = _classifier(learner, pooling)
    victim.network.double()
    texts = [*singles(30).texts, ("",)]
    alone = np.concatenate([victim.predict([text]) for text in texts])
    np.testing.assert_allclose(victim.predict(texts), alone, atol=1e-9, rtol=0)
    assert np.ptp(alone[:, 0]) > 0.1  # or the texts would not differ and the test say nothing


def test_probabilities_are_the_networks_own(learner):
    """One text, by hand: frame, types, mean over tokens, linear map, softmax."""
    victim = _classifier(learner)
    network, tokenizer = victim.network.eval(), victim.tokenizer
    pair = ("red cat", "blue dog fish")
    words = ["[CLS]", "red", "cat", "[SEP]", "blue", "dog", "fish", "[SEP]"]
    ids = torch.tensor([tokenizer.convert_tokens_to_ids(words)])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]])
    hidden = network.encoder.backbone(input_ids=ids, token_type_ids=types)[0]
    expected = torch.softmax(network.head(hidden.mean(1)).double(), 1)
    np.testing.assert_allclose(victim.predict([pair])[0], expected.detach().numpy()[0], atol=1e-6)
    other = network.encoder.backbone(input_ids=ids)[0]
    assert not torch.allclose(hidden, other)  # the types are read
    found = victim.predict([("red", "cat"), ("cat", "red")])
    assert np.abs(found[0] - found[1]).max() > 1e-3  # and so is the order of a pair


def test_a_long_pair_is_cut_at_its_longer_half(learner):
    tokenizer = load_encoder(learner, "cls")[1]
    (found,) = encode_texts([("red " * 40, "cat dog")], tokenizer, 10)
    assert len(found) == 10
    assert found.types == [0] * 7 + [1] * 3
    inputs = padded(encode_texts([("red",), ("cat dog",)], tokenizer, 10), tokenizer.pad_token_id)
    assert inputs.mask.tolist() == [[True, True, True, False], [True] * 4]
    with pytest.raises(InputError, match=r"max_length = 3: it must exceed the 3 special tokens. Raise"):
        encode_texts([("a", "b")], tokenizer, 3)


def test_special_tokens_that_texts_spell_change_neither_frame_nor_sides(learner):
    tokenizer = load_encoder(learner, "cls")[1]
    plain, spelt, other = encode_texts(
        [("a b", "c d"), ("a [SEP] b", "c [PAD] d"), ("a b", "c d")], tokenizer, 64
    )
    assert plain == other
    frame = [tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.sep_token_id]
    assert [i for i in spelt.ids if i in {*frame, tokenizer.pad_token_id}] == frame
    assert spelt.types == sorted(spelt.types)
    assert len(spelt.types) == len(spelt.ids)


def test_columns_in_the_order_of_the_data_and_no_prompt_pooling(learner):
    victim = _classifier(learner)
    found = victim.predicting(("Neither", "HUE", "pet"))([("red",)])
    assert np.array_equal(found, victim.predict([("red",)])[:, [2, 0, 1]])
    with pytest.raises(InputError, match=r"predicts hue, pet, neither: the data's classes are hue, cat"):
        victim.predicting(("hue", "cat"))
    encoder, _ = load_encoder(learner, "mean")
    prompted = SentenceEncoder(encoder.backbone, "prompt", 4)
    with pytest.raises(InputError, match="pooling 'prompt': a classifier reads bare texts"):
        Classifier(prompted, 2, 0.1, torch.Generator())


@pytest.mark.parametrize("texts", [singles(40).texts, ordered_pairs(40).texts], ids=["one", "two"])
def test_kept_and_loaded_again_it_says_the_same_bits(learner, tmp_path, texts):
    victim = _classifier(learner, "first_last")
    save_classifier(tmp_path, victim)
    again = load_classifier(tmp_path)
    assert np.array_equal(again.predict(texts), victim.predict(texts))
    assert (again.classes, again.max_length) == (NAMES, 24)
    assert again.network.dropout.p == 0.5
    encoder, _ = load_encoder(tmp_path)  # a victim's folder is an encoder's, too
    assert encoder.pooling == "first_last"


def test_a_damaged_classifier_is_refused(learner, tmp_path):
    save_classifier(tmp_path, _classifier(learner))
    (tmp_path / "classifier.json").write_text(json.dumps({"classes": ["a"], "max_length": 4}))
    with pytest.raises(InputError, match=r"classifier.json: damaged"):
        load_classifier(tmp_path)


WORDS = [f"w{i}" for i in range(40)]
CONTEXT = " ".join(WORDS[:20])


@pytest.fixture(scope="module")
def tokenizer():
    return word_tokenizer([*WORDS, "?"], split=PUNCTUATION)


def test_windows_cover_a_long_context_and_know_its_characters(tokenizer):
    cut = list(windows([("w30 w31 w32 w33 w34?", CONTEXT), ("w1?", "w2 w3")], tokenizer, 16))
    assert {window.row for window in cut} == {0, 1}
    long = [window for window in cut if window.row == 0]
    read = [[CONTEXT[a:b] for a, b in window.spans if a >= 0] for window in long]
    assert len(long) > 1
    assert [*dict.fromkeys(word for part in read for word in part)] == WORDS[:20]
    for one, other in pairwise(read):  # each begins with the end of the one before
        assert one[-5:] == other[:5]  # a third of 16
    for window in long:
        assert len(window.tokens) == len(window.spans) <= 16
        asked = [
            token for token, kind in zip(window.tokens.ids, window.tokens.types, strict=True) if not kind
        ]
        assert tokenizer.decode(asked) == "[CLS] w30 w31 w32 w33 [SEP]"  # no more than a quarter of 16


def test_a_special_token_that_a_context_spells_keeps_its_characters(tokenizer):
    (window,) = windows([("w1 [SEP]?", "w2 [MASK] w3")], tokenizer, 40)
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.mask_token_id}
    assert [i for i in window.tokens.ids if i in special] == [
        tokenizer.cls_token_id,
        tokenizer.sep_token_id,
        tokenizer.sep_token_id,
    ]
    places = [tuple(span) for span in window.spans.tolist() if span[0] >= 0]
    assert places[0] == (0, 2)
    assert places[-1] == (10, 12)


def test_an_answer_has_a_place_in_the_windows_that_have_all_of_it(tokenizer):
    start = CONTEXT.index("w9 ")
    end = start + len("w9 w10 w11")
    places = []
    for window in windows([("w30?", CONTEXT)], tokenizer, 16):
        first, last = window.place_of(start, end)
        held = {CONTEXT[a:b] for a, b in window.spans if a >= 0}
        assert ((first, last) != (0, 0)) == ({"w9", "w10", "w11"} <= held)
        if last:
            places.append(CONTEXT[window.spans[first][0] : window.spans[last][1]])
    assert set(places) == {"w9 w10 w11"}
    inside = next(windows([("w30?", CONTEXT)], tokenizer, 16)).place_of(1, 2)  # a part of a word: the word
    assert inside[0] == inside[1] > 0


def test_the_best_span_is_that_of_a_search_through_all():
    drawn = np.random.default_rng(0)
    spans = [(-1, -1), (-1, -1), *((2 * i, 2 * i + 1) for i in range(40)), (-1, -1)]
    window = Window(0, Tokens([0] * len(spans), [0] * len(spans)), np.array(spans))
    for _ in range(5):
        logits = drawn.normal(size=(len(spans), 2))
        logits[0], logits[-1] = 99.0, 99.0  # outside of the context
        logits[2, 0], logits[41, 1] = 9.0, 9.0  # together more tokens than an answer has
        best = (-math.inf, 0, 0)
        for first in range(2, 42):
            for last in range(first, min(first + MAX_ANSWER, 42)):
                best = max(best, (logits[first, 0] + logits[last, 1], spans[first][0], spans[last][1]))
        assert window.best(logits) == pytest.approx(best)


def test_windows_without_room_are_refused(tokenizer):
    with pytest.raises(InputError, match=r"max_length = 11: a window needs 12 tokens or more\. Raise"):
        list(windows([("w1?", CONTEXT)], tokenizer, 11))
    assert all(len(window.tokens) <= 12 for window in windows([(" ".join(WORDS), CONTEXT)], tokenizer, 12))
