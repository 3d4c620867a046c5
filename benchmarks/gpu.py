"""GPU utilisation of a training step, and the throughput of several cells at once.

python -m benchmarks.gpu [--graphed]

Three tables: the rate of large bf16 matrix products as the card's limit; a bf16 step of RobustSentEmbed, eager and
compiled (`compiled: true` of a trial), with its share of that limit, its waits for the GPU and its CPU time; cells of
MiniLM's shape in several processes on one GPU. Times are wall seconds after a warm-up that allocates and compiles.
`--device cpu` with small sizes tests the benchmark itself.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import torch

from benchmarks.cases import robust_sent_embed
from benchmarks.contenders import open_ours
from benchmarks.counting import count_flops
from benchmarks.device import Device, seconds_of, shape_of
from benchmarks.encoders import BERT_BASE, MINILM_SHAPE, SIZES
from benchmarks.graphed import Graphed, said
from benchmarks.machine import describe_machine
from benchmarks.output import common_parser, heading, markdown_table, write_json
from benchmarks.packed_cells import steps_a_second
from benchmarks.step import Measured
from benchmarks.timing import Spread
from rse_study.training.session import Session

VARIANTS: dict[str, dict[str, Any]] = {
    "eager": {"precision": "bf16"},
    "compiled": {"precision": "bf16", "compiled": True},
}
STEPS_A_CELL = 500  # in the table of cells
WARM_UP = 5  # steps, with batches of several lengths that may each be compiled


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its tables."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine, device = describe_machine(options.seed), Device(options.device)
    rate = matrix_rate(device, options.matrix, options.repeat)
    print(heading(device.describe(), machine))
    print(f"bf16 products of two {options.matrix} x {options.matrix} matrices: {rate / 1e12:.4g} TFLOP/s\n")
    named = machine | {"device": device.describe(), "matrix_rate": rate}
    rows: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="rse-study-bench-") as folder:
        if options.graphed:
            for row in Graphed(options, device, Path(folder)).rows():
                print(said(row), flush=True)
                rows.append(row)
                write_json(options.out, named, vars(options), rows)
            return
        for name in options.variants:
            rows.append(measure_step(name, options, device, rate, Path(folder)))
            write_json(options.out, named, vars(options), rows)
        print(table_of_steps(rows), end="\n\n", flush=True)
        first = 0.0
        for row in measure_cells(options, Path(folder)):  # a table that grows: each row takes half a minute
            print(table_of_cells(row, first), flush=True)
            first = first or row["steps_a_second"] / row["cells"]
            rows.append(row)
            write_json(options.out, named, vars(options), rows)


def matrix_rate(device: Device, size: int, repeat: int) -> float:
    """Return the median rate of large bf16 matrix products, in operations per second."""
    left, right = (torch.randn(size, size, device=device.name, dtype=torch.bfloat16) for _ in range(2))
    seconds = [seconds_of(device, lambda: left @ right) for _ in range(repeat + 1)][1:]
    return 2 * size**3 / Spread.of(seconds).median


def measure_step(
    name: str, options: argparse.Namespace, device: Device, rate: float, folder: Path
) -> Measured:
    """Return operations, times and waits of one variant's step."""
    shape = shape_of(options, options.size, VARIANTS[name], folder)
    session = open_ours(case_of(options), shape, folder / f"{options.size}-materials")
    is_first = name == options.variants[0]
    flops = count_flops(partial(session.advance, 0)) if is_first else None
    begun = time.perf_counter()
    for number in range(WARM_UP):
        session.advance(number)
    device.wait()
    warm_up = time.perf_counter() - begun
    numbers = count(WARM_UP)
    with device.counted_waits() as noted:
        session.advance(next(numbers))
    numbers_timed = [next(numbers) for _ in range(options.repeat)]
    host = [time_of_host(session, number, device) for number in numbers_timed]
    wall = seconds_of(device, lambda: [session.advance(next(numbers)) for _ in range(options.repeat)])
    peak = torch.cuda.max_memory_allocated() if device.name == "cuda" else 0
    return {
        "variant": name,
        "warm_up_s": warm_up,
        "flops": flops,
        "waits": len(noted),
        "waits_at": [f"{one.filename}:{one.lineno}: {one.message}" for one in noted],
        "host_s": Spread.of(host).median,
        "step_s": wall / options.repeat,
        "peak_bytes": peak,
        "matrix_rate": rate,
    }


