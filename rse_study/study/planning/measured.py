"""Seconds of training by unit of work, measured in ledgers, probed or stated."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rse_study.study.definition.resources import Resources
from rse_study.training.trial import Trial

LAST = 24  # cells under the same conditions that count: a machine is as busy as it was of late
TAIL = 0.1  # of those cells, the share that is faster than `low`, and slower than `high`
UNLIKE = 2.0
"""how far off an estimate may be if no cell with this batch, length, workers and threads was timed"""


@dataclass(frozen=True)
class Range:
    """An uncertain number."""

    low: float
    mid: float
    """expected"""
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def times(self, factor: float) -> "Range":
        return Range(self.low * factor, self.mid * factor, self.high * factor)

    def at_most(self, limit: float) -> "Range":
        return Range(min(self.low, limit), min(self.mid, limit), min(self.high, limit))


def exactly(value: float) -> Range:
    """Return a known number as a range."""
    return Range(value, value, value)


class Conditions(NamedTuple):
    """Conditions that the seconds of a step depend on, besides its work."""

    encoder: str
    revision: str
    precision: str
    compiled: bool
    graphed: bool
    gpus: float
    """of a worker: 0, a part of one, or 1; a part is slower by as much as its neighbours compute"""
    batch_size: int
    max_length: int
    workers: int
    threads: int

    @classmethod
    def of(cls, trial: Trial, workers: int, threads: int, gpus: float) -> "Conditions":
        encoder = trial.encoder
        return cls(
            encoder.name, encoder.revision, trial.precision, trial.compiled, trial.graphed, gpus,
            trial.batch_size, trial.max_length, workers, threads,
        )  # fmt: skip

    @classmethod
    def wanted(cls, trial: Trial, resources: Resources) -> "Conditions":
        """Return the conditions of cells to come."""
        return cls.of(trial, resources.workers, resources.threads, resources.gpus)

    def resemble(self, other: "Conditions") -> bool:
        """Whether both are the same model on the same kind of device."""
        return self[:6] == other[:6]


@dataclass(frozen=True)
class TimedWork:
    """Seconds that a cell, or a few steps, took for its work."""

    conditions: Conditions
    seconds: float
    work: float
    """see `work_of`"""
    beside: float | None = None
    """seconds of the cell outside its training loop: starting, scoring, saving; None if unknown"""
    scored: frozenset[str] = frozenset()
    """evaluations that they include"""
    ended: str = ""
    card: str = ""
    """name of the GPU"""


def work_of(trial: Trial, num_steps: int) -> float:
    """Return the operations of so many steps, up to a factor of the encoder."""
    return num_steps * trial.step_work * trial.batch_size


def pace_of(timed: Iterable[TimedWork], wanted: Conditions) -> Range | None:
    """Return the seconds per unit of work; None if no cell was timed like that."""
    similar = [one for one in timed if one.conditions.resemble(wanted)]
    alike = [one for one in similar if one.conditions == wanted]
    newest = sorted(alike or similar, key=lambda one: one.ended)[-LAST:]
    if not newest:
        return None
    mid = sum(one.seconds for one in newest) / sum(one.work for one in newest)
    if not alike:
        return Range(mid / UNLIKE, mid, mid * UNLIKE)
    paces = sorted(one.seconds / one.work for one in newest)
    tail = round(TAIL * (len(paces) - 1))
    return Range(min(paces[tail], mid), mid, max(paces[-1 - tail], mid))


def seconds_beside(timed: Sequence[TimedWork], scored: Collection[str]) -> float:
    """Return the seconds of a cell outside its training loop; 0 if unknown.

    In them, these evaluations are made. Without cells that made the same evaluations, their number counts.
    """
    known = sorted((one for one in timed if one.beside is not None), key=lambda one: one.ended)
    alike = [one.beside or 0.0 for one in known if one.scored == set(scored)][-LAST:]
    if alike:
        return sum(alike) / len(alike)
    others = [one for one in known if one.scored][-LAST:] if scored else []
    num_made = sum(len(one.scored) for one in others)
    return len(scored) * sum(one.beside or 0.0 for one in others) / num_made if num_made else 0.0


def assumptions(timed: Sequence[TimedWork], wanted: Iterable[Conditions]) -> Iterator[str]:
    """Yield in words what an estimate rests on besides measurements."""
    asked = set(wanted)
    used = [one for one in timed if any(one.conditions.resemble(other) for other in asked)]
    known = {one for one in asked if any(one.resemble(other.conditions) for other in used)}
    if used and all(one.beside is None for one in timed):
        yield "the time to start, score and save a cell is not included: it is unknown until one has ended here"
    if not known <= {one.conditions for one in used}:
        yield (
            "no cell with this batch size, length, workers and threads was timed: scaled by the batch size from others"
        )
    if cards := sorted({one.card for one in used if one.card}):
        yield f"timed on {', '.join(cards)}: times differ on other GPUs"
    if any(0 < one.gpus < 1 for one in asked):
        yield "stated and probed hours are of a cell alone on its GPU: cells that share one may take longer"
