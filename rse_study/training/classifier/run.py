"""A fine-tuning of a whole encoder, which resumes to the same bits on one machine."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from rse_study.activity import ProgressCallback, graceful_interrupt
from rse_study.errors import InputError
from rse_study.models.embedder import max_length
from rse_study.models.export import network_for, reader_of
from rse_study.models.loading import load_encoder
from rse_study.models.text_classifier import Classifier, Inputs, TextClassifier, Tokens, padded
from rse_study.perturbations.geometry import unit
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.tensors import Alone
from rse_study.training import checkpoint
from rse_study.training.arithmetic import Arithmetic, LossWatch
from rse_study.training.checkpoint import TrainState
from rse_study.training.classifier import FineTuning
from rse_study.training.classifier.data import (
    Examples,
    LengthBatches,
    Start,
    Supervised,
    identity_of_tuning,
    split_off,
)


@dataclass(frozen=True)
class FineTuned:
    """A classifier that has been fine-tuned."""

    classifier: TextClassifier
    """network of the kept epoch"""
    dev: float
    """dev score: accuracy as a share, or Spearman's rho"""
    history: tuple[dict[str, float], ...]
    """one entry per epoch: t, loss (mean over its steps), dev"""
    num_training: int
    num_dev: int
    seconds: float
    """time spent, interrupted attempts included"""


@dataclass
class TuningRun:
    """A fine-tuning between two steps."""

    spec: FineTuning
    streams: Streams
    network: Classifier
    optimizer: torch.optim.Optimizer
    batches: LengthBatches
    tokens: list[Tokens]
    training: Examples
    dev: Examples
    classifier: TextClassifier
    tensors: dict[str, Tensor]
    """sum of the epoch's losses, and the weights to keep"""
    arithmetic: Arithmetic
    losses: LossWatch
    device: torch.device

    @property
    def num_steps(self) -> int:
        return self.spec.epochs * self.batches.num_batches

    def resume(self, directory: Path, identity: str) -> TrainState:
        newest = checkpoint.latest(directory)
        if newest is None:
            return TrainState(identity)
        state = checkpoint.read_train_state(newest, identity)
        tensors = checkpoint.restore(newest, self.network, self.optimizer, self.all_tensors)
        self.tensors = self.arithmetic.restore(tensors)
        return state

    @property
    def all_tensors(self) -> dict[str, Tensor]:
        return self.tensors | self.arithmetic.state()

    def is_over(self, state: TrainState) -> bool:
        if state.t >= self.num_steps:
            return True
        num_since_best = (state.t - state.best_t) // self.batches.num_batches
        return bool(self.spec.patience and state.history and num_since_best >= self.spec.patience)

    def advance(self, state: TrainState) -> Tensor:
        """Take one step, score the dev data at the end of an epoch, return the loss."""
        loss = self._step(state.t)
        state.t += 1
        self.tensors["loss"] += loss
        if state.t % self.batches.num_batches == 0:
            self._evaluate(state)
        return loss

    def result(self, state: TrainState) -> FineTuned:
        if self.spec.keep == "best":
            prefix, tensors = "best/", self.tensors.items()
            best = {name.removeprefix(prefix): value for name, value in tensors if name.startswith(prefix)}
            self.network.load_state_dict(best)
        history = tuple({"t": float(point["t"]), **point["metrics"]} for point in state.history)
        assert state.best is not None
        dev = state.best if self.spec.keep == "best" else history[-1]["dev"]
        self.network.eval()
        return FineTuned(
            self.classifier, dev, history, len(self.training), len(self.dev), round(state.seconds, 1)
        )

    def _step(self, step: int) -> Tensor:
        rows = self.batches.rows(step)
        inputs = padded([self.tokens[row] for row in rows], self.classifier.tokenizer.pad_token_id)
        for group in self.optimizer.param_groups:
            group["lr"] = self.spec.rate(step, self.num_steps)
        inputs = inputs.to(self.device)
        with self.arithmetic.products(self.network):
            embeddings = self.network.encoder.word_embeddings(inputs.ids) if self.spec.adversarial else None
            loss = self._loss(step, inputs, rows, embeddings)
            if embeddings is not None:
                (gradient,) = torch.autograd.grad(loss, embeddings, retain_graph=True)
                shift = self.spec.adversarial * unit(gradient.flatten(1), "l2").view_as(gradient)
                loss = (loss + self._loss(step, inputs, rows, embeddings + shift)) / 2
            self.losses.note(loss, step + 1)
            self.losses.look()
            self.arithmetic.descend(loss, self.optimizer, self.network.parameters(), self.spec.max_norm)
        return loss.detach()

    def _loss(self, step: int, inputs: Inputs, rows: list[int], embeddings: Tensor | None) -> Tensor:
        with self.streams.dropout(step, "fine_tuning", 0, self.device), self.arithmetic.autocast():
            outputs = self.network(inputs, embeddings)
        return self.training.loss(outputs.to(torch.promote_types(outputs.dtype, torch.float32)), rows)

    def _evaluate(self, state: TrainState) -> None:
        self.losses.require_finite()
        dev, mean = self.dev.score(self.classifier), float(self.tensors["loss"]) / self.batches.num_batches
        state.history.append({"t": state.t, "metrics": {"loss": mean, "dev": dev}})
        self.tensors["loss"].zero_()
        if state.best is None or dev > state.best:
            state.best, state.best_t = dev, state.t
            if self.spec.keep == "best":
                self.tensors |= _copied(self.network)


