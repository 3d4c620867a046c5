import pytest
import torch
from transformers import AutoModel

from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import load_encoder
from rse_study.models.sites import find_sites

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


@pytest.mark.parametrize("pooling", ["cls", "mean", "first_last"])
@pytest.mark.parametrize("family", FAMILIES)
def test_padding_changes_nothing(folders, padded, family, pooling):
    encoder, tokenizer = loaded(folders[family], pooling)
    outputs = []
    for extra in (0, 7):
        ids, mask = padded(tokenizer, extra)
        outputs.append(encoder(encoder.word_embeddings(ids), mask, ids))
    torch.testing.assert_close(*outputs, atol=1e-12, rtol=0)


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


def test_weight_of_the_embedding_block_acts_after_its_layer_norm(folders, padded):
    encoder, tokenizer = loaded(folders["bert"])
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    weight = torch.rand(*ids.shape, encoder.hidden_size, dtype=torch.float64)
    block = encoder.backbone.embeddings
    seen = []
    read = encoder.backbone.encoder.layer[0].attention.self.query
    handle = read.register_forward_pre_hook(lambda m, x: seen.append(x[0]))
    encoder(embeddings, mask, weights=[weight])
    handle.remove()
    expected = block(inputs_embeds=embeddings) * weight
    torch.testing.assert_close(seen[0], expected[mask], atol=1e-12, rtol=0)


def test_gradients_of_inputs_and_weights_with_frozen_parameters(folders, padded):
    encoder, tokenizer = loaded(folders["bert"], "mean")
    encoder.requires_grad_(False)
    ids, mask = padded(tokenizer)
    point = encoder.word_embeddings(ids).requires_grad_()
    weight = torch.rand(*ids.shape, encoder.hidden_size, dtype=torch.float64).requires_grad_()

    def objective(x, w):
        return encoder(x, mask, weights=[w, None, w]).square().sum()

    by_point, by_weight = torch.autograd.grad(objective(point, weight), [point, weight])
    direction = torch.randn(point.shape, dtype=torch.float64)
    h = 1e-6
    with torch.no_grad():
        slope = objective(point + h * direction, weight) - objective(point - h * direction, weight)
        slope = slope / (2 * h)
        turn = torch.randn(weight.shape, dtype=torch.float64)
        other = (objective(point, weight + h * turn) - objective(point, weight - h * turn)) / (2 * h)
    torch.testing.assert_close((by_point * direction).sum(), slope, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close((by_weight * turn).sum(), other, atol=1e-6, rtol=1e-6)
    assert bool((by_point[~mask] == 0).all())
    assert all(p.grad is None for p in encoder.parameters())


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
    assert all(not site._forward_hooks for site in find_sites(encoder.backbone))


def test_too_many_weights_and_unknown_families_are_refused(folders, padded):
    encoder, tokenizer = loaded(folders["bert"])
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    ones = torch.ones(*ids.shape, encoder.hidden_size, dtype=torch.float64)
    said = r"4: the embedding block and 3 layers. Lower method.masks.num_layers to 3"
    with pytest.raises(InputError, match=said):
        encoder(embeddings, mask, weights=[ones] * 5)
    encoder.backbone.encoder.layer = torch.nn.Sequential(*encoder.backbone.encoder.layer)
    with pytest.raises(InputError, match="has no known sites"):
        SentenceEncoder(encoder.backbone, "cls")(embeddings, mask, weights=[ones])


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
