"""Passes in chunks: what is computed, how often, and how much memory they hold."""

import pytest
import torch

from benchmarks.counting import peak_bytes
from rse_study.models.encoder import SentenceEncoder
from tests.tiny_models import random_bert

ROWS, LENGTH = 32, 16


@pytest.fixture
def encoder():
    """Without dropout; activations are most of what a pass holds."""
    model = random_bert(40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, intermediate_size=64)
    return SentenceEncoder(model.bert.double(), "cls").train()


def spread(encoder):
    """A loss that takes all sentences together, and its gradients."""
    ids = torch.arange(ROWS * LENGTH).view(ROWS, LENGTH) % 35 + 5
    vectors = encoder(encoder.word_embeddings(ids), torch.ones_like(ids, dtype=torch.bool), ids)
    (vectors @ vectors.T).logsumexp(1).sum().backward()


def test_a_chunk_holds_its_own_activations_alone(encoder):
    spread(encoder)  # gradients are there from now on
    held = {}
    for encoder.chunk_size in (0, 16, 4):
        held[encoder.chunk_size] = peak_bytes(lambda: spread(encoder))
    assert held[16] < 0.7 * held[0]
    assert held[4] < 0.4 * held[0]


def test_evaluation_is_not_cut_into_chunks(encoder):
    """Rows that keep their padding are compared to the last bit: where they lie must not matter."""
    encoder.chunk_size = 2
    ids = torch.arange(40).view(5, 8) % 35 + 5
    calls = []
    encoder.backbone.register_forward_hook(lambda *_: calls.append(1))
    encoder(encoder.word_embeddings(ids), torch.ones_like(ids, dtype=torch.bool), ids, keeps_padding=True)
    assert len(calls) == 1
