"""The resources of a cell, and the allowance of a study."""

import re
from typing import ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, field_validator

from rse_study.spec import Spec, field

LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
"""Pattern of a label's value, and of its key after a prefix such as ray.io/."""


class Resources(Spec):
    """What one cell uses.

    Bit-equality depends on `workers` and `threads`, so they are recorded, with the machine.
    """

    executor: Literal["auto", "train", "inline"] = "auto"
    """auto: train for GPUs or several workers, else inline"""
    workers: PositiveInt = 1
    threads: PositiveInt = 1
    """CPU threads of each worker"""
    gpus: float = field(0, ge=0, le=1)
    """GPUs of each worker, which drives one at most; a part of one (0.25) where a trial has one worker"""
    labels: dict[str, str] = Field(default_factory=dict)
    """of the nodes that may run it, for example {gpu: h100}: what Ray calls a label selector"""
    max_concurrent: NonNegativeInt = 0
    """cells at a time; 0 = as many as fit"""
    max_attempts: PositiveInt = 3
    """tries at a cell whose process was lost, in one run"""
    max_silence_s: PositiveFloat = 1800.0
    """seconds without a word before a cell is ended"""

    @field_validator("labels")
    @classmethod
    def _of_nodes(cls, labels: dict[str, str]) -> dict[str, str]:
        for text in (*(key.rpartition("/")[2] for key in labels), *labels.values()):
            if not LABEL.fullmatch(text):
                raise ValueError(f"{text!r} is not a label: letters and digits, and . _ - between them")
        return labels

    @property
    def runs_on(self) -> Literal["train", "inline"]:
        """The executor, with `auto` resolved."""
        if self.executor != "auto":
            return self.executor
        return "train" if self.gpus or self.workers > 1 else "inline"

    @property
    def num_devices(self) -> float:
        """Number of devices of a cell: GPUs or parts of them, or else CPU threads."""
        return float(self.workers * (self.gpus or self.threads))


def num_sharing(gpus: float) -> int:
    """Return how many workers with this part of a GPU fit on one.

    A part is never combined from two GPUs. Ray's smallest is 0.0001.

    >>> num_sharing(0.3), num_sharing(0.2), num_sharing(0.08)
    (3, 5, 12)
    """
    return int(1 / max(gpus, 1e-4) + 1e-9)


class Allowance(Spec):
    """Price of a device hour, and hours of a cell as others state them."""

    removed: ClassVar = dict.fromkeys(
        ("max_hours", "max_cost"),
        (
            "is no longer possible: the limit is given to the command, in device hours",
            "Use --max-hours, for money divided by the price of a device hour: a grid that would take longer is "
            "refused, and a search ends there (in its file: search_budget.device_hours)",
        ),
    )
    price_per_hour: NonNegativeFloat = 0.0
    """price of a device hour, in any currency"""
    hours_per_cell: tuple[PositiveFloat, PositiveFloat] | None = None
    """low and high for the base, told by others: prices what nothing alike here has measured"""
    steps_per_cell: NonNegativeInt = 0
    """optimiser steps that these hours are for; 0: those of the base as its file has it"""
