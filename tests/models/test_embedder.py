import numpy as np
import pytest
import torch

from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder

from .conftest import SENTENCES


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_vectors_do_not_depend_on_order_or_repetition(folders, family):
    embed = Embedder(*load_encoder(folders[family], "mean"), batch_size=2)
    vectors = embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), 16)
    assert vectors.dtype == np.float32
    order = [3, 1, 5, 0, 4, 2, 1]
    assert np.array_equal(embed([SENTENCES[i] for i in order]), vectors[order])
    embed.encoder.double()  # what neighbours do to float32's last bits differs between processors
    alone = np.concatenate([embed([sentence]) for sentence in SENTENCES])
    np.testing.assert_allclose(embed(SENTENCES), alone, atol=1e-6)


def test_modes_come_back_dropout_is_off_and_no_sentences_give_no_rows(folders):
    encoder, tokenizer = load_encoder(folders["bert"], "cls")
    encoder.train()
    encoder.backbone.encoder.layer[1].eval()
    modes = [module.training for module in encoder.modules()]
    embed = Embedder(encoder, tokenizer)
    assert np.array_equal(embed(SENTENCES), embed(SENTENCES))
    assert [module.training for module in encoder.modules()] == modes
    assert Embedder(*load_encoder(folders["bert"], "cls"))([]).shape == (0, 16)


def test_template_is_applied(folders):
    encoder, tokenizer = load_encoder(folders["bert"], "prompt")
    ids = torch.tensor(tokenizer(["the cat sat under [MASK]"])["input_ids"])
    mask = torch.ones_like(ids, dtype=torch.bool)
    expected = encoder.eval().token_vectors(encoder.word_embeddings(ids), mask)[0, 5]
    ours = Embedder(encoder, tokenizer, template="[X] under [MASK]")(["the cat sat"])[0]
    np.testing.assert_allclose(ours, expected.detach().numpy(), atol=1e-6)


def test_a_mask_in_a_sentence_is_not_the_templates(folders):
    encoder, tokenizer = load_encoder(folders["bert"], "prompt")
    embed = Embedder(encoder, tokenizer, template="[X] under [MASK]")
    plain, masked = embed(["the cat sat on", "the cat [MASK] on"])
    # To this tokenizer of whole words, "[MASK]" is three unknown words.
    tokens = ["[CLS]", "the", "cat", *3 * ["[UNK]"], "on", "under", "[MASK]", "[SEP]"]
    ids = torch.tensor([tokenizer.convert_tokens_to_ids(tokens)])
    mask = torch.ones_like(ids, dtype=torch.bool)
    expected = encoder.eval().token_vectors(encoder.word_embeddings(ids), mask)
    np.testing.assert_allclose(masked, expected[0, 8].detach().numpy(), atol=1e-6)
    assert not np.allclose(plain, masked, atol=1e-3)
