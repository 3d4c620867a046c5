"""Operations, CPU time and memory of one training step.

python -m benchmarks.step

Each case on each encoder: ours, the plain transcription (`benchmarks.plain`) where it has the method, and
sentence-transformers for SimCSE. Operations are those of matrix products in one batch, also in units of P T: P encoder
parameters without embeddings, T padded tokens of a view. Padding is that of 100 batches. Times are medians (least,
greatest) of alternating steps on the same sentences.
"""

import argparse
import gc
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.cases import CASES
from benchmarks.contenders import LibraryStep, PlainStep, StepShape, open_ours
from benchmarks.counting import count_flops, peak_bytes
from benchmarks.encoders import encoder_names, save_encoder
from benchmarks.machine import describe_machine, load, may_time
from benchmarks.output import common_parser, heading, markdown_table, write_json
from benchmarks.sentences import Texts, training_texts
from benchmarks.timing import Contender, Spread, ratios, take_turns
from rse_study.errors import InputError
from rse_study.training.session import Session

NUM_COUNTED = 100  # batches whose padding is counted; operations and memory are those of the first
Measured = dict[str, Any]
HEADER = (
    *("encoder", "pooling", "length", "padding", "case", "GFLOP", "in P T", "plain / ours"),
    *("peak MB", "plain / ours", "CPU s", "plain / ours", "library / ours"),
)


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine, texts = describe_machine(options.seed), training_texts()
    rows: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="rse-study-bench-") as folder:
        for row in measure_all(options, texts, Path(folder)):
            rows.append(row)
            print(" ".join(cells_of(row)), flush=True)
    print(heading(f"one step, batch {options.batch}, sentences of {texts.name}", machine))
    print(markdown_table(HEADER, [cells_of(row) for row in rows]))
    write_json(options.out, machine, vars(options) | {"texts": texts.name}, rows)


def measure_all(options: argparse.Namespace, texts: Texts, folder: Path) -> Iterator[Measured]:
    """Yield a row for each size, pooling, length and case."""
    for size in options.sizes:
        encoder = save_encoder(size, folder / size, options.seed)
        for pooling in options.pooling:
            for length in options.length:
                shape = StepShape(
                    encoder=encoder,
                    sentences=texts.sentences,
                    batch_size=options.batch,
                    length=length,
                    pooling=pooling,
                    seed=options.seed,
                    trial={"chunk_size": options.chunk},
                )
                for name in options.cases:
                    row = {"size": size, "pooling": pooling, "length": length, "case": name}
                    yield row | measure(name, shape, folder / f"{size}-materials", options)
                    gc.collect()


def measure(name: str, shape: StepShape, folder: Path, options: argparse.Namespace) -> Measured:
    """Return operations, memory and times of one case."""
    try:
        session = open_ours(CASES[name], shape, folder)
    except InputError as error:
        return {"skipped": str(error)}
    steps = contenders(name, shape, session)
    parameters, padded = num_parameters(session), batch_tokens(session, 0)[1]
    tokens = [batch_tokens(session, number) for number in range(NUM_COUNTED)]
    real_tokens, padded_tokens = (sum(counts) for counts in zip(*tokens, strict=True))
    measured: Measured = {"parameters": parameters, "padded_share": 1 - real_tokens / padded_tokens}
    flops, peaks = dict[str, int](), dict[str, int]()
    for who, step in steps.items():
        flops[who] = count_flops(partial(step, 0))  # allocates what the next step needs, too
        session.optimizer.zero_grad()  # the previous step's gradients do not count
        peaks[who] = peak_bytes(partial(step, 0))
    in_pt = {who: count / (parameters * padded) for who, count in flops.items()}
    return measured | {"flops": flops, "in_pt": in_pt, "peak_bytes": peaks} | times_of(steps, options)


def contenders(name: str, shape: StepShape, session: Session) -> dict[str, Contender]:
    """Return our step and those of the alternatives with the same method."""
    case, steps = CASES[name], dict[str, Contender](ours=session.advance)
    if case.plain is not None:
        steps["plain"] = PlainStep(case, shape, session)
    if case.in_library:
        steps["library"] = LibraryStep(shape, session)
    return steps


def batch_tokens(session: Session, number: int) -> tuple[int, int]:
    """Return the tokens of a step's batch, without and with padding."""
    lengths = session.batches.corpus.lengths[session.batches.sentences(number)]
    return int(lengths.sum()), len(lengths) * int(lengths.max())


def num_parameters(session: Session) -> int:
    """Return P, the encoder's parameters without its embeddings."""
    named = session.networks.encoder.backbone.named_parameters()
    return sum(weight.numel() for name, weight in named if not name.startswith("embeddings."))


def times_of(steps: dict[str, Contender], options: argparse.Namespace) -> Measured:
    """Return CPU seconds of alternating steps, if wanted and the machine is quiet."""
    if not options.repeat or not may_time(options):
        reason = f"load {load()}" if options.repeat else "not wanted"
        return {"cpu_seconds": {}, "times_not_taken": reason}
    before = load()
    seconds = take_turns(steps, options.repeat)
    return {
        "cpu_seconds": seconds,
        "spread": {who: asdict(Spread.of(values)) for who, values in seconds.items()},
        "ratio": {who: asdict(ratios(values, seconds["ours"])) for who, values in seconds.items()},
        "load": [before, load()],
    }


def cells_of(row: Measured) -> list[str]:
    """Return a row of the table."""
    name = [row["size"], row["pooling"], str(row["length"])]
    if "skipped" in row:
        return [*name, "-", row["case"], *("-" for _ in HEADER[len(name) + 2 :])]
    flops, peaks = row["flops"], row["peak_bytes"]
    return [
        *name,
        f"{100 * row['padded_share']:.0f} %",
        row["case"],
        f"{flops['ours'] / 1e9:.2f}",
        f"{row['in_pt']['ours']:.1f}",
        f"{flops['plain'] / flops['ours']:.2f}" if "plain" in flops else "-",
        f"{peaks['ours'] / 1e6:.0f}",
        f"{peaks['plain'] / peaks['ours']:.2f}" if "plain" in peaks else "-",
        spread_of(row, "spread", "ours"),
        spread_of(row, "ratio", "plain"),
        spread_of(row, "ratio", "library"),
    ]


def spread_of(row: Measured, kind: str, who: str) -> str:
    """Return a contender's `spread` of seconds or `ratio` to ours; a dash without one."""
    values = row.get(kind, {}).get(who)
    return str(Spread(**values)) if values else "-"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("step")
    sizes, poolings = encoder_names(), ("cls", "mean")
    made.add_argument("--sizes", nargs="+", choices=sizes, default=sizes, help="encoders")
    made.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), help="methods")
    made.add_argument("--batch", type=int, default=64, help="sentences of a step")
    made.add_argument("--length", type=int, nargs="+", default=[32], help="most tokens of a sentence")
    made.add_argument("--pooling", nargs="+", choices=poolings, default=["cls"], help="of token vectors")
    made.add_argument("--chunk", type=int, default=0, help="sentences that ours computes at a time; 0: all")
    made.add_argument("--repeat", type=int, default=5, help="timed steps of each; 0: no times")
    return made


if __name__ == "__main__":
    main()
