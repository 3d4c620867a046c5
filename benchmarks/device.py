"""The device of a measurement, and the time of work on it."""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.contenders import StepShape
from benchmarks.encoders import save_encoder
from benchmarks.sentences import training_texts
from benchmarks.step import Measured

WAIT = "called a synchronizing CUDA operation"  # c10/cuda/CUDAFunctions.cpp


@dataclass(frozen=True)
class Device:
    """The device of a measurement."""

    name: str

    def wait(self) -> None:
        """Wait until all queued work is done."""
        if self.name == "cuda":
            torch.cuda.synchronize()

    def describe(self) -> str:
        """Return the card's name and memory."""
        if self.name != "cuda":
            return "no GPU: the CPU"
        card = torch.cuda.get_device_properties(0)
        return f"{card.name}, {card.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}"

    @contextmanager
    def counted_waits(self) -> Iterator[list[Any]]:
        """Record torch's warnings about operations that make the host wait for the GPU.

        Other warnings are none, such as that of `set_sync_debug_mode` about itself, once a process.
        """
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("ignore")
            warnings.filterwarnings("always", message=WAIT)
            if self.name == "cuda":
                torch.cuda.set_sync_debug_mode("warn")
            try:
                yield noted
            finally:
                if self.name == "cuda":
                    torch.cuda.set_sync_debug_mode("default")


def shape_of(options: argparse.Namespace, size: str, trial: Measured, folder: Path) -> StepShape:
    """Return the data of a step; an encoder is written only once."""
    encoder = folder / size
    return StepShape(
        encoder=encoder if encoder.exists() else save_encoder(size, encoder, options.seed),
        sentences=training_texts().sentences,
        batch_size=options.batch,
        length=options.length,
        pooling="cls",
        seed=options.seed,
        device=options.device,
        trial=trial,
    )


def seconds_of(device: Device, work: Callable[[], object]) -> float:
    """Return the wall seconds until the device has finished the work."""
    device.wait()
    begun = time.perf_counter()
    work()
    device.wait()
    return time.perf_counter() - begun
