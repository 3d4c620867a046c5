"""Workload of a cell, by its configuration: steps, passes, work."""

from dataclasses import dataclass

from rse_study.methods.cost import FORWARD
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class BatchShape:
    """Batch properties that decide the time per unit of P*T, besides the machine."""

    encoder: str
    revision: str
    batch_size: int
    max_length: int
    precision: str
    compiled: bool = False
    graphed: bool = False


@dataclass(frozen=True)
class Workload:
    """Amount of computation in a whole cell."""

    num_steps: int
    gradient_passes: int
    step_work: float
    """floating-point operations of the steps in P*T of its shape"""
    num_embedded: float
    """sentences of its scores during training"""
    shape: BatchShape

    @property
    def work(self) -> float:
        """Floating-point operations in P*T, scores included."""
        return self.step_work + scoring_work(self.shape, self.num_embedded)


def workload_of(trial: Trial, data_sizes: DataSizes) -> Workload:
    """Return the workload of a cell of `trial` that runs its full budget."""
    cost, num_steps = trial.method.cost, num_steps_of(trial, data_sizes)
    num_sentences = sum(data_sizes.num_scored(f"{name}/dev") for name in trial.selection.sets)
    if trial.replayed.recipe != "none":
        num_sentences += 4 * trial.replayed.num_pairs  # both sides, clean and attacked
    if trial.replayed.labelled != "none":
        num_sentences += trial.replayed.num_training + 2 * trial.replayed.num_texts
    num_embedded = num_sentences * _num_measurements(num_steps, trial.selection.every)
    return Workload(
        num_steps,
        num_steps * cost.gradient_passes,
        num_steps * trial.step_work,
        num_embedded,
        shape_of(trial),
    )


def shape_of(trial: Trial) -> BatchShape:
    """Return the shape of a trial's batches."""
    encoder = trial.encoder
    sizes = trial.batch_size, trial.max_length
    return BatchShape(encoder.name, encoder.revision, *sizes, trial.precision, trial.compiled, trial.graphed)


def scoring_work(shape: BatchShape, num_sentences: float) -> float:
    """Return the work of scoring sentences: one forward pass each, in full batches."""
    return FORWARD * num_sentences / shape.batch_size


def _num_measurements(num_steps: int, every: int) -> int:
    """Count measurements after every `every` steps and at the end; all cells of a base share the first."""
    return num_steps // every + (num_steps % every > 0)


def num_steps_of(trial: Trial, data_sizes: DataSizes) -> int:
    """Return the steps of a cell that runs its full budget."""
    is_of_corpus = trial.budget.unit == "epochs"
    return trial.num_steps(data_sizes.num_sentences(trial.corpus) // trial.batch_size if is_of_corpus else 0)
