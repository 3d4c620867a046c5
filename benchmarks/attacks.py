"""Attack queries per second, and CPU seconds per 1,000 queries.

python -m benchmarks.attacks

The victim is the smallest encoder with random weights, fine-tuned for seconds on sentences of MR, so that word lists,
constraints and scoring dominate. Each repeat attacks other inputs of `attack/mr`, after an untimed one that reads the
word lists. Without the data of a recipe, its row names what is missing.
"""

import argparse
import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.encoders import save_encoder
from benchmarks.machine import describe_machine, load, may_time
from benchmarks.output import common_parser, heading, markdown_table, write_json
from benchmarks.timing import Spread
from rse_study.assets.attack_resources import resources_of
from rse_study.assets.victim import victim
from rse_study.data import data_dir
from rse_study.data.attack_sets import read_attack_set, training_for
from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import Attack
from rse_study.evaluation.attacks.engine import Victim, attack_all
from rse_study.evaluation.attacks.recipes import RECIPES, REPLAYABLE
from rse_study.training.classifier import FineTuning

ENCODER = "2x128"
ATTACKED = "mr"
MAX_QUERIES = 500  # per input
HEADER = ("recipe", "inputs", "queries", "queries a CPU second", "CPU s per 1,000 queries")


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    machine = describe_machine(options.seed)
    try:
        inputs, asked, accuracy = _inputs_and_victim(options)
        rows = [{"recipe": name} | measure_recipe(name, inputs, asked, options) for name in options.recipes]
    except InputError as error:
        accuracy = None
        rows = [{"recipe": name, "skipped": str(error)} for name in options.recipes]
    print(heading(f"attacks on {ATTACKED}, victim {ENCODER}, accuracy {accuracy}", machine))
    print(markdown_table(HEADER, [_cells(row) for row in rows]))
    write_json(options.out, machine, vars(options) | {"victim_accuracy": accuracy}, rows)


def measure_recipe(name: str, inputs: Labelled, asked: Victim, options: argparse.Namespace) -> dict[str, Any]:
    """Return a recipe's queries in each repeat, and CPU seconds on a quiet machine."""
    try:
        attack = RECIPES.get(name)().build(resources_of(name, data_dir()))
    except InputError as error:
        return {"skipped": str(error)}
    is_timed, before = may_time(options), load()
    num_queries(attack, asked, inputs.take(np.arange(1)), options.seed)
    queries, seconds = list[int](), list[float]()
    for number in range(options.repeat):
        some = inputs.take(1 + number * options.inputs + np.arange(options.inputs))
        begun = time.process_time()
        queries.append(num_queries(attack, asked, some, options.seed))
        seconds.append(time.process_time() - begun)
    row: dict[str, Any] = {
        "label": attack.label,
        "inputs": options.inputs * options.repeat,
        "queries": queries,
    }
    if not is_timed:
        return row | {"cpu_seconds": [], "times_not_taken": f"load {before}"}
    rates = Spread.of([number / taken for number, taken in zip(queries, seconds, strict=True)])
    costs = Spread.of([1000 * taken / number for number, taken in zip(queries, seconds, strict=True)])
    return row | {
        "cpu_seconds": seconds,
        "per_second": asdict(rates),
        "per_1000_queries": asdict(costs),
        "load": [before, load()],
    }


def num_queries(attack: Attack, asked: Victim, inputs: Labelled, seed: int) -> int:
    """Attack the inputs and return the number of queries."""
    found = attack_all(attack, asked, inputs, max_queries=MAX_QUERIES, seed=seed)
    return sum(outcome.num_queries for outcome in found)


def _inputs_and_victim(options: argparse.Namespace) -> tuple[Labelled, Victim, float]:
    """The attacked inputs, the victim, and its accuracy on held-out texts."""
    whole, training = read_attack_set(ATTACKED, data_dir()), training_for(ATTACKED, data_dir())
    drawn = np.random.default_rng(options.seed).permutation(len(training))[: options.training]
    tuning = FineTuning(lr=1e-3, epochs=options.epochs, max_length=64)
    with tempfile.TemporaryDirectory(prefix="rse-study-bench-") as folder:
        base = str(save_encoder(ENCODER, Path(folder) / "encoder", options.seed))
        made = victim(Path(folder), base, "mean", training.take(drawn), whole.texts, options.seed, tuning)
        inputs = whole.take(np.arange(1 + options.inputs * options.repeat))
        return inputs, made.load().predicting(inputs.classes), round(made.dev_accuracy, 3)


def _cells(row: dict[str, Any]) -> list[str]:
    if "skipped" in row:
        return [row["recipe"], *("-" for _ in HEADER[1:])]
    timed = [str(Spread(**row[key])) if key in row else "-" for key in ("per_second", "per_1000_queries")]
    return [row["recipe"], str(row["inputs"]), str(sum(row["queries"])), *timed]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("attacks")
    recipes = list(REPLAYABLE)
    made.add_argument("--recipes", nargs="+", choices=recipes, default=["pwws", "textfooler"], help="attacks")
    made.add_argument("--inputs", type=int, default=10, help="texts of each repeat")
    made.add_argument("--repeat", type=int, default=3, help="timed repeats, each on other texts")
    made.add_argument("--training", type=int, default=4000, help="texts the victim is fine-tuned on")
    made.add_argument("--epochs", type=int, default=3, help="of that")
    return made


if __name__ == "__main__":
    main()
