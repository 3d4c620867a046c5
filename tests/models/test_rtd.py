import shutil

import pytest
import torch
from transformers import AutoTokenizer

from rse_study.errors import InputError
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_encoder
from rse_study.models.rtd import Discriminator

from .conftest import WORDS, word_tokenizer

FAMILIES = ["bert", "roberta", "xlm-roberta", "mpnet", "electra"]


def discriminator_of(folder):
    encoder, tokenizer = load_encoder(folder, "cls")
    encoder.double().eval()
    discriminator = Discriminator(encoder, torch.Generator().manual_seed(0)).double().eval()
    return encoder, tokenizer, discriminator


@pytest.mark.parametrize("family", FAMILIES)
def test_h_replaces_the_embedding_output_at_position_0_only(folders, padded, family):
    encoder, tokenizer, discriminator = discriminator_of(folders[family])
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids)
    seen = []
    first_layer = discriminator.encoder.backbone.encoder.layer[0]
    read = next(module for module in first_layer.modules() if isinstance(module, torch.nn.Linear))
    handle = read.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    h = torch.randn(len(ids), encoder.hidden_size, dtype=torch.float64)
    logits = discriminator(embeddings, mask, h)
    discriminator.encoder.token_vectors(embeddings, mask)
    handle.remove()
    replaced, plain = (discriminator.encoder.layout(mask).restore(tokens) for tokens in seen)
    assert torch.equal(replaced[:, 0], h)
    assert torch.equal(replaced[:, 1:], plain[:, 1:])
    assert logits.shape == ids.shape
    own = discriminator(embeddings, mask, plain[:, 0])
    expected = discriminator.output(encoder.token_vectors(embeddings, mask)).squeeze(-1)
    torch.testing.assert_close(own[mask], expected[mask], atol=1e-12, rtol=0)
    assert not torch.allclose(own[mask], logits[mask])


def test_gradient_flows_through_h_and_the_word_embeddings(folders, padded):
    encoder, tokenizer, discriminator = discriminator_of(folders["bert"])
    ids, mask = padded(tokenizer)
    embeddings = encoder.word_embeddings(ids).detach().requires_grad_()
    h = torch.randn(len(ids), encoder.hidden_size, dtype=torch.float64, requires_grad=True)
    discriminator(embeddings, mask, h)[mask].sum().backward()
    assert bool((h.grad.norm(dim=1) > 0).all())
    # Position 0 is replaced: nothing comes back to its word embedding.
    assert bool((embeddings.grad[:, 0] == 0).all())
    assert bool((embeddings.grad[:, 1:][mask[:, 1:]].norm(dim=-1) > 0).all())


def test_discriminator_is_a_copy_without_a_word_table(folders):
    encoder, _, discriminator = discriminator_of(folders["bert"])
    shapes = {tuple(p.shape) for p in discriminator.parameters()}
    assert tuple(encoder.backbone.get_input_embeddings().weight.shape) not in shapes
    shared = {id(p) for p in encoder.parameters()} & {id(p) for p in discriminator.parameters()}
    assert not shared
    assert all(p.requires_grad for p in discriminator.parameters())


def test_generator_never_trains(folders):
    generator = load_generator(folders["bert"])
    generator.train()
    assert not any(module.training for module in generator.modules())
    assert not any(p.requires_grad for p in generator.parameters())


def test_a_checkpoint_without_a_head_or_a_mask_token_is_no_generator(folders, tmp_path):
    with pytest.raises(InputError, match="no masked-LM head") as caught:
        load_generator(folders["electra"])
    assert "lambda2: 0" in str(caught.value)
    shutil.copytree(folders["bert"], tmp_path / "g")
    tokenizer = AutoTokenizer.from_pretrained(folders["bert"])
    tokenizer.mask_token = None
    tokenizer.save_pretrained(tmp_path / "g")
    with pytest.raises(InputError, match=r"its tokenizer has no \[MASK\]: .*fills masked tokens") as caught:
        load_generator(tmp_path / "g")
    assert "lambda2: 0" in caught.value.remedy


def test_first_differing_token_is_named():
    ours = word_tokenizer()
    check_same_tokenizer(ours, word_tokenizer())
    changed = [*WORDS]
    changed[3] = "fish"
    theirs = word_tokenizer(words=changed)
    ours.name_or_path, theirs.name_or_path = "encoder-x", "generator-y"
    with pytest.raises(InputError) as caught:
        check_same_tokenizer(theirs, ours)
    text = str(caught.value)
    said = "generator-y: token 8 is 'fish' for the generator and 'dog' for the encoder encoder-x: "
    assert text.startswith(said)
    assert caught.value.remedy
    with pytest.raises(InputError, match="token 22 is 'absent'"):
        check_same_tokenizer(word_tokenizer(words=WORDS[:-1]), word_tokenizer())
