"""CPU seconds that batches of 64 texts save an attack, against single texts.

    python -m benchmarks.attack_batches --victim FOLDER

Both take turns on the first inputs of attack/mr. Adversarial texts and numbers of queries must be the same every time:
exit code 1 if they are not, or if batches of 64 take more than 40 forward passes per 1,000 queries.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.machine import describe_machine, may_time
from benchmarks.options import common_parser
from benchmarks.output import heading, markdown_table, write_json
from benchmarks.timing import Spread, take_turns
from rse_study.assets.attack_resources import resources_of
from rse_study.data.attack_sets import read_attack_set
from rse_study.data.labelled import Labelled, Text
from rse_study.data.location import data_dir
from rse_study.evaluation.attacks.attack import Attack
from rse_study.evaluation.attacks.engine import Victim, attack_all
from rse_study.evaluation.attacks.recipes import RECIPES, REPLAYABLE
from rse_study.models.classifier_folder import load_classifier

SIZES = (64, 1)  # texts a forward pass
MOST_CALLS = 40  # forward passes per 1,000 queries in batches of 64
NO_LIMIT = 10**9
HEADER = ("texts a forward pass", "queries", "CPU s an input", "forward passes per 1,000 queries")


class BatchedAttack:
    """A repeatable attack on all inputs, which keeps outcomes and counts passes."""

    def __init__(self, attack: Attack, victim: Victim, inputs: Labelled, batch_size: int) -> None:
        self._attack, self._victim, self._inputs, self._batch_size = attack, victim, inputs, batch_size
        self.outcomes: list[list[object]] = []
        self.num_calls = self.num_queries = 0

    def __call__(self, number: int) -> None:
        self.num_calls = 0
        found = sorted(
            attack_all(
                self._attack, self._counted, self._inputs,
                batch_size=self._batch_size, max_queries=NO_LIMIT, seed=0,
            ),
            key=lambda one: one.index,
        )  # fmt: skip
        self.outcomes.append([(one.index, one.outcome, one.adversarial, one.num_queries) for one in found])
        self.num_queries = sum(one.num_queries for one in found)

    @property
    def calls_per_1000_queries(self) -> float:
        return 1000 * self.num_calls / self.num_queries

    def _counted(self, texts: Sequence[Text]) -> np.ndarray:
        self.num_calls += 1
        return self._victim(texts)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark of the command line, print its table and return the exit code."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    machine, whole = describe_machine(options.seed), read_attack_set("mr", data_dir())
    inputs, is_timed = whole.take(np.arange(min(options.inputs, len(whole)))), may_time(options)
    attack = RECIPES.get(options.recipe)().build(resources_of(options.recipe, data_dir()))
    victim = load_classifier(options.victim).predicting(inputs.classes)
    attacks = {str(size): BatchedAttack(attack, victim, inputs, size) for size in SIZES}
    seconds = take_turns(attacks, options.repeat)
    rows: list[dict[str, Any]] = [
        {"batch_size": size, "queries": one.num_queries, "calls_per_1000_queries": one.calls_per_1000_queries}
        | {"cpu_s_per_input": [second / len(inputs) for second in seconds[size]] if is_timed else []}
        for size, one in attacks.items()
    ]
    print(heading(f"{attack.label} on {len(inputs)} inputs", machine))
    print(markdown_table(HEADER, [_cells(**row) for row in rows]))
    write_json(options.out, machine, vars(options), rows)
    found = [outcomes for one in attacks.values() for outcomes in one.outcomes]
    are_same = all(outcomes == found[0] for outcomes in found)
    print(f"texts and queries are {'the same' if are_same else 'NOT THE SAME'}")
    return 0 if are_same and attacks["64"].calls_per_1000_queries <= MOST_CALLS else 1


def _cells(
    batch_size: str, queries: int, calls_per_1000_queries: float, cpu_s_per_input: list[float]
) -> list[str]:
    spread = str(Spread.of(cpu_s_per_input)) if cpu_s_per_input else "-"
    return [batch_size, str(queries), spread, f"{calls_per_1000_queries:.1f}"]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("attack_batches")
    made.add_argument("--victim", type=Path, required=True, help="a classifier's folder")
    made.add_argument("--inputs", type=int, default=10, help="how many, from the first of attack/mr")
    made.add_argument("--recipe", choices=list(REPLAYABLE), default="pwws", help="an attack by name")
    made.add_argument("--repeat", type=int, default=5, help="timed runs of each")
    return made


if __name__ == "__main__":
    sys.exit(main())
