"""Recorded steps on a card, beside ordinary ones and careful plain code.

python -m benchmarks.gpu --graphed

The first thing to run wherever there is a GPU. Rows come one by one, each written when it is there, and none begins
that could not end within `--minutes`: tests on the card; how far recorded steps lie from ordinary ones; launches and
kernels of an ordinary step; milliseconds of steps; cells at a time, without and with NVIDIA's MPS; a verdict. On a CPU
(`--device cpu`, small sizes) a simulated graph stands in for the card, to see that the script runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from unittest import mock

import torch
from torch import nn
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from benchmarks.careful import CarefulRobustSentEmbed
from benchmarks.cases import Case, robust_sent_embed
from benchmarks.contenders import PlainStep, StepShape, open_ours
from benchmarks.counting import Launches
from benchmarks.device import Device, seconds_of, shape_of
from benchmarks.packed_cells import steps_a_second
from benchmarks.step import Measured
from rse_study.data import batches
from rse_study.training.session import Session

WARM_UP = 40  # steps: enough for every shape to be recorded, of reported steps, too
TESTS = ("tests/methods/test_on_cuda.py", "tests/training/test_on_cuda.py")
ACCEPTED_MS = 40.0
CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync"}
CALLS |= {"cudaMemsetAsync"}


class Graphed:
    """The measurements on one device, and what they need."""

    def __init__(self, options: argparse.Namespace, device: Device, folder: Path) -> None:
        self.options, self.device, self.folder = options, device, folder
        self.begun = time.monotonic()

    def rows(self) -> Iterator[Measured]:
        """Yield a row for each measurement that can end in time, else its name."""
        found = dict[str, float]()
        for name, needs, measure in self.plan():
            if time.monotonic() - self.begun + needs > 60 * self.options.minutes:
                yield {"what": name, "left_out": "no time"}
                continue
            row: Measured = {"what": name} | self.measured(measure)
            found |= {name: row["ms"]} if "ms" in row else {}
            yield row
        yield {"what": "verdict"} | verdict(found, self.options.num_steps)

    def measured(self, measure: Callable[[], Measured]) -> Measured:
        """Return a measurement, or why there is none: those after it may succeed."""
        try:
            return measure()
        except Exception as error:  # whatever a card may say
            traceback.print_exc()
            if self.device.name == "cuda":
                torch.cuda.set_stream(torch.cuda.default_stream())  # a broken recording leaves its own
            return {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}

    def plan(self) -> Iterator[tuple[str, float, Callable[[], Measured]]]:
        """Yield name, seconds and work of each measurement."""
        full, short = (robust_sent_embed(n, detects=False) for n in (self.options.num_steps, 0))
        main = f"N={self.options.num_steps}"
        detects = robust_sent_embed(self.options.num_steps, detects=True)
        yield "tests", 30, self.tests
        yield "difference", 30, partial(self.difference, full)
        yield "launches", 20, partial(self.launches, full)
        for name, case in {main: full, "N=0": short, f"{main}+rtd": detects}.items():
            yield f"eager {name}", 25, partial(self.step, case, graphed=False)
            yield f"graphed {name}", 25, partial(self.step, case, graphed=True)
        yield f"careful plain {main}", 20, partial(self.careful, full)
        if "compiled" in self.options.variants:
            yield f"graphed and compiled {main}", 120, partial(self.step, full, graphed=True, compiled=True)
        for kind, numbers in {"eager": (1, 3, 6), "graphed": (1, 2, 3), "graphed with MPS": (2, 3)}.items():
            graphed, serves = kind != "eager", kind.endswith("MPS")
            for number in numbers if max(self.options.cells) > 1 else numbers[:1]:
                yield (
                    f"{number} x {kind}",
                    25,
                    partial(self.cells, full, number, graphed=graphed, serves=serves),
                )

    def tests(self) -> Measured:
        """Run the tests that need a card."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return {"exit": ended.returncode, "said": ended.stdout.strip().splitlines()[-1:]}

    def difference(self, case: Case) -> Measured:
        """Return how far 20 recorded steps lie from 20 ordinary ones of the same shapes."""
        row: Measured = {}
        for drops in (False, True):
            losses, weights = [], []
            for graphed in (False, True):
                session = self.session(case, graphed=True)
                session.recorder = session.recorder if graphed else None
                if not drops:
                    for module in session.networks.modules():
                        if isinstance(module, nn.Dropout):
                            module.p = 0.0
                steps = range(20)
                losses.append(
                    torch.stack([session.advance(number).loss.detach().clone() for number in steps])
                )
                weights.append(torch.cat([p.detach().flatten() for p in session.networks.parameters()]))
            apart = ((losses[0] - losses[1]) / losses[0]).abs()
            name = "with dropout" if drops else "without dropout"
            row[f"first loss {name}"], row[f"losses {name}"] = float(apart[0]), float(apart.max())
            row[f"weights {name}"] = float((weights[0] - weights[1]).abs().max())
        return row

    def launches(self, case: Case) -> Measured:
        """Return launches of an ordinary step, their times, and the longest kernels."""
        session = self.session(case, graphed=False)
        for number in range(3):
            session.advance(number)
        on_card = self.device.name == "cuda"
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_card else [])]
        with Launches() as counted:
            session.advance(3)
        wall = seconds_of(self.device, partial(session.advance, 4))
        with profile(activities=activities) as profiler:
            session.advance(5)
            self.device.wait()
        events = profiler.key_averages()
        if on_card:
            kernels = [(e.key, e.self_device_time_total) for e in events if e.device_type == DeviceType.CUDA]
        else:
            kernels = [(e.key, e.self_cpu_time_total) for e in events]
        number = sum(e.count for e in events if e.key in CALLS) or counted.number
        longest = sorted(kernels, key=lambda kind: -kind[1])[:10]
        return {
            "dispatched": counted.number,
            "launches": number,
            "us_a_launch": 1e6 * wall / number,
            "kernels_ms": sum(took for _, took in kernels) / 1e3,
            "longest_ms": {key[:80]: round(took / 1e3, 3) for key, took in longest},
        }

    def step(self, case: Case, *, graphed: bool, compiled: bool = False) -> Measured:
        """Return times, waits and memory of a step after the warm-up."""
        # One shape where a compiler would begin anew for each.
        shapes = mock.patch.object(batches, "NUM_SHAPES", 4 if compiled else batches.NUM_SHAPES)
        with shapes:
            session, numbers = self.session(case, graphed=graphed, compiled=compiled), count()
            if self.device.name == "cuda":
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            warm_up = seconds_of(self.device, lambda: advance(session, WARM_UP, numbers))
            recorded = len(session.recorded_step.recordings)
            with self.device.counted_waits() as noted:
                session.advance(next(numbers))
            self.device.wait()
            cpu, repeat = time.process_time(), self.options.repeat
            wall = seconds_of(self.device, lambda: advance(session, repeat, numbers))
            cpu = time.process_time() - cpu
            prepared = [seconds_of(self.device, partial(session.prepare, next(numbers))) for _ in range(5)]
            return {
                "ms": 1e3 * wall / repeat,
                "cpu_ms": 1e3 * cpu / repeat,
                "prepare_ms": 1e3 * min(prepared),
                "waits": sorted({f"{one.filename}:{one.lineno}" for one in noted}),
                "warm_up_s": warm_up,
                "recordings": recorded,
                "recorded_while_timed": len(session.recorded_step.recordings) - recorded,
                "gib": torch.cuda.max_memory_allocated() / 2**30 if self.device.name == "cuda" else 0.0,
                "reserved_gib": torch.cuda.max_memory_reserved() / 2**30
                if self.device.name == "cuda"
                else 0.0,
            }

    def careful(self, case: Case) -> Measured:
        """Return the time of the careful plain step on the same sentences."""
        session = self.session(case, graphed=False)
        step = PlainStep(case, self.shape(graphed=False), session, CarefulRobustSentEmbed)
        for number in range(5 + self.options.repeat):
            step.batch(number)  # tokenised before
        advance_plain(step, range(5))
        timed = range(5, 5 + self.options.repeat)
        return {"ms": 1e3 * seconds_of(self.device, lambda: advance_plain(step, timed)) / self.options.repeat}

    def cells(self, case: Case, number: int, *, graphed: bool, serves: bool) -> Measured:
        """Return the steps per second of several cells at once."""
        with mps(self.folder) if serves else nullcontext(True) as served:
            if not served:
                return {"left_out": "MPS could not be started"}
            shape = self.shape(graphed=graphed)
            warm_up = WARM_UP if graphed and self.device.name == "cuda" else 3
            seconds = self.options.seconds / 2
            rate = steps_a_second(shape, case, self.folder, number, seconds, warm_up=warm_up)
        return {"steps_a_second": rate}

    def shape(self, *, graphed: bool, compiled: bool = False) -> StepShape:
        """Return the data of a bf16 step."""
        trial = {"precision": "bf16", "graphed": graphed, "compiled": compiled}
        return shape_of(self.options, self.options.size, trial, self.folder)

    def session(self, case: Case, *, graphed: bool, compiled: bool = False) -> Session:
        """Open a session whose steps are recorded, on a CPU by a simulated graph."""
        shape = self.shape(graphed=graphed, compiled=compiled)
        session = open_ours(case, shape, self.folder / f"{self.options.size}-materials")
        if graphed and self.device.name == "cpu":
            from tests.simulated_graph import SimulatedGraphs

            session.recorder = SimulatedGraphs()
        return session


