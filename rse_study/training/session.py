"""Everything one worker holds while it trains a cell, and what one optimiser step does with it."""

import contextlib
import functools
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from rse_study.collectives import Collectives
from rse_study.data.batches import Batches
from rse_study.data.synonyms import Synonyms
from rse_study.data.tokenised import TokenisedCorpus, vocabulary_fingerprint
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.methods.method import Networks, RunContext, StepOutcome
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_encoder
from rse_study.models.rtd import Generator
from rse_study.streams import Streams
from rse_study.training import checkpoint
from rse_study.training.checkpoint import TrainState
from rse_study.training.evaluator import InTrainingEvaluator
from rse_study.training.kept import save_model
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial
from rse_study.training.workers import require_equal_shares

DTYPES = {"float32": torch.float32, "bf16": torch.float32, "float64": torch.float64}


@dataclass
class Session:
    """One worker's networks, optimiser, batches and run-level state."""

    trial: Trial
    networks: Networks
    state: dict[str, Tensor]
    optimizer: Optimizer
    batches: Batches
    run: RunContext
    tokenizer: Any
    materials: Materials
    directory: Path
    device: torch.device

    @property
    def num_steps(self) -> int:
        """Optimiser steps of the full budget."""
        return self.trial.budget.num_steps(self.batches.num_batches)

    def resume(self, identity: str) -> TrainState:
        """Where this directory's last checkpoint left off, or the beginning."""
        found = checkpoint.latest(self.directory / "checkpoint")
        if found is None:
            return TrainState(identity)
        account = checkpoint.read_train_state(found, identity)
        self.state = checkpoint.restore(found, self.networks, self.optimizer, self.state)
        return account

    def advance(self, step: int) -> StepOutcome:
        """One optimiser step. Raises NonFiniteLoss on every worker as soon as one worker's loss is lost."""
        epoch, position = divmod(step, self.batches.num_batches)
        if step > 0 and position == 0:
            self.state = self.trial.method.renew(self.state, self.networks, self.run.streams, epoch)
        batch = self.batches.batch(step).to(self.device)
        outcome = self.trial.method.step(self.networks, self.state, batch, self.run, step)
        loss = outcome.loss.item()
        lost = not math.isfinite(loss)
        if self.run.collectives.any(lost):
            share = f"this worker's share is {loss}" if lost else "on another worker"
            raise NonFiniteLoss(f"the loss is not finite ({share})", step + 1)
        self.optimizer.zero_grad()
        outcome.loss.backward()
        self.run.collectives.all_reduce_gradients(self.networks.parameters())
        clip_grad_norm_(self.networks.parameters(), self.trial.optimizer.max_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self.trial.optimizer.rate(step, self.num_steps)
        self.optimizer.step()
        self.trial.method.after(self.networks)
        return outcome

    def measure(self, outcome: StepOutcome, account: TrainState) -> dict[str, float]:
        """Metrics over all workers where a point of the history is due after step `account.t`, else nothing."""
        is_last = account.t == self.num_steps
        look_due = is_last or account.t % self.trial.selection.every == 0
        is_watched = bool(self.trial.watched_at(account.t, self.num_steps))
        if not look_due and not is_watched and account.t % self.trial.report_every != 0:
            return {}
        metrics = self._reduced(outcome) | {"lr": self.optimizer.param_groups[0]["lr"]}
        if self.run.collectives.rank != 0:
            return metrics
        if look_due:
            metrics |= self.looks.look()
            self._keep(metrics["dev"], account)
        return metrics | self.looks.watch(account.t, self.num_steps)

    @functools.cached_property
    def looks(self) -> InTrainingEvaluator:
        """What is measured besides the loss."""
        return InTrainingEvaluator(self.trial, self.materials, self.networks.encoder, self.tokenizer)

    def save(self, account: TrainState) -> None:
        """A checkpoint, by rank 0: workers hold the same weights, moments and V."""
        if self.run.collectives.rank == 0:
            checkpoint.save(self.directory / "checkpoint", account, self.networks, self.optimizer, self.state)

    def _keep(self, dev: float, account: TrainState) -> None:
        if self.trial.selection.keep == "best" and account.best is not None and dev <= account.best:
            return
        account.best, account.best_t = dev, account.t
        save_model(self.directory / "model", self.networks.encoder, self.tokenizer, self.trial.encoder)

    def _reduced(self, outcome: StepOutcome) -> dict[str, float]:
        """Every mean as a global sum over a global count, one message for all."""
        pairs = [(mean.total, mean.count) for mean in outcome.metrics.values()]
        flat = torch.tensor([[float(total), float(count)] for total, count in pairs], dtype=torch.float64)
        total, count = self.run.collectives.sum(flat.to(_reducible(self.device))).unbind(1)
        means = zip(outcome.metrics, total.tolist(), count.tolist(), strict=True)
        # Nothing was there to be averaged (a batch without a token that may move): no metric, not a NaN.
        return {name: numerator / number for name, numerator, number in means if number > 0}


def open_session(
    trial: Trial,
    seed: int,
    materials: Materials,
    directory: Path,
    collectives: Collectives,
    device: torch.device,
) -> Session:
    """Load what a cell needs. Raises InputError where corpus, encoder and generator do not fit together."""
    require_equal_shares(trial, collectives.size)
    streams, dtype = Streams(seed), DTYPES[trial.precision]
    encoder, tokenizer = load_encoder(materials.base, trial.encoder.pooling, trial.encoder.revision)
    batches = _batches(trial, materials, tokenizer, streams, collectives)
    networks = trial.method.networks(encoder, streams, collectives).to(device, dtype).train()
    generator = _generator(trial, materials, tokenizer)
    synonyms = Synonyms.open(Path(materials.synonyms)) if trial.method.needs_synonyms else None
    run = RunContext(
        streams, collectives, _autocast(trial, device), generator and generator.to(device), synonyms
    )
    adam = trial.optimizer
    optimizer = torch.optim.AdamW(
        networks.parameters(),
        lr=adam.lr,
        betas=(adam.beta1, adam.beta2),
        eps=adam.epsilon,
        weight_decay=adam.weight_decay,
    )
    state = trial.method.state(networks, streams)
    return Session(trial, networks, state, optimizer, batches, run, tokenizer, materials, directory, device)


def _batches(
    trial: Trial, materials: Materials, tokenizer: Any, streams: Streams, collectives: Collectives
) -> Batches:
    corpus = TokenisedCorpus.open(materials.corpus)
    if corpus.meta.vocabulary_fingerprint != vocabulary_fingerprint(tokenizer):
        raise InputError(
            "the corpus was tokenised with another vocabulary",
            where=str(materials.corpus),
            rule=f"its ids must be those of {materials.base}",
            remedy="Tokenise it again",
        )
    return Batches(corpus, trial.batch_size, streams, collectives.rank, collectives.size)


def _generator(trial: Trial, materials: Materials, tokenizer: Any) -> Generator | None:
    if not trial.method.generator:
        return None
    generator = load_generator(materials.generator, materials.generator_revision)
    check_same_tokenizer(generator.tokenizer, tokenizer)
    return generator


def _autocast(trial: Trial, device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """bf16 as autocast: weights, E + delta and every LayerNorm stay float32, matrix products do not."""
    if trial.precision != "bf16":
        return contextlib.nullcontext
    return lambda: torch.autocast(device.type, torch.bfloat16)


def _reducible(device: torch.device) -> torch.device:
    return device if device.type == "cuda" else torch.device("cpu")
