"""One worker of a cell: its state, one optimiser step, and its scores."""

import functools
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from rse_study.data.batches import Batch, Batches, Draws, Make, sent_all
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.evaluation.sts import DIGITS, Similarity, aggregation_of, evaluate_sts
from rse_study.methods.method import Networks, RunContext, StepOutcome
from rse_study.models.embedder import Embedder
from rse_study.results.bit_equality import what_decides, what_differs
from rse_study.results.files.result_file import ITEMS_FILE, write_items
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER
from rse_study.results.records import EvaluationRow
from rse_study.results.study_record import AT_CHECKPOINT
from rse_study.spec import fingerprint_of
from rse_study.tensors import sent
from rse_study.training import checkpoint
from rse_study.training.arithmetic import Arithmetic, LossWatch, provenance
from rse_study.training.checkpoint import Publish, TrainState, keep_local
from rse_study.training.materials import Materials
from rse_study.training.own_optimizer import set_rate
from rse_study.training.recorded_step import RecordedStep, Recorder, StepInputs
from rse_study.training.trial import Trial

DEGENERATE = "robust/degenerate"


def judges_of(materials: Materials) -> list[FrozenEvaluation]:
    """Return evaluations that judge trials in training: dev pairs, replayed attacks."""
    return [Similarity(materials.dev), *attacks_in(materials)]


def attacks_in(materials: Materials) -> list[FrozenEvaluation]:
    """Open the attacks that were found once, to be replayed on other encoders."""
    pairs, texts = materials.replayed, materials.replayed_texts
    found: list[FrozenEvaluation] = [ReplayedPairs.open(Path(pairs))] if pairs else []
    return [*found, ReplayedTexts.open(Path(texts))] if texts else found


