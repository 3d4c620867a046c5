"""What a trial hears of workers that are gone. Without Ray: its calls are answered from a list."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from rse_study.on_ray import train_workers
from rse_study.on_ray.exchange import IS_TAKEN
from rse_study.on_ray.train_workers import GroupEnded, TrainWorkers
from tests.on_ray.test_payload import CELL, payloads

ENDED = {"reason": "", "for_good": False}


@dataclass
class Trainer:
    """Trains nothing."""

    fit: Callable[[], None]


@pytest.fixture
def group(monkeypatch, tmp_path, materials):
    """A group whose run ends so, and what the exchange answers; and a cell for it."""
    payload = payloads(tmp_path, materials).of_cell(CELL)

    def make(fit, *answers):
        left = list(answers)

        def call(coordinator, method, *arguments):
            return left.pop(0) if method == "reports" else None

        monkeypatch.setattr(train_workers, "_trainer", lambda *given: Trainer(fit))
        monkeypatch.setattr(train_workers, "exchange_call", call)
        monkeypatch.setattr(train_workers.ray, "wait", lambda asked, timeout: (asked, []))
        monkeypatch.setattr(train_workers.ray, "get", lambda answer: answer)
        workers = TrainWorkers(lambda config: None, payload, [])
        workers._thread.join()
        return lambda: workers.run(payload, lambda point: None)

    return make


def crash():
    raise ValueError("no such worker")


def test_whatever_ends_the_run_of_the_workers_is_a_reason(group):
    run = group(crash, ({}, {IS_TAKEN: True}))
    with pytest.raises(GroupEnded) as end:
        run()
    assert end.value.reason == "ValueError: no such worker"


def test_workers_that_went_for_want_of_cells_have_no_reason(group):
    run = group(lambda: None, ({}, {IS_TAKEN: False}))
    with pytest.raises(GroupEnded) as end:
        run()
    assert end.value.reason == ""


@pytest.mark.parametrize(("is_taken", "why"), [(False, ""), (True, "ValueError: no such worker")])
def test_a_later_cell_that_no_worker_took_loses_no_attempt(group, is_taken, why):
    run = group(crash, ({}, ENDED), ({}, {IS_TAKEN: is_taken}))
    assert run() == ENDED
    with pytest.raises(GroupEnded) as end:
        run()
    assert end.value.reason == why


def test_a_first_cell_that_no_worker_took_has_the_reason_or_it_would_be_tried_for_ever(group):
    run = group(crash, ({}, {IS_TAKEN: False}))
    with pytest.raises(GroupEnded) as end:
        run()
    assert end.value.reason
