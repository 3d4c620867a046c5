import json
import subprocess
import sys

import pytest
import torch
from transformers import AutoModel

from benchmarks.counting import peak_bytes
from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import load_encoder
from tests.tiny_models import random_bert

FAMILIES = ["bert", "roberta", "xlm-roberta", "mpnet", "electra"]


def loaded(folder, pooling="cls"):
    encoder, tokenizer = load_encoder(folder, pooling)
    return encoder.double().eval(), tokenizer


@pytest.mark.parametrize("family", FAMILIES)
def test_word_embeddings_reach_the_same_vectors_as_token_ids(folders, padded, family):
    encoder, tokenizer = loaded(folders[family])
    ids, mask = padded(tokenizer)
    reference = AutoModel.from_pretrained(folders[family], dtype=torch.float64).eval()
    expected = reference(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    ours = encoder.token_vectors(encoder.word_embeddings(ids), mask)
    torch.testing.assert_close(ours[mask], expected[mask], atol=1e-12, rtol=0)
    pooled = encoder(encoder.word_embeddings(ids), mask)
    torch.testing.assert_close(pooled, expected[:, 0], atol=1e-12, rtol=0)


def test_poolings_by_hand_and_of_the_mask_token(folders, padded):
    for pooling in ("mean", "first_last"):
        encoder, tokenizer = loaded(folders["bert"], pooling)
        ids, mask = padded(tokenizer)
        output = encoder.backbone(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True)
        hidden = output.hidden_states
        tokens = hidden[-1] if pooling == "mean" else (hidden[1] + hidden[-1]) / 2
        expected = torch.stack([row[keep].mean(0) for row, keep in zip(tokens, mask, strict=True)])
        ours = encoder(encoder.word_embeddings(ids), mask, ids)
        torch.testing.assert_close(ours, expected, atol=1e-12, rtol=0)
    encoder, tokenizer = loaded(folders["bert"], "prompt")
    ids = torch.tensor(tokenizer(["the cat [MASK] sat", "[MASK] a dog ran"])["input_ids"][:1])
    mask = torch.ones_like(ids, dtype=torch.bool)
    hidden = encoder.token_vectors(encoder.word_embeddings(ids), mask)
    torch.testing.assert_close(encoder(encoder.word_embeddings(ids), mask, ids), hidden[:, 3])
    without = ids.masked_fill(ids == tokenizer.mask_token_id, tokenizer.unk_token_id)
    with pytest.raises(InputError, match="without a \\[MASK\\]"):
        encoder(encoder.word_embeddings(without), mask, without)


@pytest.mark.parametrize("family", FAMILIES)
def test_convolutions_read_the_neighbours_in_a_sentence_and_nothing_beyond_its_ends(folders, padded, family):
    """By torch's own convolutions, a sentence at a time."""
    encoder, tokenizer = loaded(folders[family], "convolved")
    ids, mask = padded(tokenizer)
    hidden = encoder.token_vectors(encoder.word_embeddings(ids), mask)
    rows = [row[real].T[None] for row, real in zip(hidden, mask, strict=True)]
    features = [torch.cat([one(row)[0] for one in encoder.convolutions]).relu() for row in rows]
    assert [len(one.weight) for one in encoder.convolutions] == [6, 5, 5]
    expected = torch.stack([one.mean(1) for one in features])
    for keeps_padding in (False, True):
        found = encoder(encoder.word_embeddings(ids), mask, ids, keeps_padding=keeps_padding)
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)
    again = encoder(encoder.word_embeddings(ids), mask, ids, keeps_padding=True)
    assert torch.equal(again[1], again[5])  # the same sentence twice


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_multiply_each_site(folders, padded, family):
    encoder, tokenizer = loaded(folders[family])
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    plain = encoder(embeddings, mask)
    ones = torch.ones(*ids.shape, encoder.hidden_size, dtype=torch.float64)
    torch.testing.assert_close(encoder(embeddings, mask, weights=[ones, None, ones]), plain, atol=0, rtol=0)
    last = torch.rand(ones.shape, dtype=torch.float64)
    weighted = encoder(embeddings, mask, weights=[None, None, None, last])
    torch.testing.assert_close(weighted, plain * last[:, 0], atol=1e-12, rtol=0)
    torch.testing.assert_close(encoder(embeddings, mask), plain, atol=0, rtol=0)


