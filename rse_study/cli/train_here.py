"""What `train` does: assets, baselines, the loop with its progress, the summary."""

from pathlib import Path

import torch

from rse_study.assets import prepare
from rse_study.cli.places import require_cache, require_folder
from rse_study.cli.screen import Bar, announce
from rse_study.data.location import cache_dir, data_dir
from rse_study.errors import InputError
from rse_study.results.records import BASELINES, EvaluationRow
from rse_study.results.result_file import read_result
from rse_study.study.baselines import measure_baselines
from rse_study.training.loop import Progress, train
from rse_study.training.trial import Trial


def train_here(trial: Trial, seed: int, out: Path, threads: int, device: str) -> None:
    """Train in this process; resumes what lies in `out`."""
    _require_device(device)
    require_folder(out, where="--out")
    require_cache()
    torch.set_num_threads(threads)
    materials = prepare(trial, cache_dir(), data_dir(), announce)
    # The base before training is the run's own first point: it need not be measured twice.
    _show(measure_baselines(trial, materials, ("token_overlap", "untrained")))
    last: Progress | None = None
    with Bar(out.name) as bar:
        for progress in train(trial, seed, materials, out, device=device):
            bar.show(progress.t, progress.num_steps, progress.metrics)
            last = progress
    assert last is not None
    before, after, dev = read_result(out).history[0].metrics["dev"], last.metrics["dev"], materials.dev
    announce(f"{dev.name} {dev.split}, Spearman x100: {before:.2f} before, {after:.2f} after {last.t} steps")
    announce(f"model and result: {out}")


def _require_device(device: str) -> None:
    num_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known = ["cpu", *(["cuda"] if num_gpus else []), *(f"cuda:{i}" for i in range(num_gpus))]
    if device not in known:
        rule, remedy = f"must be one of {', '.join(known)} here", "See `rse-study doctor`"
        raise InputError(f"device {device!r}", where="--device", rule=rule, remedy=remedy)


def _show(rows: list[EvaluationRow]) -> None:
    for row in rows:
        if row.aggregation == "all":
            announce(f"{row.task} {row.split}, {BASELINES[row.subject]}: {row.value:.2f}")
