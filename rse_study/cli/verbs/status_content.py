"""Where a study stands, as its ledger has it.

It is what `status` shows and, with --json, prints.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.cost import lost_attempts
from rse_study.cli.cell_names import names_by_identity
from rse_study.cli.verbs.status_pace import pace_of
from rse_study.results.device_time import device_seconds, gpus_per_worker
from rse_study.results.lock import holder
from rse_study.results.reader import Reader
from rse_study.results.records import Record, StudyRecord
from rse_study.results.row_names import in_order_of_file

NUM_EVENTS = 5
NUM_STANDINGS = 20  # of confirmed trials, more than anybody confirms


class RankedTrial(Record):
    """A trial and its objective: the mean over its complete seeds."""

    trial: int
    label: str
    value: float
    num_seeds: int
    proposal: dict[str, Any]


class Running(Record):
    """A cell that runs, or ran when its process died: the last it said of itself."""

    name: str
    identity: str
    attempt: int
    started: str
    t: int
    """Optimiser steps done; 0 before the first word."""
    num_steps: int | None
    """Optimiser steps in all; null where the budget is in epochs."""
    metrics: dict[str, float | None]

    @property
    def share(self) -> float:
        """How much of its way it has gone."""
        return min(1.0, self.t / self.num_steps) if self.num_steps else 0.0


class EndedCell(Record):
    """A cell that failed for good, or an attempt that was lost, and why."""

    name: str
    identity: str
    attempt: int
    """Its number, from 1; 0 where a result was adopted that no attempt of this ledger made."""
    at: str
    reason: str


class StudyStatus(Record):
    """Where a study stands; its fields are the keys of `status --json`.

    docs/status.md describes them.
    """

    name: str
    question: str
    kind: str
    """`grid` or `search`."""
    revision: int
    """The study's edition, counted from 1."""
    objective: str
    """What is optimised, for readers."""
    direction: str
    """`maximize` or `minimize`."""
    counts: dict[str, int]
    """Cells planned, complete, stopped_early, failed, running, missing (still to be started)."""
    is_complete: bool
    """Nothing is missing and nothing runs."""
    holder: dict[str, Any] | None
    """The live process that runs it (pid, host, since), or null."""
    best: RankedTrial | None
    """The best complete trial; in a search, of those it selected among."""
    confirmed: tuple[RankedTrial, ...]
    """Of a search, with seeds that selected nothing; best first."""
    running: tuple[Running, ...]
    """Without a holder they are interrupted: the next run goes on."""
    failed: tuple[EndedCell, ...]
    """Cells that ended badly, for good."""
    lost: tuple[EndedCell, ...]
    """Attempts that ended without a result; their cells are tried again."""
    num_attempts: int
    num_retries: int
    """Attempts at cells that had been tried before."""
    device_s: float
    """Device time that was spent so far, in seconds: `device_time.INCLUDED`."""
    median_s: float | None
    """Seconds of a cell that ended with a result, the median."""
    cells_at_a_time: int
    eta_s: float | None
    """Seconds of running that are left; null before the first cell has ended."""
    events: tuple[dict[str, str], ...]
    """The newest, NUM_EVENTS at most: at, kind, cell, text."""


