"""Time per unit of work, measured or stated; never a guess."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log, sqrt

from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.resources import Resources
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.estimates import Range, exactly, seen
from rse_study.study.planning.workload import BatchShape, scoring_work, shape_of, workload_of

# Seconds of a cell outside its training loop, measured with Ray 2.60 on 2 cores: medians of cells of one process or
# group of Train workers, which take 8, and 20 to 35 s more to start, once. Used until a ledger tells what cells take.
OVERHEAD_S = {"train": 1.0, "inline": 1.0}


@dataclass(frozen=True)
class Setting:
    """Conditions of a measured time."""

    shape: BatchShape
    gpus: float
    """GPUs of a worker: 0, a part of one, or 1"""
    workers: int
    threads: int
    card: str = ""
    """name of the GPU; empty on the CPU, and where it is not known"""

    @classmethod
    def wanted(cls, shape: BatchShape, resources: Resources) -> "Setting":
        """Return the conditions of cells to come, whose card nobody knows."""
        return cls(shape, resources.gpus, resources.workers, resources.threads)


@dataclass(frozen=True)
class TimedWork:
    """Seconds measured for an amount of work."""

    setting: Setting
    seconds: float
    work: float


@dataclass(frozen=True)
class Throughput:
    """Measured times of work, by setting."""

    timed: tuple[TimedWork, ...] = ()
    overhead: tuple[tuple[str, float], ...] = ()
    """seconds of a cell outside its training loop, by executor"""
    source: str = ""
    scored: tuple[TimedWork, ...] = ()
    """times of scoring, whose work is a number of sentences"""
    queries: Mapping[str, float] = field(default_factory=dict)
    """mean number of queries an attacked input took, by evaluation"""

    def seconds_per_work(self, shape: BatchShape, resources: Resources) -> Range | None:
        """Return the seconds per unit of work of this shape; None for an untimed encoder.

        Where cells were timed on several cards, low and high are those of the fastest and of the slowest.
        """
        wanted, nearest = Setting.wanted(shape, resources), dict[str, tuple[float, Range]]()
        for setting, pace in self._paces.items():
            if _fits(setting, wanted):
                distance, factor = _scale(setting, wanted)
                known = nearest.get(setting.card)
                if known is None or distance < known[0]:
                    nearest[setting.card] = distance, pace * factor
        if not nearest:
            return None
        paces = [pace for _, pace in nearest.values()]
        mid = sum(pace.mid for pace in paces) / len(paces)
        return Range(min(pace.low for pace in paces), mid, max(pace.high for pace in paces))

    def seconds_per_sentence(self, shape: BatchShape, resources: Resources) -> Range | None:
        """Return the seconds per scored sentence; if untimed, those of a forward pass."""
        measured = self.scoring_pace(Setting.wanted(shape, resources))
        pace = self.seconds_per_work(shape, resources) if measured is None else None
        return measured if pace is None else pace.times(scoring_work(shape, 1))

    def scoring_pace(self, wanted: Setting) -> Range | None:
        """Return the measured seconds per scored sentence; None for an untimed encoder."""
        timed = [one for one in self.scored if _fits(one.setting, wanted)]
        return _pace(timed) if timed else None

    def overhead_seconds(self, executor: str) -> Range:
        """Return a cell's seconds outside its loop: starting, loading, packing up."""
        measured = [seconds for name, seconds in self.overhead if name == executor]
        return seen(measured) if measured else exactly(OVERHEAD_S[executor])

    def assumptions(self, shapes: Iterable[BatchShape], resources: Resources) -> Iterator[str]:
        """Yield in words what an estimate rests on besides measurements."""
        if not self.timed:
            return
        wanted = {Setting.wanted(shape, resources) for shape in shapes}
        if not wanted <= {replace(setting, card="") for setting in self._paces}:
            yield "nothing similar was measured: scaled by batch size, length, workers and threads"
        used = [setting for setting in self._paces if any(_fits(setting, one) for one in wanted)]
        if cards := sorted({setting.card for setting in used if setting.card}):
            yield f"timed on {', '.join(cards)}: times differ on other GPUs"
        if 0 < resources.gpus < 1:
            yield "stated and probed hours are of a cell alone on its GPU: cells that share one may take longer"
        name = resources.runs_on
        if name not in dict(self.overhead):
            yield f"{OVERHEAD_S[name]:g} s per cell besides its training ({name}): assumed, as none has run here"

    @cached_property
    def _paces(self) -> dict[Setting, Range]:
        groups: dict[Setting, list[TimedWork]] = defaultdict(list)
        for timed in self.timed:
            groups[timed.setting].append(timed)
        return {setting: _pace(group) for setting, group in groups.items()}


def with_stated_hours(throughput: Throughput, checked: CheckedStudy, data_sizes: DataSizes) -> Throughput:
    """Add the stated `allowance.hours_per_cell` for an encoder that was never timed."""
    base, resources = checked.study.base, checked.study.resources
    stated = checked.study.allowance.hours_per_cell
    if stated is None or throughput.seconds_per_work(shape_of(base), resources) is not None:
        return throughput
    setting = Setting.wanted(shape_of(base), resources)
    whole = workload_of(base, data_sizes)
    work = whole.work * (checked.study.allowance.steps_per_cell or whole.num_steps) / whole.num_steps
    timed = tuple(TimedWork(setting, hours * 3600, work) for hours in stated)
    source = (
        f"allowance.hours_per_cell: {stated[0]:g} to {stated[1]:g} hours for the base, on another machine"
    )
    return replace(throughput, timed=(*throughput.timed, *timed), source=source)


def num_devices(resources: Resources) -> float:
    """Return what a cell occupies: GPUs or parts of them, or else CPU threads."""
    return float(resources.workers * (resources.gpus or resources.threads))


def _pace(timed: Sequence[TimedWork]) -> Range:
    """Return the range of seconds per unit of work, around their mean."""
    total = sum(one.seconds for one in timed) / sum(one.work for one in timed)
    return seen([one.seconds / one.work for one in timed], total)


def _fits(measured: Setting, wanted: Setting) -> bool:
    # A share of a GPU is slower by as much as its neighbours compute: no other share tells.
    return measured.gpus == wanted.gpus and _of_batches(measured.shape) == _of_batches(wanted.shape)


def _of_batches(shape: BatchShape) -> BatchShape:
    """Return a shape without what time is scaled by."""
    return replace(shape, batch_size=1, max_length=1)


def _scale(measured: Setting, wanted: Setting) -> tuple[float, Range]:
    """Return the distance of two settings, and the factor between their seconds per unit of work.

    Time grows with the batch. With the permitted length it may grow (if sentences are that long), with
    workers and threads it may shrink (if they add up), or neither: low and high are these two cases, mid lies
    between.
    """
    batch = wanted.shape.batch_size / measured.shape.batch_size
    length = wanted.shape.max_length / measured.shape.max_length
    fewer = (measured.workers * measured.threads) / (wanted.workers * wanted.threads)
    factor = exactly(batch)
    for doubtful in (length, fewer):
        factor = factor * Range(min(1.0, doubtful), sqrt(doubtful), max(1.0, doubtful))
    distance = (
        abs(log(batch)) + abs(log(length)) + abs(log(fewer)) + 1e-9 * (replace(measured, card="") != wanted)
    )
    return distance, factor
