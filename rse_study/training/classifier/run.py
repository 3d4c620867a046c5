"""A fine-tuning between two steps: network, optimiser, batches, and what one step does with them."""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from rse_study.errors import InputError, NonFiniteLoss
from rse_study.models.classifier import Classifier
from rse_study.models.embedder import max_length
from rse_study.models.loading import load_encoder
from rse_study.models.text_classifier import TextClassifier
from rse_study.models.text_inputs import Tokens, encode_texts, padded
from rse_study.streams import Streams
from rse_study.training import checkpoint
from rse_study.training.checkpoint import TrainState
from rse_study.training.classifier.config import Start
from rse_study.training.classifier.data import Examples
from rse_study.training.classifier.length_batches import LengthBatches
from rse_study.training.classifier.spec import FineTuning


@dataclass(frozen=True)
class TuningProgress:
    """`t` of `num_steps` steps are done; the latest epoch's dev score, NaN before the first one's."""

    t: int
    num_steps: int
    loss: float
    dev: float


@dataclass(frozen=True)
class FineTuned:
    """The classifier kept, its dev score (accuracy as a share, or Spearman's rho) and that of every epoch."""

    classifier: TextClassifier
    dev: float
    history: tuple[dict[str, float], ...]  # t, loss (mean over the epoch's steps), dev
    num_training: int
    num_dev: int
    seconds: float


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
    state: dict[str, Tensor]  # sum of the epoch's losses; the weights to keep
    device: torch.device

    @property
    def num_steps(self) -> int:
        """Steps of all epochs."""
        return self.spec.epochs * self.batches.num_batches

    def resume(self, directory: Path, identity: str) -> TrainState:
        """Where the folder's checkpoint left off, or the beginning."""
        found = checkpoint.latest(directory)
        if found is None:
            return TrainState(identity)
        account = checkpoint.read_train_state(found, identity)
        self.state = checkpoint.restore(found, self.network, self.optimizer, self.state)
        return account

    def is_over(self, account: TrainState) -> bool:
        """All epochs are done, or patience has run out."""
        if account.t >= self.num_steps:
            return True
        num_looks = (account.t - account.best_t) // self.batches.num_batches  # since the best one
        return bool(self.spec.patience and account.history and num_looks >= self.spec.patience)

    def advance(self, account: TrainState) -> TuningProgress:
        """One optimiser step, and the look at the dev data where it ends an epoch."""
        loss = self._step(account.t)
        account.t += 1
        self.state["loss"] += loss
        if account.t % self.batches.num_batches == 0:
            self._look(account)
        dev = account.history[-1]["metrics"]["dev"] if account.history else math.nan
        return TuningProgress(account.t, self.num_steps, loss, dev)

    def result(self, account: TrainState) -> FineTuned:
        """The classifier of the epoch kept."""
        if self.spec.keep == "best":
            self.network.load_state_dict(_kept(self.state))
        history = tuple({"t": float(point["t"]), **point["metrics"]} for point in account.history)
        assert account.best is not None
        dev = account.best if self.spec.keep == "best" else history[-1]["dev"]
        self.network.eval()
        return FineTuned(
            self.classifier, dev, history, len(self.training), len(self.dev), round(account.seconds, 1)
        )

    def _step(self, step: int) -> float:
        rows = self.batches.rows(step)
        inputs = padded([self.tokens[row] for row in rows], self.classifier.tokenizer.pad_token_id)
        with self.streams.dropout(step, "fine_tuning", 0, self.device):
            loss = self.training.loss(self.network(inputs.to(self.device)), rows)
        value = loss.item()
        if not math.isfinite(value):
            raise NonFiniteLoss(f"the loss is not finite ({value})", step + 1)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.spec.max_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self.spec.rate(step, self.num_steps)
        self.optimizer.step()
        return value

    def _look(self, account: TrainState) -> None:
        dev, mean = self.dev.score(self.classifier), float(self.state["loss"]) / self.batches.num_batches
        account.history.append({"t": account.t, "metrics": {"loss": mean, "dev": dev}})
        self.state["loss"].zero_()
        if account.best is None or dev > account.best:
            account.best, account.best_t = dev, account.t
            if self.spec.keep == "best":
                self.state |= _to_keep(self.network)


def open_run(
    spec: FineTuning, seed: int, start: Start, data: tuple[Examples, Examples], device: torch.device
) -> TuningRun:
    """The network in its first state. Raises InputError where data, encoder and length do not fit."""
    (training, dev), streams = data, Streams(seed)
    encoder, tokenizer = load_encoder(start.name, start.pooling, start.revision)
    usable = max_length(encoder, tokenizer)
    if spec.max_length > usable:
        rule, remedy = f"this encoder reads at most {usable} tokens", f"Set max_length to {usable} or less"
        raise InputError(f"max_length = {spec.max_length}", where=start.name, rule=rule, remedy=remedy)
    num_outputs = len(training.classes) or 1
    network = Classifier(encoder, num_outputs, spec.dropout, streams.generator("init")).to(device).train()
    tokens = encode_texts(training.texts, tokenizer, spec.max_length)
    return TuningRun(
        spec=spec,
        streams=streams,
        network=network,
        optimizer=_optimizer(network, spec),
        batches=LengthBatches([len(row) for row in tokens], spec.batch_size, streams),
        tokens=tokens,
        training=training,
        dev=dev,
        classifier=TextClassifier(network, tokenizer, training.classes, spec.max_length),
        state={"loss": torch.zeros((), dtype=torch.float64)} | _initial(network, spec),
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


def _initial(network: nn.Module, spec: FineTuning) -> dict[str, Tensor]:
    return _to_keep(network) if spec.keep == "best" else {}


def _to_keep(network: nn.Module) -> dict[str, Tensor]:
    return {f"best/{name}": value.detach().clone() for name, value in network.state_dict().items()}


def _kept(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix("best/"): value for name, value in state.items() if name.startswith("best/")}
