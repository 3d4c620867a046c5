"""Replacements of a masked LM are its own probabilities, whatever stands around in the batch."""

import pytest
import torch

from rse_study.data import builtin
from rse_study.evaluation.attacks.transformations import Blank
from rse_study.models.generators import WordPredictor, load_generator
from tests.training.world import World


@pytest.fixture(scope="module")
def generator(tmp_path_factory):
    sentences = builtin.corpus(0, 120)
    return load_generator(World(tmp_path_factory.mktemp("world"), sentences).materials(dropout=0.0).base)


@pytest.fixture(scope="module")
def sentence():
    return builtin.corpus(0, 120)[0].rstrip(".").split()


def directly(generator, words, position, *, is_masked):
    """Every token's probability, by one plain pass of the whole model."""
    tokenizer = generator.tokenizer
    shown = list(words)
    if is_masked:
        shown[position] = tokenizer.mask_token
    ids = torch.tensor([tokenizer(" ".join(shown)).input_ids])
    assert ids.shape[1] == len(words) + 2  # a token a word, between two special ones
    return generator.model(ids).logits[0, position + 1].double().softmax(-1)


@pytest.mark.parametrize("is_masked", [True, False])
def test_probabilities_are_the_models(generator, sentence, is_masked):
    (found,) = WordPredictor(generator, num_words=10)([Blank(sentence, 2, is_masked)])
    expected = directly(generator, sentence, 2, is_masked=is_masked)
    vocabulary = generator.tokenizer.get_vocab()
    assert len(found) == 10
    for word, probability in found:
        assert probability == pytest.approx(float(expected[vocabulary[word]]), abs=1e-7)
    values = [probability for _, probability in found]
    assert values == sorted(values, reverse=True)
    best = max((p, w) for w, p in ((w, float(expected[t])) for w, t in vocabulary.items() if w.isalpha()))
    assert found[0][0] == best[1]


def test_a_place_does_not_feel_its_neighbours_in_the_batch(generator, sentence):
    model = WordPredictor(generator, num_words=5)
    blanks = [Blank(sentence, 1, True), Blank(sentence[:3], 0, True), Blank(sentence * 2, 4, False)]
    together, alone = model(blanks), [model([blank])[0] for blank in blanks]
    for one, other in zip(together, alone, strict=True):
        assert [word for word, _ in one] == [word for word, _ in other]
        assert [p for _, p in one] == pytest.approx([p for _, p in other], abs=1e-6)


def test_a_long_text_is_cut_around_the_place_and_a_word_of_no_known_piece_hidden(generator, sentence):
    model = WordPredictor(generator, num_words=5)
    long = sentence * 60
    for position in (0, len(long) // 2, len(long) - 1):
        ids, at = model._row(Blank(long, position, True))
        assert len(ids) <= generator.model.config.max_position_embeddings
        assert ids[at] == generator.tokenizer.mask_token_id
        assert ids.count(generator.tokenizer.mask_token_id) == 1
        assert len(model([Blank(long, position, True)])[0]) == 5
    (ids, at) = model._row(Blank([*sentence[:2], "[MASK]", *sentence[2:]], 0, True))
    assert (ids.count(generator.tokenizer.mask_token_id), at) == (1, 1)
    words = [*sentence[:2], "", *sentence[2:]]
    ids, at = WordPredictor(generator)._row(Blank(words, 2, False))
    assert ids[at] == generator.tokenizer.mask_token_id
