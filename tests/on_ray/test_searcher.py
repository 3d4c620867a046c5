"""The queue of cells as Tune asks it: what happens while no cell runs, when Tune calls nothing else."""

from threading import Event

from ray.tune.search import Searcher

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray import searcher as searcher_module
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.stored import Payloads
from rse_study.on_ray.workers.coordinator import SCORED, Coordinator
from tests.cases import cases
from tests.on_ray.nodes.test_lost_cells import Lines, cell, clock, losses_of

__all__ = ["clock"]


class Alone(Coordinator):
    """A coordinator that no workers ask."""

    def __init__(self):
        pass

    def keep_groups(self, has_cells): ...

    def num_groups(self):
        return 0


class Ending:
    """A run that starts no other cell."""

    def __init__(self):
        self.closing = Event()
        self.closing.set()

    failure = None

    def give_up(self, failure):
        self.failure = failure

    def check(self): ...


def searcher_of(lines, losses):
    untouched = (object.__new__(kind) for kind in (CellQueue, Payloads))
    return CellSearcher(*untouched, Alone(), lines, lambda: 1, losses, Ending())


@cases(
    "broken",
    [
        InputError("early_stopping.class = 'my_rules:Fragile'", rule="failed at trial 1, step 15"),
        Unavailable("no room left in studies/little", "Make room; the same command resumes the run"),
    ],
)
def test_a_rule_that_fails_or_a_full_disk_ends_the_run_and_is_no_fault_of_the_trial(monkeypatch, broken):
    searcher = searcher_of(Lines(), losses_of({}, Lines()))
    searcher._running["trial"] = cell(1)

    def fails(*progress):
        raise broken

    monkeypatch.setattr(CellQueue, "progressed", fails)
    searcher.on_trial_result("trial", {"t": 15, "num_steps": 60, "metrics/dev": 1.0})
    assert searcher._runtime.failure is broken


def test_a_loss_is_said_and_the_study_goes_on_while_nothing_runs(clock):
    lines = Lines()
    losses = losses_of({1: {"n3"}}, lines)
    searcher = searcher_of(lines, losses)
    searcher.while_idle = lambda: losses.report([])
    losses.add(cell(1), "its process ended")
    assert searcher.suggest("trial") is None
    clock.now += 6.0
    assert searcher.suggest("trial") == Searcher.FINISHED
    assert lines.lines == [(1, "its process ended")]


def test_a_cell_that_is_scored_is_not_silent(clock, monkeypatch):
    monkeypatch.setattr(searcher_module, "time", clock)
    searcher = searcher_of(Lines(), losses_of({}, Lines()))
    running = cell(1)
    searcher._running["trial"], searcher._last_report["trial"] = running, clock.now
    for _ in range(3):
        clock.now += 0.75 * running.resources.max_silence_s
        assert list(searcher.silent()) == []
        searcher.on_trial_result("trial", {SCORED: 1})
    clock.now += 1.25 * running.resources.max_silence_s
    assert list(searcher.silent()) == [("trial", running)]