@dataclass
class Session:
    """One worker's networks, optimiser, batches and run-level state."""

    trial: Trial
    networks: Networks
    method_state: dict[str, Tensor]
    """what the method carries from step to step (V)"""
    optimizer: Optimizer
    arithmetic: Arithmetic
    batches: Batches
    run: RunContext
    tokenizer: Any
    materials: Materials
    directory: Path
    device: torch.device
    publish: Publish = keep_local
    recorder: Recorder | None = None
    """what records steps; None: every step is computed operation by operation"""
    scored: list[EvaluationRow] = field(default_factory=list)
    """rows of the last evaluation on dev, with their items"""
    _ahead: StepInputs | None = None
    _makers: dict[str, Make] = field(default_factory=dict)

    @property
    def num_steps(self) -> int:
        return self.trial.num_steps(self.batches.num_batches)

    def resume(self, identity: str) -> TrainState:
        is_first = self.run.collectives.rank == 0
        newest = checkpoint.latest(self.directory / CHECKPOINT_FOLDER, sets_aside=is_first)
        if newest is None:
            return TrainState(identity, similarity_digits=DIGITS)
        state = checkpoint.read_train_state(newest, identity)
        tensors = checkpoint.restore(newest, self.networks, self.optimizer, self._tensors)
        self.method_state = self.arithmetic.restore(tensors)
        return state

    def note_machine(self, state: TrainState) -> None:
        """Record the machine, and what differs from earlier attempts or among workers."""
        here = provenance(self.device, self.run.collectives.size, self.trial.precision)
        unlike = list(what_differs(here, state.provenance)) if state.history else []
        number = int(fingerprint_of(what_decides(here))[:12], 16)  # 48 bits: a sum of 32 is exact
        if not self.run.collectives.agree(number, self.device):
            unlike.append("the machines of its workers")
        state.unlike += [what for what in unlike if what not in state.unlike]
        state.provenance = here

    def advance(self, step: int) -> StepOutcome:
        """Take one step; NonFiniteLoss reaches every worker (on a GPU in `measure`)."""
        epoch, position = divmod(step, self.batches.num_batches)
        if step > 0 and position == 0:
            renewed = self.trial.method.renew(self.method_state, self.networks, self.run.streams, epoch)
            for name, value in renewed.items():
                self.method_state[name].copy_(value)  # which a recorded step knows
        ahead, self._ahead = self._ahead, None
        given = ahead if ahead and ahead.draws.step == step else self.prepare(step)
        seeds = self.run.streams.dropout(step, "outer", self.run.collectives.rank, self.device)
        with seeds if self.trial.graphed else nullcontext():
            outcome = self.recorded_step(self.compute, given)
        if self.trial.graphed and step + 1 < self.num_steps:
            self._ahead = self.prepare(step + 1)  # while a GPU computes
        self.losses.look()
        return outcome

    def prepare(self, step: int) -> StepInputs:
        """Read and draw what a step, counted from 0, is given: its part on the CPU."""
        host, rate = self.batches.batch(step), self.trial.optimizer.rate(step, self.num_steps)
        lr = torch.tensor(rate, dtype=torch.float64)
        if self.trial.graphed and self.device.type == "cuda":
            lr = sent(lr.float(), self.device)  # where a replay reads it; else it has the bits of a number
        tensors = sent_all(
            (host.ids, host.mask, host.perturbable, host.rows, torch.tensor(step + 1)), self.device
        )
        draws = Draws(host, step, self.device, self._makers)
        if self.trial.graphed:
            with self.arithmetic.products():  # of the generator
                draws.make_all()
        return StepInputs((*tensors, lr), draws, self._is_due(step + 1))

    def compute(self, given: StepInputs) -> StepOutcome:
        """Take a step: a function of tensors, once all its draws are made ahead."""
        (ids, mask, perturbable, rows, t, lr), draws = given.tensors, given.draws
        parameters, is_fixed = list(self.networks.parameters()), self.trial.graphed
        is_recorded = is_fixed and self.device.type == "cuda" and torch.cuda.is_current_stream_capturing()
        set_rate(self.trial.optimizer, self.optimizer, lr, is_recorded=is_recorded)
        batch = Batch(ids, mask, perturbable, rows, self.trial.batch_size, draws.host, is_fixed=is_fixed)
        views = tuple(view.to(self.device) for view in draws.host.views) if draws.host else ()
        batch = replace(batch, draws=draws if is_fixed else None, views=views)
        run = replace(self.run, is_reported=given.is_reported)
        with self.arithmetic.products(self.networks, joins=is_fixed):
            outcome = self.trial.method.step(self.networks, self.method_state, batch, run, draws.step)
            self.losses.note(outcome.loss, t)
            self.arithmetic.descend(
                outcome.loss, self.optimizer, parameters, self.trial.optimizer.max_norm,
                reduce=self.run.collectives.summing_gradients(parameters),
            )  # fmt: skip
        self.trial.method.after(self.networks)
        return outcome

    @functools.cached_property
    def recorded_step(self) -> RecordedStep:
        return RecordedStep(self.recorder)

    def measure(self, outcome: StepOutcome, state: TrainState) -> dict[str, float]:
        """Return metrics over all workers if a point of the history is due, else nothing."""
        if not self._is_due(state.t):
            return {}
        self.losses.require_finite()
        metrics = self._reduced(outcome) | {"lr": self.trial.optimizer.rate(state.t - 1, self.num_steps)}
        if self.run.collectives.rank != 0:
            return metrics
        if self._is_dev_due(state.t):
            metrics |= self.evaluate_dev()
            endings = [""] * (state.t == self.num_steps) + [AT_CHECKPOINT] * self._keep(metrics["dev"], state)
            self._write_items(state.identity, endings)
        return metrics

    def _is_dev_due(self, t: int) -> bool:
        return t == self.num_steps or t % self.trial.selection.every == 0

    def _is_due(self, t: int) -> bool:
        """Whether the history has a point after step `t`, from 1."""
        return self._is_dev_due(t) or t % self.trial.cadence(self.num_steps) == 0

    @functools.cached_property
    def losses(self) -> LossWatch:
        return LossWatch(self.run.collectives, self.device)

    @functools.cached_property
    def attacks(self) -> list[FrozenEvaluation]:
        return attacks_in(self.materials)

    @functools.cached_property
    def embed(self) -> Embedder:
        """The current encoder, without its training head."""
        return Embedder(self.networks.encoder, self.tokenizer, template=self.trial.encoder.template)

    def evaluate_dev(self) -> dict[str, float]:
        """Return Spearman x100 on the dev pairs, and scores under replayed attacks.

        Of several dev sets `dev` is the mean, and dev/NAME the score on each. `degenerate` is 1 for a collapse.
        """
        dev = self.materials.dev
        self.scored = evaluate_sts(self.embed, [dev, *dev.tasks()])
        rows = {(row.task, row.aggregation): row for row in self.scored}
        score = rows[dev.name, aggregation_of(dev)]
        metrics = {"dev": score.value, "dev/degenerate": float(score.degenerate)}
        metrics |= {f"dev/{name}": rows[name, "all"].value for name in dev.subsets}
        for attack in self.attacks:
            found = attack.score(self.embed, "")
            self.scored += found
            metrics |= {f"robust/{row.aggregation}": row.value for row in found}
            metrics[DEGENERATE] = max(metrics.get(DEGENERATE, 0.0), *(float(row.degenerate) for row in found))
        return metrics

    def save(self, state: TrainState) -> None:
        """Write a checkpoint on rank 0, unless a loss was not finite."""
        if self.run.collectives.rank == 0 and not self.losses.is_lost:
            checkpoint.save(
                self.directory / CHECKPOINT_FOLDER, state, self.networks, self.optimizer, self._tensors
            )
            self.publish(ITEMS_FILE)
            self.publish(MODEL_FOLDER)  # first: the state says which model is the best so far
            self.publish(CHECKPOINT_FOLDER)

    @property
    def _tensors(self) -> dict[str, Tensor]:
        return self.method_state | self.arithmetic.state()

    def close(self) -> None:
        """Write the generator's outputs that other cells can use."""
        if self.run.outputs is not None:
            self.run.outputs.flush()

    def _write_items(self, identity: str, endings: Sequence[str]) -> None:
        """Keep the scores of dev pairs at the last step, or at the checkpoint that is kept."""
        rows = [
            row.model_copy(update={"subject": identity, "aggregation": row.aggregation + ending})
            for row in self.scored
            for ending in endings
        ]
        write_items(self.directory, rows)

    def _keep(self, dev: float, state: TrainState) -> bool:
        """Save the model unless an earlier one was better; return whether it was saved."""
        if self.trial.selection.keep == "best" and state.best is not None and dev <= state.best:
            return False
        state.best, state.best_t = dev, state.t
        checkpoint.save_model(
            self.directory / MODEL_FOLDER, self.networks.encoder, self.tokenizer, self.trial.encoder
        )
        return True

    def _reduced(self, outcome: StepOutcome) -> dict[str, float]:
        """Reduce every mean to a global sum over a global count, in one message."""
        # Stacked on the device, so that a GPU is waited for only once.
        parts = [
            torch.as_tensor(part, dtype=torch.float64, device=self.device)
            for mean in outcome.metrics.values()
            for part in (mean.total, mean.count)
        ]
        flat = torch.stack(parts).view(-1, 2)
        where = self.device if self.device.type == "cuda" else "cpu"
        total, count = self.run.collectives.sum(flat.to(where)).unbind(1)
        means = zip(outcome.metrics, total.tolist(), count.tolist(), strict=True)
        # A mean over nothing (a batch without a token that may move) is left out instead of a NaN.
        return {name: numerator / number for name, numerator, number in means if number > 0}
