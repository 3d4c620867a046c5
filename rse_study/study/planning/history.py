"""History for a plan: a ledger's ended cells, and how long such cells took."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.results.cell_state import status_for_next_run
from rse_study.results.device_time import device_seconds, gpus_per_worker, seconds_between
from rse_study.results.reader import Reader
from rse_study.results.schema import MODEL_FOLDER, cell_folder, ledger_path
from rse_study.search.state import SearchState
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.ledger_state import LedgerCell, LedgerState
from rse_study.study.planning.throughput import Setting, Throughput, TimedWork
from rse_study.study.planning.workload import workload_of
from rse_study.training.trial import Trial

NEWEST = 200  # complete cells per ledger that are timed
Overhead = tuple[str, float]  # executor, seconds
FrameRow = Mapping[str, Any]


def history_of(
    study_dir: Path, store: Path, data_sizes: DataSizes, encoders: Collection[str]
) -> tuple[LedgerState, Throughput]:
    """Return the study's ledger state, and the throughput measured in the whole store.

    Only complete cells of these encoders are timed. An unreadable ledger is skipped, but not the study's own.
    """
    ledger_state, timed, overhead, names = LedgerState(), list[TimedWork](), list[Overhead](), list[str]()
    for path in sorted({*store.glob("*/ledger.sqlite"), ledger_path(study_dir)}):
        if not path.is_file():
            continue
        is_own = path.parent == study_dir
        try:
            frames = _read(path.parent)
        except InputError:
            if is_own:
                raise
            continue
        ledger_state = _ledger_state(study_dir, frames) if is_own else ledger_state
        found = list(_times(frames, data_sizes, encoders))
        names += [f"{len(found)} cells of {path.parent.name}"] if found else []
        timed += [time for time, _ in found]
        overhead += [rest for _, rest in found if rest is not None]
    return ledger_state, Throughput(tuple(timed), tuple(overhead), ", ".join(names))


@dataclass(frozen=True)
class _Frames:
    cells: pd.DataFrame
    attempts: pd.DataFrame
    rungs: pd.DataFrame
    evaluations: pd.DataFrame
    search: SearchState
    gpus: float
    """of a worker, in cells that used any"""


def _read(study_dir: Path) -> _Frames:
    """Read a ledger with retired cells: a row that comes back has its results."""
    with Reader(study_dir) as reader:
        return _Frames(
            cells=reader.cells(retired=True),
            attempts=reader.attempts(retired=True),
            rungs=reader.rungs(retired=True),
            evaluations=reader.evaluations(retired=True),
            search=SearchState.read(reader),
            gpus=gpus_per_worker(reader.cells(retired=True)["provenance"], reader.provenance()),
        )


def _ledger_state(study_dir: Path, frames: _Frames) -> LedgerState:
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
            status=status_for_next_run(study_dir, row.identity, row.status),
            retired=bool(row.retired),
            t=int(stopped.get(row.identity, 0)),
            has_model=os.path.isdir(os.path.join(cell_folder(study_dir, row.identity), MODEL_FOLDER)),
            scored=frozenset(scored.get(row.identity, ())),
        )
        for row in frames.cells.itertuples()
        if row.trial in trials
    ]
    search = frames.search
    return LedgerState(
        tuple(cells),
        search.path,
        *_spent(frames.attempts),
        race=search.race,
        spent_budget=search.study.settings.search_budget if search.study.is_ended_by_budget else None,
    )


def _spent(attempts: pd.DataFrame) -> tuple[float, float]:
    """Return the seconds of all attempts times workers, and also times threads."""
    return float(device_seconds(attempts, gpus=1.0).sum()), float(device_seconds(attempts, gpus=0.0).sum())


def _times(
    frames: _Frames, data_sizes: DataSizes, encoders: Collection[str]
) -> Iterator[tuple[TimedWork, Overhead | None]]:
    """Yield each complete cell's training time, and its overhead if it took a single attempt."""
    num_attempts = Counter(frames.attempts["cell"])
    complete = frames.attempts[frames.attempts["outcome"] == "complete"]
    attempts = {row["cell"]: row for row in complete.to_dict("records")}
    cells = frames.cells[frames.cells["status"] == "complete"].sort_values("ended").tail(NEWEST)
    for row in cells.to_dict("records"):
        trial, attempt = _trial(row["config"]), attempts.get(row["identity"])
        if trial is None or trial.encoder.name not in encoders or row["duration_s"] <= 0:
            continue
        is_only = num_attempts[row["identity"]] == 1
        yield (
            _timed(trial, row, attempt, data_sizes, frames.gpus),
            _overhead(row, attempt) if attempt and is_only else None,
        )


def _timed(
    trial: Trial, cell: FrameRow, attempt: FrameRow | None, data_sizes: DataSizes, gpus: float
) -> TimedWork:
    workload, where = workload_of(trial, data_sizes), cell["provenance"]
    used = attempt or {"workers": where.get("workers", 1), "threads": where.get("threads", 1)}
    on_gpu = where.get("device_type", "cpu") == "cuda"
    share, card = (gpus, str(where.get("device") or "")) if on_gpu else (0.0, "")
    setting = Setting(workload.shape, share, int(used["workers"]), int(used["threads"]), card)
    return TimedWork(setting, float(cell["duration_s"]), workload.work)


def _overhead(cell: FrameRow, attempt: FrameRow) -> Overhead:
    whole = seconds_between(attempt["started"], attempt["ended"])
    return str(attempt["executor"]), max(0.0, whole - float(cell["duration_s"]))


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
