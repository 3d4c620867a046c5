"""Cells per hour of a small grid, and the overhead beyond the cells' own time.

python -m benchmarks.study

`rse-study run` on a grid of learning rates and seeds, generated sentences and the encoder `tiny-vectors`, as users run
it: from an empty cache, with baselines, evaluation and report. Wall seconds times cores are compared with the cells'
training seconds in the ledger, and with CPU seconds of the command, Ray's workers and its other processes. Worker time
lasts from the first cell's start to the last score, imports included; its share in training leaves out evaluation. All
results are times, so on a busy machine nothing runs without `--busy`.
"""

import argparse
import json
import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import torch

from benchmarks.machine import describe_machine, load, may_time, num_cores
from benchmarks.output import common_parser, heading, markdown_table, write_json
from benchmarks.process_tree import run_measured
from rse_study.results.files.result_file import EVALUATIONS_FILE
from rse_study.results.files.schema import cells_folder
from rse_study.results.reader import Reader
from rse_study.yaml12 import read_yaml

NAME = "cells-per-hour"
RATES = [1e-4, 1e-3]
HEADER = (
    *("executor", "cells", "wall s", "cells an hour", "wall s x cores", "cells' own s", "share of it"),
    *("share of worker time", "s beside training, a cell"),
    *("CPU s: command", "workers", "Ray"),
)


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine = describe_machine(options.seed)
    rows = [measure_study(executor, options) for executor in options.executors]
    what = options.study.name if options.study else f"a grid, {options.steps} steps a cell"
    print(heading(what, machine))
    print(markdown_table(HEADER, [_cells(row) for row in rows]))
    write_json(options.out, machine, vars(options), rows)


def measure_study(executor: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run the study in temporary folders and measure it."""
    if not may_time(options):
        return {"executor": executor, "times_not_taken": f"load {load()}"}
    before, content = load(), study_content(executor, options)
    with tempfile.TemporaryDirectory(prefix="rse-study-bench-") as root:
        file = Path(root) / "study.yaml"
        file.write_text(json.dumps(content), encoding="utf-8")
        threads = str(options.threads)
        environment = os.environ | {"RSE_STUDY_CACHE": f"{root}/cache", "OMP_NUM_THREADS": threads}
        command = [sys.executable, "-m", "rse_study", "run", str(file), "--store", f"{root}/studies"]
        use = run_measured(command, environment)
        if use.returncode:
            raise SystemExit(use.output)
        of_cells = times_of_cells(Path(root) / "studies" / content["name"], num_cores() // options.threads)
    capacity = use.wall_s * num_cores()
    return {
        "executor": executor,
        "wall_s": use.wall_s,
        "cells_per_hour": 3600 * of_cells["cells"] / use.wall_s,
        "wall_s_times_cores": capacity,
        "share": of_cells["own_s"] / capacity,
        **of_cells,
        "cpu_s": use.cpu_s,
        "num_processes": use.num_processes,
        "load": [before, load()],
    }


def times_of_cells(study: Path, num_workers: int) -> dict[str, Any]:
    """Return the times of a study's cells in its ledger, and its workers' time."""
    seconds, worker_s = durations(study), num_workers * seconds_with_workers(study)
    return {
        "cells": len(seconds),
        "own_s": sum(seconds),
        "beside_s": seconds_beside_training(study),
        "worker_s": worker_s,
        "share_of_worker_time": sum(seconds) / worker_s,
    }


def study_content(executor: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the contents of the given study's file, or the grid."""
    content = read_yaml(options.study) if options.study else grid(options)
    return content | {"resources": {"executor": executor, "threads": options.threads}}


def grid(options: argparse.Namespace) -> dict[str, Any]:
    """Return a grid of learning rates and seeds."""
    return {
        "name": NAME,
        "question": "How many cells an hour?",
        "base": {
            "encoder": {"name": "tiny-vectors", "pooling": "mean"},
            "method": {"head": "none"},
            "budget": {"unit": "steps", "amount": options.steps},
            "batch_size": 32,
            "selection": {"dev": "builtin", "every": options.steps},
        },
        "grid": {"axes": {"optimizer.lr": RATES}},
        "seeds": [options.seed + number for number in range(-(-options.cells // len(RATES)))],
        "evaluations": ["builtin/test"],
    }


def durations(study: Path) -> list[float]:
    """Return the training seconds of each complete cell."""
    with Reader(study) as reader:
        cells = reader.cells()
    return [float(seconds) for seconds in cells.loc[cells["status"] == "complete", "duration_s"]]


def seconds_with_workers(study: Path) -> float:
    """Return the seconds from the first cell's start to the last score of a cell."""
    with Reader(study) as reader:
        begun = min(datetime.fromisoformat(started) for started in reader.attempts()["started"])
    scored = max(file.stat().st_mtime for file in cells_folder(study).glob(f"*/{EVALUATIONS_FILE}"))
    return scored - begun.timestamp()


def seconds_beside_training(study: Path) -> list[float]:
    """Return the overhead in seconds of each attempt that completed its cell."""
    with Reader(study) as reader:
        attempts, cells = reader.attempts(), reader.cells().set_index("identity")
    complete = attempts[attempts["outcome"] == "complete"]
    whole = pd.to_datetime(complete["ended"]) - pd.to_datetime(complete["started"])
    trained = cells.loc[complete["cell"], "duration_s"].to_numpy()
    return [float(seconds) for seconds in whole.dt.total_seconds().to_numpy() - trained]


def _cells(row: dict[str, Any]) -> list[str]:
    if "times_not_taken" in row:
        return [row["executor"], *("-" for _ in HEADER[1:])]
    return [
        row["executor"],
        str(row["cells"]),
        f"{row['wall_s']:.0f}",
        f"{row['cells_per_hour']:.0f}",
        f"{row['wall_s_times_cores']:.0f}",
        f"{row['own_s']:.0f}",
        f"{100 * row['share']:.0f} %",
        f"{100 * row['share_of_worker_time']:.1f} %",
        f"{median(row['beside_s']):.1f}",
        *(f"{row['cpu_s'].get(kind, 0.0):.0f}" for kind in ("driver", "workers", "ray")),
    ]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("study")
    executors = ("inline", "train")
    made.add_argument("--cells", type=int, default=8, help="of the grid, an even number")
    made.add_argument("--steps", type=int, default=40, help="of each cell")
    made.add_argument("--study", type=Path, help="a study's file, run instead of the grid")
    made.add_argument("--executors", nargs="+", choices=executors, default=["inline"], help="that run it")
    return made


if __name__ == "__main__":
    main()
