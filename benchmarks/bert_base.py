"""One cell of BERT-base's true shape, beside what `plan` says of it.

python -m benchmarks.bert_base

RobustSentEmbed as in table 6 of its paper: batches of 64, 32 tokens, N = 5, float32, dev scores on STS-B and SICK-R.
The weights are random and the vocabulary is that of the extra `minilm`, which is BERT's; a random masked LM is refused
as a generator, so lambda2 is 0. Three steps, checkpoints every two, and the scores of one task. Needs the data folder.
"""

import argparse
import json
import os
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

from benchmarks.machine import describe_machine, load
from benchmarks.output import common_parser, heading, write_json
from benchmarks.process_tree import run_measured
from rse_study.assets.tiny import minilm_folder
from rse_study.results.reader import Reader

NAME = "bert-base-cell"
LARGEST = 1e6  # bytes; smaller files are ledgers, histories and logs


def main(arguments: list[str] | None = None) -> None:
    """Measure the cell and print it beside the plan."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine = describe_machine(options.seed)
    with tempfile.TemporaryDirectory(prefix="rse-bert-base-") as folder:
        row = measure(Path(folder), options)
    print(heading("a cell of BERT-base's shape", machine))
    print(json.dumps(row, indent=2))
    write_json(options.out, machine, vars(options), [row])


def measure(root: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Plan and run the cell below `root`."""
    encoder, store = write_encoder(root, options.seed), root / "studies"
    given = ["rse_table6", "--store", str(store)]
    for override in overrides(encoder, options):
        given += ["-o", override]
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
    program = [sys.executable, "-m", "rse_study"]
    planned = run_measured([*program, "plan", *given], environment).output
    files = dict[str, int]()
    use = run_measured([*program, "run", *given], environment, partial(note_largest, store, files))
    if use.returncode:
        raise SystemExit(use.output)
    with Reader(store / NAME) as reader:
        trained = float(reader.cells()["duration_s"].iloc[0])
    said = [line for line in planned.splitlines() if line.startswith(("disk", "memory"))]
    return {
        "wall_s": use.wall_s,
        "training_and_dev_scores_s": trained,
        "cpu_s": use.cpu_s,
        "peak_memory_of_all_processes": use.peak_rss,
        "files": files,
        "plan": said,
        "load": load(),
    }


def write_encoder(root: Path, seed: int) -> Path:
    """Write a random BERT-base in the hub's layout."""
    torch.manual_seed(seed)
    folder = root / "bert-base-uncased"
    BertForMaskedLM(BertConfig()).save_pretrained(folder)
    AutoTokenizer.from_pretrained(minilm_folder()).save_pretrained(folder)
    return folder


def overrides(encoder: Path, options: argparse.Namespace) -> list[str]:
    """Return what makes a cell of the study's 48 run here."""
    return [
        f"name={NAME}",
        "grid={rows: {RobustSentEmbed: {}}}",
        "seeds=[0]",
        f"base.encoder.name={encoder}",
        "base.method.lambda2=0",
        "base.precision=float32",
        "base.corpus={source: wiki/wiki1m_head/wiki1m_for_simcse.head.txt, limit: 2000}",
        f"base.budget={{unit: steps, amount: {options.steps}}}",
        "base.selection.every=2",
        "evaluations=[STS-B/test]",
        "baselines=[]",
        f"resources={{executor: inline, threads: {options.threads}}}",
    ]


def note_largest(folder: Path, most: dict[str, int]) -> None:
    """Keep the most bytes that each large file of a folder had."""
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and (size := path.stat().st_size) > LARGEST:
                key = f"{path.parent.name}/{path.name}"
                most[key] = max(size, most.get(key, 0))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("bert_base")
    made.add_argument("--steps", type=int, default=3, help="of the cell")
    return made


if __name__ == "__main__":
    main()
