import math
from itertools import pairwise

import numpy as np
import pytest

from rse_study.errors import InputError
from rse_study.models.span_reader import MAX_ANSWER, Window, windows
from rse_study.models.text_classifier import Tokens
from tests.tiny_models import PUNCTUATION, word_tokenizer

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
