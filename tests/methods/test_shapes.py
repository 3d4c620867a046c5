"""Shapes of the paper's encoders, random weights: one whole step each, so that no cluster sees them first.

With two of their twelve layers.
"""

import contextlib

import pytest
import torch
import transformers as hf

from rse_study.collectives import Alone
from rse_study.data.batches import Batch
from rse_study.methods import RobustSentEmbed
from rse_study.methods.method import RunContext
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.rtd import Generator
from rse_study.streams import Streams
from tests.methods.problem import MaskToken
from tests.slow import mostly_slow

LENGTHS = (5, 8, 9, 11, 12, 14, 16, 16)
BERT = hf.BertConfig()
ROBERTA = hf.RobertaConfig(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)
# name -> (config, encoder, masked LM, ids of pad, first, last and mask token)
SHAPES = {
    "bert-base": (BERT, hf.BertModel, hf.BertForMaskedLM, (0, 101, 102, 103)),
    "roberta-base": (ROBERTA, hf.RobertaModel, hf.RobertaForMaskedLM, (1, 0, 2, 50264)),
}


def make_batch(config, pad: int, first: int, last: int) -> Batch:
    generator = torch.Generator().manual_seed(0)
    mask = torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]
    ids = torch.randint(1000, config.vocab_size - 1, mask.shape, generator=generator)
    ids = torch.where(mask, ids, pad)
    perturbable = mask.clone()
    for i, length in enumerate(LENGTHS):
        ids[i, 0], ids[i, length - 1] = first, last
        perturbable[i, [0, length - 1]] = False
    return Batch(ids, mask, perturbable, torch.arange(len(LENGTHS)), len(LENGTHS))


@pytest.mark.parametrize("name", mostly_slow(SHAPES, fast=["bert-base"]))
def test_one_step(name):
    whole, encoder, masked_lm, (pad, first, last, mask_id) = SHAPES[name]
    config = type(whole)(**whole.to_diff_dict() | {"num_hidden_layers": 2})
    torch.manual_seed(0)
    tokenizer = MaskToken()
    tokenizer.mask_token_id = mask_id
    generator = Generator(masked_lm(config), tokenizer, name)
    run = RunContext(Streams(0), Alone(), contextlib.nullcontext, generator)
    once = {"num_steps": 1}
    method = RobustSentEmbed(blend={"pgd": once, "fgsm": once}, masks={"phi": 0.05})
    sentences = SentenceEncoder(encoder(config, add_pooling_layer=False), "cls", mask_id)
    networks = method.networks(sentences, run.streams, run.collectives).train()
    state, batch = method.state(networks, run.streams), make_batch(config, pad, first, last)
    before = state["V"].clone()
    outcome = method.step(networks, state, batch, run, 0)
    outcome.loss.backward()
    assert outcome.loss.isfinite()
    assert all(torch.as_tensor(mean.total).isfinite() for mean in outcome.metrics.values())
    changed = (state["V"] != before).any(1).nonzero()[:, 0]
    assert set(changed.tolist()) == set(batch.ids[batch.perturbable].tolist())
    for parameter_name, parameter in networks.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.any(), parameter_name
