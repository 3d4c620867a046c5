"""The driver's instructions to processes that train a cell or score something."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from rse_study.study.definition.config import Baseline
from rse_study.training.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Instructions common to all such processes."""

    trial: Trial
    """the cell's configuration, or the study's base"""
    materials: str
    """file of the trial's materials: a path, or a key in the storage"""
    folder: str
    """of results: a path, or a key in the storage"""
    storage: str = ""
    """location of the storage; empty: paths are the same on all nodes"""
    patience_s: float = 0.0
    """seconds to wait for a storage that does not answer"""
    workers: int
    """processes that train together"""
    threads: int
    """CPU threads of each worker"""
    gpus: float
    """GPUs of each worker: 0, a part of one, or 1"""
    labels: Mapping[str, str]
    """of the nodes that may run it"""

    @property
    def device(self) -> str:
        return "cuda" if self.gpus else "cpu"


@dataclass(frozen=True, kw_only=True)
class BaselinePayload(Payload):
    """One baseline of the base, for a task that scores it."""

    baseline: Baseline


@dataclass(frozen=True, kw_only=True)
class CellPayload(Payload):
    """One attempt at a cell."""

    cell: str
    """identity of the cell"""
    number: int
    """of the trial"""
    seed: int
    continues: bool
    """whether a cell that was stopped early now gets its full budget"""
    attempt: int
    """number of this try, from 1; 0 where the cell is only scored"""
    rungs: tuple[int, ...]
    """steps at which the loop waits for a verdict"""
    coordinator: str
    """name of the actor with the verdicts"""
    train_runs: str
    """folder for Ray Train's own notes"""
    keeps_items: bool = True
    """whether scores of single items stay with the cell"""

    def as_config(self) -> dict[str, Any]:
        """Return the plain mapping that Tune and Train pass to their functions."""
        # All of it is one text, which alone is run: Tune would take a nested mapping for a space of its own, and its
        # tables have room for what is shown beside it.
        return {"trial": self.number, "payload": _JSON.dump_json(self).decode()}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "CellPayload":
        return _JSON.validate_json(config["payload"])


_JSON = TypeAdapter(CellPayload)
