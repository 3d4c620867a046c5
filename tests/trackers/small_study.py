"""A search with every kind of cell that has begun, small enough to be copied many times."""

import math

from rse_study.results.files.ledger import Ledger
from tests.results.world import HERE, STUDY, cell_of, result_of, run_cell, score_of

RUNNING, INTERRUPTED = cell_of(3), cell_of(4)
STOPPED, FAILED, COMPLETE = cell_of(2), cell_of(1), cell_of(0, label="base")


def begin(ledger):
    """Trial 0 complete with a score, 1 failed, 2 stopped early, 4 lost, 3 begun with a NaN and an infinity."""
    ledger.freeze(STUDY.model_copy(update={"question": "Does rho matter?"}))
    ledger.add_provenance({"threads": 1, "code": "abc123"})
    ledger.plan([COMPLETE, FAILED, STOPPED, RUNNING, INTERRUPTED, cell_of(5)])
    run_cell(ledger, COMPLETE, [50.0, 55.0])
    ledger.record_evaluations([score_of(COMPLETE.identity, 61.5)])
    run_cell(ledger, FAILED, [49.0], status="failed", reason="step 11: the loss is not finite")
    run_cell(ledger, STOPPED, [40.0], status="stopped_early", reason="stopped at step 10 of 40")
    ledger.start(INTERRUPTED.identity, **HERE)
    ledger.record_progress(INTERRUPTED.identity, 10, {"dev": 3.0})
    ledger.lose(INTERRUPTED.identity, "worker killed by signal 9")
    ledger.start(RUNNING.identity, **HERE)
    ledger.record_progress(RUNNING.identity, 10, {"dev": math.nan, "loss": math.inf, "delta/norm": -math.inf})


def grow(ledger):
    """One more point of trial 3, trial 4 complete, trial 5 begun, another score of trial 0."""
    ledger.record_progress(RUNNING.identity, 20, {"dev": 12.0})
    ledger.start(INTERRUPTED.identity, **HERE)
    finish(ledger, INTERRUPTED, [3.0, 4.0])
    ledger.start(cell_of(5).identity, **HERE)
    ledger.record_progress(cell_of(5).identity, 10, {"dev": 5.0})
    ledger.record_evaluations([score_of(COMPLETE.identity, 30.25, split="dev")])


def finish(ledger, cell, values, **changes):
    """The result of a cell that runs."""
    ledger.record_result(result_of(cell, values, **changes))


def made(folder, *steps):
    """The study in a ledger that nobody holds any more."""
    with Ledger.open(folder) as ledger:
        for step in steps:
            step(ledger)
    return folder
