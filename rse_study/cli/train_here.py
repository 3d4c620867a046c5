"""What `train` does: assets, baselines, the loop with its progress, the summary."""

from pathlib import Path

import torch

from rse_study.assets import prepare
from rse_study.cli.screen import Bar, announce
from rse_study.data.location import cache_dir, data_dir
from rse_study.errors import InputError
from rse_study.results.records import EvaluationRow
from rse_study.study.baselines import measure_baselines
from rse_study.training.loop import Progress, train
from rse_study.training.trial import Trial

LABELS = {"token_overlap": "token overlap", "untrained": "untrained encoder", "start": "before training"}


def train_here(trial: Trial, seed: int, out: Path, threads: int, device: str) -> None:
    """Train in this process; resumes what lies in `out`."""
    if device != "cpu" and not (device.startswith("cuda") and torch.cuda.is_available()):
        raise InputError(
            f"device {device!r}", where="--device", rule="must be cpu, or cuda where there is a GPU"
        )
    torch.set_num_threads(threads)
    materials = prepare(trial, cache_dir(), data_dir(), announce)
    rows = measure_baselines(trial, materials, ("token_overlap", "untrained", "start"))
    _show(rows)
    last: Progress | None = None
    with Bar(out.name) as bar:
        for progress in train(trial, seed, materials, out, device=device):
            bar.show(progress.t, progress.num_steps, progress.metrics)
            last = progress
    assert last is not None
    before = next(row.value for row in rows if row.subject == "start" and row.aggregation == "all")
    after, dev = last.metrics["dev"], materials.dev
    announce(f"{dev.name} {dev.split}, Spearman x100: {before:.2f} before, {after:.2f} after {last.t} steps")
    announce(f"model and result: {out}")


def _show(rows: list[EvaluationRow]) -> None:
    for row in rows:
        if row.aggregation == "all":
            announce(f"{row.task} {row.split}, {LABELS[row.subject]}: {row.value:.2f}")