def open_run(
    spec: FineTuning, seed: int, start: Start, data: tuple[Examples, Examples], device: torch.device
) -> TuningRun:
    """Build the network in its first state."""
    (training, dev), streams = data, Streams(seed)
    encoder, tokenizer = load_encoder(start.name, start.pooling, start.revision)
    usable = max_length(encoder, tokenizer)
    if spec.max_length == FineTuning.model_fields["max_length"].default:  # as long as the encoder reads
        spec = spec.model_copy(update={"max_length": min(spec.max_length, usable)})
    if spec.max_length > usable:
        rule, remedy = f"this encoder reads at most {usable} tokens", f"Set max_length to {usable} or less"
        raise InputError(f"max_length = {spec.max_length}", where=start.name, rule=rule, remedy=remedy)
    network = network_for(encoder, training.classes, spec.dropout, streams.generator("init"))
    network = network.to(device).train()
    tokens, training = training.encoded(tokenizer, spec.max_length)
    best = _copied(network) if spec.keep == "best" else {}
    return TuningRun(
        spec=spec,
        streams=streams,
        network=network,
        optimizer=_optimizer(network, spec),
        batches=LengthBatches([len(row) for row in tokens], spec.batch_size, streams),
        tokens=tokens,
        training=training,
        dev=dev,
        classifier=reader_of(network, tokenizer, training.classes, spec.max_length),
        tensors={"loss": torch.zeros((), dtype=torch.float64, device=device)} | best,
        arithmetic=Arithmetic(spec.precision, device),
        losses=LossWatch(Alone(), device),
        device=device,
    )


def _optimizer(network: nn.Module, spec: FineTuning) -> torch.optim.Optimizer:
    matrices = [p for p in network.parameters() if p.dim() > 1]
    others = [p for p in network.parameters() if p.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": spec.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=spec.lr)


def _copied(network: nn.Module) -> dict[str, Tensor]:
    """Return the weights as they are now, in the host's memory."""
    weights = network.state_dict().items()
    return {f"best/{name}": value.detach().to("cpu", copy=True) for name, value in weights}


def fine_tune(
    spec: FineTuning,
    seed: int,
    start: Start,
    training: Supervised,
    directory: Path,
    *,
    device: str = "cpu",
    on_progress: ProgressCallback = lambda done, total: None,
    checkpoint_seconds: float = 60.0,
) -> FineTuned:
    """Fine-tune an encoder, or resume from the checkpoint in `directory`.

    A finished fine-tuning only reads its weights back. The caller removes the checkpoint. A share of the training data
    is split off to be the dev data. SIGINT raises KeyboardInterrupt once the step is finished and saved. Raises
    InputError if data and encoder do not fit or the folder is another run's, NonFiniteLoss if a loss is not finite.
    """
    run = open_run(spec, seed, start, split_off(training, spec), torch.device(device))
    state = run.resume(directory, fingerprint_of(identity_of_tuning(spec, seed, start, training)))
    earlier, begun = state.seconds, time.monotonic()
    saved = begun
    with graceful_interrupt() as is_interrupted:
        while not run.is_over(state):
            run.advance(state)
            state.seconds = earlier + time.monotonic() - begun
            on_progress(state.t, run.num_steps)
            is_due = time.monotonic() - saved >= checkpoint_seconds
            if is_interrupted() or is_due or run.is_over(state):
                run.losses.require_finite()
                checkpoint.save(directory, state, run.network, run.optimizer, run.all_tensors)
                saved = time.monotonic()
            if is_interrupted() and not run.is_over(state):
                raise KeyboardInterrupt
    return run.result(state)
