"""History for a plan: a ledger's ended cells, and how long such cells took."""

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.evaluation.registry import is_of_vectors
from rse_study.results.device_time import GpusAt, device_seconds, gpus_per_worker, seconds_between
from rse_study.results.files.connect import has_ledger
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder, ledger_path
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from rse_study.study.definition.config import Study
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.ledger_state import LedgerCell, LedgerState
from rse_study.study.planning.throughput import OVERHEAD_S, Setting, Throughput, TimedWork
from rse_study.study.planning.workload import Workload, workload_of
from rse_study.training.trial import Trial

NEWEST = 200  # complete cells per ledger that are read
LAST = 24  # of them that count in each setting: a machine is as busy as it was of late
FrameRow = Mapping[str, Any]


def history_of(
    study_dir: Path,
    store: Path,
    data_sizes: DataSizes,
    encoders: Collection[str],
    study: Study | None = None,
    run_again: Collection[str] = (),
) -> tuple[LedgerState, Throughput]:
    """Return the study's ledger state, and the throughput measured in the whole store.

    Only complete cells of these encoders are timed. An unreadable ledger is skipped, but not the study's own. With
    `study` the state also has what it can take from the others. Cells that `run_again` have not ended.
    """
    ledger_state, timed, names = LedgerState(), list[TimedCell](), list[str]()
    elsewhere, queries = dict[tuple[Trial, int], LedgerCell](), dict[str, list[float]]()
    for path in sorted({*store.glob("*/ledger.sqlite"), ledger_path(study_dir)}):
        is_own = path.parent == study_dir
        try:
            if not has_ledger(path.parent):
                continue
            frames = _read(path.parent)
        except InputError:
            if is_own:
                raise
            continue
        ledger_state = _ledger_state(study_dir, frames, run_again) if is_own else ledger_state
        if study is not None and not is_own:
            elsewhere = dict(_takeable(frames, path.parent, study)) | elsewhere
        for name, value in _queries(frames.evaluations):
            queries.setdefault(name, []).append(value)
        found = list(_timed_cells(frames, data_sizes, encoders))
        names += [f"{len(found)} cells of {path.parent.name}"] if found else []
        timed += found
    throughput = _throughput(timed, ", ".join(names))
    means = {name: fmean(values) for name, values in queries.items()}
    return replace(ledger_state, elsewhere=elsewhere), replace(throughput, queries=means)


@dataclass(frozen=True)
class TimedCell:
    """Times of a complete cell, and what it did in them."""

    ended: str
    workload: Workload
    setting: Setting
    executor: str
    duration_s: float
    """inside the training loop"""
    whole_s: float
    """from its start to its end; 0 where several attempts, or another study, made it"""
    num_scored: float
    """sentences that its own process scored after training"""

    @property
    def overhead_s(self) -> float | None:
        """Seconds beside training of a cell that scored nothing; None if unknown."""
        is_known = self.whole_s > 0 and self.executor and not self.num_scored
        return max(0.0, self.whole_s - self.duration_s) if is_known else None

    @property
    def scoring(self) -> TimedWork | None:
        """The time of its scores: the whole without training and an assumed start."""
        seconds = self.whole_s - self.duration_s - OVERHEAD_S[self.executor or "inline"]
        return TimedWork(self.setting, seconds, self.num_scored) if self.num_scored and seconds > 0 else None

    def training(self, seconds_per_sentence: float | None) -> TimedWork:
        """The time of its steps, without the scores in the loop.

        If scores were never timed, it is the time of all its work.
        """
        if seconds_per_sentence is None:
            return TimedWork(self.setting, self.duration_s, self.workload.work)
        scores = self.workload.num_embedded * seconds_per_sentence
        return TimedWork(
            self.setting, max(self.duration_s - scores, self.duration_s / 10), self.workload.step_work
        )


@dataclass(frozen=True)
class _Frames:
    cells: pd.DataFrame
    """with the status that the next run finds"""
    attempts: pd.DataFrame
    rungs: pd.DataFrame
    evaluations: pd.DataFrame
    search: SearchState
    gpus: GpusAt
    """of a worker, in cells that used any"""
    device_seconds: float


def _read(study_dir: Path) -> _Frames:
    """Read a ledger with retired cells: a row that comes back has its results."""
    with Reader(study_dir) as reader:
        cells, attempts = reader.cells(retired=True), reader.attempts(retired=True)
        gpus = gpus_per_worker(cells["provenance"], reader.provenance())
        return _Frames(
            cells=cells.assign(status=cells["identity"].map(reader.statuses_for_next_run())),
            attempts=attempts,
            rungs=reader.rungs(retired=True),
            evaluations=reader.evaluations(retired=True),
            search=SearchState.read(reader),
            gpus=gpus,
            device_seconds=float(device_seconds(attempts, gpus).sum()),
        )


def _ledger_state(study_dir: Path, frames: _Frames, run_again: Collection[str] = ()) -> LedgerState:
    """Return the ledger's state, without cells whose configuration this version cannot read."""
    stops = frames.rungs[frames.rungs["verdict"] == "stop"]
    stopped = dict(zip(stops["cell"], stops["t"], strict=True))
    scored: dict[str, set[str]] = {}
    for subject, name in frames.evaluations[["subject", "evaluation"]].itertuples(index=False):
        scored.setdefault(subject, set()).add(name)
    trials = _trials(frames.cells)
    cells = [
        LedgerCell(
            trial=trials[row.trial],
            number=row.trial,
            seed=row.seed,
            stage=row.stage,
            status="planned" if row.identity in run_again else row.status,
            runs_again=row.identity in run_again,
            retired=bool(row.retired),
            t=int(stopped.get(row.identity, 0)),
            has_model=os.path.isdir(os.path.join(cell_folder(study_dir, row.identity), MODEL_FOLDER)),
            scored=frozenset(scored.get(row.identity, ())),
        )
        for row in frames.cells.itertuples()
        if row.trial in trials
    ]
    return LedgerState(tuple(cells), frames.device_seconds, search=frames.search)


