"""The promises of a study, checked after every commit of its ledger and at its end."""

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from rse_study.results.files.backup import rebuild
from rse_study.results.files.result_file import FILE_NAME
from rse_study.results.files.schema import cell_folder, ledger_path
from rse_study.results.records import FINISHED
from rse_study.study.checking.validation import CheckedStudy
from tests.faults.drivers import contents
from tests.simulation.scheduler import Violation

ENDED = "status IN ('complete', 'failed', 'stopped_early')"
REBUILT = ("cell", "metric", "evaluation")


class Promises:
    """What one study's ledger has said so far; nothing of it may be taken back."""

    def __init__(self, checked: CheckedStudy) -> None:
        self._checked = checked
        self._committed: dict[str, tuple[Any, ...]] = {}  # by cell that is complete

    def check(self, ledger: sqlite3.Connection) -> None:
        """Check a ledger just after a commit."""
        cells = ledger.execute("SELECT identity, trial, seed, stage, status, retired FROM cell").fetchall()
        current = Counter((trial, seed) for _, trial, seed, _, _, retired in cells if not retired)
        _require(max(current.values(), default=0) <= 1, f"two cells of one trial and seed: {current}")
        known = {row[0]: row for row in cells}
        for identity, held in self._committed.items():
            _require(identity in known, f"committed cell {identity[:8]} is gone")
            _require(
                known[identity][4] == "complete", f"committed cell {identity[:8]} is {known[identity][4]}"
            )
            _require(
                _values(ledger, identity) == held, f"values of committed cell {identity[:8]} have changed"
            )
        for identity, _, _, _, status, _ in cells:
            if status == "complete" and identity not in self._committed:
                self._committed[identity] = _values(ledger, identity)
        attempts = ledger.execute("SELECT cell, outcome, started, ended FROM attempt").fetchall()
        complete = Counter(cell for cell, outcome, _, _ in attempts if outcome == "complete")
        _require(max(complete.values(), default=0) <= 1, "a cell was completed twice")
        running = [cell for cell, outcome, _, _ in attempts if outcome == "running"]
        _require(len(running) == len(set(running)), "two attempts at a cell run at once")
        limit = self._checked.study.resources.max_concurrent
        _require(not limit or len(running) <= limit, f"{len(running)} cells run, and at most {limit} may")
        self._check_budget(ledger, cells, attempts)

    def _check_budget(self, ledger: sqlite3.Connection, cells: list[Any], attempts: list[Any]) -> None:
        budget = getattr(self._checked.study, "search_budget", None)
        if budget and budget.steps:
            taken = steps_of(self._checked, ledger)
            _require(taken <= budget.steps, f"{taken} steps are taken or begun, of {budget.steps}")
        if budget and budget.device_hours:  # each cell has one thread
            searched = {cell[0] for cell in cells if cell[3] == "search"}
            spans = [
                (datetime.fromisoformat(begun), datetime.fromisoformat(ended or begun), outcome)
                for cell, outcome, begun, ended in attempts
                if cell in searched
            ]
            for begun, _, _ in spans:  # when a cell began, what complete ones had taken left room
                before = sum(
                    (e - b).total_seconds() for b, e, outcome in spans if e <= begun and outcome == "complete"
                )
                room = budget.device_hours * 3600
                _require(before <= room, f"a cell began when {before:g} s were spent of {room:g} s")


def steps_of(checked: CheckedStudy, ledger: sqlite3.Connection) -> float:
    """Return the steps of a search: those of cells that have ended, and all of those that have begun."""
    stops = dict(ledger.execute("SELECT cell, t FROM rung WHERE verdict = 'stop'"))
    taken = 0.0
    for identity, status in ledger.execute(
        "SELECT identity, status FROM cell WHERE stage = 'search'"
    ).fetchall():
        (last,) = ledger.execute("SELECT max(t) FROM metric WHERE cell = ?", (identity,)).fetchone()
        has_ended = status in FINISHED or identity in stops
        taken += stops.get(identity, last or 0) if has_ended else checked.study.base.budget.amount
    return taken