def test_hooks_are_gone_even_after_a_failure(folders, padded):
    encoder, tokenizer = loaded(folders["bert"])
    encoder.skips_padding = False  # without padding there are no hooks
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    ones = torch.ones(*ids.shape, encoder.hidden_size, dtype=torch.float64)

    def fail(module, inputs):
        raise RuntimeError("out of memory")

    failing = encoder.backbone.encoder.layer[1].register_forward_pre_hook(fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        encoder(embeddings, mask, weights=[ones, ones, ones])
    failing.remove()
    assert all(not site._forward_hooks for site in encoder.layers)


def test_too_many_weights_and_unknown_families_are_refused(folders, padded):
    encoder, tokenizer = loaded(folders["bert"])
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    ones = torch.ones(*ids.shape, encoder.hidden_size, dtype=torch.float64)
    said = r"4: the embedding block and 3 layers. Lower method.masks.num_layers to 3"
    with pytest.raises(InputError, match=said):
        encoder(embeddings, mask, weights=[ones] * 5)
    encoder = loaded(folders["mpnet"])[0]
    encoder.backbone.encoder.layer = torch.nn.Sequential(*encoder.backbone.encoder.layer)
    with pytest.raises(InputError, match="has no known sites"):
        encoder(embeddings, mask, weights=[ones])


def test_under_bf16_the_addition_and_the_first_layer_norm_stay_float32(folders, padded):
    encoder, tokenizer = load_encoder(folders["bert"], "cls")
    encoder.eval()
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    seen = {}
    block, layer = encoder.backbone.embeddings, encoder.backbone.encoder.layer[0]
    norm = block.LayerNorm.register_forward_hook(lambda m, x, y: seen.update(read=x[0], normed=y))
    query = layer.attention.self.query.register_forward_hook(lambda m, x, y: seen.update(query=y))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tiny = torch.full_like(embeddings, 1e-5)
        encoder(embeddings + tiny, mask, weights=[torch.ones_like(embeddings)])
        moved = seen["read"].clone()
        encoder(embeddings, mask)
    norm.remove(), query.remove()
    assert seen["read"].dtype == seen["normed"].dtype == torch.float32
    assert seen["query"].dtype == torch.bfloat16
    torch.testing.assert_close(moved - seen["read"], tiny[mask][None], atol=1e-6, rtol=0)


@pytest.mark.slow  # a compiler is at work
def test_numbers_and_dropout_stay_and_other_lengths_are_not_compiled_again():
    command = [sys.executable, "-m", "tests.models.compiled_steps"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["apart"] < 1e-10
    assert found["breaks"] == 0
    assert 0 < found["graphs"][0] <= 4  # one for each kind of pass
    assert found["graphs"][-1] == found["graphs"][1]
    assert found["of_next_cell"] == 0  # another cell of this process: what was compiled serves it


@pytest.mark.slow
def test_where_cells_are_too_unlike_all_is_compiled_anew_and_nothing_runs_uncompiled():
    script = """
import torch
from functools import partial
from torch._dynamo.utils import counters
from rse_study.models import encoder
compile_ = torch.compile
torch.compile = lambda run, *, options, **rest: compile_(run, backend="eager", **rest)
encoder.MOST_GRAPHS = 2
double = encoder.compiled(lambda x: x + x)
kinds = [torch.float32, torch.float64, torch.float16, torch.int32]
assert all(double(torch.ones(3, dtype=kind)).sum() == 6 for kind in kinds)
print(counters["stats"]["unique_graphs"])
"""
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == ["4"]


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