def _takeable(frames: _Frames, folder: Path, study: Study) -> Iterator[tuple[tuple[Trial, int], LedgerCell]]:
    """Yield complete cells that a run takes from another study, if this machine is like theirs.

    `bring_shared_cells` compares the whole provenance, of which a plan knows device, workers and threads.
    """
    of_vectors = set(study.evaluations_of_vectors)
    with_models = study.keep_models != "none" or len(of_vectors) < len(study.evaluations)
    used = study.resources
    like = {"device_type": "cuda" if used.gpus else "cpu", "workers": used.workers, "threads": used.threads}
    alike = [
        all(where.get(name) == value for name, value in like.items()) for where in frames.cells["provenance"]
    ]
    for cell in (
        () if study.storage else _ledger_state(folder, replace(frames, cells=frames.cells[alike])).cells
    ):
        lacks = not of_vectors <= cell.scored or (with_models and not cell.has_model)
        if cell.status == "complete" and not lacks:
            scored = frozenset(of_vectors)
            yield (cell.trial, cell.seed), replace(cell, stage="grid", scored=scored, taken_from=folder.name)


def _queries(evaluations: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield the mean number of queries an attacked input took, by evaluation, of every model that was attacked."""
    means = evaluations[(evaluations["aggregation"] == "queries") & evaluations["value"].notna()]
    yield from zip(means["evaluation"], means["value"], strict=True)


def _timed_cells(frames: _Frames, data_sizes: DataSizes, encoders: Collection[str]) -> Iterator[TimedCell]:
    """Yield the newest complete cells that ran in this study."""
    attempts: dict[str, list[FrameRow]] = defaultdict(list)
    for attempt in frames.attempts.to_dict("records"):
        attempts[attempt["cell"]].append(attempt)
    scored = _scored_by_cells(frames)
    cells = frames.cells[frames.cells["status"] == "complete"].sort_values("ended").tail(NEWEST)
    for row in cells.to_dict("records"):
        trial, mine = _trial(row["config"]), attempts[row["identity"]]
        was_taken = not row["started"]  # from another study, which tells its time
        if trial is None or trial.encoder.name not in encoders or row["duration_s"] <= 0 or was_taken:
            continue
        workload = workload_of(trial, data_sizes)
        sizes = [data_sizes.num_scored(name) for name in scored.get(row["identity"], ())]
        whole = row if not mine else mine[0] if len(mine) == 1 else None
        yield TimedCell(
            row["ended"],
            workload,
            _setting(workload, row, mine, frames.gpus),
            mine[-1]["executor"] if mine else "",
            float(row["duration_s"]),
            seconds_between(whole["started"], whole["ended"]) if whole else 0.0,
            sum(sizes),
        )


def _scored_by_cells(frames: _Frames) -> dict[str, set[str]]:
    """Return the evaluations that each cell's own process made: those of vectors, unless it only proposes."""
    scored = defaultdict[str, set[str]](set)
    proposing = frames.cells.loc[frames.cells["stage"].isin(["search", "path"]), "identity"]
    made = frames.evaluations[["subject", "evaluation"]]
    of_vectors = [name for name in made["evaluation"].unique() if is_of_vectors(name)]
    for subject, name in made[made["evaluation"].isin(of_vectors)].itertuples(index=False):
        scored[subject].add(name)
    for identity in proposing:
        scored.pop(identity, None)
    return scored


def _setting(workload: Workload, cell: FrameRow, attempts: Sequence[FrameRow], gpus: GpusAt) -> Setting:
    where, begun = cell["provenance"], (attempts or [cell])[-1]["started"]
    used = (
        attempts[-1] if attempts else {"workers": where.get("workers", 1), "threads": where.get("threads", 1)}
    )
    on_gpu = where.get("device_type", "cpu") == "cuda"
    share, card = (gpus(begun), str(where.get("device") or "")) if on_gpu else (0.0, "")
    return Setting(workload.shape, share, int(used["workers"]), int(used["threads"]), card)


def _throughput(cells: Sequence[TimedCell], source: str) -> Throughput:
    """Tell training, scoring and what is beside them apart, by the last cells of each setting."""
    newest = sorted(cells, key=lambda cell: cell.ended, reverse=True)
    scored = tuple(_last(cell.scoring for cell in newest))
    timed = []
    for cell in newest:
        own = Throughput(scored=scored if cell.scoring is None else (cell.scoring,))
        pace = own.scoring_pace(cell.setting)
        timed.append(cell.training(None if pace is None else pace.mid))
    overhead = tuple((cell.executor, cell.overhead_s) for cell in cells if cell.overhead_s is not None)
    return Throughput(tuple(_last(timed)), overhead, source, scored)


def _last(times: Iterable[TimedWork | None]) -> Iterator[TimedWork]:
    """Yield the first times of each setting, of which there may be thousands."""
    counted = Counter[Setting]()
    for time in times:
        if time is not None and counted[time.setting] < LAST:
            counted[time.setting] += 1
            yield time


def _trials(cells: pd.DataFrame) -> dict[int, Trial]:
    """Read every trial once: its seeds share its configuration."""
    distinct = cells.drop_duplicates("trial")
    read = {n: _trial(config) for n, config in zip(distinct["trial"], distinct["config"], strict=True)}
    return {number: trial for number, trial in read.items() if trial is not None}


def _trial(config: Any) -> Trial | None:
    try:
        return Trial.model_validate(config)
    except (ValidationError, InputError):
        return None
