"""Whether transfer's `fast` preset ranks methods as `full` does: Kendall's tau over the rows of a grid that has run.

python -m tests.benchmarks.fast_against_full STUDY_FOLDER FILE.json [SEED ...]

A score a method: the mean over the seeds named (0, unless told) and the tasks that are here; beside the rows the base
without training, pooled in three ways, and MiniLM. The file grows by a model at a time; the same command goes on.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.stats import kendalltau

from rse_study.assets.minilm import minilm_folder
from rse_study.data.location import data_dir
from rse_study.data.transfer_sets import read_transfer_task, transfer_tasks
from rse_study.errors import MissingFile
from rse_study.evaluation.cached_encoder import CachedEncoder
from rse_study.evaluation.transfer import Task, Transfer
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.results.reader import Reader
from rse_study.results.schema import cell_folder
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial

PRESETS = ("fast", "full")
NUM_RESAMPLES = 10_000


def main(study: Path, out: Path, seeds: list[int]) -> None:
    torch.set_num_threads(1)
    tasks = list(_tasks())
    rows = json.loads(out.read_text()) if out.exists() else []
    done = {(row["method"], row["seed"]) for row in rows}
    for method, seed, embed in _models(study, seeds):
        if (method, seed) in done:
            continue
        rows += [
            {"method": method, "seed": seed, "preset": preset, **row}
            for preset in PRESETS
            for row in _scored(CachedEncoder(embed), tasks, preset)
        ]
        out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        print(f"{method} seed {seed}", flush=True)
    _tell(pd.DataFrame(rows))


def _tasks() -> Iterator[Task]:
    for name in transfer_tasks():
        try:
            task = read_transfer_task(name, data_dir())
        except MissingFile:
            print(f"{name}: absent")
            continue
        if len(task) == 3:
            print(f"{name}: its dev split chooses, not folds: both presets are the same")
        else:
            yield task


def _models(study: Path, seeds: list[int]) -> Iterator[tuple[str, int, Embedder]]:
    with Reader(study) as reader:
        cells = reader.cells()
    for cell in cells.itertuples():
        if cell.seed in seeds and cell.status == "complete":
            encoder = Trial.model_validate(cell.config).encoder
            folder = cell_folder(study, cell.identity) / "model"
            yield cell.label, cell.seed, Embedder(*load_encoder(folder, encoder.pooling), encoder.template)
    base = Materials.load(next((study / "materials").glob("*.json"))).base
    for pooling in ("mean", "cls", "first_last"):
        yield f"{pooling}, no training", 0, Embedder(*load_encoder(base, pooling))
    yield "MiniLM", 0, Embedder(*load_encoder(minilm_folder()))


def _scored(embed: CachedEncoder, tasks: list[Task], preset: str) -> Iterator[dict[str, float | str]]:
    for task in tasks:
        begun = time.process_time()
        row = Transfer(task, preset).score(embed, "")[0]
        yield {"task": row.task, "value": row.value, "cpu_s": time.process_time() - begun}


def _tell(rows: pd.DataFrame) -> None:
    """Tau over methods: of each task and of the mean over tasks, with a percentile interval over methods drawn anew."""
    means = rows.groupby(["method", "task", "preset"])["value"].mean().unstack("preset")
    wide = {name: means[name].unstack("task") for name in PRESETS}
    print(pd.concat(wide, axis=1).assign(**{f"mean {name}": wide[name].mean(axis=1) for name in PRESETS}))
    print(rows.groupby(["preset"])["cpu_s"].sum() / rows.groupby(["method", "seed"]).ngroups)
    for task in [*wide["fast"].columns, "mean"]:
        fast, full = (w[task] if task != "mean" else w.mean(axis=1) for w in wide.values())
        low, high = _interval(fast.to_numpy(), full.to_numpy())
        apart = (fast - full).abs().max()
        tau = kendalltau(fast, full).statistic
        print(
            f"{task}: tau {tau:.3f} [{low:.3f}, {high:.3f}], {len(fast)} methods, at most {apart:.2f} apart"
        )


def _interval(fast: np.ndarray, full: np.ndarray) -> tuple[float, float]:
    draw = np.random.default_rng(0)
    places = draw.integers(len(fast), size=(NUM_RESAMPLES, len(fast)))
    taus = [kendalltau(fast[rows], full[rows]).statistic for rows in places]
    low, high = np.nanpercentile(taus, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [int(seed) for seed in sys.argv[3:]] or [0])
