"""Settings of the quickstart on built-in dev pairs, with seeds that its table does not have.

python -m tests.benchmarks.quickstart_pilot [--seeds 100 101] [--rows NAME ...] [--sizes 0.1 ...] [--steps 40]

One process and one thread. A line for each row, seed and size of the counted word vectors: dev at the start and every
ten steps, and CPU seconds. docs/decisions/0020-a-quickstart-with-an-effect.md has what came of it.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from rse_study.assets.prepare import prepare
from rse_study.assets.tiny import TINY, tiny_encoder
from rse_study.data import builtin
from rse_study.training.loop import Progress, drive, train
from rse_study.training.trial import Trial

WIDE = {"norm": "linf", "radius": 1.0}
ROWS: dict[str, dict[str, Any]] = {
    "as published": {},
    "SimCSE": {"preset": "simcse"},
    "SimCSE, head": {"preset": "simcse", "head": "linear_tanh"},
    "lambda1 = 1": {"lambda1": 1.0},
    "lambda1 = 4": {"lambda1": 4.0},
    "phi = 0.2": {"masks": {"phi": 0.2}},
    "beta = 0.03": {"blend": {"pgd": {"ball": WIDE}, "fgsm": {"step_size": 3e-2, "ball": WIDE}}},
    "N = 1": {"blend": {"pgd": {"num_steps": 1}, "fgsm": {"num_steps": 1}}},
}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seeds", type=int, nargs="+", default=[100, 101])
    arguments.add_argument("--rows", choices=ROWS, nargs="+", default=list(ROWS))
    arguments.add_argument("--sizes", type=float, nargs="+", default=[TINY["tiny-vectors"].vector_size])
    arguments.add_argument("--steps", type=int, default=40)
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for size in chosen.sizes:
            spec = TINY["tiny-vectors"].model_copy(update={"vector_size": size})
            base = tiny_encoder(Path(folder) / "bases", builtin.corpus(), spec)
            for row in chosen.rows:
                for seed in chosen.seeds:
                    curve, seconds = _dev_curve(_trial(base, ROWS[row], chosen.steps), seed, Path(folder))
                    shown = " ".join(f"{t}: {dev:.2f}" for t, dev in curve.items())
                    print(f"size {size}, {row}, seed {seed}: {shown}; {seconds:.1f} s", flush=True)


def _trial(base: Path, method: dict[str, Any], steps: int) -> Trial:
    content = {
        "method": {"name": "robust_sent_embed", "head": "none", **method},
        "encoder": {"name": str(base), "pooling": "mean"},
        "optimizer": {"lr": 1e-3},
        "budget": {"unit": "steps", "amount": steps},
        "batch_size": 32,
        "selection": {"dev": "builtin", "every": 10},
    }
    return Trial.model_validate(content)


def _dev_curve(trial: Trial, seed: int, folder: Path) -> tuple[dict[int, float], float]:
    """Dev by optimiser step, and CPU seconds of the cell."""
    materials, curve = prepare(trial, folder, folder), dict[int, float]()

    def note(progress: Progress) -> None:
        if "dev" in progress.metrics:
            curve[progress.t] = progress.metrics["dev"]

    begun = time.process_time()
    with tempfile.TemporaryDirectory() as cell:
        drive(train(trial, seed, materials, Path(cell)), note)
    return curve, time.process_time() - begun


if __name__ == "__main__":
    main()
