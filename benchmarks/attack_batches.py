"""CPU seconds that batches of 64 texts save an attack, against single texts.

    python -m benchmarks.attack_batches --victim FOLDER [--inputs 10] [--recipe pwws] [--repeats 5] [--out FILE]

Both by turns in one process, one thread; medians over the repeats. Adversarial texts and numbers of queries must be the
same every time. Ends with 1 where they are not, or where batches of 64 take more than 40 forward passes per 1,000
queries. The first inputs of attack/mr; recipes that need a masked LM are not measured.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rse_study.assets.sentence_similarity import sentence_similarity
from rse_study.data.attack_sets import read_attack_set
from rse_study.data.labelled import Labelled, Text
from rse_study.data.location import data_dir
from rse_study.evaluation.attacks.attack import Attack
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.attacks.outcome import AttackVerdict
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.victim import Victim
from rse_study.models.classifier_folder import load_classifier

SIZES = (64, 1)  # texts a forward pass
MOST_CALLS = 40  # forward passes per 1,000 queries in batches of 64
NO_LIMIT = 10**9

OutcomesByIndex = dict[int, tuple[AttackVerdict, Text, int]]
"""Verdict, adversarial text and number of queries of each input."""


@dataclass(frozen=True)
class Run:
    """One attack on all inputs."""

    batch_size: int
    cpu_s: float
    wall_s: float
    num_calls: int
    num_texts: int


class Counted:
    """A victim that counts its forward passes."""

    def __init__(self, victim: Victim) -> None:
        self._victim = victim
        self.num_calls = self.num_texts = 0

    def __call__(self, texts: Sequence[Text]) -> np.ndarray:
        self.num_calls += 1
        self.num_texts += len(texts)
        return self._victim(texts)


def run(recipe: Attack, victim: Victim, inputs: Labelled, batch_size: int) -> tuple[Run, OutcomesByIndex]:
    """CPU seconds of all threads of this process."""
    counted = Counted(victim)
    cpu, wall = time.process_time(), time.perf_counter()
    found = list(attack_all(recipe, counted, inputs, batch_size=batch_size, max_queries=NO_LIMIT, seed=0))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    outcomes = {each.index: (each.outcome, each.adversarial, each.num_queries) for each in found}
    return Run(batch_size, cpu, wall, counted.num_calls, counted.num_texts), outcomes


def by_turns(
    recipe: Attack, victim: Victim, inputs: Labelled, repeats: int
) -> tuple[list[Run], list[OutcomesByIndex]]:
    """Each size `repeats` times; which goes first changes every time."""
    run(recipe, victim, inputs.take(np.arange(1)), 64)  # WordNet is read, memory is laid out
    runs, outcomes = list[Run](), list[OutcomesByIndex]()
    for number in range(repeats):
        for batch_size in SIZES[:: 1 if number % 2 == 0 else -1]:
            measured, found = run(recipe, victim, inputs, batch_size)
            runs.append(measured)
            outcomes.append(found)
            each = measured.cpu_s / len(inputs)
            file = sys.stderr
            print(
                f"repeat {number + 1}, batch {batch_size}: {each:.3f} CPU s an input", file=file, flush=True
            )
    return runs, outcomes


def summary(runs: Sequence[Run], outcomes: Sequence[OutcomesByIndex]) -> dict[str, Any]:
    """Medians over the repeats, and what the batches did."""
    num_inputs, num_queries = len(outcomes[0]), sum(num for _, _, num in outcomes[0].values())
    medians = {
        size: statistics.median(one.cpu_s for one in runs if one.batch_size == size) / num_inputs
        for size in SIZES
    }
    num_calls = {size: next(one.num_calls for one in runs if one.batch_size == size) for size in SIZES}
    return {
        "num_inputs": num_inputs,
        "num_queries": num_queries,
        "cpu_s_per_input": medians,
        "ratio": medians[1] / medians[64],
        "calls_per_1000_queries": {size: 1000 * num / num_queries for size, num in num_calls.items()},
        "differing": [
            index for index in outcomes[0] if any(one[index] != outcomes[0][index] for one in outcomes)
        ],
    }


def _main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    whole = read_attack_set("mr", data_dir())
    inputs = whole.take(np.arange(min(asked.inputs, len(whole))))
    recipe = RECIPES.get(asked.recipe)().build(AttackResources(data_dir(), encoder=sentence_similarity()))
    runs, outcomes = by_turns(
        recipe, load_classifier(asked.victim).predicting(inputs.classes), inputs, asked.repeats
    )
    found = summary(runs, outcomes)
    about = {"recipe": recipe.label, "torch": torch.__version__, "load": os.getloadavg()[0]}
    written = json.dumps(about | found | {"runs": [asdict(one) for one in runs]}, indent=1)
    if asked.out:
        asked.out.write_text(written + "\n", encoding="utf-8")
    print(table(found))
    return 0 if not found["differing"] and found["calls_per_1000_queries"][64] <= MOST_CALLS else 1


def table(found: dict[str, Any]) -> str:
    """Return the figures as lines of text."""
    rows = [f"{found['num_inputs']} inputs, {found['num_queries']} queries"]
    for size in SIZES:
        cpu, calls = found["cpu_s_per_input"][size], found["calls_per_1000_queries"][size]
        rows.append(f"batch {size:2}: {cpu:.3f} CPU s an input, {calls:.1f} forward passes per 1,000 queries")
    same = f"NOT THE SAME for inputs {found['differing']}" if found["differing"] else "the same"
    return "\n".join([*rows, f"ratio {found['ratio']:.2f}; texts and queries {same}"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="What batches are worth to an attack.")
    parser.add_argument("--victim", type=Path, required=True, help="a classifier's folder")
    parser.add_argument("--inputs", type=int, default=10, help="how many, from the first of attack/mr")
    parser.add_argument("--recipe", default="pwws", help="an attack by name")
    parser.add_argument("--repeats", type=int, default=5, help="of each batch size")
    parser.add_argument("--out", type=Path, help="where figures and runs go, as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(_main())
