"""Seconds of training by unit of work: in a store's ledgers, probed or stated."""

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rse_study.downstream import is_of_vectors
from rse_study.errors import InputError
from rse_study.results.device_time import gpus_per_worker, seconds_between
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.parts import Resources
from rse_study.study.pending import trials_by_number
from rse_study.training.trial import Trial

LAST = 24  # cells under the same conditions that count: a machine is as busy as it was of late
TAIL = 0.1  # of those cells, the share that is faster than `low`, and slower than `high`
UNLIKE = 2.0
"""how far off an estimate may be if no cell with this batch, length, workers and threads was timed"""
NEWEST = 200  # complete cells of a ledger that are read


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


@dataclass(frozen=True)
class History:
    """Times of cells like a study's, and its cells in other studies."""

    timed: tuple[TimedWork, ...] = ()
    source: str = ""
    """where the times are from; empty without any"""
    elsewhere: Mapping[tuple[Trial, int], str] = field(default_factory=dict)
    """names of other studies that have run a trial and seed: a run copies their cells"""


def history_of(checked: CheckedStudy, store: Path, encoders: Collection[str]) -> History:
    """Read the ledgers of a store; one that cannot be read is skipped."""
    timed, names, elsewhere = list[TimedWork](), list[str](), dict[tuple[Trial, int], str]()
    own = checked.own_fingerprints()
    for path in sorted(store.glob("*/ledger.sqlite")):
        folder = path.parent
        try:
            with Reader(folder) as reader:
                ledger = reader.ledger
                cells = [one for one in ledger.cells() if one.status == "complete"]
                scored = scored_by_subject(ledger, own)
                found = list(_timed(ledger, cells, scored, encoders))
                if folder.name != checked.study.name:
                    elsewhere |= dict.fromkeys(_takeable(cells, scored, folder, checked.study), folder.name)
        except InputError:
            continue
        names += [f"{len(found)} cells of {folder.name}"] if found else []
        timed += found
    return History(tuple(timed), ", ".join(names), elsewhere)


def scored_by_subject(ledger: LedgerQueries, own: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the evaluations that each cell and baseline has.

    `own` are today's fingerprints of those on a user's own files, of which scores on another content are none.
    """
    scored, study = defaultdict[str, set[str]](set), ledger.study()
    fingerprints = {**(study.fingerprints if study else {}), **own}
    for row in ledger.evaluations():
        if row.fingerprint == fingerprints.get(row.evaluation, row.fingerprint):
            scored[row.subject].add(row.evaluation)
    return scored


def _timed(
    ledger: LedgerQueries,
    cells: Collection[CellRecord],
    scored: dict[str, set[str]],
    encoders: Collection[str],
) -> Iterator[TimedWork]:
    """Yield the times of the newest cells that ran in this study, and not in one they were copied from."""
    frozen = ledger.study()
    if frozen is None:
        return
    ran = [one for one in cells if one.started and one.duration_s > 0]
    ran = [one for one in ran if one.config.get("encoder", {}).get("name") in encoders]
    gpus = gpus_per_worker([one.provenance for one in ran], ledger.provenance())
    ran = sorted(ran, key=lambda one: one.ended)[-NEWEST:]
    last, num_attempts = (
        ledger.last_points(frozen.objective.metric),
        Counter(one.cell for one in ledger.attempts()),
    )
    trials = trials_by_number(ran)
    for cell in (one for one in ran if one.trial in trials and one.identity in last):
        where, trial = cell.provenance, trials[cell.trial]
        on_gpu = where.get("device_type") == "cuda"
        used = where.get("workers", 1), where.get("threads", 1), gpus(cell.started) if on_gpu else 0.0
        whole, made = seconds_between(cell.started, cell.ended), filter(is_of_vectors, scored[cell.identity])
        yield TimedWork(
            conditions=Conditions.of(trial, *used),
            seconds=cell.duration_s,
            work=work_of(trial, last[cell.identity][0]),
            beside=max(0.0, whole - cell.duration_s) if num_attempts[cell.identity] <= 1 else None,
            scored=frozenset(made) if cell.stage in ("grid", "confirm") else frozenset(),
            ended=cell.ended,
            card=str(where.get("device") or "") if on_gpu else "",
        )


def _takeable(
    cells: Collection[CellRecord], scored: dict[str, set[str]], folder: Path, study: Study
) -> Iterator[tuple[Trial, int]]:
    """Yield what a run copies if this machine is like theirs: a run compares the whole provenance."""
    of_vectors = set(study.evaluations_of_vectors)
    needs_model = study.keep_models != "none" or len(of_vectors) < len(study.evaluations)
    device, trials = (
        "cuda" if study.resources.gpus else "cpu",
        trials_by_number(() if study.storage else cells),
    )
    for cell in (one for one in cells if one.trial in trials):
        is_alike = cell.provenance.get("device_type") == device and of_vectors <= scored[cell.identity]
        model = os.path.join(cell_folder(folder, cell.identity), MODEL_FOLDER)
        if is_alike and (not needs_model or os.path.isdir(model)):
            yield trials[cell.trial], cell.seed