def check_end(checked: CheckedStudy, folder: Path) -> None:
    """Check a study whose run has ended well: all that was planned is there."""
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        left = ledger.execute(
            f"SELECT identity, status FROM cell WHERE NOT retired AND NOT {ENDED}"
        ).fetchall()
        stages = Counter(row[0] for row in ledger.execute("SELECT stage FROM cell WHERE NOT retired"))
        failed = ledger.execute("SELECT reason FROM cell WHERE status = 'failed'").fetchall()
        scored = ledger.execute("SELECT count(*) FROM evaluation").fetchone()[0]
        complete = ledger.execute("SELECT count(*) FROM cell WHERE status = 'complete'").fetchone()[0]
        taken = steps_of(checked, ledger)
    budget = getattr(checked.study, "search_budget", None)
    if budget and budget.steps and stages["search"] < checked.study.num_trials:
        with_next = taken + checked.study.base.budget.amount
        _require(
            with_next > budget.steps, f"the budget had room: {with_next} with one more, of {budget.steps}"
        )
    _require(not left or bool(budget), f"the run has ended, and cells are left: {left}")
    if checked.study.grid is not None and isinstance(checked.study.seeds, tuple):
        planned = len(checked.rows) * len(checked.study.all_seeds)
        _require(stages["grid"] == planned, f"{stages['grid']} cells of {planned} were planned")
    if checked.study.grid is not None:
        _require(scored == complete * len(checked.study.evaluations), f"{scored} scores of {complete} cells")
    strange = [reason for (reason,) in failed if "loss is not finite" not in reason]
    _require(not strange or checked.study.grid is None, f"cells of a grid are given up: {strange}")


def contents_of(folder: Path) -> dict[str, list[str]]:
    """Return every row but for times."""
    return contents(folder)


def has_given_up(folder: Path) -> bool:
    """Whether a cell was lost too often, of which the sampler then learns: such a search has another course."""
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        failed = ledger.execute("SELECT reason FROM attempt WHERE outcome = 'failed'").fetchall()
    return any("loss is not finite" not in reason for (reason,) in failed)


def has_failed(folder: Path) -> bool:
    """Whether a cell stays without a result after its last attempt was lost."""
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        failed = ledger.execute("SELECT reason FROM cell WHERE status = 'failed' AND NOT retired").fetchall()
    return any("loss is not finite" not in reason for (reason,) in failed)


def check_equal(folder: Path, undisturbed: dict[str, list[str]], what: str) -> None:
    """Check that a study has the rows that it would have had without a fault."""
    found = contents_of(folder)
    for table, rows in undisturbed.items():
        other = (
            [row for row in found[table] if row not in rows],
            [row for row in rows if row not in found[table]],
        )
        _require(found[table] == rows, f"{what}: {table} differs: {other[0]} in place of {other[1]}")


def check_rebuilt(folder: Path) -> None:
    """Check that a ledger made from the files beside it has the same rows for all cells with a result."""
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        known = [name for (name,) in ledger.execute("SELECT identity FROM cell")]
    without = [name for name in known if not (cell_folder(folder, name) / FILE_NAME).exists()]
    before, after = contents_of(folder), rebuild(folder) and contents_of(folder)
    for table in REBUILT:
        rows = [
            [row for row in one[table] if not any(name in row for name in without)] for one in (before, after)
        ]
        _require(rows[0] == rows[1], f"rebuilt from its files, {table} differs: {rows}")
    _require(len(before["cell"]) == len(after["cell"]), "a ledger that was rebuilt lacks cells")


def _values(ledger: sqlite3.Connection, identity: str) -> tuple[Any, ...]:
    rows = ledger.execute("SELECT t, name, value FROM metric WHERE cell = ? ORDER BY t, name", (identity,))
    return tuple(rows.fetchall())


def _require(is_kept: bool, what: str) -> None:
    if not is_kept:
        raise Violation(what)
