"""Launches of one training step by phase, counted on a CPU.

python -m benchmarks.launches

A GPU's host pays some 10 µs for each launch: a dispatched operation that is neither a view nor an empty tensor; a
foreach or fused operation is one. Counted is the third step of a BERT of 12 layers, which the history does not
report: ours, the careful plain code (`benchmarks.careful`) and the released structure (`benchmarks.plain`) where they
have the method. *Inner*: the ascent, for RobustSentEmbed with X+, its starts and V; *after*: clipping, the optimiser
and what follows; *prepare*: what a recorded step is given ahead, not among its launches. Width, batch and vocabulary
change no count; plain batches are tokenised before. Attention with dropout, in outer passes, takes several operations
on a CPU and one on a GPU.
"""

import argparse
import inspect
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from benchmarks.careful import CarefulRobustSentEmbed
from benchmarks.cases import CASES
from benchmarks.contenders import PlainStep, StepShape, open_ours
from benchmarks.counting import Launches
from benchmarks.encoders import NARROW, save_encoder
from benchmarks.machine import describe_machine
from benchmarks.output import common_parser, heading, markdown_table, write_json
from benchmarks.plain import PlainRobustSentEmbed
from benchmarks.sentences import training_texts
from benchmarks.timing import Contender
from rse_study.errors import InputError
from rse_study.methods.adversary import Adversary
from rse_study.perturbations.ascent import ascend
from rse_study.training.session import Session

NAMES = {
    "N=5": "RobustSentEmbed, N = 5",
    "N=5+rtd": "RobustSentEmbed, N = 5, RTD",
    "N=0": "SimCSE",
    "v_adv_cse": "V-advCSE",
    "consert": "ConSERT",
    "l2p_csr": "L2P-CSR",
    "dcl": "DCL",
    "atcl": "ATCL",
    "ct": "CT",
    "sg_opt": "SG-OPT",
    "is_bert": "IS-BERT",
}
"""titles of the cases that are counted"""
PLAIN = {"careful": CarefulRobustSentEmbed, "released": PlainRobustSentEmbed}
PRECISIONS = ("float32", "bf16")
INNER: tuple[Callable[..., Any], ...] = (Adversary.find, ascend, PlainRobustSentEmbed.perturbations)
PHASES = ("inner", "forward", "backward", "after", "prepare")
COUNTED = 2  # the step, from 0: the first ones allocate what later ones need


class Phases:
    """The present phase of a step, read from the functions that run."""

    def __init__(self) -> None:
        self._has_descended = False

    def __call__(self) -> str:
        running = set(_running())
        if _name(Session.prepare) in running:
            return "prepare"
        if running & {_name(function) for function in INNER}:
            return "inner"
        if _name(torch.Tensor.backward) in running:
            self._has_descended = True
            return "backward"
        return "after" if self._has_descended else "forward"


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine, rows = describe_machine(options.seed), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="rse-study-bench-") as folder:
        for row in count_all(options, Path(folder)):
            rows.append(row)
            print(*cells_of(row), row.get("skipped", ""), flush=True)
    print(heading(f"launches of one step, {NARROW}", machine))
    print(
        markdown_table(("method", "precision", "code", "launches", *PHASES), [cells_of(row) for row in rows])
    )
    write_json(options.out, machine, vars(options), rows)


def count_all(options: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each case, precision and code."""
    encoder = save_encoder(NARROW, folder / NARROW, options.seed)
    for name in options.cases:
        for precision in options.precisions:
            shape = StepShape(
                encoder=encoder,
                sentences=training_texts().sentences[:1000],
                batch_size=8,
                length=32,
                pooling="cls",
                seed=options.seed,
                trial={"precision": precision} | ({"graphed": True} if options.graphed else {}),
            )
            try:
                steps = contenders(name, shape, folder / "materials")
            except (InputError, ValidationError) as error:  # a method may refuse `graphed`
                yield {"case": name, "precision": precision, "code": "ours", "skipped": str(error)}
                continue
            for code, step in steps.items():
                yield {"case": name, "precision": precision, "code": code, "launches": launches_of(step)}


def contenders(name: str, shape: StepShape, folder: Path) -> dict[str, Contender]:
    """Return our step and the plain ones, which have the batch that is counted."""
    case = CASES[name]
    session = open_ours(case, shape, folder)
    steps: dict[str, Contender] = {"ours": session.advance}
    for code, kind in PLAIN.items() if case.plain else ():
        step = PlainStep(case, shape, session, kind)
        step.batch(COUNTED)
        steps[code] = step
    return steps


def launches_of(step: Contender) -> dict[str, int]:
    """Return the launches of the counted step by phase."""
    for number in range(COUNTED):
        step(number)
    with Launches(Phases()) as launches:
        step(COUNTED)
    return {phase: launches.by_phase[phase] for phase in PHASES}


def cells_of(row: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    name = [NAMES[row["case"]], row["precision"], row["code"]]
    if "skipped" in row:
        return [*name, *("-" for _ in PHASES), "-"]
    counts = row["launches"]
    return [*name, *(f"{count:,}" for count in (sum(counts.values()) - counts["prepare"], *counts.values()))]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("launches")
    made.add_argument("--cases", nargs="+", choices=list(NAMES), default=list(NAMES), help="methods")
    made.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS, help="of the step")
    made.add_argument("--graphed", action="store_true", help="our trials with `graphed: true`")
    return made


def _running() -> Iterator[tuple[str, str]]:
    """Yield module and name of each function on the stack."""
    frame = inspect.currentframe()
    while frame is not None:
        yield frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        frame = frame.f_back


def _name(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__


if __name__ == "__main__":
    main()
