"""A study's ledger at one moment."""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rse_study.cli.terminal.cell_names import name_of
from rse_study.results.cell_state import as_next_run_finds
from rse_study.results.device_time import GpusAt, devices_of, gpus_per_worker, seconds_between
from rse_study.results.files.connect import open_study
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.schema import ledger_path
from rse_study.results.records import AttemptRecord, CellRecord, MetricRow, Status
from rse_study.results.row_checks import inert_sentences, row_checks
from rse_study.results.row_names import names_of_labelled
from rse_study.results.study_record import StudyRecord
from rse_study.search.choice import chosen_first
from rse_study.search.state import SearchState, search_state

SHOWN_SETTINGS = ("method", "budget")
"""The settings of cells that `status` looks into."""


@dataclass(frozen=True)
class LedgerSnapshot:
    """A study's ledger, without the cells that are no longer part of it."""

    study: StudyRecord
    revision: int
    """the study's edition, counted from 1"""
    cells: tuple[CellRecord, ...]
    """by trial and seed, with the status that the ledger has and SHOWN_SETTINGS alone"""
    statuses: dict[str, Status]
    """status of each cell for the next run"""
    names: dict[str, str]
    attempts: tuple[AttemptRecord, ...]
    """by trial, seed and number"""
    last_points: dict[str, tuple[int, float]]
    """step and value of the objective's last point, by cell"""
    other_values: tuple[dict[str, float], ...]
    """final values of the other objectives, by cell"""
    histories: dict[str, list[MetricRow]]
    """histories of running cells"""
    search: SearchState
    inert: tuple[str, ...]
    """sentences about parts of rows that did nothing"""
    device_s: float
    """device time of all attempts, those at other cells too: `device_time.INCLUDED`"""
    events: tuple[dict[str, str], ...]
    """the newest: at, kind, cell, text"""

    @property
    def chosen(self) -> list[str]:
        """Cells of a search in the order in which it would choose them."""
        return chosen_first(self.search.standings, self.study.directions)

    @cached_property
    def newest(self) -> dict[str, int]:
        """The number of the newest attempt at each cell that has one."""
        return {attempt.cell: attempt.number for attempt in self.attempts}


def read_snapshot(study_dir: Path, num_events: int, *, is_held: bool) -> LedgerSnapshot:
    """Read a ledger in one transaction, whatever a driver writes meanwhile."""
    with closing(open_study(study_dir)) as connection:
        connection.execute("BEGIN")  # one snapshot, from the first SELECT on
        ledger = LedgerQueries(connection)
        study = ledger.frozen_study(str(ledger_path(study_dir)))
        everything = ledger.cells(settings=SHOWN_SETTINGS)
        cells = [cell for cell in everything if not cell.retired]
        order = {cell.identity: place for place, cell in enumerate(cells)}
        attempts = ledger.attempts()
        gpus = gpus_per_worker([cell.provenance for cell in everything], ledger.provenance())
        last_points = ledger.last_points(study.objective.metric)
        as_found = as_next_run_finds(cells, study_dir)
        state = search_state(ledger, as_found, is_held=is_held)
        return LedgerSnapshot(
            study=state.study,
            revision=ledger.revisions()[-1].number,
            cells=tuple(cells),
            statuses={one.identity: one.status for one in as_found},
            names=_names(state.study, cells),
            attempts=tuple(
                sorted(
                    (attempt for attempt in attempts if attempt.cell in order),
                    key=lambda attempt: (order[attempt.cell], attempt.number),
                )
            ),
            last_points=last_points,
            other_values=tuple(ledger.final_values(one.metric) for one in study.other_objectives),
            search=state,
            inert=tuple(inert_sentences(row_checks(ledger, state.study, cells))),
            histories={
                one.identity: ledger.history(one.identity) for one in cells if one.status == "running"
            },
            device_s=math.fsum(_device_seconds(attempt, gpus) for attempt in attempts),
            events=tuple(ledger.last_events(num_events)),
        )


def _names(study: StudyRecord, cells: Sequence[CellRecord]) -> dict[str, str]:
    names = names_of_labelled(study, [(one.trial, one.label, one.proposal, False) for one in cells])
    shows_seeds = bool(study.search_seeds)
    return {
        one.identity: name_of(one.stage, one.trial, one.seed, name, shows_seeds=shows_seeds)
        for one, name in zip(cells, names, strict=True)
    }


def _device_seconds(attempt: AttemptRecord, gpus: GpusAt) -> float:
    devices = devices_of(attempt.workers, attempt.threads, gpus(attempt.started))
    return seconds_between(attempt.started, attempt.ended) * devices
