"""A tiny batch, tiny networks and the settings of a step, for every test of this folder."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM, BertModel

from rse_study.data.batches import Batch, Synonyms
from rse_study.methods import Method, RobustSentEmbed
from rse_study.methods.method import Networks, RunContext
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.rtd import Generator
from rse_study.streams import Streams
from rse_study.tensors import Alone

PAD, CLS, SEP, MASK, VOCABULARY = 0, 2, 3, 4, 24
SPECIAL = (0, 1, 2, 3, 4)
# Ragged; token 9 comes five times, in three sentences; one sentence has no content; rows are shuffled.
SENTENCES = ([CLS, SEP], [CLS, 9, 7, SEP], [CLS, 9, 11, 9, SEP], [CLS, 5, 9, 13, 9, 17, SEP])
ROWS = (2, 0, 3, 1)


class MaskToken:
    """All that G's `fill` needs of a tokenizer."""

    mask_token_id = MASK


def make_batch(sentences=SENTENCES, rows=ROWS, *, extra_padding: int = 0, num_rows: int = 0) -> Batch:
    """The sentences as one worker's batch, padded to the longest and by `extra_padding` more."""
    length = max(map(len, sentences)) + extra_padding
    ids = torch.full((len(sentences), length), PAD)
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence)] = torch.tensor(sentence)
    mask = torch.arange(length)[None] < torch.tensor([len(s) for s in sentences])[:, None]
    perturbable = mask & ~torch.isin(ids, torch.tensor(SPECIAL))
    return Batch(ids, mask, perturbable, torch.tensor(rows), num_rows or len(sentences))


def with_views(batch: Batch, num_views: int) -> Batch:
    """The batch with other texts of other lengths as its paraphrases and, by 2, hard negatives."""
    views = []
    for k in range(1, 1 + num_views):
        ids = torch.where(batch.perturbable, 5 + (batch.ids - 5 + 7 * k) % (VOCABULARY - 5), batch.ids)
        parts = {"ids": ids, "mask": batch.mask, "perturbable": batch.perturbable}
        views.append(replace(batch, **{name: part.roll(k, 0) for name, part in parts.items()}))
    return replace(batch, views=tuple(views))


def config(width: int = 8, layers: int = 2, dropout: float = 0.0, vocabulary: int = VOCABULARY) -> BertConfig:
    """A tiny BERT."""
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width - 3,  # no weight has the shape of another tensor by accident
        max_position_embeddings=40,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )


def spread_out(model: nn.Module, seed: int, sigma: float = 0.4) -> nn.Module:
    """Weights of one size everywhere: with the usual small ones the vectors of random models nearly coincide."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * sigma
            parameter.copy_(noise + (1.0 if parameter.dim() == 1 and bool((parameter == 1).all()) else 0.0))
    return model


def make_encoder(pooling="cls", *, seed: int = 0, **sizes: Any) -> SentenceEncoder:
    """A random encoder in float64."""
    backbone = spread_out(BertModel(config(**sizes), add_pooling_layer=False).double(), seed)
    return SentenceEncoder(backbone, pooling, MASK)


def make_generator(*, seed: int = 5, width: int = 8) -> Generator:
    """A random masked LM in float64."""
    return Generator(spread_out(BertForMaskedLM(config(width)).double(), seed), MaskToken(), "random")


def make_synonyms() -> Synonyms:
    """Every word from 5 on may become its two neighbours; 13 continues a word."""
    starts = torch.ones(VOCABULARY, dtype=torch.bool)
    starts[13] = False
    known = range(5, VOCABULARY)
    choices = [other for word in known for other in (max(word - 1, 5), min(word + 1, VOCABULARY - 1))]
    offsets = [0] * 6 + [2 * (number + 1) for number in range(len(known))]
    words = torch.arange(VOCABULARY) >= 5
    return Synonyms(starts, words, torch.tensor(offsets), torch.tensor(choices))


def make_run(seed: int = 1, collectives=None, generator=None, *, is_reported: bool = False) -> RunContext:
    """Streams of a seed, one process unless told otherwise, no autocast."""
    alone, filled = collectives or Alone(), generator or make_generator()
    settled = Streams(seed), alone, contextlib.nullcontext, filled, make_synonyms()
    return RunContext(*settled, is_reported=is_reported)


def make_networks(method: Method, run: RunContext, *, pooling="cls", **sizes: Any) -> Networks:
    """Everything trained, in float64 and train mode; the pooling is the method's own, if it needs one."""
    encoder = make_encoder(method.needs_pooling or pooling, **sizes)
    return method.networks(encoder, run.streams, run.collectives).double().train()