def advance(session: Session, repeat: int, numbers: Iterator[int]) -> None:
    """Take the next steps."""
    for _ in range(repeat):
        session.advance(next(numbers))


def advance_plain(step: PlainStep, numbers: range) -> None:
    """Take these plain steps."""
    for number in numbers:
        step(number)


@contextmanager
def mps(folder: Path) -> Iterator[bool]:
    """Start NVIDIA's MPS in a folder of its own and end it; yield whether it started."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="mps-") as place:
        own = {"CUDA_MPS_PIPE_DIRECTORY": place, "CUDA_MPS_LOG_DIRECTORY": place}
        with mock.patch.dict(os.environ, own):
            control = ["nvidia-cuda-mps-control"]
            try:
                has_begun = subprocess.run([*control, "-d"], timeout=20, capture_output=True).returncode == 0
            except (OSError, subprocess.TimeoutExpired):
                has_begun = False
            try:
                yield has_begun
            finally:
                if has_begun:
                    subprocess.run(control, input="quit\n", text=True, timeout=60, capture_output=True)


def verdict(found: dict[str, float], steps: int) -> Measured:
    """Say how a recorded step compares with an ordinary and with a careful plain one."""
    graphed, eager, careful = (
        found.get(f"{kind} N={steps}") for kind in ("graphed", "eager", "careful plain")
    )
    if not graphed or not eager or not careful:
        return {"said": "none: a step was not measured"}
    said = f"graphed {eager / graphed:.1f} times as fast as eager, {careful / graphed:.1f} times as careful plain code"
    held = "accepted" if graphed <= ACCEPTED_MS else "not accepted: see the longest kinds of kernels"
    return {"said": f"{said}; {graphed:.1f} ms, at most {ACCEPTED_MS:.0f}: {held}"}


def said(row: Measured) -> str:
    """Return a row as a line."""
    named = {name: value for name, value in row.items() if name != "what"}
    return f"{row['what']}: " + ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in named.items()
    )
