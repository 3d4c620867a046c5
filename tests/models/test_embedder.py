import numpy as np
import pytest
import torch
import transformers as hf

from rse_study.errors import InputError
from rse_study.models.backbone import find_layers
from rse_study.models.embedder import Embedder
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import load_encoder

from .conftest import NUM_POSITIONS, SENTENCES, SIZES, WORDS, build, spread_out, word_tokenizer


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


SHAPE = dict(vocab_size=len(WORDS) + 5, max_position_embeddings=NUM_POSITIONS, pad_token_id=0)
GEMMA = dict(num_key_value_heads=1, head_dim=8, vocab_size=len(WORDS) + 5, pad_token_id=0)
MODERN = dict(global_attn_every_n_layers=2, local_attention=4, cls_token_id=2, sep_token_id=3)
DISTIL = dict(dim=16, n_layers=3, n_heads=2, hidden_dim=24)
FAMILIES = {
    "convbert": lambda: hf.ConvBertModel(hf.ConvBertConfig(**SHAPE, **SIZES, embedding_size=16)),
    "ibert": lambda: hf.IBertModel(hf.IBertConfig(**SHAPE, **SIZES)),
    "gemma": lambda: hf.Gemma3TextModel(hf.Gemma3TextConfig(**GEMMA, **SIZES)),
    "both ways": lambda: hf.Gemma3TextModel(
        hf.Gemma3TextConfig(**GEMMA, **SIZES, use_bidirectional_attention=True)
    ),
    "bert-generation": lambda: hf.BertGenerationEncoder(hf.BertGenerationConfig(**SHAPE, **SIZES)),
    "sparse": lambda: hf.BigBirdModel(hf.BigBirdConfig(**SHAPE, **SIZES, attention_type="block_sparse")),
    "distilbert": lambda: hf.DistilBertModel(hf.DistilBertConfig(**SHAPE, **DISTIL)),
    "modernbert": lambda: hf.ModernBertModel(hf.ModernBertConfig(**SHAPE, **SIZES, **MODERN)),
    "longformer": lambda: hf.LongformerModel(hf.LongformerConfig(**SHAPE, **SIZES, attention_window=8)),
    "xlm": lambda: hf.XLMModel(hf.XLMConfig(vocab_size=23, emb_dim=16, n_layers=2, n_heads=2)),
    "a layer beside another": lambda: hf.DebertaV2Model(
        hf.DebertaV2Config(**SHAPE, **SIZES, conv_kernel_size=3, conv_act="gelu")
    ),
    "albert": lambda: hf.AlbertModel(hf.AlbertConfig(**SHAPE, **SIZES, embedding_size=16)),
}


def made(folder, family):
    torch.manual_seed(0)
    spread_out(FAMILIES[family]()).save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("family", "said"),
    [
        ("convbert", "change by .*% beside a longer one"),
        ("gemma", "decoder-only"),
        ("ibert", "a short forward of ibert fails"),
        ("sparse", "attention_type is block_sparse"),
    ],
)
def test_a_family_is_refused_for_what_it_does(tmp_path, family, said):
    with pytest.raises(InputError, match=said):
        load_encoder(made(tmp_path, family), "mean")


def test_a_decoder_that_only_its_behaviour_gives_away_is_refused(tmp_path, monkeypatch):
    made(tmp_path, "gemma")
    monkeypatch.setattr("rse_study.models.loading.check_family", lambda name, config: None)
    with pytest.raises(InputError, match="its first token does not see the next one"):
        load_encoder(tmp_path, "mean")


@pytest.mark.parametrize("family", ["both ways", "bert-generation", "distilbert", "modernbert", "albert"])
def test_an_encoder_of_any_name_gives_the_vectors_of_transformers(tmp_path, family):
    encoder, tokenizer = load_encoder(made(tmp_path, family), "mean")
    model = hf.AutoModel.from_pretrained(tmp_path).eval()
    texts = [text for text in SENTENCES if text]
    with torch.no_grad():
        theirs = [model(**tokenizer(text, return_tensors="pt"))[0].mean(1)[0].numpy() for text in texts]
    np.testing.assert_allclose(Embedder(encoder, tokenizer)(texts), np.stack(theirs), atol=2e-5)


@pytest.mark.parametrize("family", ["longformer", "xlm", "a layer beside another"])
def test_a_family_whose_layers_are_no_chain_has_no_sites(family):
    assert find_layers(FAMILIES[family]()) == []


def test_the_checkpoints_own_pooler_is_a_pooling(tmp_path):
    torch.manual_seed(0)
    config = hf.BertConfig(**SHAPE, **SIZES)
    whole = spread_out(hf.BertModel(config)).eval()
    whole.save_pretrained(tmp_path)
    word_tokenizer().save_pretrained(tmp_path)
    encoder, tokenizer = load_encoder(tmp_path, "pooler")
    texts = [text for text in SENTENCES if text]
    with torch.no_grad():
        theirs = torch.cat([whole(**tokenizer(text, return_tensors="pt")).pooler_output for text in texts])
    np.testing.assert_allclose(Embedder(encoder, tokenizer)(texts), theirs, atol=1e-5)
    ids = torch.tensor([tokenizer(texts[0]).input_ids])
    packed = encoder.eval()(encoder.word_embeddings(ids), torch.ones_like(ids, dtype=torch.bool))
    np.testing.assert_allclose(packed.detach(), theirs[:1], atol=1e-5)
    assert not Embedder(encoder, tokenizer).leaves_pooler_out
    assert Embedder(*load_encoder(tmp_path, "cls")).leaves_pooler_out


def test_a_pooler_that_is_not_there_is_refused(folders, tmp_path):
    with pytest.raises(InputError, match="weights are missing, the first is 'pooler"):
        load_encoder(folders["bert"], "pooler")
    with pytest.raises(InputError, match="it has no pooler"):
        load_encoder(folders["electra"], "pooler")
    assert not Embedder(*load_encoder(folders["bert"], "cls")).leaves_pooler_out
    assert isinstance(SentenceEncoder(build("bert").bert, "cls"), SentenceEncoder)
