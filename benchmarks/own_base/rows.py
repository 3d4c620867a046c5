"""The rows of a folder of `benchmarks.own_base`, a file each.

A row is there as a whole or not at all, so that the same command goes on after an interruption. Nothing here needs
torch: the report reads a folder on any machine.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.own_base.plan import BaseRun, EncoderKind, OwnBasePlan, ScoreRun
from rse_study.results.atomic import read_sealed, write_sealed
from rse_study.spec import Spec

ROWS = "rows"


class BaseRow(Spec):
    """A base: what its masked LM learnt, and how."""

    num_sentences: int
    seed: int
    num_pieces: int
    """of its vocabulary"""
    num_steps: int
    losses: tuple[tuple[int, float], ...]
    """(step, mean loss of the steps since the point before)"""
    masked_accuracy: float
    """share of masked held-out tokens that are guessed, 0..1"""
    unigram_accuracy: float
    """share of them that are the commonest token"""
    num_masked_tokens: int
    seconds: float
    machine: dict[str, str]

    @property
    def run(self) -> BaseRun:
        """What it is a row of."""
        return BaseRun(self.num_sentences, self.seed)


class ScoreRow(Spec):
    """Dev, Spearman x100, before and after SimCSE."""

    encoder: EncoderKind
    num_sentences: int
    seed: int
    simcse_seed: int
    dev_before: float
    dev_after: float | None
    """None where the loss was lost"""
    failure: str
    """why there is no score after it, or empty"""
    seconds: float
    machine: dict[str, str]

    @property
    def run(self) -> ScoreRun:
        """What it is a row of."""
        return ScoreRun(self.encoder, self.num_sentences, self.seed, self.simcse_seed)


AnyRow = TypeVar("AnyRow", BaseRow, ScoreRow)


@dataclass(frozen=True)
class OwnBaseRows:
    """The rows that a folder holds."""

    bases: dict[BaseRun, BaseRow]
    scores: dict[ScoreRun, ScoreRow]

    def has(self, run: BaseRun | ScoreRun) -> bool:
        """Whether this run has its row."""
        return run in self.bases or run in self.scores

    def num_missing(self, plan: OwnBasePlan) -> int:
        """Rows of the plan that are still to be made."""
        return sum(not self.has(run) for run in plan.runs())


def write_row(folder: Path, row: BaseRow | ScoreRow) -> Path:
    """Write a row under its run's name."""
    content = json.loads(row.model_dump_json())
    return write_sealed(folder / ROWS / f"{row.run.name}.json", _kind(type(row)), content)


def read_rows(folder: Path) -> OwnBaseRows:
    """Read all rows of a folder. Raises InputError where one is damaged."""
    bases = [_read(path, BaseRow) for path in sorted((folder / ROWS).glob("base-*.json"))]
    encoders = (path for kind in ("own", "untrained") for path in (folder / ROWS).glob(f"{kind}-*.json"))
    scores = [_read(path, ScoreRow) for path in sorted(encoders)]
    return OwnBaseRows({row.run: row for row in bases}, {row.run: row for row in scores})


def _read(path: Path, kind: type[AnyRow]) -> AnyRow:
    remedy = "Remove it: the same command makes it again"
    return read_sealed(path, _kind(kind), kind.model_validate, missing="Read again", remedy=remedy)


def _kind(row: type[BaseRow | ScoreRow]) -> str:
    return "base" if row is BaseRow else "score"
