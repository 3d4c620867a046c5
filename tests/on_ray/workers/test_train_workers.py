"""What a trial hears of workers that are gone. Without Ray: its calls are answered from a list."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from threading import Event, Timer

import pytest

from rse_study.on_ray.workers import IS_TAKEN, worker
from rse_study.on_ray.workers.worker import GroupEnded, TrainWorkers
from tests.on_ray.workers.test_payload import CELL, payloads

ENDED = {"reason": "", "for_good": False}


@dataclass
class Trainer:
    """Trains nothing."""

    fit: Callable[[], None]


@pytest.fixture
def payload(tmp_path, materials):
    return payloads(tmp_path, materials).of_cell(CELL)


@pytest.fixture
def group(monkeypatch, payload):
    """A group whose run ends so, and what the exchange answers."""

    def make(fit, *answers, has_cells=True):
        given = {"reports": iter(answers), "has_cells": repeat(has_cells), "leave_group": repeat(None)}
        monkeypatch.setattr(worker, "_trainer", lambda *given: Trainer(fit))
        monkeypatch.setattr(worker, "exchange_call", lambda name, method, *arguments: next(given[method]))
        monkeypatch.setattr(worker.ray, "wait", lambda asked, timeout: (asked, []))
        monkeypatch.setattr(worker.ray, "get", lambda answer: answer)
        return TrainWorkers(lambda config: None, payload, [])

    return make


@pytest.fixture
def run(payload):
    """Has a group whose run is over run a cell."""

    def run(workers):
        workers._thread.join()
        return workers.run(payload, lambda point: None)

    return run


def crash():
    raise ValueError("no such worker")


@pytest.mark.parametrize(
    ("fit", "is_taken", "why"),
    [
        (crash, True, "ValueError: no such worker"),
        (crash, False, "ValueError: no such worker"),  # or a first cell would be tried for ever
        (lambda: None, False, ""),  # they went for want of cells
    ],
)
def test_whatever_ended_the_workers_is_the_reason_of_their_first_cell(group, run, fit, is_taken, why):
    workers = group(fit, ({}, {IS_TAKEN: is_taken}))
    with pytest.raises(GroupEnded) as end:
        run(workers)
    assert end.value.reason == why


@pytest.mark.parametrize(("is_taken", "why"), [(False, ""), (True, "ValueError: no such worker")])
def test_a_later_cell_that_no_worker_took_loses_no_attempt(group, run, is_taken, why):
    workers = group(crash, ({}, ENDED), ({}, {IS_TAKEN: is_taken}))
    assert run(workers) == ENDED
    with pytest.raises(GroupEnded) as end:
        run(workers)
    assert end.value.reason == why


@pytest.mark.parametrize("has_cells", [False, True])
def test_workers_are_waited_for_where_no_cells_come(group, has_cells):
    go_on, have_ended = Event(), []

    def fit():
        go_on.wait()
        have_ended.append(True)

    workers = group(fit, has_cells=has_cells)
    Timer(0.2, go_on.set).start()
    workers.wait_if_over()
    assert bool(have_ended) is not has_cells
    workers._thread.join()