@contextlib.contextmanager
def views_apart(networks: Networks) -> Iterator[None]:
    """Let the views of a sentence differ as by dropout, but so that a reference can repeat it.

    In train mode its first vector stays, and each later one has its features scaled, every one by a factor.
    """
    seen = defaultdict[tuple[int, ...], count](count)

    def scaled(module: nn.Module, given: tuple[Any, ...], pooled: torch.Tensor) -> torch.Tensor | None:
        if not module.training:
            return None
        rows = zip(given[2], given[1], strict=True)
        numbers = [next(seen[tuple(row[real].tolist())]) for row, real in rows]
        features = torch.arange(1, 1 + pooled.shape[1]).to(pooled)
        return pooled * (1 + 0.5 * torch.sin(torch.tensor(numbers).to(pooled)[:, None] * features))

    handle = networks.encoder.register_forward_hook(scaled)
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def encoders_apart(networks: Networks) -> Iterator[None]:
    """Let the method's other encoder differ from the trained one, as after some steps; it stays so."""
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for mine, theirs in zip(networks.encoder.parameters(), networks.other.parameters(), strict=True):
            noise = torch.randn(mine.shape, generator=generator, dtype=torch.float64)
            theirs.copy_(mine + 0.3 * noise)
    yield


FLAT = dict(K=2, T=2, alpha=6e-3, beta=4e-3, norm="linf", radius=2.5e-2, scope="sentence", strength="matched")
FLAT |= dict(projection="exact", gamma=2e-2, eta_radius=8e-2, eta_scope="token")
FLAT |= dict(rho=0.4, weighs="pgd", trajectories="shared")


def settings(*, token_level: dict[str, Any] | None = None, **given: Any) -> RobustSentEmbed:
    """RobustSentEmbed by flat names, with steps and radii at which everything matters at width 8."""
    of = FLAT | given
    lengths = {name: of[name] for name in ("norm", "strength", "projection")}
    ball = {**lengths, "radius": of["radius"], "scope": of["scope"], "given_for": "linf"}
    eta_ball = {**lengths, "radius": of["eta_radius"], "scope": of["eta_scope"], "given_for": "l2"}
    blend = {name: of[name] for name in ("rho", "weighs", "trajectories")}
    blend["pgd"] = {"ball": ball, "num_steps": of["K"], "step_size": of["alpha"]}
    blend["fgsm"] = {"ball": ball, "num_steps": of["T"], "step_size": of["beta"]}
    eta = {"ball": eta_ball, "step_size": of["gamma"], **(token_level or {})}
    rest = {name: value for name, value in given.items() if name not in FLAT}
    return RobustSentEmbed(**{"lambda1": 0.3, "lambda2": 0.2, "blend": blend, "token_level": eta} | rest)


def gradients(networks: Networks) -> dict[str, torch.Tensor]:
    """Every parameter's gradient; zero where there is none."""
    named = networks.named_parameters()
    return {name: torch.zeros_like(p) if p.grad is None else p.grad.clone() for name, p in named}


def take_step(method: RobustSentEmbed, networks: Networks, batch: Batch, run: RunContext, step: int = 3):
    """(outcome, state after it, gradients) of one step on this worker; gradients summed over workers."""
    state = method.state(networks, run.streams)
    outcome = method.step(networks, state, batch, run, step)
    networks.zero_grad()
    outcome.loss.backward()
    run.collectives.summing_gradients(networks.parameters())()
    return outcome, state, gradients(networks)
