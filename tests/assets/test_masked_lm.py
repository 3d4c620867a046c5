import pytest
import torch

from rse_study.assets.masked_lm import LengthSorted, MaskedLMTraining, masked_accuracy, rate, split
from rse_study.assets.tokenised import tokenised_corpus
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.models.generators import load_generator
from rse_study.models.loading import load_tokenizer
from rse_study.streams import Streams


def test_held_out_sentences_are_not_trained_on():
    sentences = [str(i) for i in range(101)]
    training, held_out = split(sentences)
    assert held_out == ["0", "20", "40", "60", "80", "100"]
    assert sorted(training + held_out) == sorted(sentences)
    training, held_out = split([str(i) for i in range(30_000)])
    assert (len(training), len(held_out)) == (29_500, 500)
    assert not set(training) & set(held_out)


def test_rate_rises_to_one_and_falls_to_zero_and_a_small_corpus_gets_fewer_steps():
    rates = [rate(step, 100) for step in range(100)]
    assert max(rates) == pytest.approx(1)
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == pytest.approx(1)
    assert rates[-1] == pytest.approx(1 / 90)
    assert rate(0, 1) == 1
    spec = MaskedLMTraining(num_steps=1500, max_epochs=6)
    assert spec.steps_for(1000) == 1500
    assert spec.steps_for(10) == 60


@pytest.fixture
def corpora(small, sentences, tmp_path):
    tokenizer = load_tokenizer(str(small))
    parts = split(sentences)
    training, held_out = (TokenisedCorpus.open(tokenised_corpus(tmp_path, s, tokenizer, 32)) for s in parts)
    return training, held_out


def test_batches_of_like_length_meet_every_sentence_of_a_pool_once(corpora):
    training, _ = corpora
    batches = LengthSorted(training, 32, Streams(0))
    assert batches.num_batches == 16
    rows = [batches.batch(step) for step in range(16)]
    assert sorted(torch.cat([b.rows for b in rows]).tolist()) == list(range(512))
    assert all(b.ids.shape[1] == b.mask.sum(1).max() for b in rows)


def test_unigram_baseline_is_the_commonest_token_of_the_training_sentences(corpora, small):
    training, held_out = corpora
    model = load_generator(small).model
    measured = masked_accuracy(model, held_out, training)
    with torch.no_grad():
        ids = torch.from_numpy(training.ids[:].astype("int64"))
        counts = torch.bincount(ids, minlength=model.config.vocab_size)
        counts[list(training.meta.special_ids)] = 0
        head = model.cls.predictions
        head.transform.LayerNorm.weight.zero_(), head.transform.LayerNorm.bias.zero_(), head.bias.zero_()
        head.bias[counts.argmax()] = 1.0
    constant = masked_accuracy(model, held_out, training)
    assert constant.model == constant.unigram == measured.unigram
    assert measured.model > measured.unigram
