"""The comparison of searches by the optimiser steps to a good trial.

python -m benchmarks.search_arms

Each arm (a sampler, with or without a rule of early stopping) searches each surface with every seed: the project's own
proposer and verdicts, and workers with a simulated clock, so that no encoder is trained. The best trial so far is the
one of the full budget with the best measured end; its noise-free value is averaged over the seeds. Each arm reports
the step from which its mean stays at random's final mean or above, and the share of all steps that this saves, with an
interval over the seeds. `recorded` has no rungs, as nothing is known before a trial's end, so arms that stop early are
left out there.
"""

import argparse
import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import typer

from benchmarks.output import markdown_table
from benchmarks.search_arms.anytime import AnytimeResult, best_so_far, summary
from benchmarks.search_arms.arm import Arm, arm_of
from benchmarks.search_arms.recorded import recorded_curves, recorded_surface
from benchmarks.search_arms.simulation import SimulatedSearch
from benchmarks.search_arms.surface import (
    AxisDomains,
    CrossingSurface,
    OrderedSurface,
    Surface,
    joint_domains,
)
from rse_study.cli.terminal.errors import guarded
from rse_study.results.files.atomic import write_whole
from rse_study.spec import canonical_json

SURFACES: dict[str, Callable[[AxisDomains], Surface]] = {
    "ordered": OrderedSurface,
    "crossing": CrossingSurface,
    "recorded": recorded_surface,
    "recorded_curves": recorded_curves,
}
ARMS = ["random", "random+asha", "tpe", "tpe+asha"]
HEADER = (
    "arm",
    "trials",
    "final mean",
    "95% low",
    "95% high",
    "steps to random's final mean",
    "saved, 95%",
)
NUM_POINTS = 40


def main(arguments: list[str] | None = None) -> None:
    """Run the comparison of the command line and print its tables."""
    options = parser().parse_args(arguments)
    try:
        guarded(compare_arms)(options)
    except typer.Exit as ended:
        raise SystemExit(ended.exit_code) from None


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.search_arms")
    made.add_argument("--surfaces", nargs="+", choices=list(SURFACES), default=list(SURFACES))
    made.add_argument("--arms", nargs="+", default=ARMS, help="SAMPLER or SAMPLER+RULE; random is added")
    made.add_argument("--steps", type=int, default=2400, help="optimiser steps of all trials of a search")
    made.add_argument("--workers", type=int, default=4, help="trials at a time")
    made.add_argument("--repeats", type=int, default=60, help="searches of each arm on each surface")
    made.add_argument("--seed", type=int, default=0, help="of the first repetition")
    made.add_argument("--out", type=Path, help="a JSON file with the curves")
    return made


def compare_arms(options: argparse.Namespace) -> None:
    """Run every arm on every surface, and print a table per surface."""
    arms, domains = [arm_of(name) for name in dict.fromkeys(["random", *options.arms])], joint_domains()
    results = []
    for name in options.surfaces:
        surface: Surface = SURFACES[name](domains)
        usable = [arm for arm in arms if surface.rungs is not None or not arm.rule]
        here = [measure(surface, domains, arm, options) for arm in usable]
        print(f"{name}, {options.steps} steps, {options.workers} workers, {options.repeats} repetitions")
        print(markdown_table(HEADER, [cells(one, here[0]) for one in here]), flush=True)
        results += here
    if options.out is not None:
        rows = [{key: _plain(value) for key, value in dataclasses.asdict(one).items()} for one in results]
        write_whole(options.out, canonical_json(rows) + "\n")


def measure(surface: Surface, domains: AxisDomains, arm: Arm, options: argparse.Namespace) -> AnytimeResult:
    """Search a surface with every seed of an arm."""
    steps = [int(step) for step in np.linspace(0, options.steps, NUM_POINTS + 1)[1:]]
    curves, num_ended = [], 0
    for seed in range(options.seed, options.seed + options.repeats):
        search = SimulatedSearch(surface, domains, arm, options.workers, options.steps, seed)
        ended = list(search.run())
        num_ended += len(ended)
        curves.append(best_so_far(ended, steps))
    return summary(surface.name, arm.name, steps, curves, num_ended / options.repeats)


def cells(one: AnytimeResult, random: AnytimeResult) -> tuple[str, ...]:
    """Return the row of an arm in a surface's table, compared with `random`."""
    reached, saving = one.reaches(random.mean[-1]), one.saving(random)
    figures = (one.mean[-1], one.low[-1], one.high[-1])
    steps = "not reached" if reached is None else f"{reached:,}"
    saved = f"{saving.low:.0%} to {saving.high:.0%}".replace("%", " %")
    return one.arm, f"{one.num_trials:.1f}", *(f"{figure:.2f}" for figure in figures), steps, saved


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if value != value else value