def state_of(study_dir: Path) -> StudyStatus:
    """Read it. Raises InputError where there is no study; disturbs nobody who runs it."""
    held_by = holder(study_dir)  # before the ledger is read: what somebody who let go of it wrote is seen
    with Reader(study_dir) as reader:
        study, cells, attempts = reader.study(), reader.cells(), reader.attempts()
        names = names_by_identity(study, cells)
        running = _running(reader, cells, attempts, names)
        counts, table, events = reader.counts(), reader.trials_table(), reader.events().tail(NUM_EVENTS)
        revision = int(reader.revisions()["number"].max())
        cells = cells.assign(status=cells["identity"].map(reader.statuses_for_next_run()))
        gpus = gpus_per_worker(reader.cells(retired=True), reader.provenance())
        spent = float(device_seconds(reader.attempts(retired=True), gpus).sum())
    pace = pace_of(study, cells, attempts, {cell.identity: cell.share for cell in running})
    confirms = table["stage"] == "confirm"
    return StudyStatus(
        **study.model_dump(include={"name", "question", "kind"}),
        revision=revision,
        objective=study.objective.label or study.objective.metric,
        direction=study.objective.direction,
        counts=counts,
        is_complete=counts["missing"] == 0 and counts["running"] == 0,
        holder=held_by,
        best=next(iter(_standings(study, cells, table[~confirms])), None),
        confirmed=tuple(_standings(study, cells, table[confirms])),
        running=running,
        failed=_failed(cells, attempts, names),
        lost=_lost(cells, attempts, names),
        num_attempts=len(attempts),
        num_retries=int((attempts["number"] > 1).sum()),
        device_s=spent,
        **vars(pace),
        events=tuple(events.to_dict("records")),
    )


def _standings(study: StudyRecord, cells: pd.DataFrame, table: pd.DataFrame) -> list[RankedTrial]:
    """Trials by the mean of their complete cells, best first; those with fewer seeds than others come after them.

    Not the ranking of a search (`results.ranking`): a grid's rows and confirmed trials have several seeds.
    """
    complete = table[(table["status"] == "complete") & table["objective"].notna()]
    trials = complete.groupby("trial", as_index=False).agg(
        label=("label", "first"), value=("objective", "mean"), num_seeds=("objective", "size")
    )
    least_first = study.objective.direction == "minimize"
    ranked = trials.sort_values(
        ["num_seeds", "value", "trial"], ascending=[False, least_first, True], kind="stable"
    )
    proposals = dict(zip(cells["trial"], cells["proposal"], strict=True))
    return [
        RankedTrial(**row, proposal=in_order_of_file(study, proposals[row["trial"]]))
        for row in ranked.head(NUM_STANDINGS).to_dict("records")
    ]


def _running(
    reader: Reader, cells: pd.DataFrame, attempts: pd.DataFrame, names: Mapping[str, str]
) -> tuple[Running, ...]:
    newest = attempts.groupby("cell")["number"].max()
    found = []
    for row in cells[cells["status"] == "running"].itertuples():
        history = reader.history(row.identity)
        t = int(history["t"].max()) if len(history) else 0
        last = history[history["t"] == t]
        metrics = dict(
            zip(last["name"], last["value"].astype(object).where(last["value"].notna(), None), strict=True)
        )
        budget = row.config.get("budget", {})
        num_steps = budget.get("amount") if budget.get("unit") == "steps" else None
        found.append(
            Running(
                name=names[row.identity],
                identity=row.identity,
                attempt=int(newest.get(row.identity, 1)),
                started=row.started,
                t=t,
                num_steps=num_steps,
                metrics=metrics,
            )
        )
    return tuple(found)


def _failed(cells: pd.DataFrame, attempts: pd.DataFrame, names: Mapping[str, str]) -> tuple[EndedCell, ...]:
    numbers = attempts.groupby("cell")["number"].max()
    return tuple(
        EndedCell(
            name=names[row.identity],
            identity=row.identity,
            attempt=int(numbers.get(row.identity, 0)),
            at=row.ended,
            reason=row.reason,
        )
        for row in cells[cells["status"] == "failed"].itertuples()
    )


def _lost(cells: pd.DataFrame, attempts: pd.DataFrame, names: Mapping[str, str]) -> tuple[EndedCell, ...]:
    """Oldest first."""
    rows = lost_attempts(attempts, cells).sort_values("ended", kind="stable")
    return tuple(
        EndedCell(
            name=names[row.cell], identity=row.cell, attempt=row.number, at=row.ended, reason=row.reason
        )
        for row in rows.itertuples()
    )
