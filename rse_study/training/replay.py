"""A replay of a cell: do its numbers agree, to the bit where that is promised?"""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.activity import ProgressCallback
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.results.bit_equality import NEAR, what_differs
from rse_study.results.files.result_file import Result, read_result
from rse_study.results.records import Verdict
from rse_study.training.loop import Progress, train_in_process
from rse_study.training.materials import Materials, identity_of
from rse_study.training.trial import Trial

ENDING = "how it ended"


@dataclass(frozen=True)
class ReplayDifference:
    """A metric or an ending that differs from the recorded one."""

    t: int
    name: str
    """metric, or `how it ended`"""
    recorded: float | str | None
    again: float | str | None

    @property
    def distance(self) -> float:
        """Distance of the numbers, relative beyond 1; infinite unless both are finite."""
        if not isinstance(self.recorded, float) or not isinstance(self.again, float):
            return math.inf
        apart = abs(self.again - self.recorded) / max(1.0, abs(self.again), abs(self.recorded))
        return apart if math.isfinite(apart) else math.inf


@dataclass(frozen=True)
class ReplayComparison:
    """A recorded cell compared with its replay."""

    num_points: int
    differences: tuple[ReplayDifference, ...] = ()
    unlike: tuple[str, ...] = ()
    """what differs between the two computations; if anything does, equal bits are not promised"""

    @property
    def is_equal(self) -> bool:
        return not self.differences

    @property
    def farthest(self) -> float:
        return max((one.distance for one in self.differences), default=0.0)

    @property
    def is_confirmed(self) -> bool:
        """Whether they are equal to the bit, or near where bits are not promised."""
        return self.is_equal or (bool(self.unlike) and self.farthest <= NEAR)


def replay(
    trial: Trial,
    seed: int,
    materials: Materials,
    recorded: Result,
    directory: Path,
    *,
    threads: int,
    device: str = "cpu",
    on_progress: ProgressCallback = lambda done, total: None,
) -> ReplayComparison:
    """Train the cell again in an empty folder, up to the recorded one's last point.

    Equal bits need the recorded number of threads (in `recorded.provenance`), and the same kind of machine. Raises
    InputError if this is not the recorded cell, or if the folder is not empty.
    """
    _require_same(identity_of(trial, seed, materials), recorded, directory)
    last = recorded.history[-1].t if recorded.status == "stopped_early" else None

    def report(progress: Progress) -> Verdict | None:
        on_progress(progress.t, last or progress.num_steps)
        return "stop" if progress.t == last else None

    # The result records a loss that is not finite.
    with suppress(NonFiniteLoss), TemporaryDirectory() as apart:
        train_in_process(
            trial,
            seed,
            _with_nothing_shared(materials, Path(apart)),
            directory,
            threads=threads,
            device=device,
            report=report,
        )
    return compare(recorded, read_result(directory))


def _with_nothing_shared(materials: Materials, folder: Path) -> Materials:
    """Link the corpus into an empty folder: cells share files beside their corpus."""
    corpus = folder / "corpus"
    corpus.symlink_to(materials.corpus, target_is_directory=True)
    return replace(materials, corpus=corpus)


def compare(recorded: Result, again: Result) -> ReplayComparison:
    """Compare two results of one cell; NaN equals NaN."""
    differences = tuple(_differences(recorded, again))
    unlike = what_differs(again.provenance, recorded.provenance)
    return ReplayComparison(len(recorded.history), differences, unlike)


def _differences(recorded: Result, again: Result) -> Iterator[ReplayDifference]:
    before = {(point.t, name): value for point in recorded.history for name, value in point.metrics.items()}
    after = {(point.t, name): value for point in again.history for name, value in point.metrics.items()}
    recorded_names = {name for _, name in before}  # other metrics have been added since
    for t, name in sorted(before.keys() | {at for at in after if at[1] in recorded_names}):
        old, new = before.get((t, name)), after.get((t, name))
        if not _same(old, new):
            yield ReplayDifference(t, name, old, new)
    ends = [f"{result.status} {result.reason}".strip() for result in (recorded, again)]
    if ends[0] != ends[1]:
        yield ReplayDifference(max((t for t, _ in before | after), default=0), ENDING, *ends)


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return a == b or (math.isnan(a) and math.isnan(b))


def _require_same(identity: str, recorded: Result, directory: Path) -> None:
    if recorded.identity != identity:
        what = "this is not the recorded cell"
        rule = "trial, seed, data and the semantics of every class must be those of the record"
        remedy = "Replay with the code and the data that the result's provenance names"
        raise InputError(what, where=recorded.identity[:16], rule=rule, remedy=remedy)
    if directory.exists() and any(directory.iterdir()):
        rule, remedy = "a replay starts from nothing", "Name a new folder"
        raise InputError("is not empty", where=str(directory), rule=rule, remedy=remedy)
