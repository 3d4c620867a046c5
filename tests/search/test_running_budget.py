"""A budget that is kept while a search runs equals one that is summed up anew after each event."""

from datetime import datetime, timedelta
from random import Random

import pytest

from rse_study.results.files import writes
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Result
from rse_study.results.records import CellRecord, RungRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search import budget
from rse_study.search.attempt_spans import (
    AttemptSpan,
    EndedSpans,
    device_hours_of,
    hours_of,
    longest_seconds,
    spans_of,
    spans_without_attempts,
)

AMOUNT = 60
LIMITS = {"hours": 5.0, "steps": 900, "device_hours": 9.0, "cost": 40.0, "price_per_hour": 3.0}
RESOLVED = {"base": {"budget": {"unit": "steps", "amount": AMOUNT}}, "search_budget": LIMITS}
STUDY = StudyRecord(name="x", objective=ObjectiveRecord(metric="dev"), num_trials=99, resolved=RESOLVED)


class Clock:
    """Times as a ledger writes them; they pass by the second or by the hour."""

    def __init__(self):
        self.at = datetime.fromisoformat("2026-01-01T00:00:00+00:00")

    def __call__(self):
        return self.at.isoformat(timespec="seconds")

    def passes(self, random):
        self.at += timedelta(seconds=random.choice([0, 0, 1, 60, 600, 4000]))


def summed_anew(ledger, now):
    """Spent and with one more cell, by limit, from every row of the ledger."""
    attempts = budget.attempts_of_search(ledger.cells(), ledger.attempts())
    cells = budget.searched_cells(ledger.cells(), ledger.attempts())
    steps = {cell: t for cell, (t, _) in ledger.last_points("dev").items()}
    stopped = {cell.identity for cell in cells if cell.status == "stopped_early"}
    steps |= {row.cell: row.t for row in ledger.rungs() if row.verdict == "stop" and row.cell in stopped}
    spans, longest = spans_of(attempts, now, lambda at: 0.0), longest_seconds(attempts)
    spans += spans_without_attempts(cells, attempts, now, lambda at: 0.0)
    devices = device_hours_of(spans, longest)
    return {
        "hours": hours_of(spans, longest),
        "steps": budget.steps_of(cells, steps, float(AMOUNT)),
        "device_hours": devices,
        "cost": (3 * devices.spent, 3 * devices.with_next),
    }


def happen(ledger, random, running, failed):
    """Let one thing happen to the search: a cell begins, goes on, or ends in one of five ways."""
    if len(running) < 3 and random.random() < 0.4:
        name = failed.pop() if failed and random.random() < 0.5 else f"{random.getrandbits(256):064x}"
        config = {"budget": {"unit": "steps", "amount": AMOUNT}}
        trial = len(ledger.cells())
        ledger.plan([CellRecord(identity=name, trial=trial, seed=0, stage="search", config=config)])
        ledger.start(name, executor="inline", workers=1, threads=random.choice([1, 4]))
        running.append(name)
    elif running:
        name, way = (
            random.choice(running),
            random.choice(["go on", "complete", "stopped_early", "failed", "lost"]),
        )
        t = random.randrange(1, AMOUNT + 1)
        if way == "go on":
            ledger.record_progress(name, t, {"dev": 1.0})
            return
        running.remove(name)
        if way == "lost":
            ledger.lose(name, "gone")
            ledger.start(name, executor="inline", workers=1, threads=1)
            running.append(name)
        elif way == "failed":
            ledger.fail(name, "no result")
            failed.append(name)
        else:
            if way == "stopped_early":
                ledger.record_rung(RungRow(cell=name, t=t, value=1.0, verdict="stop"))
            history = [{"t": t, "metrics": {"dev": 1.0}}]
            about = {"identity": name, "seed": 0, "config": {}, "status": way}
            ledger.record_result(Result(**about, history=history, duration_s=1.0))


@pytest.mark.parametrize("seed", range(4))
def test_after_every_event_the_kept_budget_is_the_one_summed_up_anew(tmp_path, monkeypatch, seed):
    clock, random = Clock(), Random(seed)
    monkeypatch.setattr(writes, "now", clock)
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(STUDY)
        kept, running, failed = budget.RunningBudget(ledger), [], []
        for _ in range(80):
            happen(ledger, random, running, failed)
            clock.passes(random)
            shares = kept.shares(clock())
            found = {one.name: (one.spent, one.with_next) for one in shares}
            wanted = summed_anew(ledger, clock())
            assert found == {name: pytest.approx(tuple(use)) for name, use in wanted.items()}
            assert budget.budget_shares(ledger, clock()) == tuple(
                one.model_copy(
                    update={"spent": pytest.approx(one.spent), "with_next": pytest.approx(one.with_next)}
                )
                for one in shares
            )
        outcomes = {one.outcome for one in ledger.attempts()}
        assert outcomes >= {"complete", "stopped_early", "failed", "lost"}
        assert len(kept._open) < len(ledger.cells()) / 2


def test_a_call_reads_no_cell_that_had_ended_at_the_one_before(tmp_path, monkeypatch):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(STUDY)
        random, running, failed = Random(0), [], []
        for _ in range(60):
            happen(ledger, random, running, failed)
        kept, asked, read = budget.RunningBudget(ledger), [], ledger.cells
        kept.has_room()
        monkeypatch.setattr(ledger, "cells", lambda among=None: asked.append(among) or read(among))
        kept.has_room()
        (among,) = asked
        statuses = {cell.identity: cell.status for cell in read()}
        assert among == {name for name, one in statuses.items() if one not in ("complete", "stopped_early")}


@pytest.mark.parametrize("seed", range(3))
def test_spans_that_are_added_in_any_order_cover_each_second_once(seed):
    random, spans, seconds = Random(seed), EndedSpans(), set()
    for _ in range(60):
        begun = random.randrange(300)
        ended = begun + random.choice([0, 1, 5, 40])
        spans.add(AttemptSpan(float(begun), float(ended), float(ended), 1.0))
        seconds |= set(range(begun, ended))
        more = [sorted((random.randrange(300), random.randrange(300))) for _ in range(3)]
        assert spans.covered_with(more) == len(seconds.union(*(range(*one) for one in more)))
