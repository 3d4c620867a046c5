"""CPU seconds per proposal, by sampler and number of known trials.

python -m benchmarks.asking

Trials are uniform points of a study's space with simulated values: a bowl with noise. Samplers take turns, and the
time includes making the sampler, as a search pays for it in each trial. A sampler slower than `--limit` at one count
skips the larger ones.
"""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.machine import describe_machine, load, may_time
from benchmarks.options import common_parser
from benchmarks.output import heading, markdown_table, write_json
from benchmarks.timing import Contender, Spread, take_turns
from rse_study.sampling.proposer import Proposer
from rse_study.sampling.samplers import OF_OPTUNA
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.search import Sampler

STUDY = Path(__file__).parents[1] / "search_spaces" / "joint.yaml"
TRIALS = (10, 100, 500, 1000, 2000)
NOISE = 0.05
"""standard deviation of a value; the bowl is about 1 deep"""


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine, rows = describe_machine(options.seed), []
    if may_time(options):
        domains = {axis.name: axis.domain for axis in read_study(options.study).space.axes}
        rows = measure_asking(domains, options)
    print(heading(f"asking, {options.objectives} objective(s), {options.study.stem}", machine))
    print(markdown_table(("sampler", *(f"{count} trials" for count in options.trials)), table_cells(rows)))
    write_json(options.out, machine, vars(options), rows)


def measure_asking(domains: Mapping[str, Domain], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return seconds per sampler and number of trials, except for slow samplers."""
    rows: dict[str, dict[str, Any]] = {
        name: {"sampler": name, "seconds": {}, "load": {}} for name in options.samplers
    }
    left = list(rows)
    for count in sorted(options.trials):
        asks = {name: ask_of(name, domains, count, options) for name in left}
        seconds = {name: Spread.of(values) for name, values in take_turns(asks, options.repeat).items()}
        for name, spread in seconds.items():
            rows[name]["seconds"][count], rows[name]["load"][count] = asdict(spread), load()
        left = [name for name, spread in seconds.items() if spread.median <= options.limit]
    return list(rows.values())


def ask_of(name: str, domains: Mapping[str, Domain], count: int, options: argparse.Namespace) -> Contender:
    """Return a function that asks a sampler for a proposal after `count` trials."""
    directions = ["maximize", "minimize"][: options.objectives]
    proposer = Proposer(domains, Sampler(name=name), options.seed, directions)  # type: ignore[arg-type]
    draws = np.random.default_rng(options.seed)
    for number in range(count):
        unit = draws.random(len(domains))
        bowl = -float(((unit - 0.4) ** 2).sum()) + NOISE * float(draws.normal())
        values = [bowl, float(unit[0])][: options.objectives]
        point = {axis: domain.at(float(u)) for (axis, domain), u in zip(domains.items(), unit, strict=True)}
        proposer.add(number, point, "complete", values)

    def ask(number: int) -> None:
        proposer.ask(count + number)
        proposer.discard(count + number)

    return ask


def table_cells(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return a line per sampler; `-` where it was skipped."""
    counts = sorted({count for row in rows for count in row["seconds"]})
    return [
        [row["sampler"], *(str(Spread(**row["seconds"][n])) if n in row["seconds"] else "-" for n in counts)]
        for row in rows
    ]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("asking")
    samplers = list(OF_OPTUNA)
    made.add_argument("--samplers", nargs="+", choices=samplers, default=samplers, help="who is asked")
    made.add_argument("--trials", nargs="+", type=int, default=list(TRIALS), help="how many are known")
    made.add_argument("--objectives", type=int, choices=(1, 2), default=1, help="how many are optimised")
    made.add_argument("--limit", type=float, default=5.0, help="seconds an ask may take to be asked on")
    made.add_argument("--repeat", type=int, default=5, help="timed asks of each")
    made.add_argument("--study", type=Path, default=STUDY, help="whose space it is")
    return made


if __name__ == "__main__":
    main()
