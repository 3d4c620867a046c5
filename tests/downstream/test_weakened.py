"""Which words masks weaken, counted again one by one from the masks of a step of training."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from rse_study.data.batches import Batches
from rse_study.data.labelled import StsPairs
from rse_study.data.tokenised import tokenise
from rse_study.downstream import Attacks, Settings, read_evaluation
from rse_study.downstream.models import ModelFiles
from rse_study.downstream.weakened import METHOD, NUM_TEXTS, SEED, WeakenedTokens
from rse_study.methods.method import RunContext
from rse_study.models.loading import load_encoder
from rse_study.streams import Streams
from rse_study.tensors import Alone
from rse_study.training.classifier import FineTuning
from tests.downstream.fine_tuning import no_embedding
from tests.training.classifier.sorted_words import singles

TEXTS = list(dict.fromkeys(text for (text,) in singles(40).texts))
PAIRS = StsPairs("toy", "dev", TEXTS, TEXTS, np.zeros(len(TEXTS)))
ASKED = WeakenedTokens(PAIRS, frozenset({"red", "cat"}))


@pytest.fixture
def weights(learner, tmp_path):
    return ModelFiles(learner, "mean", tmp_path, tmp_path)


@pytest.fixture
def masks(learner, tmp_path):
    """(token masks [site, row of both views, token], batch, its texts, metrics of a step on it)."""
    encoder, tokenizer = load_encoder(learner, "mean")
    run = RunContext(Streams(SEED), Alone(), nullcontext)
    networks = METHOD.networks(encoder, run.streams, run.collectives)
    batches = Batches(tokenise(TEXTS, tokenizer, 32, tmp_path / "ids"), len(TEXTS), run.streams)
    batch = batches.batch(0)
    texts = [TEXTS[sentence] for sentence in batches.sentences(0)[batch.rows.numpy()]]
    metrics = METHOD.step(networks.train(), {}, batch, run, 0).metrics
    return METHOD.token_masks(networks, batch, run), batch, texts, metrics


def test_masks_are_those_of_a_step_of_training(masks):
    found, batch, _, metrics = masks
    real = batch.repeated(2).mask.expand_as(found)
    share = metrics["masks/tokens"]
    assert (1 - found)[real].mean().item() == pytest.approx((share.total / share.count).item())
    assert 0 < (1 - found)[real].sum() < real.sum()


def test_shares_are_counted_word_by_word(masks, weights):
    found, batch, texts, _ = masks
    by_layer, words, keys, covered, alone = [0] * METHOD.num_sites, 0, 0, 0, 0
    for row, text in enumerate(texts):
        for place, word in enumerate(text.split(), start=1):
            assert batch.perturbable[row, place]
            hit = [[not found[site, row + view * len(TEXTS), place] for site in range(3)] for view in (0, 1)]
            words += 2
            for site in range(METHOD.num_sites):
                by_layer[site] += hit[0][site] + hit[1][site]
            if word not in ASKED.stop_words:
                keys += 1
                covered += any(hit[0]) or any(hit[1])
                alone += any(hit[0]) != any(hit[1])
    rows = {row.aggregation: row for row in ASKED.score_weights(weights, no_embedding, "me")}
    for site in range(METHOD.num_sites):
        assert rows[f"layer {site}"].value == pytest.approx(100 * float(by_layer[site]) / words)
    assert rows["keywords"].value == pytest.approx(100 * float(covered) / keys)
    assert rows["complementary"].value == pytest.approx(100 * float(alone) / float(covered))
    assert {row.evaluation for row in rows.values()} == {"toy/weakened"}
    assert [measure.metric for measure in ASKED.measures] == [row.metric for row in rows.values()]
    assert {row.split for row in rows.values()} == {"dev"}


def test_the_same_comes_out_again_whatever_torch_drew_before(weights):
    first = ASKED.score_weights(weights, no_embedding, "me")
    torch.manual_seed(5)
    torch.rand(3)
    assert ASKED.score_weights(weights, no_embedding, "me") == first


def test_it_reads_dev_sentences_and_the_stop_words(data_dir):
    found = read_evaluation("STS-B/weakened", data_dir, Settings(Attacks(), FineTuning()))
    assert (found.name, found.pairs.split, len(found.stop_words)) == ("STS-B/weakened", "dev", 179)
    assert np.unique(found.pairs.first).size > NUM_TEXTS
