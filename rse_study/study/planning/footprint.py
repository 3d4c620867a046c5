"""Disk and memory of a study, by the shape of its encoder.

No other place has these formulas.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from rse_study.data import data_dir, study_folders
from rse_study.data.hub_models import local_name
from rse_study.errors import InputError
from rse_study.methods.dcl import DCL
from rse_study.methods.sg_opt import SGOPT
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.parts import Resources, num_sharing
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.training.trial import Trial

GB = 1e9
TRAINED = 4  # weights, gradients, two moments
# Bytes an encoder keeps for its gradient, a token, layer and width: 34 of 16 bits (Korthikanti et al. 2022, without
# the maps of attention). MiniLM, batch 64, 32 tokens: 0.96 GB by it, 0.89 measured (docs/results/plan.md).
ACTIVATION = {"float32": 68, "tf32": 68, "bf16": 40, "fp16": 40, "float64": 136}
# Measured on figure 4's made-up ledger, and on what cells write beside it (docs/results/scale.md).
METRICS, ROW = 15, 110 + 40


@dataclass(frozen=True)
class EncoderShape:
    """Sizes of a transformer encoder as in its config.json."""

    layers: int
    hidden: int
    intermediate: int
    vocabulary: int
    positions: int

    @property
    def embeddings(self) -> int:
        """Parameters of its word embeddings."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters but the pooler, which is not trained."""
        d, inner = self.hidden, self.intermediate
        layer = 4 * (d * d + d) + 2 * d * inner + inner + d + 4 * d
        return self.embeddings + (self.positions + 4) * d + self.layers * layer


BERT_BASE = EncoderShape(12, 768, 3072, 30_522, 512)
SHAPES = {
    "bert-base-uncased": BERT_BASE,
    "bert-large-uncased": EncoderShape(24, 1024, 4096, 30_522, 512),
    "roberta-base": EncoderShape(12, 768, 3072, 50_265, 514),
    "roberta-large": EncoderShape(24, 1024, 4096, 50_265, 514),
    "minilm": EncoderShape(6, 384, 1536, 30_522, 512),
    "tiny": EncoderShape(2, 128, 512, 8_000, 128),
    "tiny-vectors": EncoderShape(2, 128, 512, 8_000, 128),
}
"""By names of the papers and of assets; other encoders are read from their folders."""


def encoder_shape(name: str) -> EncoderShape | None:
    """Return an encoder's shape; None for an unknown name or a folder without one."""
    if name in SHAPES:
        return SHAPES[name]
    try:
        config = json.loads((Path(name).expanduser() / "config.json").read_text(encoding="utf-8"))
        keys = (
            "num_hidden_layers",
            "hidden_size",
            "intermediate_size",
            "vocab_size",
            "max_position_embeddings",
        )
        return EncoderShape(*(int(config[key]) for key in keys))
    except (OSError, ValueError, KeyError):
        return None


@dataclass(frozen=True)
class CellSize:
    """Bytes of one cell of a trial."""

    model: float
    checkpoint: float
    weights: float
    """in memory: weights, gradients, moments, and what is frozen"""
    activations: float

    @property
    def memory(self) -> float:
        """Memory of each worker on its device, beside the process and its libraries."""
        return self.weights + self.activations


def cell_size(trial: Trial, shape: EncoderShape, workers: int = 1) -> CellSize:
    """Return the bytes of a cell.

    D, the target of DCL and the second encoder of CT and SG-OPT are copies of the encoder, V has a row for each word
    piece.
    """
    cost, each = trial.cost, 8 if trial.precision == "float64" else 4
    target, heads = _heads(trial, shape)
    trained = heads + shape.parameters * (cost.num_encoders + cost.detects) - shape.embeddings * cost.detects
    frozen = target + shape.embeddings * getattr(trial.method, "has_eta", False)
    generator = shape.parameters if trial.method.generator else 0
    rows = ceil(trial.batch_size / workers)
    views = cost.num_views * cost.num_encoders + cost.detects
    at_a_time = min(rows, trial.chunk_size or rows) * trial.max_length * views
    return CellSize(
        model=4.0 * shape.parameters,
        checkpoint=each * float((TRAINED - 1) * trained + frozen),
        weights=each * float(TRAINED * trained + frozen) + 4.0 * generator,
        activations=float(ACTIVATION[trial.precision] * at_a_time * shape.hidden * shape.layers),
    )


def _heads(trial: Trial, shape: EncoderShape) -> tuple[int, int]:
    """Return the parameters of a frozen copy, 0 without one, and of all trained heads."""
    method, d = trial.method, shape.hidden
    if isinstance(method, SGOPT):
        return shape.parameters, 2 * d * method.hidden
    if not isinstance(method, DCL):
        return 0, d * d
    projection = d * method.hidden + method.hidden * method.width
    return shape.parameters + projection, projection + 2 * method.width * method.hidden


@dataclass(frozen=True)
class Footprint:
    """The most disk that the rest of a study takes, and the memory of a worker."""

    cell: CellSize
    """the largest of its trials"""
    num_at_a_time: int
    """cells that run at a time on this machine; 1 where none fits"""
    fits: bool
    """whether a cell fits on this machine"""
    num_sharing: int
    """workers that share a GPU"""
    num_models: int
    num_checkpoints: int
    """two of each cell that runs, for one replaces the other, and one of each that may be stopped early"""
    ledger: float
    """bytes of histories, in the ledger and beside it"""

    @property
    def disk(self) -> float:
        return self.num_models * self.cell.model + self.num_checkpoints * self.cell.checkpoint + self.ledger


