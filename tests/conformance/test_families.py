"""Every method on nine families of encoders: a step, its masks, and its export."""

import copy
from functools import cache, partial

import pytest
import torch
import transformers as hf

from rse_study.data.tokenised import encode
from rse_study.methods import METHODS
from rse_study.models.backbone import Padded
from rse_study.models.export import export
from rse_study.models.generators import load_generator
from rse_study.models.loading import load_encoder
from rse_study.models.text_classifier import padded_ids
from tests.methods.problem import VOCABULARY, make_batch, make_run, spread_out
from tests.slow import mostly_slow
from tests.tiny_models import NUM_POSITIONS, SIZES, SPECIALS, word_tokenizer

WORDS = [3 * chr(ord("a") + i) for i in range(VOCABULARY - len(SPECIALS))]
SHAPE = SIZES | {"vocab_size": VOCABULARY, "pad_token_id": 0, "max_position_embeddings": NUM_POSITIONS}
AT_ONE = SHAPE | {"pad_token_id": 1}
DISTIL = dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24)
DISENTANGLED = dict(
    relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], share_att_key=True,
    norm_rel_ebd="layer_norm", position_biased_input=False, type_vocab_size=0,
)  # fmt: skip
MODERN = dict(global_attn_every_n_layers=2, local_attention=4) | {
    f"{token}_token_id": id for token, id in {"cls": 2, "bos": 2, "sep": 3, "eos": 3}.items()
}
SHARED = dict(num_hidden_layers=3, num_hidden_groups=1, embedding_size=8)
FAMILIES = {
    "bert": lambda: hf.BertForMaskedLM(hf.BertConfig(**SHAPE)),
    "roberta": lambda: hf.RobertaForMaskedLM(hf.RobertaConfig(**AT_ONE)),
    "xlm-roberta": lambda: hf.XLMRobertaForMaskedLM(hf.XLMRobertaConfig(**AT_ONE)),
    "distilbert": lambda: hf.DistilBertForMaskedLM(hf.DistilBertConfig(**SHAPE, **DISTIL)),
    "albert": lambda: hf.AlbertForMaskedLM(hf.AlbertConfig(**SHAPE | SHARED)),
    "mpnet": lambda: hf.MPNetForMaskedLM(hf.MPNetConfig(**AT_ONE)),
    "electra": lambda: hf.ElectraForMaskedLM(hf.ElectraConfig(**SHAPE, embedding_size=8)),
    "deberta-v3": lambda: hf.DebertaV2ForMaskedLM(hf.DebertaV2Config(**SHAPE, **DISENTANGLED)),
    "modernbert": lambda: hf.ModernBertForMaskedLM(hf.ModernBertConfig(**SHAPE, **MODERN)),
}
NUM_LAYERS = dict.fromkeys(FAMILIES, 2) | {"albert": 3}


def made(folder, family):
    """Save a random masked LM of a family, and a tokenizer of whole words."""
    model = spread_out(FAMILIES[family](), seed=1)
    tokenizer = word_tokenizer(WORDS)
    if model.config.pad_token_id == 1:
        tokenizer = word_tokenizer(WORDS, specials=("<unk>", "<pad>", "<s>", "</s>", "<mask>"))
        tokenizer.unk_token, tokenizer.pad_token = "<unk>", "<pad>"
        tokenizer.backend_tokenizer.model.unk_token = "<unk>"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """family -> (encoder, tokenizer, generator), the first a copy."""

    @cache
    def load(family):
        folder = made(tmp_path_factory.mktemp(family), family)
        return *load_encoder(folder, "mean"), load_generator(folder)

    return lambda family: copy.deepcopy(load(family))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_site_is_what_transformers_calls_a_hidden_state_and_can_be_weakened(loaded, family):
    encoder, tokenizer, _ = loaded(family)
    encoder.double().eval()
    assert len(encoder.layers) == NUM_LAYERS[family]
    rows = encode(["aaa bbb ccc ddd", "eee fff"], tokenizer, 8)
    ids, mask = padded_ids(rows, tokenizer.pad_token_id)
    embeddings, seen = encoder.word_embeddings(ids), {}
    changes = {site: [partial(seen.setdefault, site)] for site in range(NUM_LAYERS[family] + 1)}
    encoder.hidden_states(Padded(mask), embeddings, changes=changes)
    theirs = copy.deepcopy(encoder.backbone)(ids, mask.long(), output_hidden_states=True).hidden_states
    for site in range(NUM_LAYERS[family]):  # the last of ModernBERT's has its final norm
        torch.testing.assert_close(seen[site][mask], theirs[site][mask], atol=1e-10, rtol=0)
    plain = encoder(embeddings, mask, ids)
    for site in changes:
        weights = [torch.ones(*ids.shape, encoder.hidden_size).double() for _ in range(site + 1)]
        assert torch.equal(encoder(embeddings, mask, ids, weights), plain)
        weights[site][:, 1] = 0
        assert ((encoder(embeddings, mask, ids, weights) - plain).abs().amax(1) > 1e-4).all()
    assert torch.equal(encoder(embeddings, mask, ids), plain)


CASES = [(family, name) for family in FAMILIES for name in METHODS]
FAST = [(family, "robust_sent_embed") for family in FAMILIES]


@pytest.mark.parametrize("case", mostly_slow(CASES, FAST), ids="-".join)
def test_a_step_moves_every_layer_and_is_exported(loaded, tmp_path, case):
    """An export is refused unless transformers and sentence-transformers give its vectors."""
    family, name = case
    encoder, tokenizer, generator = loaded(family)
    kind = METHODS[name]
    method = kind.model_validate({"masks": {"phi": 0.3}} if "masks" in kind.model_fields else {})
    run = make_run(generator=generator, is_reported=True)
    networks = method.networks(encoder, run.streams, run.collectives).train()
    before = {key: value.clone() for key, value in networks.named_parameters()}
    optimizer = torch.optim.AdamW(networks.parameters(), lr=1e-3)
    outcome = method.step(networks, method.state(networks, run.streams), make_batch(), run, 3)
    outcome.loss.backward()
    optimizer.step()
    method.after(networks)
    assert outcome.loss.isfinite() and all(value.isfinite().all() for value in networks.parameters())
    for module in (encoder.backbone.get_input_embeddings(), *encoder.layers):
        own = {id(parameter) for parameter in module.parameters()}
        mine = [(before[key], value) for key, value in networks.named_parameters() if id(value) in own]
        assert any(not torch.equal(*pair) for pair in mine)
    weakened = {key for key in outcome.metrics if key.startswith("masks/") and outcome.metrics[key].total > 0}
    assert weakened == ({"masks/tokens", "masks/features"} if hasattr(method, "masks") else set())
    export(tmp_path / "exported", encoder, tokenizer)
