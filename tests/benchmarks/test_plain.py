"""The plain transcription, written from the paper alone, computes what a study's step computes."""

import copy
from dataclasses import dataclass

import pytest
import torch
from torch.testing import assert_close

from benchmarks.plain import PlainBatch, PlainDraws, PlainRobustSentEmbed, PlainSettings
from rse_study.data import builtin
from rse_study.data.batches import rtd_mask
from rse_study.data.tokenised import tokenise
from rse_study.perturbations.ascent import Anchor
from rse_study.perturbations.geometry import start_delta
from rse_study.tensors import Collectives
from rse_study.training.materials import Materials
from rse_study.training.session import Session
from rse_study.training.session_setup import open_session
from rse_study.training.trial import Trial
from tests.tiny_models import save_bert, word_tokenizer, words_of

# No dropout, and weights at which sentences differ: at BERT's 0.02 a loss hardly sees a perturbation.
ENCODER = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.3}
# Steps that matter next to the start, and reach the bounds, which are a trial's own.
STEPS = {"alpha": 1e-2, "beta": 5e-3, "gamma": 0.1, "rho": 0.3, "sigma": 0.08, "lambda1": 0.2, "lambda2": 0.3}
SETTINGS = {**STEPS, "delta_radius": 3e-2, "eta_radius": 0.2, "temperature": 0.05}
CLOSE = {"atol": 1e-9, "rtol": 1e-9}


@dataclass
class Pair:
    """A session and the transcription with the same weights, V and generator."""

    session: Session
    plain: PlainRobustSentEmbed

    def both(self, number):
        """Losses of one step, ours and plain, from the same draws."""
        return self.ours(number), self.loss_of(self.plain, number)

    def ours(self, number):
        session = self.session
        batch = session.batches.batch(number)
        step = session.trial.method.step
        return step(session.networks, session.method_state, batch, session.run, number).loss

    def loss_of(self, plain, number):
        """The loss of a transcription, from the draws of the session."""
        session = self.session
        batch = session.batches.batch(number)
        embeddings = session.networks.encoder.word_embeddings(batch.ids).detach()
        draws = PlainDraws(
            start_delta(Anchor(embeddings, batch, number), session.run.streams, plain.settings.sigma),
            rtd_mask(batch, session.run.streams, number, plain.settings.masked_share),
        )
        return plain.loss(PlainBatch(batch.ids, batch.mask, batch.perturbable), draws)


@pytest.fixture(scope="module")
def materials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    sentences = builtin.corpus(seed=0, num_sentences=24)
    tokenizer = word_tokenizer(words_of(sentences))
    save_bert(folder / "base", tokenizer, **ENCODER)
    tokenise(sentences, tokenizer, 16, folder / "corpus")
    base = str(folder / "base")
    return Materials(corpus=folder / "corpus", base=base, dev=builtin.graded_pairs("dev"), generator=base)


@pytest.fixture
def pair(materials, tmp_path):
    def make(num_steps, *, detects, pooling="cls"):
        off = ({} if num_steps else {"lambda1": 0.0}) | ({} if detects else {"lambda2": 0.0})
        settings = PlainSettings(**SETTINGS | {"num_steps": num_steps, "pooling": pooling} | off)
        inner = {"num_steps": num_steps, "sigma": settings.sigma}
        pgd, fgsm = (inner | {"step_size": size} for size in (settings.alpha, settings.beta))
        blend = {"pgd": pgd, "fgsm": fgsm, "rho": settings.rho}
        eta = {"step_size": settings.gamma, "sigma": settings.sigma}
        method = {"blend": blend, "token_level": eta}
        method |= {"lambda1": settings.lambda1, "lambda2": settings.lambda2}
        encoder = {"name": materials.base, "pooling": pooling}
        sizes = {"batch_size": 6, "max_length": 16, "precision": "float64"}
        trial = Trial.model_validate({"method": method, "encoder": encoder, **sizes})
        session = open_session(trial, 0, materials, tmp_path, Collectives(), torch.device("cpu"))
        return Pair(session, plain_of(session, settings))

    return make


def plain_of(session, settings):
    """The transcription with a session's weights."""
    generator = session.run.generator.model if session.run.generator else None
    backbone = copy.deepcopy(session.networks.encoder.backbone)
    plain = PlainRobustSentEmbed(backbone, settings, generator, session.tokenizer.mask_token_id).double()
    plain.head[0].load_state_dict(session.networks.head.linear.state_dict())
    if settings.lambda2:
        plain.discriminator.output.load_state_dict(session.networks.discriminator.output.state_dict())
    if settings.num_steps:
        plain.V = session.method_state["V"].clone()
    return plain


@pytest.mark.parametrize("detects", [False, True], ids=["contrastive", "rtd"])
@pytest.mark.parametrize(("num_steps", "pooling"), [(0, "cls"), (1, "cls"), (2, "cls"), (2, "mean")])
def test_losses_and_the_table_of_perturbations_are_those_of_a_study(pair, num_steps, pooling, detects):
    pair = pair(num_steps, detects=detects, pooling=pooling)
    for number in (0, 1, 2):  # V goes on from batch to batch
        ours, plain = pair.both(number)
        assert_close(plain, ours, **CLOSE)
        if num_steps:
            assert_close(pair.plain.V, pair.session.method_state["V"], **CLOSE)


def test_gradients_are_those_of_a_study(pair):
    pair = pair(2, detects=True)
    ours, plain = pair.both(0)
    ours.backward()
    plain.backward()
    of_plain = dict(pair.plain.backbone.named_parameters())
    for name, weight in pair.session.networks.encoder.backbone.named_parameters():
        assert_close(of_plain[name].grad, weight.grad, **CLOSE)
    discriminator = pair.session.networks.discriminator.output
    assert_close(pair.plain.discriminator.output.weight.grad, discriminator.weight.grad, **CLOSE)