def time_of_host(session: Session, number: int, device: Device) -> float:
    """Return the CPU seconds of the host process in a step, from an idle device."""
    device.wait()
    begun = time.process_time()
    session.advance(number)
    return time.process_time() - begun


def measure_cells(options: argparse.Namespace, folder: Path) -> Iterator[Measured]:
    """Yield the steps per second of several cells at once."""
    shape = shape_of(options, options.cell_size, VARIANTS["eager"], folder)
    for number in options.cells:
        rate = steps_a_second(shape, case_of(options), folder, number, options.seconds)
        yield {"cells": number, "steps_a_second": rate}


def case_of(options: argparse.Namespace) -> Any:
    """Return RobustSentEmbed without replaced-token detection."""
    return robust_sent_embed(options.num_steps, detects=False)


def table_of_steps(rows: list[Measured]) -> str:
    """Return a table of the variants, each compared with the first."""
    header = (
        "step",
        "ms",
        "eager / this",
        "TFLOP/s",
        "of the matrix rate",
        "waits",
        "CPU ms",
        "GiB",
        "warm-up s",
    )
    flops, first = rows[0]["flops"], rows[0]["step_s"]
    return markdown_table(
        header,
        [
            [
                row["variant"],
                f"{1e3 * row['step_s']:.1f}",
                f"{first / row['step_s']:.2f}",
                f"{flops / row['step_s'] / 1e12:.4g}",
                f"{100 * flops / row['step_s'] / row['matrix_rate']:.0f} %",
                str(row["waits"]),
                f"{1e3 * row['host_s']:.1f}",
                f"{row['peak_bytes'] / 2**30:.2f}",
                f"{row['warm_up_s']:.0f}",
            ]
            for row in rows
        ],
    )


def table_of_cells(row: Measured, first: float) -> str:
    """Return a row of the table of cells, and its header before there is a first."""
    cells = [
        str(row["cells"]),
        f"{row['steps_a_second']:.2f}",
        f"{3600 * row['steps_a_second'] / STEPS_A_CELL:.0f}",
        f"{row['steps_a_second'] / (first or row['steps_a_second'] / row['cells']):.2f} times",
    ]
    header = ("cells at a time", "steps a second", f"cells of {STEPS_A_CELL} steps an hour", "one by one")
    table = markdown_table(header, [cells])
    return table.splitlines()[-1] if first else table


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("gpu")
    made.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to see that it runs")
    made.add_argument("--size", choices=list(SIZES), default=BERT_BASE, help="encoder of the step")
    made.add_argument("--cell-size", choices=list(SIZES), default=MINILM_SHAPE, help="encoder of the cells")
    made.add_argument(
        "--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS), help="of the step"
    )
    made.add_argument("--batch", type=int, default=64, help="sentences of a step")
    made.add_argument("--length", type=int, default=32, help="most tokens of a sentence")
    made.add_argument("--num-steps", type=int, default=5, help="N")
    made.add_argument("--matrix", type=int, default=8192, help="rows and columns of the matrices")
    made.add_argument("--repeat", type=int, default=20, help="timed products and steps")
    made.add_argument("--cells", type=int, nargs="+", default=[1, 2, 4, 8], help="cells at a time")
    made.add_argument("--graphed", action="store_true", help="recorded steps: see benchmarks/graphed.py")
    made.add_argument(
        "--minutes", type=float, default=8.0, help="of --graphed; rows that would end later are left out"
    )
    made.add_argument("--seconds", type=float, default=20.0, help="that cells are run for")
    return made


if __name__ == "__main__":
    main()