def trials_of(checked: CheckedStudy) -> list[Trial]:
    """Return the base, and the trials of a grid or at the edges of a search."""
    space = checked.space
    others = [row.trial for row in checked.rows] or [space.apply(point) for point in space.edges()]
    return [checked.study.base, *others]


def footprint(
    checked: CheckedStudy, num_to_run: int, data_sizes: DataSizes, num_at_a_time: int | None = None
) -> Footprint | None:
    """Return the footprint of the cells left; None if an encoder's shape is unknown."""
    study, trials = checked.study, set(trials_of(checked))
    folders = study_folders(checked.folder, data_dir())
    sizes = [_sized(trial, study.resources, folders) for trial in trials]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    cell = max(known, key=lambda size: (size.model + 2 * size.checkpoint, size.memory))
    fit = num_at_a_time or cells_at_a_time(study.resources)
    at_a_time = min(num_to_run, max(1, fit))
    num_steps = data_sizes.num_steps(study.base)
    points = num_steps / study.base.cadence(num_steps) + num_steps / study.base.selection.every
    stopped = num_to_run if checked.rungs else 0
    return Footprint(
        cell,
        at_a_time,
        fit > 0,
        num_sharing(study.resources.gpus or 1),
        num_models(study, num_to_run, at_a_time),
        2 * at_a_time + stopped,
        num_to_run * points * METRICS * ROW,
    )


def cells_at_a_time(resources: Resources) -> int:
    """Return how many cells run at a time on this machine; 0 if none fits.

    Each needs its cores, of which there may be fewer than its GPUs have room for.
    """
    fit = (os.cpu_count() or 1) // resources.threads
    if resources.gpus:
        fit = min(fit, num_gpus() * num_sharing(resources.gpus))
    fit //= resources.workers
    return min(fit, resources.max_concurrent) if resources.max_concurrent else fit


def num_gpus() -> int:
    """Return the number of NVIDIA GPUs of this machine."""
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


def missing_gpu(checked: CheckedStudy) -> InputError | None:
    """Return what is wrong where a study asks for GPUs and this machine has none."""
    asked = next(((at, one.gpus) for at, one in checked.study.located_resources() if one.gpus), None)
    if asked is None or num_gpus() or Path("/dev/dxg").exists():  # dxg: a GPU of Windows' Linux
        return None
    at, gpus = asked
    remedy = f"Run it where there is one, submit it to a cluster, or use CPUs: -o {at}.gpus=0"
    return InputError(
        f"{at}.gpus = {gpus:g}", where=checked.where, rule="this machine has no GPU", remedy=remedy
    )


def _sized(trial: Trial, resources: Resources, folders: tuple[Path, ...]) -> CellSize | None:
    shape = encoder_shape(local_name(trial.encoder.name, *folders))
    return None if shape is None else cell_size(trial, shape, resources.workers)


def num_models(study: Study, num_to_run: int, num_at_a_time: int) -> int:
    """Return the most models on disk at once.

    Those of cells that run, that wait for scores, and that are kept.
    """
    return min(num_to_run, num_at_a_time + _num_kept(study, num_to_run))


def _num_kept(study: Study, num_to_run: int) -> int:
    """Return how many models wait for their scores or stay; others go as soon as their cell has ended."""
    num_confirmed = study.search_settings.confirm.num_cells
    if study.keep_models == "final":
        return num_to_run
    is_scored_later = study.evaluations_of_vectors != study.evaluation_names
    if is_scored_later or (study.keep_models == "best" and study.search is not None):
        return num_confirmed if study.search is not None else num_to_run
    return int(study.keep_models == "best")


def lines_of(found: Footprint) -> Iterator[str]:
    """Yield what the disk and the memory of a worker have to hold."""
    cell, models, checkpoints = found.cell, found.num_models, found.num_checkpoints
    running = f"{found.num_at_a_time:,} cell{'s' * (found.num_at_a_time > 1)} at a time"
    running += " on this machine" if found.fits else ": none fits on this machine"
    yield (
        f"disk: {show_bytes(found.disk)} at most: {models:,} models of {show_bytes(cell.model)}, {checkpoints:,} "
        f"checkpoints of {show_bytes(cell.checkpoint)} ({running}), histories {show_bytes(found.ledger)}"
    )
    yield (
        f"memory per worker: {show_bytes(cell.memory)} (weights, gradients and moments {show_bytes(cell.weights)}, "
        f"activations {show_bytes(cell.activations)}), plus the Python process and scoring"
    )
    if found.num_sharing > 1:
        together = show_bytes(found.num_sharing * cell.memory)
        yield f"memory of a GPU: {together} for {found.num_sharing:,} cells, which may share it"


def disk_too_small(study: Study, wanted: Footprint | None, store: Path) -> str:
    """Return a warning if the rest of a study may fill its disk; else nothing."""
    location = study.storage or str(store.absolute())
    if wanted is None or "://" in location or wanted.disk <= free_bytes(Path(location)):
        return ""
    remedy = "keep fewer models (-o keep_models=best, or none), or use a larger disk (--store DIR)"
    return f"only {show_bytes(free_bytes(Path(location)))} are free in {location}: {remedy}"


def free_bytes(folder: Path) -> int:
    """Return what is free on the disk of a folder, which need not exist yet."""
    absolute = folder.expanduser().absolute()
    return shutil.disk_usage(next(one for one in (absolute, *absolute.parents) if one.exists())).free


def show_bytes(number: float) -> str:
    """Show a number of bytes in MB or GB.

    >>> show_bytes(435_600_000), show_bytes(59.2e9)
    ('436 MB', '59.2 GB')
    """
    return f"{number / GB:.3g} GB" if number >= GB else f"{number / 1e6:.3g} MB"
